"""What kernel machines for values share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hedgerow._base.parameters import positive_number, whole_number
from hedgerow._base.state.rules import AttributeRule, whole_numbers
from hedgerow.data.rows import dense
from hedgerow.data.training_data import RegressionData, check_regression_data
from hedgerow.kernels.gram import Gram
from hedgerow.monitor import monitored_fit
from hedgerow.problems.kernel import KernelProblem
from hedgerow.svm._coefficients import Found, of_planes
from hedgerow.svm._machine import COMMON_RULES, FITTED_RULES, KernelMachine, Part

__all__ = ["FITTED_REGRESSOR_RULES", "REGRESSOR_RULES", "KernelRegressor"]

Vector = NDArray[np.float64]

REGRESSOR_RULES = {**COMMON_RULES, "C": positive_number()}
"""Rules of the parameters that machines for values have."""

FITTED_REGRESSOR_RULES: Mapping[str, AttributeRule] = {
    **FITTED_RULES,
    "n_support_": whole_numbers("planes"),
    "n_iter_": whole_number(0),
}
"""Rules of the fitted attributes that machines for values have."""


class KernelRegressor(RegressorMixin, KernelMachine):
    """A kernel machine for values."""

    C: float

    n_iter_: int

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            The rows; with ``kernel="precomputed"`` the kernel of each with each.
        y : array of shape (n_samples,)
            The values.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        self
            A NotCertifiedWarning is issued if the violation remains above ``tol``.
        """
        self._check()
        data = check_regression_data(self, X, y, sample_weight, item=self._item_rule(X))
        space, part = self._space(data.X, data.sample_weight), self._part(data)
        results = self._solve(space, [part])
        self._keep(data, part, results[0][0].figures, results[0][0].beta)
        self.n_iter_ = results[0][0].n_iter
        self._keep_report(results)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions.
        """
        return self._scores(X)[:, 0]

    @abstractmethod
    def _tube(self, target: Vector, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem of some values, each of which costs its weight."""

    def _part(self, data: RegressionData) -> Part:
        """Return the problem of the rows with weight, begun at the fit before if it is to."""
        points = np.flatnonzero(data.sample_weight > 0)
        tube = self._tube(data.targets[points], self.C * data.sample_weight[points])
        if not (self.warm_start and hasattr(self, "dual_coef_")):
            return Part(points, tube)
        if not self._has_support(len(data.targets)):
            return Part(points, tube)
        before = np.zeros(len(data.targets))
        before[self.support_] = dense(self.dual_coef_)[0]
        above, below = np.maximum(before, 0.0)[points], np.minimum(before, 0.0)[points]
        return Part(points, tube, np.concatenate([above, below]))

    def _keep(
        self, data: RegressionData, part: Part, figures: Mapping[str, Any], beta: Vector
    ) -> None:
        """Set the support vectors, whose coefficients are the sums of their two variables."""
        per_point = np.sum(beta.reshape(2, -1), axis=0)
        found = Found(part.points, per_point, float(figures["intercept"]))
        one_class = np.zeros(len(data.targets), dtype=np.int64)
        self._keep_support(data, *of_planes([found], one_class, 1))
        self.intercept_ = np.array([found.intercept])
