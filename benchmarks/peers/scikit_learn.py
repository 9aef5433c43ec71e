"""scikit-learn: LinearSVC, an older LIBLINEAR inside, and LogisticRegression with three solvers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.constant_column import with_constant_column
from benchmarks.peers.ladders import half_decades
from benchmarks.worker import FellBackError

__all__ = ["ScikitLearnLinear", "ScikitLearnLogistic"]

_MOST_PASSES = 10_000_000

_WIDEST_HESSIAN = 20_000
"""Features: 3.2 GB."""


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
        offered = ("hinge", "squared_hinge") if self.is_dual else ("squared_hinge",)
        if task.loss not in offered or task.intercept == "free":
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
            max_iter=_MOST_PASSES,
            random_state=0,
        )
        return model.fit(data.X, data.y)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Planes."""
        return {"coef": fitted.coef_, "intercept": fitted.intercept_}

    def ran(self, fitted: Any) -> str:
        """Return the iterations; a class that was patched by another library is refused."""
        _refuse_patched(fitted)
        return f"liblinear, {np.max(fitted.n_iter_)} iterations"


@dataclass(frozen=True)
class _Machines:
    """A fitted model for each binary problem; the last coefficient may be the intercept."""

    models: Sequence[Any]
    has_column: bool


@dataclass(frozen=True)
class ScikitLearnLogistic:
    """``sklearn.linear_model.LogisticRegression(solver=...)``, one against the rest."""

    solver: str
    packages = ("scikit-learn",)
    is_ours = False

    @property
    def name(self) -> str:
        """The solver is part of the name."""
        return f"scikit-learn {self.solver}"

    def threads(self, allowed: int) -> int:
        """All of them: for BLAS, and for several classes side by side."""
        return allowed

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Tolerances of its stopping rule; the intercept of its LIBLINEAR is never free."""
        if task.loss != "logistic" or (task.intercept == "free" and self.solver == "liblinear"):
            return ()
        return half_decades(1.0 if self.solver != "lbfgs" else 1e-1, 1e-9)

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> _Machines:
        """Fit with no limit but the tolerance; a penalised intercept may need a constant column."""
        from sklearn.linear_model import LogisticRegression

        self._check_width(data.X.shape[1])
        has_column = task.intercept == "penalized" and self.solver != "liblinear"
        model = LogisticRegression(
            C=task.C,
            solver=self.solver,
            tol=tolerance,
            max_iter=_MOST_PASSES,
            fit_intercept=not has_column,
        )
        X = with_constant_column(data.X, "csr") if has_column else data.X
        return _Machines(_one_against_the_rest(model, X, data.y, n_threads), has_column)

    def result(self, fitted: _Machines) -> Mapping[str, NDArray[np.float64]]:
        """Planes."""
        coef = np.vstack([model.coef_ for model in fitted.models])
        if fitted.has_column:
            return {"coef": coef[:, :-1], "intercept": coef[:, -1]}
        return {"coef": coef, "intercept": np.hstack([m.intercept_ for m in fitted.models])}

    def ran(self, fitted: _Machines) -> str:
        """Return the iterations; a class that was patched by another library is refused."""
        for model in fitted.models:
            _refuse_patched(model)
        return f"{self.solver}, {max(np.max(m.n_iter_) for m in fitted.models)} iterations"

    def _check_width(self, n_features: int) -> None:
        """Refuse what scikit-learn would only find out after minutes."""
        if self.solver == "newton-cholesky" and n_features > _WIDEST_HESSIAN:
            gigabytes = 8 * n_features**2 / 1e9
            msg = f"its Hessian of {n_features} features would take {gigabytes:.0f} GB"
            raise MemoryError(msg)


def _one_against_the_rest(
    model: Any, X: Any, y: NDArray[np.int64], n_threads: int
) -> Sequence[Any]:
    """Fit a model for each class, in threads; two classes, labelled -1 and +1, are one problem.

    Threads, as a contestant's process may not start others, and most of a fit does not hold the
    interpreter's lock. Each has BLAS to itself, as joblib's processes would: two fits that share
    its threads wait for each other.
    """
    if y.max() == 1:
        return [model.fit(X, y)]
    from joblib import parallel_config
    from sklearn.multiclass import OneVsRestClassifier
    from threadpoolctl import threadpool_limits

    with parallel_config("threading"), threadpool_limits(1, user_api="blas"):
        machines: Sequence[Any] = OneVsRestClassifier(model, n_jobs=n_threads).fit(X, y).estimators_
    return machines


def _refuse_patched(model: Any) -> None:
    """Raise FellBackError unless the class is scikit-learn's own."""
    module = type(model).__module__
    if not module.startswith("sklearn."):
        msg = f"{type(model).__name__} is {module}'s; run it without the patch"
        raise FellBackError(msg)
