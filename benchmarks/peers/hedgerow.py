"""Hedgerow itself, timed like the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.intervals import LEVEL, BootstrapTask, columns
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades

__all__ = ["HedgerowBootstrap", "HedgerowLinear"]


class HedgerowLinear:
    """``hedgerow.LinearSVC`` with the solver it picks; its certificate is part of the fit."""

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
            intercept=task.intercept,
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


@dataclass(frozen=True)
class HedgerowBootstrap:
    """``hedgerow.bootstrap`` of a statistic it knows by name."""

    is_threaded: bool = True
    packages = ("hedgerow",)
    is_ours = True

    @property
    def name(self) -> str:
        """With all threads it is simply Hedgerow."""
        return "hedgerow" if self.is_threaded else "hedgerow, one thread"

    def threads(self, allowed: int) -> int:
        """All of them, or one."""
        return allowed if self.is_threaded else 1

    def ladder(self, task: BootstrapTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """One rung: the number of resamples is given."""
        return (0.0,)

    def fit(self, task: BootstrapTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Draw the resamples and make the interval."""
        from hedgerow import bootstrap

        return bootstrap(
            columns(task, data),
            task.statistic.lower().replace(" ", "_"),
            n_resamples=task.n_resamples,
            confidence_level=LEVEL,
            method=task.method,
            random_state=0,
            n_jobs=n_threads,
        )

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Estimate, standard error and interval."""
        low, high = fitted.confidence_interval
        figures = {
            "estimate": fitted.estimate,
            "standard_error": fitted.standard_error,
            "low": low,
            "high": high,
        }
        return {name: np.asarray(value, dtype=np.float64) for name, value in figures.items()}

    def ran(self, fitted: Any) -> str:
        """Return how many resamples there were."""
        return f"{fitted.n_resamples} resamples"
