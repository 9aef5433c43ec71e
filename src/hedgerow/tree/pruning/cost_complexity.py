"""Cost-complexity pruning: for every alpha the subtree of least risk plus alpha a leaf.

The risk R(t) of a leaf t is its share of the weight times its impurity (as in scikit-learn) or its share of
misclassified rows (as in the book); the risk of a tree is the sum over its leaves. T(alpha) is the smallest
pruned tree that minimises R(T) + alpha |leaves of T|. As alpha grows T(alpha) shrinks, from one link to the
next weaker one, down to the root.

Below node t the least cost is a function of alpha, C_t(alpha) = min(R(t) + alpha, C_left(alpha) + C_right(alpha)):
concave, made of straight lines, each with the number of leaves for a slope. The node becomes a leaf where the
first line crosses the other function, which is steeper everywhere, and from there on C_t is that line. So a
function is kept as a heap of the alphas where its slope changes, the largest first; those beyond the crossing are
taken off and never come back. Heaps of children are poured together, the smaller into the larger one: for n nodes
no more than n log^2 n steps, whatever the depth.

L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and regression trees", 1984, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import one_of, real_number
from hedgerow.errors import ParameterError
from hedgerow.tree.pruning._cut import cut, over_ancestors
from hedgerow.tree.tree import Tree

__all__ = [
    "MEASURES",
    "PruningPath",
    "cost_complexity_path",
    "leaf_sums",
    "link_strengths",
    "prune_cost_complexity",
]

Vector = NDArray[np.float64]
Bend: TypeAlias = tuple[float, float, int]
"""Where a node becomes a leaf: minus alpha; then what line and slope have more before it."""

MEASURES = ("impurity", "misclassification")

SAME = 1e-9
"""Alphas whose quotient is closer to 1 than this are one: they differ by rounding."""
NO_GAIN = 1e-13
"""What a subtree takes off the risk of its root, relative to that risk, is rounding if it is less ..."""
NO_IMPURITY = 1e-15
"""... and so is what it takes off the impurity there, relative to that of the whole tree's root."""


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The pruned trees T(alpha), from alpha = 0 to the root alone.

    Attributes
    ----------
    alphas : ndarray of shape (n_trees,)
        The least alpha of each tree, ascending, the first 0: T(alpha) is the last tree whose alpha is
        not above it.
    n_leaves : ndarray of int64 of shape (n_trees,)
        How many leaves each has.
    risks : ndarray of shape (n_trees,)
        The risk R of each, by the measure.
    impurities : ndarray of shape (n_trees,)
        The mean impurity of the leaves of each, whatever the measure.
    measure : str
        "impurity" or "misclassification".
    """

    alphas: Vector
    n_leaves: NDArray[np.int64]
    risks: Vector
    impurities: Vector
    measure: str


def cost_complexity_path(tree: Tree, measure: str = "impurity") -> PruningPath:
    """Return all pruned trees that are optimal for some alpha.

    Parameters
    ----------
    tree : Tree
        The tree.
    measure : {"impurity", "misclassification"}, default="impurity"
        The risk of a leaf. scikit-learn's path uses the impurity; its first tree still has the splits that
        do not lower the risk, which the first tree here, that of alpha = 0, does not have.

    Returns
    -------
    PruningPath
        The path.
    """
    strengths = link_strengths(tree, measure)
    alphas = np.unique(np.r_[0.0, strengths[~tree.is_leaf]])
    n_leaves = leaf_sums(tree, strengths, alphas, np.ones(tree.node_count))
    return PruningPath(
        alphas,
        np.rint(n_leaves).astype(np.int64),
        leaf_sums(tree, strengths, alphas, _risks(tree, measure)),
        leaf_sums(tree, strengths, alphas, _risks(tree, "impurity")),
        measure,
    )


def prune_cost_complexity(tree: Tree, alpha: float, measure: str = "impurity") -> Tree:
    """Return T(alpha): the smallest pruned tree that minimises risk + alpha * leaves.

    Parameters
    ----------
    tree : Tree
        The tree.
    alpha : float
        The cost of a leaf, at least 0; infinity leaves only the root.
    measure : {"impurity", "misclassification"}, default="impurity"
        The risk of a leaf.

    Returns
    -------
    Tree
        The pruned tree.
    """
    expected = real_number(0, or_infinite=True)(alpha)
    if expected is not None:
        msg = f"alpha={alpha!r} is no cost of a leaf; give {expected}"
        raise ParameterError(msg)
    strengths = link_strengths(tree, measure)
    return cut(tree, strengths <= alpha * (1.0 + SAME))


def link_strengths(tree: Tree, measure: str) -> Vector:
    """Return the alpha from which on each node is no split of T(alpha); -inf for leaves.

    A node goes with the first of its ancestors that becomes a leaf.
    """
    becomes_leaf = _crossings(tree, _risks(tree, measure))
    strengths = _without_rounding(over_ancestors(tree, becomes_leaf, np.minimum))
    strengths[tree.is_leaf] = -np.inf
    return strengths


def leaf_sums(tree: Tree, strengths: Vector, alphas: Vector, of_node: Vector) -> Vector:
    """Return the sum of something over the leaves of T(alpha), for every alpha; they must ascend.

    A node is a leaf from its own strength on, and until its parent is one.
    """
    begin = np.searchsorted(alphas, strengths)
    end = np.r_[len(alphas), begin[tree.parent[1:]]]
    n = len(alphas) + 1
    changes = np.bincount(begin, of_node, minlength=n) - np.bincount(end, of_node, minlength=n)
    return np.cumsum(changes, dtype=np.float64)[: len(alphas)]


def _risks(tree: Tree, measure: str) -> Vector:
    """Return the risk of every node as a leaf."""
    expected = one_of(*MEASURES)(measure)
    if expected is not None:
        raise ParameterError(f"measure={measure!r} is not known; give {expected}")
    share: Vector = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    if measure == "impurity":
        impurity: Vector = share * tree.impurity
        return impurity
    if tree.max_n_classes == 1:
        msg = "measure='misclassification' needs classes, and the tree predicts numbers; take 'impurity'"
        raise ParameterError(msg)
    missed: Vector = share * np.maximum(1.0 - tree.value.max(axis=2).mean(axis=1), 0.0)
    return missed


def _crossings(tree: Tree, risks: Vector) -> Vector:
    """Return for every inner node the alpha where it becomes a leaf of the best tree below it; +inf for leaves."""
    left, right, risk = tree.children_left.tolist(), tree.children_right.tolist(), risks.tolist()
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    nothing = (NO_GAIN * risks + NO_IMPURITY * risks[0] * share).tolist()
    found = [np.inf] * tree.node_count
    bends: dict[int, list[Bend]] = {}
    for node in tree.bottom_up():
        heap = _poured(bends.pop(left[node], []), bends.pop(right[node], []))
        line, slope = risk[left[node]] + risk[right[node]], 2
        alpha = risk[node] - line
        while heap and alpha < -heap[0][0]:
            _, line_more, slope_more = heappop(heap)
            line, slope = line + line_more, slope + slope_more
            alpha = (risk[node] - line) / (slope - 1)
        alpha = alpha if alpha * (slope - 1) > nothing[node] else 0.0
        heappush(heap, (-alpha, line - risk[node], slope - 1))
        found[node], bends[node] = alpha, heap
    return np.array(found)


def _poured(a: list[Bend], b: list[Bend]) -> list[Bend]:
    """Return one heap of two, which are used up."""
    if len(a) < len(b):
        a, b = b, a
    for bend in b:
        heappush(a, bend)
    return a


def _without_rounding(strengths: Vector) -> Vector:
    """Return the same alphas, of those that differ by rounding the least for all."""
    alphas, places = np.unique(strengths, return_inverse=True)
    is_new = np.r_[True, alphas[1:] > alphas[:-1] * (1.0 + SAME)]
    return alphas[is_new][np.cumsum(is_new) - 1][places]  # type: ignore[no-any-return]
