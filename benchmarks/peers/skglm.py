"""skglm: coordinate descent on working sets, compiled by numba; of the dual for the hinge loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.constant_column import with_constant_column
from benchmarks.peers.ladders import half_decades

__all__ = ["SkglmLinear"]

_LOOSEST = {"hinge": 1.0, "logistic": 1e-1}


class SkglmLinear:
    """``skglm.LinearSVC``, or ``GeneralizedLinearEstimator`` with its logistic datafit.

    Its penalties leave its own intercept out. The ridge is its elastic net without the lasso: the
    solver for its plain L2 penalty, SciPy's L-BFGS, is mostly slower.
    """

    name = "skglm"
    packages = ("skglm",)
    is_ours = False

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: its solver has no threads."""
        return 1

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Tolerances of its optimality conditions."""
        if task.loss not in _LOOSEST or task.intercept == "free":
            return ()
        return half_decades(_LOOSEST[task.loss], 1e-9)

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Append the constant column that carries the penalised intercept, and fit."""
        X = with_constant_column(data.X, "csc")
        settings = {"tol": tolerance, "max_iter": 1000, "fit_intercept": False}
        if task.loss == "hinge":
            return _support_vector_machine(task, X, data.y, settings)
        return _logistic_regressions(task, X, data.y, settings)

    def result(self, fitted: Sequence[Any]) -> Mapping[str, NDArray[np.float64]]:
        """Planes; the last coefficient is the intercept."""
        coef = np.vstack([model.coef_ for model in fitted])
        return {"coef": coef[:, :-1], "intercept": coef[:, -1]}

    def ran(self, fitted: Sequence[Any]) -> str:
        """Return the working sets it went through."""
        n_sets = max(np.max(model.n_iter_) for model in fitted)
        return f"Anderson coordinate descent, {n_sets} working sets"


def _support_vector_machine(
    task: LinearTask, X: Any, y: NDArray[np.int64], settings: Mapping[str, Any]
) -> Sequence[Any]:
    """Fit the machine with the hinge loss, which has the planes of all classes."""
    from skglm import LinearSVC

    return [LinearSVC(C=task.C, **settings).fit(X, y)]


def _logistic_regressions(
    task: LinearTask, X: Any, y: NDArray[np.int64], settings: Mapping[str, Any]
) -> Sequence[Any]:
    """Fit a machine with the logistic loss for each class: skglm cannot clone its own for several.

    skglm takes the mean of the loss over the rows.
    """
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import AndersonCD

    ridge = L1_plus_L2(1.0 / (task.C * len(y)), l1_ratio=0.0)
    positive = (1,) if y.max() == 1 else np.unique(y)
    return [
        GeneralizedLinearEstimator(Logistic(), ridge, AndersonCD(**settings)).fit(X, y == label)
        for label in positive
    ]
