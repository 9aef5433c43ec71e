"""Kernel machines with scikit-learn's classes: its own, scikit-learn-intelex's and ours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.kernel_objectives import KernelTask, of_sorted_pairs
from benchmarks.peers.intelex_log import accelerated
from benchmarks.peers.ladders import half_decades
from benchmarks.worker import FellBackError

__all__ = ["HedgerowKernel", "IntelexKernel", "ScikitLearnKernel"]


class _LikeScikitLearn(ABC):
    """An ``SVC`` and an ``SVR`` whose parameters and attributes are those of scikit-learn."""

    name: str
    packages: tuple[str, ...]
    is_ours = False

    def threads(self, allowed: int) -> int:
        """All of them."""
        return allowed

    def ladder(self, task: KernelTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """Largest violations of the optimality conditions: everybody's default first."""
        return half_decades(1e-3, 1e-5)

    def fit(self, task: KernelTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Fit with no limit but the tolerance."""
        settings = {"C": task.C, "gamma": task.gamma, "tol": tolerance}
        if task.kind == "numbers":
            settings["epsilon"] = task.epsilon
        with self._watched():
            return self._machine(task)(**settings).fit(data.X, data.y)

    def predict(self, fitted: Any, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows."""
        with self._watched():
            return np.asarray(fitted.predict(X))

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Coefficients and intercepts, problem by problem."""
        n_rows: int = fitted.shape_fit_[0]
        coef, support = _dense(fitted.dual_coef_), np.asarray(fitted.support_)
        intercept = np.asarray(fitted.intercept_, dtype=np.float64).ravel()
        if not hasattr(fitted, "classes_"):
            row = np.zeros((1, n_rows))
            row[0, support] = coef[0]
            return {"dual_coef": row, "intercept": intercept}
        # Of two classes scikit-learn turns the signs of LIBSVM around.
        sign = -1.0 if len(fitted.classes_) == 2 else 1.0
        pairs = sign * coef, support, fitted.n_support_, sign * intercept
        return of_sorted_pairs(*pairs, labels=fitted.classes_, n_rows=n_rows)

    def ran(self, fitted: Any) -> str:
        """Return how many steps it took."""
        return f"{np.max(getattr(fitted, 'n_iter_', 0))} iterations"

    @abstractmethod
    def _machine(self, task: KernelTask) -> Any:
        """Return the class of the task."""

    def _watched(self) -> AbstractContextManager[None]:
        """Return what notices that another library does the work."""
        return nullcontext()


class ScikitLearnKernel(_LikeScikitLearn):
    """``sklearn.svm.SVC`` and ``SVR``: an older LIBSVM, with the cache of 200 MB it has by default."""

    name = "scikit-learn"
    packages = ("scikit-learn",)

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: it has no threads."""
        return 1

    def ran(self, fitted: Any) -> str:
        """Return the iterations; a class that was patched by another library is refused."""
        module = type(fitted).__module__
        if not module.startswith("sklearn."):
            msg = f"{type(fitted).__name__} is {module}'s; run it without the patch"
            raise FellBackError(msg)
        return super().ran(fitted)

    def _machine(self, task: KernelTask) -> Any:
        from sklearn.svm import SVC, SVR

        return SVC if task.kind == "classes" else SVR


class IntelexKernel(_LikeScikitLearn):
    """``sklearnex.svm.SVC`` and ``SVR``; refused where scikit-learn does the work."""

    name = "scikit-learn-intelex"
    packages = ("scikit-learn-intelex",)

    def _machine(self, task: KernelTask) -> Any:
        from sklearnex.svm import SVC, SVR

        return SVC if task.kind == "classes" else SVR

    def _watched(self) -> AbstractContextManager[None]:
        return accelerated()


class HedgerowKernel(_LikeScikitLearn):
    """``hedgerow.SVC`` and ``SVR``; the certificate is part of the fit."""

    name = "hedgerow"
    packages = ("hedgerow",)
    is_ours = True

    def ladder(self, task: KernelTask) -> Sequence[float]:
        """Return those of all, unless this version has no such machine."""
        return super().ladder(task) if self.is_there() else ()

    def ran(self, fitted: Any) -> str:
        """Return the iterations and how it ended."""
        return f"{super().ran(fitted)}, {fitted.status_}"

    @staticmethod
    def is_there() -> bool:
        """Say whether this version of Hedgerow has kernel machines."""
        import hedgerow

        return {"SVC", "SVR"} <= set(hedgerow.__all__)

    def _machine(self, task: KernelTask) -> Any:
        import hedgerow

        return getattr(hedgerow, "SVC" if task.kind == "classes" else "SVR")


def _dense(coef: Any) -> NDArray[np.float64]:
    """Return coefficients, which are sparse where the rows were, as an array."""
    return np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
