"""Intervals for an accuracy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import DataError, ParameterError
from hedgerow.resampling import accuracy_interval


def answers(n_correct: int, n: int) -> np.ndarray:
    return np.arange(n) < n_correct


def test_the_interval_is_that_of_scipys_bootstrap() -> None:
    correct = answers(170, 200)
    ours = accuracy_interval(correct, n_resamples=50_000, seed=1)
    scipys = bootstrap(
        (correct.astype(float),),
        np.mean,
        n_resamples=50_000,
        method="percentile",
        batch=1000,
        rng=np.random.default_rng(2),
    ).confidence_interval
    # Both ends are multiples of 1/200; two independent draws may fall on neighbouring ones.
    assert ours.low == pytest.approx(scipys.low, abs=1.01 / 200)
    assert ours.high == pytest.approx(scipys.high, abs=1.01 / 200)
    assert ours.method == "bootstrap"


def test_the_same_seed_gives_the_same_interval() -> None:
    correct = answers(70, 100)
    assert accuracy_interval(correct, seed=3) == accuracy_interval(correct, seed=3)


def test_the_interval_contains_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(0)
    hits = 0
    for seed in range(400):
        interval = accuracy_interval(generator.random(200) < 0.8, seed=seed)
        hits += interval.low <= 0.8 <= interval.high
    # 400 trials at 0.95 have a standard error of 0.011; the bootstrap itself is a little narrow.
    assert 0.91 < hits / 400 < 0.98


def test_a_million_rows_cost_no_more_than_a_few() -> None:
    interval = accuracy_interval(answers(900_000, 1_000_000), seed=0)
    assert interval.high - interval.low < 0.002


@pytest.mark.parametrize("n_correct", [0, 30])
def test_without_any_difference_the_exact_bound_is_used(n_correct: int) -> None:
    interval = accuracy_interval(answers(n_correct, 30), seed=0)
    # Clopper and Pearson: 1 - (alpha/2)^(1/n) away from the end that was seen.
    reach = 1 - 0.025 ** (1 / 30)
    assert interval.method == "exact"
    assert interval.high - interval.low == pytest.approx(reach)
    assert interval.estimate in (interval.low, interval.high)


def test_an_interval_is_part_of_a_state() -> None:
    interval = accuracy_interval(answers(7, 10), seed=0)
    assert load_state(*dump_state(interval)) == interval


def test_nothing_to_judge_and_odd_levels_are_refused() -> None:
    with pytest.raises(DataError, match="no predictions to evaluate"):
        accuracy_interval(np.array([], dtype=bool), seed=0)
    with pytest.raises(ParameterError, match="not between 0 and 1"):
        accuracy_interval(answers(1, 2), confidence_level=1.0, seed=0)
