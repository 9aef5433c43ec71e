"""What a forest keeps of the targets of its leaves, taken while a tree is hot.

A leaf whose rows all have one target needs nothing, as its value is that target: a forest of full-grown
trees keeps next to nothing. Of other leaves the targets are kept, each by its place among all distinct
targets and with its weight in the leaf::

    cells    leaf of the packed tree times n_outputs, plus the output     ascending in each tree
    sizes    how many targets a cell has
    ranks    places of its targets among the distinct ones                ascending in each cell
    weights  times drawn, times the weights of the rows
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers, size, whole_numbers
from hedgerow.ensemble.sampling import Counts
from hedgerow.ensemble.state_rules import array_of
from hedgerow.tree._training import ValueTargets
from hedgerow.tree.tree import NO_CHILD

__all__ = ["LeafTargetRecorder", "LeafTargets", "TreeTargets"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Ranks: TypeAlias = NDArray[np.int32]

_COUNT_KINDS = (np.uint8, np.uint16, np.uint32)

_TREE = np.int64(2**32)
"""More than the cells of any tree: a tree's number times this, plus a cell, is a key."""


@dataclass(frozen=True, eq=False)
class TreeTargets:
    """The kept targets of one tree."""

    cells: Ranks
    sizes: Ranks
    ranks: Ranks
    weights: NDArray[Any]

    @property
    def n_bytes(self) -> int:
        """How much of a forest they take."""
        narrow = _narrow(self.weights)
        return self.cells.nbytes + self.sizes.nbytes + self.ranks.nbytes + narrow.nbytes


@record(
    n_outputs=size("outputs"),
    values=numbers("values"),
    tree_ends=whole_numbers("trees"),
    cells=array_of(np.int32, shape=("cells",)),
    sizes=array_of(np.int32, shape=("cells",)),
    ranks=array_of(np.int32, shape=("entries",)),
    weights=array_of(*_COUNT_KINDS, np.float64, shape=("entries",)),
)
@dataclass(frozen=True, eq=False)
class LeafTargets:
    """The kept targets of all trees.

    Attributes
    ----------
    n_outputs : int
        How many targets a row has.
    values : ndarray of float64
        The distinct targets of the fit, sorted; none if no leaf has two.
    tree_ends : ndarray of int64 of shape (n_trees,)
        Where the cells of each tree end.
    cells, sizes, ranks, weights : ndarray
        As above, tree after tree.
    """

    n_outputs: int
    values: Vector
    tree_ends: Indices
    cells: Ranks
    sizes: Ranks
    ranks: Ranks
    weights: NDArray[Any]

    def __post_init__(self) -> None:
        if not (self._cells_are_fine() and self._entries_are_fine()):
            msg = "the kept targets of the leaves do not belong together; fit the forest again"
            raise ValueError(msg)

    def _cells_are_fine(self) -> bool:
        """Say whether each tree has its cells, in their order, and each cell some targets."""
        ends = self.tree_ends
        fine = len(ends) > 0 and ends[-1] == len(self.cells) and bool(np.all(np.diff(ends) >= 0))
        fine = fine and bool(np.all(self.cells >= 0)) and bool(np.all(np.diff(self.keys) > 0))
        fine = fine and bool(np.all(self.sizes > 0))
        return fine and int(self.sizes.sum(dtype=np.int64)) == len(self.ranks)

    def _entries_are_fine(self) -> bool:
        """Say whether each target is known, no cell has it twice, and its weight is positive."""
        ascends = np.diff(self.ranks, prepend=np.int32(-1)) > 0
        ascends[self.starts] = True
        fine = bool(ascends.all()) and bool(np.all(np.diff(self.values) > 0))
        fine = fine and bool(np.all((self.ranks >= 0) & (self.ranks < len(self.values))))
        return fine and bool(np.all((self.weights > 0) & (self.weights < np.inf)))

    @staticmethod
    def of(trees: Sequence[TreeTargets], values: Vector, n_outputs: int) -> LeafTargets:
        """Return the kept targets of trees, one after the other."""
        tree_ends = np.cumsum([len(tree.cells) for tree in trees], dtype=np.int64)
        weights = _narrow(np.concatenate([tree.weights for tree in trees]))
        cells, sizes, ranks = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("cells", "sizes", "ranks")
        )
        known = values if len(ranks) else np.empty(0)
        return LeafTargets(n_outputs, known, tree_ends, cells, sizes, ranks, weights)

    def of_tree(self, place: int) -> TreeTargets:
        """Return the kept targets of one tree."""
        begin = int(self.tree_ends[place - 1]) if place else 0
        cells = slice(begin, int(self.tree_ends[place]))
        bounds = np.append(self.starts, len(self.ranks))
        entries = slice(int(bounds[cells.start]), int(bounds[cells.stop]))
        return TreeTargets(
            self.cells[cells], self.sizes[cells], self.ranks[entries], self.weights[entries]
        )

    def trees(self) -> list[TreeTargets]:
        """Return the kept targets tree by tree."""
        cell_ends = self.tree_ends[:-1]
        entry_ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.sizes)])[cell_ends]
        columns = [np.split(each, cell_ends) for each in (self.cells, self.sizes)]
        columns += [np.split(each, entry_ends) for each in (self.ranks, self.weights)]
        return [TreeTargets(*each) for each in zip(*columns, strict=True)]

    @cached_property
    def keys(self) -> Indices:
        """The cells of all trees as numbers that ascend."""
        n_cells = np.diff(self.tree_ends, prepend=0)
        trees = np.repeat(np.arange(len(n_cells)), n_cells)
        return trees * _TREE + self.cells

    @cached_property
    def starts(self) -> Indices:
        """Where the targets of each cell begin."""
        return np.cumsum(self.sizes, dtype=np.int64) - self.sizes

    @cached_property
    def totals(self) -> Vector:
        """The weight of each cell."""
        weights = self.weights.astype(np.float64)
        return np.add.reduceat(weights, self.starts) if len(weights) else weights

    def cells_of(self, leaves: Ranks, output: int) -> Indices:
        """Return for each row and tree which cell has the targets of its leaf; -1 if it needs none."""
        wanted = leaves * np.int64(self.n_outputs) + output
        wanted += np.arange(leaves.shape[1]) * _TREE
        found = np.searchsorted(self.keys, wanted)
        is_there = found < len(self.keys)
        is_there[is_there] = self.keys[found[is_there]] == wanted[is_there]
        return np.where(is_there, found, -1)


class LeafTargetRecorder:
    """Takes down the targets of the leaves of tree after tree.

    Attributes
    ----------
    values : ndarray of float64
        The distinct targets, sorted.
    is_wanted : bool
        Whether targets are kept. If that is optional it turns out with the first tree, so that trees
        that are added later change nothing: they are if they take no more bytes than that tree.
    is_optional : bool
        Whether they may be left.
    """

    def __init__(self, targets: ValueTargets, *, is_optional: bool) -> None:
        self.values, ranks = np.unique(targets.values, return_inverse=True)
        self.is_wanted = True
        self.is_optional = is_optional
        self._ranks = np.ascontiguousarray(ranks.reshape(targets.shape).T, dtype=np.int32)
        self._weights = targets.weights
        self._trees: list[TreeTargets] = []

    def of_tree(self, grown: _core.tree.GrownTree, counts: Counts | None) -> TreeTargets:
        """Return what is to be kept of a tree that was just grown."""
        leaves, outputs, ranks, weights = self._entries(grown.leaf_of_row, grown.value, counts)
        if len(leaves):
            leaves = by_levels(grown.children_left, grown.children_right)[leaves]
        return self._sorted(leaves, outputs, ranks, weights)

    def of_packed(self, leaf_of_row: Ranks, value: Vector, counts: Counts | None) -> TreeTargets:
        """Return what is to be kept of a tree that is packed already."""
        return self._sorted(*self._entries(leaf_of_row, value, counts))

    def add(self, targets: TreeTargets, n_bytes_of_tree: int) -> None:
        """Take in what is to be kept of the next tree."""
        is_first = not self._trees
        if is_first and self.is_optional and targets.n_bytes > n_bytes_of_tree:
            self.is_wanted = False
        if self.is_wanted:
            self._trees.append(targets)

    def without_trees(self) -> LeafTargetRecorder:
        """Return a recorder of the same targets that has recorded nothing."""
        empty = copy.copy(self)
        empty._trees = []
        return empty

    def kept(self) -> LeafTargets | None:
        """Return all that is kept, None if nothing is wanted."""
        if not self.is_wanted:
            return None
        return LeafTargets.of(self._trees, self.values, len(self._ranks))

    def restore(self, kept: LeafTargets | None) -> None:
        """Go on from what was kept before."""
        self.is_wanted = kept is not None
        self._trees = [] if kept is None else kept.trees()

    def _entries(
        self, leaf_of_row: Ranks, value: Vector, counts: Counts | None
    ) -> tuple[Indices, Indices, Ranks, NDArray[Any]]:
        """Return leaf, output, rank and weight of each target that its leaf's value does not tell."""
        rows, weights = self._sample(counts)
        leaf = leaf_of_row[rows]
        found = []
        for output, of_row in enumerate(self._ranks):
            rank = of_row[rows]
            told = np.zeros(len(value), dtype=np.int32)
            told[leaf] = rank  # of several rows in a leaf any one
            is_mixed = self.values[told] != value[:, output, 0]
            is_mixed[leaf[told[leaf] != rank]] = True
            kept = np.flatnonzero(is_mixed[leaf])
            outputs = np.full(len(kept), output)
            found.append((leaf[kept].astype(np.int64), outputs, rank[kept], weights[kept]))
        leaves, outputs_, ranks, kept_weights = map(np.concatenate, zip(*found, strict=True))
        return leaves, outputs_, ranks, kept_weights

    def _sample(self, counts: Counts | None) -> tuple[Indices, NDArray[Any]]:
        """Return the rows with weight in a sample, and their weights there."""
        given = self._weights
        if counts is None:
            weights = np.ones(self._ranks.shape[1], np.uint32) if given is None else given
        else:
            weights = counts if given is None else counts * given
        rows = np.flatnonzero(weights)
        return rows, weights[rows]

    def _sorted(
        self, leaves: Indices, outputs: Indices, ranks: Ranks, weights: NDArray[Any]
    ) -> TreeTargets:
        """Return targets by cell and rank, equal ones as one."""
        keys = (leaves * len(self._ranks) + outputs) * len(self.values) + ranks
        order = _ascending(keys)
        keys = keys[order]
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        cells, ranks = np.divmod(keys[firsts], len(self.values))
        sums = np.add.reduceat(weights[order], firsts) if len(firsts) else weights
        of_cell = np.flatnonzero(np.diff(cells, prepend=-1))
        sizes = np.diff(of_cell, append=len(cells))
        return TreeTargets(
            cells[of_cell].astype(np.int32), sizes.astype(np.int32), ranks.astype(np.int32), sums
        )


def by_levels(left: Indices, right: Indices) -> Indices:
    """Return the place of each node in a packed tree: level by level, siblings side by side."""
    levels = [np.zeros(1, dtype=np.int64)]
    while len(levels[-1]):
        inner = levels[-1][left[levels[-1]] != NO_CHILD]
        levels.append(np.stack([left[inner], right[inner]], axis=1).reshape(-1))
    places = np.empty(len(left), dtype=np.int64)
    places[np.concatenate(levels)] = np.arange(len(left))
    return places


def _ascending(keys: Indices) -> Indices:
    """Return the stable order of keys that are not negative, by 16 bits at a time: these NumPy counts."""
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    for shift in range(16, int(keys.max(initial=0)).bit_length(), 16):
        digits = (keys[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    return order


def _narrow(weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights in as few bytes as hold them exactly: counts as counts, others as they are."""
    if weights.dtype.kind == "f":
        return weights
    most = int(weights.max()) if len(weights) else 0
    kind = next((each for each in _COUNT_KINDS if most <= np.iinfo(each).max), np.float64)
    return weights.astype(kind)
