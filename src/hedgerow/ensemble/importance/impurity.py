"""Feature importances of each tree of a forest, computed while it is grown and stored compactly.

Packed trees know no impurities. Of every tree the three measures of :mod:`hedgerow.tree.importance`
are kept for the features that it uses, tree after tree, as the rows of a sparse matrix are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.sparse import compressed_problem
from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers, size, whole_numbers
from hedgerow.ensemble.state_rules import array_of
from hedgerow.tree.importance import three_measures
from hedgerow.tree.tree import Tree

__all__ = ["ForestImportances", "Kind", "TreeImportances", "importances_of"]

Kind: TypeAlias = Literal["occurrences", "impurity", "node_average"]
Vector: TypeAlias = NDArray[np.float64]


_MEASURES = ("features", "occurrences", "impurity", "node_average")


@dataclass(frozen=True, eq=False)
class TreeImportances:
    """The measures of one tree: one number for each feature it uses."""

    features: NDArray[np.int32]
    occurrences: NDArray[np.int32]
    impurity: Vector
    node_average: Vector

    def dense(self, n_features: int, kind: Kind = "impurity") -> Vector:
        """Return one of the measures for all features."""
        values = np.zeros(n_features)
        values[self.features] = getattr(self, kind)
        return values


def importances_of(tree: Tree) -> TreeImportances:
    """Return the importances of the features of a tree."""
    times, impurity, average = three_measures(tree)
    used = np.flatnonzero(times)
    return TreeImportances(
        used.astype(np.int32), times[used].astype(np.int32), impurity[used], average[used]
    )


@record(
    n_features=size("features"),
    ends=whole_numbers("trees"),
    features=array_of(np.int32, shape=("entries",)),
    occurrences=array_of(np.int32, shape=("entries",)),
    impurity=numbers("entries", low=0.0),
    node_average=numbers("entries", low=0.0),
)
@dataclass(frozen=True, eq=False)
class ForestImportances:
    """The measures of all trees.

    Attributes
    ----------
    n_features : int
        How many features there are.
    ends : ndarray of int64 of shape (n_trees,)
        Where the entries of each tree end.
    features, occurrences, impurity, node_average : ndarray of shape (n_entries,)
        A feature, how many nodes split by it, and its two importances in the tree.
    """

    n_features: int
    ends: NDArray[np.int64]
    features: NDArray[np.int32]
    occurrences: NDArray[np.int32]
    impurity: Vector
    node_average: Vector

    def _state_problem(self) -> str | None:
        """Say why the entries are none of trees with these features."""
        shape = len(self.ends), self.n_features
        n_entries = len(self.features)
        if not len(self.ends) or self.ends[-1] != n_entries:
            return f"there are {n_entries} entries and the last tree's end elsewhere"
        problem = compressed_problem(n_entries, self.features, self._starts, shape)
        return None if problem is None else f"a matrix of trees and features {problem}"

    @property
    def _starts(self) -> NDArray[np.int64]:
        """Where the entries of each tree begin, and the last end."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self.ends])

    @staticmethod
    def of(trees: Sequence[TreeImportances], n_features: int) -> ForestImportances:
        """Return the measures of trees, one after the other."""

        def joined(name: str) -> NDArray[np.generic]:
            return np.concatenate([getattr(tree, name) for tree in trees])

        ends = np.cumsum([len(tree.features) for tree in trees], dtype=np.int64)
        return ForestImportances(n_features, ends, *map(joined, _MEASURES))  # type: ignore[arg-type]

    def by_tree(self, kind: Kind) -> sp.csr_array:
        """Return one of the measures, with one row per tree and one column per feature."""
        values = getattr(self, kind).astype(np.float64)
        shape = len(self.ends), self.n_features
        return sp.csr_array((values, self.features, self._starts), shape=shape)

    def of_tree(self, number: int, kind: Kind = "impurity") -> Vector:
        """Return one of the measures of one tree."""
        return self.measures_of(number).dense(self.n_features, kind)

    def measures_of(self, number: int) -> TreeImportances:
        """Return the measures of one tree."""
        entries = slice(self.ends[number - 1] if number else 0, self.ends[number])
        return TreeImportances(*(getattr(self, name)[entries] for name in _MEASURES))

    def trees(self) -> list[TreeImportances]:
        """Return the measures tree by tree."""
        return [self.measures_of(number) for number in range(len(self.ends))]

    def mean(self, kind: Kind) -> Vector:
        """Return the mean over the trees that have a split; zeros if none has."""
        table = self.by_tree(kind)
        n_split = max(int(np.count_nonzero(np.diff(table.indptr))), 1)
        total = np.bincount(self.features, table.data, minlength=self.n_features)
        return total / n_split
