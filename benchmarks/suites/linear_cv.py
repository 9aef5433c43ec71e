"""C chosen by cross-validation: 20 values, five folds, and the machine with the chosen one.

The quality that is judged is the test accuracy of that machine: how far it is below the best that any
of the values reaches, on planes computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, from_folder
from benchmarks.objectives import accuracy

__all__ = ["SUITE", "GridTask", "HedgerowGrid", "ScikitLearnGrid", "best_on_the_grid"]

N_VALUES, N_FOLDS = 20, 5


@dataclass(frozen=True)
class GridTask:
    """Choose C among 20 values from 10^low to 10^high for a squared hinge."""

    low: float
    high: float

    @property
    def Cs(self) -> NDArray[np.float64]:  # noqa: N802 - C is C
        """The values."""
        return np.logspace(self.low, self.high, N_VALUES)


class _Chooser:
    """What both have in common: one rung, and a fitted model with a plane a class."""

    packages: tuple[str, ...]
    is_ours = False

    def threads(self, allowed: int) -> int:
        """All of them."""
        return allowed

    def ladder(self, task: GridTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """Everybody's default tolerance."""
        return (1e-4,)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Return the planes of the machine with the chosen C."""
        return {"coef": fitted.coef_, "intercept": fitted.intercept_}


class HedgerowGrid(_Chooser):
    """``hedgerow.LinearSVCCV``; the certificate of the last fit is part of it."""

    name = "hedgerow"
    packages = ("hedgerow",)
    is_ours = True

    def fit(self, task: GridTask, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Choose C and fit."""
        from hedgerow import LinearSVCCV

        model = LinearSVCCV(
            Cs=task.Cs,
            cv=N_FOLDS,
            tol=tolerance,
            intercept="penalized",
            n_jobs=n_threads,
            random_state=0,
        )
        return model.fit(data.X, data.y)

    def ran(self, fitted: Any) -> str:
        """Return the chosen C and the solver of the last fit."""
        return f"C={fitted.C_:g}, {fitted.solver_}, {fitted.status_}"


class ScikitLearnGrid(_Chooser):
    """``GridSearchCV`` over scikit-learn's ``LinearSVC``, jobs in threads: LIBLINEAR holds no lock."""

    name = "scikit-learn"
    packages = ("scikit-learn",)

    def fit(self, task: GridTask, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Choose C and fit."""
        from joblib import parallel_config
        from sklearn.model_selection import GridSearchCV
        from sklearn.svm import LinearSVC

        machine = LinearSVC(tol=tolerance, random_state=0)
        search = GridSearchCV(machine, {"C": task.Cs}, cv=N_FOLDS, n_jobs=n_threads)
        with parallel_config("threading"):
            return search.fit(data.X, data.y).best_estimator_

    def ran(self, fitted: Any) -> str:
        """Return the chosen C."""
        return f"C={fitted.C:g}, liblinear"


def best_on_the_grid(task: GridTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001 - a referee's form
    """Return a judge by the best test accuracy that any C of the grid reaches."""
    from hedgerow import LinearSVC, regularization_path

    model = LinearSVC(intercept="penalized", tol=1e-3, random_state=0)
    path = regularization_path(model, data.X, data.y, Cs=task.Cs)
    test = data.X_test, data.y_test
    best = max(accuracy(*test, *plane) for plane in zip(path.coefs, path.intercepts, strict=True))

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        reached = accuracy(*test, result["coef"], result["intercept"])
        return Verdict(best - reached, {"test_accuracy": reached, "best_test_accuracy": best})

    return judge


SUITE = Suite(
    title="C by cross-validation: 20 values, 5 folds, squared hinge",
    cases=[
        Case("a9a", from_folder("a9a"), GridTask(-3, 3)),
        Case("ijcnn1", from_folder("ijcnn1"), GridTask(-3, 3)),
        Case("20newsgroups", from_folder("20newsgroups"), GridTask(-2, 2)),
    ],
    contestants=[HedgerowGrid(), ScikitLearnGrid()],
    targets=(Target("test accuracy within 0.5 points of the best C's", 0.005),),
    referee=best_on_the_grid,
)
