"""A tree of a forest with the figures that packed trees lack, as far as they can be computed again."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, rel_entr

from hedgerow.ensemble.forest.leaf_targets import LeafTargets
from hedgerow.tree._growth import CRITERIA
from hedgerow.tree.tree import Tree

__all__ = ["with_impurities"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


def with_impurities(
    tree: Tree,
    criterion: str,
    n_classes: NDArray[np.int64],
    leaf_targets: LeafTargets | None,
    place: int,
) -> Tree:
    """Return a packed tree with impurities and numbers of rows.

    Parameters
    ----------
    tree : Tree
        The tree, as :meth:`PackedTrees.tree` returns it.
    criterion : str
        What it was grown by.
    n_classes : ndarray of int64 of shape (n_outputs,)
        How many classes each output has; 1 for regression.
    leaf_targets : LeafTargets or None
        The targets of the forest's leaves, if they were kept.
    place : int
        The tree's place in the forest.
    """
    name = CRITERIA.get(criterion, criterion)
    if name in _OF_SHARES:
        impurity = _OF_SHARES[name](tree.value).mean(axis=1)
    elif name in _DISTANCES:
        impurity = _about_means(tree, name, leaf_targets, place)
    elif leaf_targets is not None:
        impurity = _about_medians(tree, leaf_targets, place)
    else:
        impurity = np.full(tree.node_count, np.nan)
    n_rows = np.maximum(np.rint(tree.weighted_n_node_samples), 1.0).astype(np.int64)
    return replace(tree, impurity=impurity, n_node_samples=n_rows, n_classes=n_classes)


def _gini(shares: Vector) -> Vector:
    return np.asarray(1.0 - (shares**2).sum(axis=-1))


def _entropy(shares: Vector) -> Vector:
    return np.asarray(entr(shares).sum(axis=-1) / np.log(2.0))


def _misclassification(shares: Vector) -> Vector:
    return np.asarray(1.0 - shares.max(axis=-1))


_OF_SHARES = {"gini": _gini, "entropy": _entropy, "misclassification": _misclassification}

_DISTANCES = {"squared_error": lambda y, mean: (y - mean) ** 2, "poisson": rel_entr}
"""Distances whose mean is the impurity. That of a node is the mean over its two sides of a side's own
impurity and the distance of its value from the node's."""


def _about_means(tree: Tree, name: str, leaf_targets: LeafTargets | None, place: int) -> Vector:
    """Return the impurity of every node: what is left in the leaves, and what the splits took off."""
    distance, value = _DISTANCES[name], tree.value[:, :, 0]
    impurity = np.zeros(value.shape)
    if leaf_targets is not None:
        kept = leaf_targets.of_tree(place)
        means = np.repeat(value.reshape(-1)[kept.cells], kept.sizes)
        apart = kept.weights * distance(leaf_targets.values[kept.ranks], means)
        starts = np.cumsum(kept.sizes) - kept.sizes
        if len(starts):
            weights = np.add.reduceat(kept.weights.astype(np.float64), starts)
            impurity.reshape(-1)[kept.cells] = np.add.reduceat(apart, starts) / weights
    weight = tree.weighted_n_node_samples
    for level in tree.levels_upwards():
        for side in (tree.children_left[level], tree.children_right[level]):
            share = (weight[side] / weight[level])[:, None]
            impurity[level] += share * (impurity[side] + distance(value[side], value[level]))
    mean: Vector = impurity.mean(axis=1)
    return mean


def _about_medians(tree: Tree, leaf_targets: LeafTargets, place: int) -> Vector:
    """Return the mean distance of each node's targets from their median."""
    n_outputs, kept = tree.n_outputs, leaf_targets.of_tree(place)
    is_pure = np.repeat(tree.is_leaf, n_outputs)
    is_pure[kept.cells] = False
    pure = np.flatnonzero(is_pure)
    cell = np.concatenate([pure, np.repeat(kept.cells, kept.sizes)])
    y = np.concatenate([tree.value.reshape(-1)[pure], leaf_targets.values[kept.ranks]])
    weight = np.concatenate([tree.weighted_n_node_samples[pure // n_outputs], kept.weights])
    order = np.argsort(y, kind="stable")
    y, weight, (node, output) = y[order], weight[order], np.divmod(cell[order], n_outputs)
    impurity = np.zeros((tree.node_count, n_outputs))
    for depth in range(tree.max_depth, -1, -1):  # targets are taken up, from level to level
        here = np.flatnonzero(tree.depth[node] == depth)
        cells, deviations = _deviations(
            node[here] * n_outputs + output[here], y[here], weight[here]
        )
        impurity.reshape(-1)[cells] = deviations
        node[here] = tree.parent[node[here]]
    mean: Vector = impurity.mean(axis=1)
    return mean


def _deviations(cell: Indices, y: Vector, weight: Vector) -> tuple[Indices, Vector]:
    """Return the cells there are, and the mean distance of the ascending y of each from their median."""
    order = np.argsort(cell, kind="stable")
    cell, y, weight = cell[order], y[order], weight[order]
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    totals, so_far = np.add.reduceat(weight, starts), np.cumsum(weight)
    middle = so_far[starts] - weight[starts] + totals / 2
    ends = np.append(starts[1:], len(cell)) - 1
    median = y[np.clip(np.searchsorted(so_far, middle), starts, ends)]
    apart = weight * np.abs(y - np.repeat(median, ends - starts + 1))
    return cell[starts], np.add.reduceat(apart, starts) / totals
