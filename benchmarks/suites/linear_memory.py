"""How much memory a linear classifier takes beyond its data, which are dense float32.

Every fit has a fresh process, which gets the data and fits a few rows before the count begins: what
is imported, compiled or started on the way is no part of the figure. That is the growth of the
resident size at its peak over 0.3 x the data + 100 bytes a row. The seconds are those of the whole
process, and mean nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Contestant, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, in_single_precision
from benchmarks.memory import in_fresh_process, peak_growth
from benchmarks.objectives import LinearTask, primal
from benchmarks.peers.hedgerow import HedgerowLinear
from benchmarks.peers.liblinear import Liblinear
from benchmarks.peers.scikit_learn import ScikitLearnLinear, ScikitLearnLogistic
from benchmarks.suites.linear import LOSSES

__all__ = ["SUITE", "Weighed", "allowance"]

_ROWS = (("covtype", 0.0625), ("mnist", 0.03125), ("ijcnn1", 32.0))

_WARM_UP_ROWS = 2000
"""Enough for the threads to start."""


def allowance(data: Dataset) -> float:
    """Return the bytes that a fit may take beyond its data."""
    return 0.3 * float(data.X.nbytes) + 100.0 * len(data.y)


@dataclass(frozen=True)
class Weighed:
    """A contestant whose fits are weighed, at one tolerance: memory hardly depends on it."""

    fitter: Contestant
    tolerance: float

    @property
    def name(self) -> str:
        """That of who fits."""
        return self.fitter.name

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of who fits."""
        return self.fitter.packages

    @property
    def is_ours(self) -> bool:
        """Whether we fit."""
        return self.fitter.is_ours

    def threads(self, allowed: int) -> int:
        """As many as who fits."""
        return self.fitter.threads(allowed)

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """One rung, if the task is offered."""
        return (self.tolerance,) if self.fitter.ladder(task) else ()

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Fit in a fresh process; return the result, the bytes beyond the data, and what ran."""
        rows = Dataset(data.X, data.y, data.X_test[:1], data.y_test[:1])
        return in_fresh_process(_weigh, self.fitter, task, rows, tolerance, n_threads)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Return the planes and the bytes."""
        result, n_bytes, _ = fitted
        return {**result, "bytes_beyond_data": np.array([n_bytes], dtype=np.float64)}

    def ran(self, fitted: Any) -> str:
        """Return what who fits says."""
        ran: str = fitted[2]
        return ran


def _weigh(
    fitter: Contestant, task: LinearTask, data: Dataset, tolerance: float, n_threads: int
) -> tuple[Mapping[str, NDArray[np.float64]], int, str]:
    """Fit a few rows, then all of them; return the result, the bytes that took, and what ran."""
    warnings.simplefilter("ignore")  # what did not converge is seen in its objective
    fitter.ran(fitter.fit(task, data.thinned(_WARM_UP_ROWS), tolerance, n_threads))
    fitted, n_bytes = peak_growth(partial(fitter.fit, task, data, tolerance, n_threads))
    return fitter.result(fitted), n_bytes, fitter.ran(fitted)


def _judge_memory(task: LinearTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the memory beyond the data over what is allowed."""

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        n_bytes = float(result["bytes_beyond_data"][0])
        objective = primal(task, data.X, data.y, result["coef"], result["intercept"])
        details = {"bytes_beyond_data": n_bytes, "objective": objective}
        return Verdict(n_bytes / allowance(data), details)

    return judge


SUITE = Suite(
    title="Memory of linear classifiers, dense float32",
    cases=[
        Case(
            f"{name} {loss}, {intercept} intercept",
            partial(in_single_precision, name),
            LinearTask(loss, C, intercept),
        )
        for name, C in _ROWS
        for loss in LOSSES
        for intercept in ("penalized", "free")
    ],
    contestants=[
        Weighed(HedgerowLinear(), 1e-4),
        Weighed(Liblinear(is_dual=True), 1e-1),
        Weighed(Liblinear(is_dual=False), 1e-2),
        Weighed(ScikitLearnLinear(is_dual=True), 1e-1),
        Weighed(ScikitLearnLinear(is_dual=False), 1e-2),
        Weighed(ScikitLearnLogistic("lbfgs"), 1e-3),
        Weighed(ScikitLearnLogistic("newton-cholesky"), 1e-3),
    ],
    targets=(
        Target("in any memory", float("inf")),
        Target("in the data x 1.3 + 100 bytes a row", 1.0),
    ),
    referee=_judge_memory,
)
