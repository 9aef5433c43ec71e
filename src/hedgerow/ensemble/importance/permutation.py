"""Permutation importance: the increase of a tree's out-of-bag error when a feature is shuffled.

L. Breiman, "Random forests", Machine Learning 45, 2001. For every tree by itself, the loss on its
out-of-bag rows with the columns of a block shuffled, all by the same permutation, minus the loss
without. Only rows that pass a node which splits by the block, and whose values do change, can fall
into another leaf: only these walk down the tree again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.targets import class_labels
from hedgerow.ensemble.importance.by_tree import TreeMeasure
from hedgerow.ensemble.importance.node_rows import NodeRows
from hedgerow.ensemble.importance.training_rows import TrainingRows, on_used_features
from hedgerow.ensemble.out_of_bag import Metric
from hedgerow.monitor import current
from hedgerow.search.known_predictions import KnownClassifier, KnownRegressor, scorer_named
from hedgerow.tree._routing import router_of
from hedgerow.tree._training import ClassTargets
from hedgerow.tree.tree import Tree

__all__ = ["PermutationImportance", "shuffled"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Leaves: TypeAlias = NDArray[np.int32]

Cost: TypeAlias = Callable[[Indices, Leaves], float]
"""What it costs the tree if some of its rows, by their places, fall into other leaves."""


def shuffled(seed: int, tree: int, stream: int, n: int) -> Indices:
    """Return a permutation of the n out-of-bag rows of a tree.

    The streams of a tree are counted by features, and for a repetition on from there: that of a block
    is its first feature's, whatever other blocks there are.
    """
    of_tree = int(_core.system.random_uint64(seed, tree, 1)[0])
    return _core.system.random_permutation(of_tree, stream, n)


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """Shuffles blocks of columns.

    Attributes
    ----------
    seen : TrainingRows
        The rows of the fit.
    blocks : csr_array of shape (n_features, n_blocks)
        1 where a feature belongs to a block; it may to several.
    n_repeats : int
        How often a block is shuffled for each tree.
    metric : str, callable or None
        A score that falls instead of the loss that rises.
    seed : int
        Of the permutations.
    """

    seen: TrainingRows
    blocks: sp.csr_array
    n_repeats: int
    metric: Metric | None
    seed: int

    def __call__(self, number: int) -> TreeMeasure:
        """Return the importance of the blocks to a tree."""
        walk = self._walk(number)
        if walk is None:
            return TreeMeasure(has_say=False)
        if walk.tree.is_leaf[0]:
            return TreeMeasure()
        of_block = self.blocks[walk.used].tocsc()
        touched = np.flatnonzero(np.diff(of_block.indptr))
        costs = np.empty(len(touched))
        for i, block in enumerate(touched):
            columns = of_block.indices[of_block.indptr[block] : of_block.indptr[block + 1]]
            costs[i] = self._cost(number, walk, int(block), np.sort(columns))
        return TreeMeasure(touched, costs)

    def _walk(self, number: int) -> _Walk | None:
        """Return the out-of-bag rows of a tree, on their way down; None if there are none."""
        out = self.seen.out(self.seen.counts(number))
        if not len(out):
            return None
        tree = self.seen.tree(number)
        used, narrow = on_used_features(tree)
        cells = self.seen.cells(out, used)
        leaves = router_of(narrow).leaves(cells, 1)
        return _Walk(narrow, used, cells, leaves, self._cost_of(tree, out, leaves))

    def _cost(self, number: int, walk: _Walk, block: int, columns: Indices) -> float:
        """Return the mean cost of shuffling a block, of which the tree uses these columns."""
        n_features, first = self.blocks.shape[0], int(self._first[block])
        rows = walk.rows_asked(columns)
        costs = []
        for repeat in range(self.n_repeats):
            current().check()
            stream = repeat * n_features + first
            order = shuffled(self.seed, number, stream, len(walk.cells))
            costs.append(walk.cost(*walk.moved(rows, columns, order)))
        return float(np.mean(costs))

    @cached_property
    def _first(self) -> Indices:
        """The first feature of each block."""
        by_block = self.blocks.tocsc()
        by_block.sort_indices()
        first: Indices = by_block.indices[by_block.indptr[:-1]].astype(np.int64)
        return first

    def _cost_of(self, tree: Tree, out: Indices, leaves: Leaves) -> Cost:
        """Return the rise of the loss, or the fall of the score, as a function of what moves where."""
        if self.metric is None:
            losses = _losses_of(self.seen, tree, out)
            before = losses(np.arange(len(out)), leaves)
            return lambda rows, moved: float((losses(rows, moved) - before[rows]).sum() / len(out))
        score = _score_of(self.metric, self.seen, tree, out, leaves)
        whole = score(leaves)

        def fall(rows: Indices, moved: Leaves) -> float:
            changed = leaves.copy()
            changed[rows] = moved
            return whole - score(changed)

        return fall


@dataclass(frozen=True, eq=False)
class _Walk:
    """The out-of-bag rows of a tree, and the leaves they fall into.

    Attributes
    ----------
    tree : Tree
        The tree on the features it uses.
    used : ndarray of int64
        Which these are.
    cells : ndarray of shape (n_out, n_used)
        Their values.
    leaves : ndarray of int32 of shape (n_out,)
        The leaf of each row.
    cost : callable
        What it costs if rows fall elsewhere.
    """

    tree: Tree
    used: Indices
    cells: NDArray[Any]
    leaves: Leaves
    cost: Cost

    def rows_asked(self, columns: Indices) -> Indices:
        """Return the rows that pass a node which splits on one of the columns."""
        nodes = [self._by_column[self._begins[j] : self._begins[j + 1]] for j in columns]
        return self._passage.through(np.concatenate(nodes))

    def moved(self, rows: Indices, columns: Indices, order: Indices) -> tuple[Indices, Leaves]:
        """Return those of the rows whose values change if columns are shuffled, and their new leaves."""
        old = self.cells[rows[:, None], columns]
        new = self.cells[order[rows][:, None], columns]
        changes = ((old != new) & ~(np.isnan(old) & np.isnan(new))).any(axis=1)
        rows, new = rows[changes], new[changes]
        cells = self.cells.take(rows, axis=0)
        cells[:, columns] = new
        return rows, router_of(self.tree).leaves(cells, 1)

    @cached_property
    def _passage(self) -> NodeRows:
        return NodeRows(self.tree, self.leaves)

    @cached_property
    def _by_column(self) -> Indices:
        """The inner nodes, sorted by the column they split on."""
        inner = np.flatnonzero(~self.tree.is_leaf)
        return inner[np.argsort(self.tree.feature[inner], kind="stable")]

    @cached_property
    def _begins(self) -> Indices:
        """Where in these the nodes of each column begin."""
        columns = np.arange(len(self.used) + 1)
        return np.searchsorted(self.tree.feature[self._by_column], columns)


def _losses_of(seen: TrainingRows, tree: Tree, out: Indices) -> Callable[[Indices, Leaves], Vector]:
    """Return the loss of rows, by their places among those that are out, that fall into given leaves."""
    targets = seen.targets
    if isinstance(targets, ClassTargets):
        classes, codes = tree.value.argmax(axis=2), targets.codes[out]
        return lambda rows, leaves: np.mean(classes[leaves] != codes[rows], axis=1)
    means, values = tree.value[:, :, 0], targets.values[out]
    return lambda rows, leaves: np.mean((means[leaves] - values[rows]) ** 2, axis=1)


def _score_of(
    metric: Metric, seen: TrainingRows, tree: Tree, out: Indices, leaves: Leaves
) -> Callable[[Leaves], float]:
    """Return the score of a tree's answers as a function of the leaves that its rows fall into."""
    targets, every = seen.targets, np.arange(len(out))
    if isinstance(targets, ClassTargets):
        classes, codes = targets.classes, tree.value.argmax(axis=2)
        y = class_labels(targets.codes[out], classes)

        def answers(leaves: Leaves) -> KnownClassifier | KnownRegressor:
            return KnownClassifier.of_codes(codes[leaves], tree.value[leaves], classes)
    else:
        values = targets.values[out]
        y = values[:, 0] if values.shape[1] == 1 else values

        def answers(leaves: Leaves) -> KnownClassifier | KnownRegressor:
            return KnownRegressor.of_columns(tree.value[leaves, :, 0])

    if isinstance(metric, str):
        scorer = scorer_named(metric, answers(leaves), every, y)
        return lambda leaves: float(scorer(answers(leaves), every, y))
    return lambda leaves: float(metric(y, answers(leaves).predict(every)))
