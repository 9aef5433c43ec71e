"""The trees of a forest as estimators of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import UnavailableError
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree._estimator import PrunableTree
from hedgerow.tree._growth import Growth
from hedgerow.tree._table import FeatureTable

__all__ = ["ForestTreeClassifier", "ForestTreeRegressor", "Members"]

Vector = NDArray[np.float64]


class Members(Sequence[Any]):
    """A sequence of fitted trees, each unpacked when it is asked for and not kept."""

    def __init__(self, n_trees: int, member: Callable[[int], Any]) -> None:
        self._n_trees = n_trees
        self._member = member

    def __len__(self) -> int:
        return self._n_trees

    @overload
    def __getitem__(self, number: int) -> Any: ...
    @overload
    def __getitem__(self, number: slice) -> list[Any]: ...
    def __getitem__(self, number: int | slice) -> Any:
        """Return a tree, or a list of trees."""
        # A range knows negative numbers, slices and their limits.
        found = range(self._n_trees)[number]
        return self._member(found) if isinstance(found, int) else list(map(self._member, found))

    def __repr__(self) -> str:
        return f"<{self._n_trees} trees, each made when it is asked for>"


class _OfForest(PrunableTree):
    """A tree that was taken out of a forest, which keeps no record of how it grew.

    Its ``tree_`` has no impurities and no numbers of rows; what its features matter is known.
    """

    forest_importances_: Vector

    _takes_any = True

    @property
    def feature_importances_(self) -> Vector:
        """How much each feature lowers the impurity, of all that the tree does; they sum to 1, or are 0."""
        if "forest_importances_" in vars(self):
            return self.forest_importances_.copy()
        return super().feature_importances_

    def prune(self, method: str = "significance", **options: Any) -> Any:
        """Refuse: what a split brings is not known of a tree that was taken out of a forest."""
        if "forest_importances_" in vars(self):
            msg = (
                "a tree of a forest keeps no record of its growth to prune it by; set ccp_alpha for the "
                "forest, or prune a tree that was fitted by itself"
            )
            raise UnavailableError(msg)
        return super().prune(method, **options)

    def _keep(self, table: FeatureTable, growth: Growth) -> None:
        if "forest_importances_" in vars(self):
            del self.forest_importances_
        super()._keep(table, growth)


class ForestTreeClassifier(_OfForest, DecisionTreeClassifier):
    """A tree of a forest for classes: a DecisionTreeClassifier without a record of its growth."""


class ForestTreeRegressor(_OfForest, DecisionTreeRegressor):
    """A tree of a forest for numbers: a DecisionTreeRegressor without a record of its growth."""
