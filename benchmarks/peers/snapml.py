"""Snap ML's support vector machine and logistic regression: dual coordinate descent on several threads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.machine import describe_machine
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades
from benchmarks.worker import FellBackError

__all__ = ["SnapmlLinear"]


class SnapmlLinear:
    """``snapml.SupportVectorMachine`` or ``LogisticRegression``; their regularizer is 1 / C."""

    name = "snapml"
    packages = ("snapml",)
    is_ours = False

    def threads(self, allowed: int) -> int:
        """All of them."""
        return allowed

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Largest changes of a coefficient."""
        return half_decades(1e-1, 1e-9) if task.intercept == "penalized" else ()

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Fit with no limit but the tolerance."""
        from snapml import LogisticRegression, SupportVectorMachine

        settings = {
            "regularizer": 1.0 / task.C,
            "tol": tolerance,
            "max_iter": 10_000_000,
            "fit_intercept": True,
            "n_jobs": n_threads,
            "random_state": 0,
        }
        model = (
            LogisticRegression(**settings)
            if task.loss == "logistic"
            else SupportVectorMachine(loss=task.loss, **settings)
        )
        model.fit(data.X, data.y)
        return model

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Planes."""
        coef = np.atleast_2d(np.asarray(fitted.coef_, dtype=np.float64))
        return {"coef": coef, "intercept": np.asarray(fitted.intercept_, np.float64).ravel()}

    def ran(self, fitted: Any) -> str:
        """Return which of its two builds ran; it takes the slow one if it misreads NumPy's flags."""
        has_fast_build = "snapml.libsnapmllocal3_avx2" in sys.modules
        if "avx2" in describe_machine()["isa"] and not has_fast_build:
            msg = "Snap ML took its generic build on a machine with AVX2; try another NumPy"
            raise FellBackError(msg)
        build = "avx2" if has_fast_build else "generic"
        return f"{'gpu' if fitted.use_gpu else 'cpu'}, {build} build"
