"""Predictions of kernel machines: 50 000 rows at once, and rows one by one.

Everybody predicts with a machine of its own, fitted at the default tolerance before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, some_rows
from benchmarks.suites.kernel import CASES, CONTESTANTS, REMARK

__all__ = ["SUITE", "PredictTask", "Predictor", "with_test_rows"]

MANY, FEW = 50_000, 200


@dataclass(frozen=True)
class PredictTask:
    """To predict all test rows with this machine, at once or by one call a row."""

    machine: Any
    one_by_one: bool


def with_test_rows(
    n_rows: int, load: Callable[[Path | None], Dataset], folder: Path | None
) -> Dataset:
    """Return a data set with so many test rows: some, or all again and again."""
    data = load(folder)
    picked = np.arange(n_rows) % len(data.y_test)
    return Dataset(data.X, data.y, some_rows(data.X_test, picked), data.y_test[picked])


@dataclass
class Predictor:
    """Somebody's machine, which is fitted when its process gets the data."""

    fitter: Any
    _fitted: Any = field(default=None, init=False, repr=False)

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
        """Whether we predict."""
        return bool(self.fitter.is_ours)

    def threads(self, allowed: int) -> int:
        """As many as who fits."""
        return int(self.fitter.threads(allowed))

    def ladder(self, task: PredictTask) -> Sequence[float]:
        """One rung, the default tolerance of the fit, if the machine is offered."""
        return tuple(self.fitter.ladder(task.machine)[:1])

    def prepare(self, task: PredictTask, data: Dataset, n_threads: int) -> None:
        """Fit."""
        tolerance = self.ladder(task)[0]
        self._fitted = self.fitter.fit(task.machine, data, tolerance, n_threads)

    def fit(
        self,
        task: PredictTask,
        data: Dataset,
        tolerance: float,  # noqa: ARG002 - the protocol's form
        n_threads: int,  # noqa: ARG002
    ) -> NDArray[Any]:
        """Predict."""
        X = data.X_test
        if not task.one_by_one:
            return np.asarray(self.fitter.predict(self._fitted, X))
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        return np.concatenate([self.fitter.predict(self._fitted, row) for row in rows])

    def result(self, fitted: NDArray[Any]) -> Mapping[str, NDArray[np.float64]]:
        """Return the predictions."""
        return {"predicted": fitted.astype(np.float64)}

    def ran(self, fitted: NDArray[Any]) -> str:  # noqa: ARG002 - the protocol's form
        """Return what who fits says of the machine."""
        return str(self.fitter.ran(self._fitted))


def _judge_error(task: PredictTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the error: of classes the share of wrong ones, else 1 - R^2."""
    y = data.y_test

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        predicted = result["predicted"]
        if task.machine.kind == "classes":
            return Verdict(float(np.mean(predicted != y)))
        return Verdict(float(np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)))

    return judge


SUITE = Suite(
    title="Predictions of kernel machines",
    cases=[
        Case(f"{case.name}, {words}", partial(with_test_rows, n_rows, case.load), task)
        for case in CASES
        for n_rows, one_by_one, words in (
            (MANY, False, f"{MANY // 1000} 000 rows"),
            (FEW, True, f"{FEW} times one row"),
        )
        for task in [PredictTask(case.task, one_by_one)]
    ],
    contestants=[Predictor(fitter) for fitter in CONTESTANTS],
    targets=(Target("predicted", float("inf")),),
    referee=_judge_error,
    remark=REMARK,
)
