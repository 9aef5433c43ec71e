"""The trees of a forest as estimators of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensemble.forest.leaf_targets import LeafTargets
from hedgerow.ensemble.importance.impurity import TreeImportances
from hedgerow.ensemble.sampling import RowSampler
from hedgerow.errors import UnavailableError
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree._estimator import PrunableTree
from hedgerow.tree._growth import Growth
from hedgerow.tree._table import FeatureTable

__all__ = ["ForestTreeClassifier", "ForestTreeRegressor", "TreeOrigin"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeOrigin:
    """What a forest knows of one of its trees besides the tree.

    Attributes
    ----------
    importances : TreeImportances
        What its features matter.
    is_single : bool
        Whether it was grown on numbers of single precision.
    place : int
        Its place in the forest.
    sampler : RowSampler or None
        Draws its sample again, if that is known.
    leaf_targets : LeafTargets or None
        The targets of the forest's leaves, if they were kept.
    """

    importances: TreeImportances
    is_single: bool
    place: int = 0
    sampler: RowSampler | None = None
    leaf_targets: LeafTargets | None = None

    def __reduce__(self) -> tuple[type[TreeOrigin], tuple[Any, ...]]:
        # A tree that is pickled by itself does not take along what belongs to the whole forest.
        return TreeOrigin, (self.importances, self.is_single)


class _OfForest(PrunableTree):
    """A tree that was taken out of a forest, which does not keep all of what its growth found out.

    Of ``tree_``, ``n_candidates`` is 0 and ``n_node_samples`` is the weight of a node, rounded: a row
    counts as often as it was drawn. Impurities are computed again. For regression they are those of
    the targets in the leaves if the forest has kept these. If not, the leaves count as pure, and the
    impurity of an inner node is what the splits below it take off; that of the absolute error is NaN.
    """

    _origin: TreeOrigin

    _takes_any = True

    @property
    def feature_importances_(self) -> Vector:
        """How much each feature lowers the impurity, of all that the tree does; they sum to 1, or are 0."""
        if "_origin" in vars(self):
            return self._origin.importances.dense(self.n_features_in_)
        return super().feature_importances_

    def prune(self, method: str = "significance", **options: Any) -> Any:
        """Refuse: what a split brings is not known of a tree that was taken out of a forest."""
        if "_origin" in vars(self):
            msg = (
                "a tree of a forest keeps no record of its growth to prune it by; set ccp_alpha for the "
                "forest, or prune a tree that was fitted by itself"
            )
            raise UnavailableError(msg)
        return super().prune(method, **options)

    def _keep(self, table: FeatureTable, growth: Growth) -> None:
        if "_origin" in vars(self):
            del self._origin
        super()._keep(table, growth)


class ForestTreeClassifier(_OfForest, DecisionTreeClassifier):
    """A tree of a forest for classes: a DecisionTreeClassifier without a record of its growth."""


class ForestTreeRegressor(_OfForest, DecisionTreeRegressor):
    """A tree of a forest for numbers: a DecisionTreeRegressor without a record of its growth."""
