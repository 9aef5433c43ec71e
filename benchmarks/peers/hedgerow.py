"""Hedgerow's own linear machine, timed like the others; its certificate is part of the fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades

__all__ = ["HedgerowLinear"]


class HedgerowLinear:
    """``hedgerow.LinearSVC`` with the solver it picks."""

    name = "hedgerow"
    packages = ("hedgerow",)
    is_ours = True

    def threads(self, allowed: int) -> int:
        """All of them."""
        return allowed

    def ladder(self, task: LinearTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """Relative gaps to ask for."""
        return half_decades(1e-1, 1e-9)

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Fit and certify."""
        from hedgerow import LinearSVC

        model = LinearSVC(
            loss=task.loss,
            C=task.C,
            intercept="penalized",
            tol=tolerance,
            n_jobs=n_threads,
            random_state=0,
        )
        return model.fit(data.X, data.y)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Planes, and alpha for the lower bound."""
        return {"coef": fitted.coef_, "intercept": fitted.intercept_, "alpha": fitted.alpha_}

    def ran(self, fitted: Any) -> str:
        """Return the solver that ``solver="auto"`` took, and how it ended."""
        return f"{fitted.solver_}, {fitted.status_}"
