"""scikit-learn's LinearSVC: an older LIBLINEAR inside; dual coordinate descent or primal Newton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades
from benchmarks.worker import FellBackError

__all__ = ["ScikitLearnLinear"]


@dataclass(frozen=True)
class ScikitLearnLinear:
    """``sklearn.svm.LinearSVC(dual=...)``; only the dual form has the hinge loss."""

    is_dual: bool
    packages = ("scikit-learn",)
    is_ours = False

    @property
    def name(self) -> str:
        """The form is part of the name."""
        return f"scikit-learn {'dual' if self.is_dual else 'primal'}"

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: it has no threads."""
        return 1

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Tolerances of its stopping rule."""
        if task.loss == "hinge" and not self.is_dual:
            return ()
        return half_decades(1.0, 1e-9)

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Fit with no limit but the tolerance."""
        from sklearn.svm import LinearSVC

        model = LinearSVC(
            loss=task.loss,
            C=task.C,
            dual=self.is_dual,
            tol=tolerance,
            max_iter=10_000_000,
            random_state=0,
        )
        return model.fit(data.X, data.y)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Planes."""
        return {"coef": fitted.coef_, "intercept": fitted.intercept_}

    def ran(self, fitted: Any) -> str:
        """Return the iterations; a class that was patched by another library is refused."""
        module = type(fitted).__module__
        if not module.startswith("sklearn."):
            msg = f"LinearSVC is {module}'s; run it without the patch"
            raise FellBackError(msg)
        return f"liblinear, {np.max(fitted.n_iter_)} iterations"
