"""What forests for numbers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hedgerow._parameters import Rule
from hedgerow.ensemble._forest import Forest
from hedgerow.ensemble._forest_fit import FOREST_RULES
from hedgerow.ensemble._members import ForestTreeRegressor
from hedgerow.monitor import monitored_fit
from hedgerow.tree._training import ValueTargets, value_targets

__all__ = ["NUMBER_FOREST_RULES", "NumberForest"]

Vector: TypeAlias = NDArray[np.float64]

NUMBER_FOREST_RULES: Mapping[str, Rule] = {
    **FOREST_RULES,
    "criterion": ForestTreeRegressor._rules["criterion"],
}
"""Rules of the parameters that forests for numbers have."""


class NumberForest(RegressorMixin, Forest):
    """A forest whose trees hold numbers."""

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, oob_group: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows; values may be missing, and columns of a dataframe or of objects may be categories.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The numbers.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows in every tree that has them in its sample; a row of weight 0 is as if
            absent.
        oob_group : "equal rows", array of shape (n_samples,) or None
            Rows of one label are in the sample of a tree, or out of it, together, so that what a tree
            knows of one of them does not flatter its answer on another. "equal rows": those are, whose
            features are all equal. ``max_samples`` counts groups then.

        Returns
        -------
        self
            Fitted.
        """
        self._fit(X, y, sample_weight, oob_group)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the mean of the trees' numbers for each row.

        Parameters
        ----------
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The numbers.
        """
        return _without_axes(self._sums(X) / len(self.trees_))

    @property
    def oob_prediction_(self) -> Vector:
        """The mean of the trees that have not seen the row; NaN if all have."""
        return _without_axes(self._out_of_bag("oob_prediction_").prediction)

    def _targets(self, y: Any, sample_weight: Any, n_rows: int) -> ValueTargets:
        return value_targets(self, y, sample_weight, n_rows)

    def _keep_classes(self, classes: tuple[NDArray[Any], ...]) -> None:
        pass

    def _known_classes(self) -> tuple[NDArray[Any], ...]:
        return ()

    def _member_class(self) -> type:
        return ForestTreeRegressor

    def __sklearn_tags__(self) -> Any:
        """Say what input and targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


def _without_axes(values: Vector) -> Vector:
    """Return values of shape (n, n_outputs, 1) as users want them."""
    return values[:, 0, 0] if values.shape[1] == 1 else values[:, :, 0]
