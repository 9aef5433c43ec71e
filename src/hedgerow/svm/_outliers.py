"""What kernel machines without targets share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from hedgerow._base.parameters import whole_number
from hedgerow._base.state.rules import AttributeRule, whole_numbers
from hedgerow.data.rows import Rows, dense
from hedgerow.data.training_data import WeightedRows, check_rows
from hedgerow.kernels.gram import Gram
from hedgerow.monitor import monitored_fit
from hedgerow.problems.kernel import KernelProblem, KernelSolution
from hedgerow.svm._coefficients import Found, of_planes
from hedgerow.svm._machine import FITTED_RULES, KernelMachine, Part

__all__ = ["FITTED_OUTLIER_RULES", "KernelOutlierMachine"]

Vector = NDArray[np.float64]

ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9, np.dtype(object): 1e-9}
"""What counts as rounding in rows of either precision, or of objects."""

FITTED_OUTLIER_RULES: Mapping[str, AttributeRule] = {
    **FITTED_RULES,
    "n_support_": whole_numbers("planes"),
    "n_iter_": whole_number(0),
}
"""Rules of the fitted attributes that these machines have."""


class KernelOutlierMachine(OutlierMixin, KernelMachine):
    """A kernel machine that tells rows like those it has seen from others."""

    n_iter_: int

    @monitored_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            The rows; with ``kernel="precomputed"`` the kernel of each with each.
        y : None
            Ignored; present for compatibility with scikit-learn.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        self
            A NotCertifiedWarning is issued if the violation remains above ``tol``.
        """
        self._check()
        data = check_rows(self, X, sample_weight, item=self._item_rule(X))
        space, part = self._space(data.X, data.sample_weight), self._part(data)
        results = self._solve(space, [part])
        self._keep(data, part, results[0][0])
        self.n_iter_ = results[0][0].n_iter
        self._keep_report(results)
        return self

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return -1 for each outlier and +1 for each inlier.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            The predictions.
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def decision_function(self, X: Any) -> Vector:
        """Return the decision value of each row; negative for outliers.

        A value that is 0 up to rounding is returned as 0, so rows on the boundary are inliers.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The decision values.
        """
        rows, matrix = self._rows_to_score(X)
        inside, size = self._inside(rows, matrix)
        return np.where(np.abs(inside) <= ROUNDING[rows.dtype] * size, 0.0, inside)

    @abstractmethod
    def _inside(self, rows: Rows, matrix: Any) -> tuple[Vector, float]:
        """Return how far inside the rows are, and the size of what that is a difference of."""

    @abstractmethod
    def _surface(self, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem of rows of these weights."""

    def _part(self, data: WeightedRows) -> Part:
        """Return the problem of the rows with weight, begun at the fit before if it is to."""
        points = np.flatnonzero(data.sample_weight > 0)
        surface = self._surface(data.sample_weight[points])
        n_rows = len(data.sample_weight)
        if not (self.warm_start and hasattr(self, "dual_coef_") and self._has_support(n_rows)):
            return Part(points, surface)
        before = np.zeros(n_rows)
        before[self.support_] = dense(self.dual_coef_)[0]
        return Part(points, surface, before[points])

    def _keep(self, data: WeightedRows, part: Part, solution: KernelSolution) -> None:
        """Set the support vectors."""
        found = Found(part.points, solution.beta, float(solution.figures["intercept"]))
        one_class = np.zeros(len(data.sample_weight), dtype=np.int64)
        self._keep_support(data, *of_planes([found], one_class, 1))
        self.intercept_ = np.array([found.intercept])
