"""Predictions of forests: 100 000 rows at once, and rows one by one.

Everybody predicts with a forest of its own, grown before the clock starts; turning rows into what it takes is on it.
"""

from __future__ import annotations

from functools import partial

from benchmarks.contest import Case, Judge, Measure, Suite, Target
from benchmarks.datasets import Dataset
from benchmarks.forest_scores import judge_score
from benchmarks.suites.forest import CASES, CONTESTANTS, REMARK
from benchmarks.suites.kernel_predict import Predictor, PredictTask, with_test_rows

__all__ = ["SUITE"]

MANY, FEW = 100_000, 200
_NAMES = ("covtype 100 000", "mnist", "letter", "adult raw", "california_housing raw")


def _judge_predictions(task: PredictTask, data: Dataset, measure: Measure) -> Judge:
    """Return the judge of the forest that predicts."""
    return judge_score(task.machine, data, measure)


SUITE = Suite(
    title="Predictions of forests, 100 trees",
    cases=[
        Case(f"{name}, {words}", partial(with_test_rows, n_rows, CASES[name].load), task)
        for name in _NAMES
        for n_rows, one_by_one, words in (
            (MANY, False, f"{MANY // 1000} 000 rows"),
            (FEW, True, f"{FEW} times one row"),
        )
        for task in [PredictTask(CASES[name].task, one_by_one)]
    ],
    contestants=[Predictor(fitter) for fitter in CONTESTANTS],
    targets=(Target("predicted", float("inf")),),
    referee=_judge_predictions,
    remark=REMARK,
)
