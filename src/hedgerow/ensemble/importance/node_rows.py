"""Sums over the rows that pass each node of a tree, and which rows these are.

A row is known by its leaf alone. Sorted by leaves from left to right, the rows that pass a node lie
together, so that a node knows them by two numbers, whatever the depth of the tree.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.tree.tree import Tree

__all__ = ["NodeRows", "add_up_to_root", "nodes_by_depth"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


def nodes_by_depth(tree: Tree) -> list[Indices]:
    """Return the inner nodes of each depth, the root's first."""
    levels: list[Indices] = []
    nodes = np.zeros(1, dtype=np.int64)
    while True:
        inner = nodes[~tree.is_leaf[nodes]]
        if not len(inner):
            return levels
        levels.append(inner)
        nodes = np.concatenate([tree.children_left[inner], tree.children_right[inner]])


def add_up_to_root(tree: Tree, levels: list[Indices], of_leaf: NDArray[Any]) -> None:
    """Add the figures of leaves, along the first axis, up to all nodes above them, in place."""
    for level in reversed(levels):
        of_leaf[level] = of_leaf[tree.children_left[level]] + of_leaf[tree.children_right[level]]


class NodeRows:
    """Some rows on their way down a tree."""

    def __init__(self, tree: Tree, leaf_of_row: NDArray[np.int32]) -> None:
        levels = nodes_by_depth(tree)
        size = np.bincount(leaf_of_row, minlength=tree.node_count)
        add_up_to_root(tree, levels, size)
        start = np.zeros(tree.node_count, dtype=np.int64)
        for level in levels:
            left = tree.children_left[level]
            start[left] = start[level]
            start[tree.children_right[level]] = start[level] + size[left]
        self._start, self._end = start, start + size
        self._order = np.argsort(start[leaf_of_row], kind="stable")

    def through(self, nodes: Indices) -> Indices:
        """Return the rows that pass any of the nodes, each once."""
        order = np.lexsort((-self._end[nodes], self._start[nodes]))
        start, end = self._start[nodes][order], self._end[nodes][order]
        # Of two nodes one holds all rows of the other or none: a stretch within one before it goes.
        reached = np.concatenate([[0], np.maximum.accumulate(end)[:-1]])
        is_new = (start >= reached) & (end > start)
        start, length = start[is_new], (end - start)[is_new]
        before = np.cumsum(length) - length
        places = np.repeat(start - before, length) + np.arange(length.sum())
        rows: Indices = self._order[places]
        return rows
