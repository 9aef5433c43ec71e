"""skglm's LinearSVC: coordinate descent on working sets of the dual, compiled by numba."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades

__all__ = ["SkglmLinear"]


class SkglmLinear:
    """``skglm.LinearSVC``, which has the hinge loss and no intercept of its own."""

    name = "skglm"
    packages = ("skglm",)
    is_ours = False

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: its solver has no threads."""
        return 1

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Tolerances of its optimality conditions."""
        return half_decades(1.0, 1e-9) if task.loss == "hinge" else ()

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Append the constant column that carries the penalised intercept, and fit."""
        from skglm import LinearSVC

        ones = np.ones((len(data.y), 1))
        X = (
            sparse.hstack([data.X, ones], "csc")
            if sparse.issparse(data.X)
            else np.hstack([data.X, ones])
        )
        model = LinearSVC(C=task.C, tol=tolerance, max_iter=1000, fit_intercept=False)
        return model.fit(X, data.y)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Planes; the last coefficient is the intercept."""
        return {"coef": fitted.coef_[:, :-1], "intercept": fitted.coef_[:, -1]}

    def ran(self, fitted: Any) -> str:
        """Return the working sets it went through."""
        return f"Anderson coordinate descent, {np.max(fitted.n_iter_)} working sets"
