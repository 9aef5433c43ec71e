"""How the benchmarks weigh a fit: what is counted, what is not, and against what it is held."""

# ruff: noqa: ARG002 - fake contestants have the protocol's form and little to say

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.datasets import Dataset
from benchmarks.memory import in_fresh_process, peak_growth
from benchmarks.objectives import LinearTask
from benchmarks.suites.linear_memory import SUITE, Weighed, allowance
from benchmarks.worker import FellBackError

pytestmark = pytest.mark.long

TASK = LinearTask("hinge", 1.0)
MEGABYTE = 10**6


def rows(n_samples, n_features=10):
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, n_features)).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    return Dataset(X, y, X, y)


@dataclass(frozen=True)
class Hoarder:
    """Takes so many bytes for a while whenever it is asked; at first, a lot that it then keeps."""

    n_bytes: int
    name: str = "hoarder"
    packages: tuple = ("numpy",)
    is_ours: bool = False

    def threads(self, allowed):
        return allowed

    def ladder(self, task):
        return (1.0, 0.1) if task.loss == "hinge" else ()

    def fit(self, task, data, tolerance, n_threads):
        if not KEPT:
            KEPT.append(np.ones(50 * MEGABYTE, np.uint8))  # as an import would
        np.ones(self.n_bytes, np.uint8)
        return data.X.shape[1]

    def result(self, fitted):
        return {"coef": np.zeros((1, fitted)), "intercept": np.zeros(1)}

    def ran(self, fitted):
        return "hoarding"


KEPT: list[np.ndarray] = []


class Impostor(Hoarder):
    def ran(self, fitted):
        raise FellBackError("somebody else's code ran")


def test_memory_that_was_given_back_before_the_end_counts_and_what_was_there_before_does_not():
    kept = np.ones(30 * MEGABYTE, np.uint8)
    # Page tables and the interpreter take some of their own.
    for n_bytes in (0, 20 * MEGABYTE, 100 * MEGABYTE):
        value, growth = peak_growth(lambda n=n_bytes: len(np.ones(n, np.uint8)))
        assert value == n_bytes
        assert n_bytes - MEGABYTE < growth < n_bytes + 3 * MEGABYTE
    assert len(kept) == 30 * MEGABYTE


def test_memory_that_was_freed_before_is_counted_when_it_is_used_again():
    pieces = [np.ones(10**5, np.uint8) for _ in range(300)]  # too small for pages of their own
    del pieces
    _, growth = peak_growth(lambda: [np.ones(10**5, np.uint8) for _ in range(300)])
    assert growth > 25 * MEGABYTE


def test_another_process_answers_and_what_it_raises_is_raised_here():
    import os

    assert in_fresh_process(os.getpid) != os.getpid()
    assert in_fresh_process(print, "not the answer") is None
    with pytest.raises(FellBackError, match="somebody else"):
        in_fresh_process(Impostor(0).ran, None)


def test_the_figure_is_the_peak_of_the_fit_alone_over_what_is_allowed():
    data = rows(20_000)
    assert allowance(data) == pytest.approx(0.3 * 20_000 * 10 * 4 + 100 * 20_000)
    contestant = Weighed(Hoarder(20 * MEGABYTE), 0.5)
    fitted = contestant.fit(TASK, data, 0.5, 1)
    assert contestant.ran(fitted) == "hoarding"
    verdict = SUITE.referee(TASK, data, None)(contestant.result(fitted))
    n_bytes = verdict.details["bytes_beyond_data"]
    assert 19 * MEGABYTE < n_bytes < 23 * MEGABYTE
    assert verdict.figure == n_bytes / allowance(data)
    assert verdict.details["objective"] == pytest.approx(20_000.0)


def test_who_is_weighed_keeps_its_name_threads_and_offers():
    contestant = Weighed(Hoarder(0), 0.5)
    assert (contestant.name, contestant.packages, contestant.is_ours) == (
        "hoarder",
        ("numpy",),
        False,
    )
    assert contestant.threads(2) == 2
    assert contestant.ladder(TASK) == (0.5,)
    assert contestant.ladder(LinearTask("logistic", 1.0)) == ()


@pytest.mark.parametrize("intercept", ["penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_ours_is_weighed_for_every_loss_and_intercept(loss, intercept):
    data, task = rows(20_000), LinearTask(loss, 1.0, intercept)
    (ours,) = [contestant for contestant in SUITE.contestants if contestant.is_ours]
    verdict = SUITE.referee(task, data, None)(ours.result(ours.fit(task, data, 1e-4, 1)))
    assert verdict.figure > 0
    assert verdict.details["objective"] < 20_000


def test_every_case_is_held_in_single_precision(tmp_path):
    tasks = {case.task for case in SUITE.cases}
    assert {(task.loss, task.intercept) for task in tasks} == {
        (loss, intercept)
        for loss in ("hinge", "squared_hinge", "logistic")
        for intercept in ("penalized", "free")
    }
    assert len(SUITE.cases) == 18
