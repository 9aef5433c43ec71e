"""The bootstrap suite: its contestants compute the same thing, and its judge would notice if not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.intervals import STATISTICS, BootstrapTask, judge_by, ten_thousand_rows
from benchmarks.peers.hedgerow import HedgerowBootstrap
from benchmarks.peers.scipy import ScipyBootstrap
from benchmarks.suites import load_suite
from hedgerow import bootstrap

pytestmark = pytest.mark.long

DATA = ten_thousand_rows(None).thinned(500)
AT_MOST = load_suite("bootstrap").targets[0].at_most


def result(contestant, task):
    fitted = contestant.fit(task, DATA, 0.0, 1)
    assert contestant.ran(fitted) == f"{task.n_resamples} resamples"
    return contestant.result(fitted)


@pytest.mark.parametrize("method", ["percentile", "BCa"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_ours_and_scipys_are_equally_good(statistic, method):
    task = BootstrapTask(statistic, method, n_resamples=2000)
    judge = judge_by(result(ScipyBootstrap(20, is_reference=True), task), task)
    for contestant in (HedgerowBootstrap(), ScipyBootstrap(20)):
        verdict = judge(result(contestant, task))
        assert 0 < verdict.figure <= AT_MOST
        assert set(verdict.details) == {"standard_error", "low", "high"}


def test_another_statistic_a_wrong_level_or_a_wrong_error_is_noticed():
    task = BootstrapTask("mean", "percentile", n_resamples=2000)
    honest = result(HedgerowBootstrap(), task)
    judge = judge_by(result(ScipyBootstrap(20, is_reference=True), task), task)
    half_width = (honest["high"] - honest["low"]) / 2
    narrow = {**honest, "low": honest["low"] + 0.16 * half_width}  # that of a level of 90 %
    wrong_error = {**honest, "standard_error": 1.15 * honest["standard_error"]}
    other = result(HedgerowBootstrap(), replace(task, statistic="median"))
    shifted = {**honest, "estimate": honest["estimate"] * (1 + 1e-6)}
    for wrong in (narrow, wrong_error, other, shifted):
        assert judge(wrong).figure > AT_MOST
    assert judge(shifted).figure == np.inf


@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_two_draws_are_one_error_of_chance_apart_on_average(method):
    task = BootstrapTask("mean", method, n_resamples=1000)
    x = np.random.default_rng(3).normal(size=500)
    draws = [
        HedgerowBootstrap().result(
            bootstrap(x, "mean", n_resamples=1000, method=method, random_state=seed)
        )
        for seed in range(160)
    ]
    verdicts = [judge_by(a, task)(b).details for a, b in itertools.pairwise(draws)]
    for name in ("standard_error", "low", "high"):
        # Of some 80 independent pairs: a standard error of 8 %, three of them.
        distance = np.sqrt(np.mean([details[name] ** 2 for details in verdicts]))
        assert distance == pytest.approx(1, abs=0.25)


def test_both_threads_and_batches_have_names_of_their_own():
    suite = load_suite("bootstrap")
    names = [contestant.name for contestant in suite.contestants]
    assert names[:2] == ["hedgerow", "hedgerow, one thread"]
    assert [c.threads(2) for c in suite.contestants] == [2, 1, 1, 1, 1]
    assert ScipyBootstrap(20, is_reference=True).name not in names
