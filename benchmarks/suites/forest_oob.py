"""What out-of-bag costs: a fit with ``oob_score=True`` over the same fit without.

Both take turns in the contestant's process, so that a change of the machine's speed meets both alike; the quality that
is judged is the median of the ratios of neighbours, less one. The seconds are those of all the fits of such a
comparison, and mean nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, in_single_precision
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forests_like_sklearn import HedgerowForest, ScikitLearnForest
from benchmarks.suites.forest import REMARK, some_of_covtype

__all__ = ["SUITE", "OutOfBag"]

_N_PAIRS = 3
_N_TREES = 50
"""Enough that every row is out of some bag; what it costs a tree does not depend on them."""


@dataclass(frozen=True)
class Pairs:
    """Seconds of fits with out-of-bag and without, and the score it came to."""

    seconds: NDArray[np.float64]
    oob_score: float


@dataclass(frozen=True)
class OutOfBag:
    """A contestant whose fits are made in pairs."""

    fitter: Any

    @property
    def name(self) -> str:
        """That of who fits."""
        return str(self.fitter.name)

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of who fits."""
        packages: tuple[str, ...] = self.fitter.packages
        return packages

    @property
    def is_ours(self) -> bool:
        """Whether we fit."""
        return bool(self.fitter.is_ours)

    def threads(self, allowed: int) -> int:
        """As many as who fits."""
        return int(self.fitter.threads(allowed))

    def ladder(self, task: ForestTask) -> Sequence[float]:
        """One rung, if the forest is there."""
        return tuple(self.fitter.ladder(task))

    def fit(self, task: ForestTask, data: Dataset, tolerance: float, n_threads: int) -> Pairs:  # noqa: ARG002
        """Fit with and without out-of-bag in turn, now the one first, now the other."""
        seconds = np.empty((_N_PAIRS, 2))
        oob_score = np.nan
        for pair in range(_N_PAIRS):
            for counts_oob in (True, False) if pair % 2 == 0 else (False, True):
                model = self.fitter.model(task, pair, n_threads, oob_score=counts_oob)
                began = time.perf_counter()
                model.fit(data.X, data.y)
                seconds[pair, 0 if counts_oob else 1] = time.perf_counter() - began
                if counts_oob:
                    oob_score = float(model.oob_score_)
        return Pairs(seconds, oob_score)

    def result(self, fitted: Pairs) -> Mapping[str, NDArray[np.float64]]:
        """Return the times and the score."""
        return {"seconds": fitted.seconds, "oob_score": np.array([fitted.oob_score])}

    def ran(self, fitted: Pairs) -> str:
        """Return how many fits it is about."""
        return f"{len(fitted.seconds)} pairs of fits"


def _judge_cost(task: ForestTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge of what out-of-bag adds to a fit."""

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        with_oob, without = result["seconds"].T
        details = {
            "with_oob": float(np.median(with_oob)),
            "without": float(np.median(without)),
            "oob_score": float(result["oob_score"][0]),
        }
        return Verdict(float(np.median(with_oob / without)) - 1.0, details)

    return judge


SUITE = Suite(
    title="A forest with its out-of-bag score over one without",
    cases=[
        Case("covtype 100 000", partial(some_of_covtype, 100_000), ForestTask(n_trees=_N_TREES)),
        Case("letter", partial(in_single_precision, "letter"), ForestTask(n_trees=_N_TREES)),
        Case(
            "california_housing",
            partial(in_single_precision, "california_housing"),
            ForestTask("numbers", _N_TREES),
        ),
    ],
    contestants=[OutOfBag(HedgerowForest()), OutOfBag(ScikitLearnForest())],
    targets=(Target("at any cost", float("inf")), Target("15 % more at most", 0.15)),
    referee=_judge_cost,
    remark=REMARK,
)
