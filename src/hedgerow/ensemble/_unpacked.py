"""A tree of a forest with the figures that packed trees lack, as far as they can be computed again."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, rel_entr

from hedgerow.ensemble._leaf_targets import LeafTargets
from hedgerow.tree._growth import CRITERIA
from hedgerow.tree.tree import Tree

__all__ = ["with_figures"]

Vector: TypeAlias = NDArray[np.float64]


def with_figures(
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
    elif name in _OF_NUMBERS:
        impurity = _of_numbers(tree, name, leaf_targets, place)
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

_OF_NUMBERS = {"squared_error": lambda y, mean: (y - mean) ** 2, "poisson": rel_entr}
"""Distances whose mean is the impurity. That of a node is the mean over its two sides of a side's own
impurity and the distance of its value from the node's."""


def _of_numbers(tree: Tree, name: str, leaf_targets: LeafTargets | None, place: int) -> Vector:
    """Return the impurity of every node."""
    distance, value = _OF_NUMBERS[name], tree.value[:, :, 0]
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
