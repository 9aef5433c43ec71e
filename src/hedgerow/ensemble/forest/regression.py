"""What forests for numbers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hedgerow._base.parameters import Rule, any_of, one_of, true_or_false
from hedgerow._base.state.rules import AttributeRule, instance_of, optional
from hedgerow._engine import check_n_threads
from hedgerow.ensemble.forest.fit import FITTED_RULES, FOREST_RULES
from hedgerow.ensemble.forest.leaf_targets import LeafTargetRecorder, LeafTargets
from hedgerow.ensemble.forest.quantiles import QuantileForest
from hedgerow.ensemble.forest.training import ForestTrainingData
from hedgerow.ensemble.forest.tree_estimators import ForestTreeRegressor
from hedgerow.errors import DataError
from hedgerow.monitor import monitored_fit
from hedgerow.tree import DecisionTreeRegressor
from hedgerow.tree._partial_dependence import partial_dependence, read_points
from hedgerow.tree._table import prediction_rows
from hedgerow.tree._training import ValueTargets, value_targets

__all__ = ["FITTED_FOREST_REGRESSOR_RULES", "FOREST_REGRESSOR_RULES", "ForestRegressorBase"]

Vector: TypeAlias = NDArray[np.float64]

FOREST_REGRESSOR_RULES: Mapping[str, Rule] = {
    **FOREST_RULES,
    "criterion": ForestTreeRegressor._rules["criterion"],
    "keep_targets": any_of(one_of("auto"), true_or_false),
}
"""Rules of the parameters that forests for numbers have."""

FITTED_FOREST_REGRESSOR_RULES: Mapping[str, AttributeRule] = {
    **FITTED_RULES,
    "leaf_targets_": optional(
        instance_of(
            LeafTargets,
            trees=lambda kept: len(kept.tree_ends),
            outputs=lambda kept: kept.n_outputs,
        )
    ),
}
"""Rules of the fitted attributes that forests for numbers have."""


class ForestRegressorBase(RegressorMixin, QuantileForest):
    """A forest whose trees hold numbers."""

    keep_targets: Any

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, oob_group: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows; values may be missing, and columns of a data frame or of objects may
            be categorical.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The numbers.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows in every tree that has them in its sample; a row of weight 0 is as if
            absent.
        oob_group : "equal rows", array of shape (n_samples,) or None
            Rows of one label are in the sample of a tree, or out of it, together, so that what a
            tree knows of one of them does not flatter its answer on another. "equal rows": those
            are, whose features are all equal. ``max_samples`` counts groups then.

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
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
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

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Vector:
        """Return what ``sklearn.inspection.partial_dependence`` asks of forests for numbers."""
        columns = self.category_columns_
        points, features = read_points(columns, grid, target_features)
        total = np.zeros(len(points))
        for number in range(len(self.trees_)):
            tree = self.trees_.tree(number, columns.n_categories)
            total += partial_dependence(tree, points, features)[:, 0, 0]
        return total / len(self.trees_)

    def _targets(self, y: Any, sample_weight: Any, n_rows: int) -> ValueTargets:
        return value_targets(self, y, sample_weight, n_rows)

    def _target_keeper(self, planting: ForestTrainingData) -> LeafTargetRecorder | None:
        if not self.keep_targets:
            return None
        assert isinstance(planting.targets, ValueTargets)
        return LeafTargetRecorder(planting.targets, is_optional=self.keep_targets == "auto")

    def _keep_on(self, keeper: LeafTargetRecorder, planting: ForestTrainingData, X: Any) -> None:
        kept: LeafTargets | None = vars(self).get("leaf_targets_")
        if kept is None and keeper.is_optional:
            keeper.restore(None)
        elif kept is None:
            self._keep_again(keeper, planting, X)
        elif len(kept.values) and not np.array_equal(kept.values, keeper.values):
            msg = (
                "warm_start=True adds trees to a forest of the same rows, and y holds other numbers; "
                "give the same y, or set warm_start=False"
            )
            raise DataError(msg)
        else:
            keeper.restore(kept)

    def _keep_again(self, keeper: LeafTargetRecorder, planting: ForestTrainingData, X: Any) -> None:
        """Let a keeper take in trees that were grown without one: the rows must pass them again."""
        trees = self.trees_
        leaves = trees.core.leaves(prediction_rows(self, X), check_n_threads(self.n_jobs))
        for number, leaf_of_row in enumerate(leaves.T):
            value = trees.tree(number, planting.table.columns.n_categories).value
            counts = planting.sampler.counts(number)
            keeper.add(keeper.of_packed(leaf_of_row, value, counts), trees.core.nbytes)

    def _keep_targets(self, keeper: LeafTargetRecorder | None) -> None:
        if "leaf_targets_" in vars(self):
            del self.leaf_targets_
        kept = None if keeper is None else keeper.kept()
        if kept is not None:
            self.leaf_targets_ = kept

    def _keep_classes(self, classes: tuple[NDArray[Any], ...]) -> None:
        pass

    def _known_classes(self) -> tuple[NDArray[Any], ...]:
        return ()

    def _member_class(self) -> type:
        return ForestTreeRegressor

    def _tree_class(self) -> type:
        return DecisionTreeRegressor

    def __sklearn_tags__(self) -> Any:
        """Say what input and targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


def _without_axes(values: Vector) -> Vector:
    """Return values of shape (n, n_outputs, 1) as users want them."""
    return values[:, 0, 0] if values.shape[1] == 1 else values[:, :, 0]
