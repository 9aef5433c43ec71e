"""Feature importances of a single tree: three measures, each with one number per feature.

The score of a split is the impurity decrease of its node,

    I(node) - (n_left / n I(left) + n_right / n I(right)),

where n is a sum of weights, so that a row of weight 1 counts as one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hedgerow.tree.tree import Tree


__all__ = ["impurity_importance", "node_average", "occurrences", "split_scores", "three_measures"]

Vector = NDArray[np.float64]


def split_scores(tree: Tree) -> Vector:
    """Return the score of every split: the impurity decrease of its node.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    scores : ndarray of shape (n_nodes,)
        The scores, never negative; 0 for leaves.
    """
    scores = np.zeros(tree.node_count)
    inner = np.flatnonzero(~tree.is_leaf)
    scores[inner] = _scores_of(tree, inner)
    return scores


def three_measures(tree: Tree) -> tuple[Vector, Vector, Vector]:
    """Return occurrences, impurity importance and node average of each feature.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    occurrences, impurity, average : ndarray of float64 of shape (n_features,)
        The results of :func:`occurrences`, :func:`impurity_importance` and :func:`node_average`,
        computed in one pass over the tree.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    feature, n_features = tree.feature[inner], tree.n_features
    scores = _scores_of(tree, inner)
    weight = tree.weighted_n_node_samples
    times = np.bincount(feature, minlength=n_features).astype(np.float64)
    decrease = _summed(feature, weight[inner] / weight[0] * scores, n_features)
    mean = _summed(feature, scores, n_features) / np.maximum(times, 1.0)
    return times, _shares(decrease), _shares(mean)


def impurity_importance(tree: Tree, normalize: bool = True) -> Vector:
    """Return the impurity decrease of each feature, weighted by the share of the rows.

    Parameters
    ----------
    tree : Tree
        The tree.
    normalize : bool, default=True
        Whether to divide the result by its sum, if that is not 0.

    Returns
    -------
    importance : ndarray of shape (n_features,)
        For each feature, the sum of n_node / N times the score over the nodes that split on it: the
        "mean decrease in impurity" of scikit-learn's ``feature_importances_``.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    weight = tree.weighted_n_node_samples
    shares = weight[inner] / weight[0]
    total = _summed(tree.feature[inner], shares * _scores_of(tree, inner), tree.n_features)
    return _shares(total) if normalize else total


def occurrences(tree: Tree) -> Vector:
    """Return the number of nodes that split on each feature.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    importance : ndarray of float64 of shape (n_features,)
        The counts, as whole numbers.
    """
    return three_measures(tree)[0]


def node_average(tree: Tree) -> Vector:
    """Return the mean score of the nodes that split on each feature, divided by the sum over features.

    Every node counts the same, whether it has all rows or two of them.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    importance : ndarray of shape (n_features,)
        The shares, 0 for features that no node splits on; they sum to 1, or to 0 if all scores are 0.
    """
    return three_measures(tree)[2]


def _scores_of(tree: Tree, inner: NDArray[np.int64]) -> Vector:
    """Return the scores of inner nodes."""
    left, right = tree.children_left[inner], tree.children_right[inner]
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    remains = (weight[left] * impurity[left] + weight[right] * impurity[right]) / weight[inner]
    return np.maximum(impurity[inner] - remains, 0.0)


def _summed(feature: NDArray[np.int64], of_node: Vector, n_features: int) -> Vector:
    """Return the sums over the nodes that split on each feature."""
    sums = np.bincount(feature, of_node, minlength=n_features)
    return sums.astype(np.float64, copy=False)  # of nothing they are integers


def _shares(amounts: Vector) -> Vector:
    """Return the amounts divided by their sum; zeros stay zeros."""
    total = amounts.sum()
    return amounts / total if total > 0 else amounts
