"""How much the features of one tree matter: three measures, each one number a feature.

The score of a split is what it takes off the impurity of its node,

    I(node) - (n_left / n I(left) + n_right / n I(right)),

with sums of weights for n, so that rows of weight 1 count as rows.
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
    """Return the score of every split: by how much it lowers the impurity of its node.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    scores : ndarray of shape (n_nodes,)
        0 for leaves. Never negative: no criterion's score is, but for rounding.
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
        What :func:`occurrences`, :func:`impurity_importance` and :func:`node_average` return; the
        tree is gone through once.
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
    """Return the decrease of impurity that each feature's splits bring, each by its share of the rows.

    Parameters
    ----------
    tree : Tree
        The tree.
    normalize : bool, default=True
        Whether the numbers are divided by their sum, if that is not 0.

    Returns
    -------
    importance : ndarray of shape (n_features,)
        Of each feature, the sum of n_node / N times the score over the nodes that split by it: the
        "mean decrease in impurity" of scikit-learn's ``feature_importances_``.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    weight = tree.weighted_n_node_samples
    shares = weight[inner] / weight[0]
    total = _summed(tree.feature[inner], shares * _scores_of(tree, inner), tree.n_features)
    return _shares(total) if normalize else total


def occurrences(tree: Tree) -> Vector:
    """Return how many nodes split by each feature.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    importance : ndarray of float64 of shape (n_features,)
        Whole numbers.
    """
    return three_measures(tree)[0]


def node_average(tree: Tree) -> Vector:
    """Return the mean score of the nodes that split by each feature, divided by the sum over features.

    Every node counts the same, whether it holds all rows or two of them.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    importance : ndarray of shape (n_features,)
        0 for features that no node splits by; the sum is 1, or 0 where no split has a score.
    """
    return three_measures(tree)[2]


def _scores_of(tree: Tree, inner: NDArray[np.int64]) -> Vector:
    """Return the scores of inner nodes."""
    left, right = tree.children_left[inner], tree.children_right[inner]
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    remains = (weight[left] * impurity[left] + weight[right] * impurity[right]) / weight[inner]
    return np.maximum(impurity[inner] - remains, 0.0)


def _summed(feature: NDArray[np.int64], of_node: Vector, n_features: int) -> Vector:
    """Return the sums over the nodes that split by each feature."""
    sums = np.bincount(feature, of_node, minlength=n_features)
    return sums.astype(np.float64, copy=False)  # of nothing they are integers


def _shares(amounts: Vector) -> Vector:
    """Return the amounts divided by their sum; zeros stay zeros."""
    total = amounts.sum()
    return amounts / total if total > 0 else amounts
