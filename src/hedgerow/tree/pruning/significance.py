"""Pruning by significance: bottom-up, splits whose improvement may well be chance are dropped.

Looked at are the nodes both of whose children are leaves. Their splits are tested, those that are not significant
become leaves, and then their parents are looked at, until nothing changes. A test asks only for the counts of a
node and its two children, and those do not change: what stays are the significant splits and all above them.

Chance is given as many tries as the tree had. A split is the best of ``n_candidates``, so that even in noise it looks
good; if a single one reaches a value with probability p, the best of m independent ones does with 1 - (1 - p)^m
(Sidak). Splits at neighbouring thresholds are not independent but nearly the same, which makes the correction
cautious: the true probability is smaller, and rather too much than too little is pruned.

Tests that are right for many rows are held back where there are few: no p-value is below the probability that rows
dealt out to the two sides at random come out like this. It is the probability of the table of classes; for
numbers, 1 over the ways to choose the rows of one side. So a single row that a search has split off proves nothing.

Rows are counted, not weights: shares of classes and variances are those of the weights, and the number of rows is
that of the rows. So to double all weights changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, f
from sklearn.base import is_classifier

from hedgerow._base.parameters import check_seed, one_of, real_number, whole_number
from hedgerow.errors import ParameterError
from hedgerow.tree.importance import split_scores
from hedgerow.tree.pruning._cut import cut
from hedgerow.tree.pruning._passing_rows import class_counts, leaves_and_targets, moments
from hedgerow.tree.pruning._permutation import (
    log_probability,
    log_ways,
    permutation_p_values,
    whole_counts,
)
from hedgerow.tree.tree import Tree

__all__ = ["by_significance", "prune_insignificant", "split_p_values"]

Vector = NDArray[np.float64]

CORRECTIONS = ("sidak", "none")
TESTS = {True: ("chi2", "permutation"), False: ("f",)}
"""The tests of classifiers, and those of regressors; the first is the one taken if none is named."""
RECORD_OF_VARIANCE = ("squared_error", "friedman_mse", "variance")
"""Criteria by which the impurity of a node is its variance."""


def by_significance(model: Any, *, alpha: float = 0.05, **options: Any) -> Tree:
    """Return the tree of a model without splits that are not significant; options of split_p_values."""
    expected = real_number(0, 1)(alpha)
    if expected is not None:
        raise ParameterError(f"alpha={alpha!r} is no level of significance; give {expected}")
    return prune_insignificant(model.tree_, split_p_values(model, **options), alpha)


def prune_insignificant(tree: Tree, p_values: Vector, alpha: float) -> Tree:
    """Return the tree without splits that are not significant and have no significant one below.

    Parameters
    ----------
    tree : Tree
        The tree.
    p_values : ndarray of shape (n_nodes,)
        Of every split; those of leaves are not looked at.
    alpha : float
        The level, from 0 (nothing is significant) to 1 (everything is).
    """
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    stays = ((p_values <= alpha) & (alpha > 0) & ~tree.is_leaf).tolist()
    for node in tree.bottom_up():
        stays[node] = stays[node] or stays[left[node]] or stays[right[node]]
    return cut(tree, ~np.array(stays))


def split_p_values(
    model: Any,
    *,
    test: str | None = None,
    correction: str = "sidak",
    X: Any = None,
    y: Any = None,
    n_permutations: int = 9999,
    random_state: Any = 0,
) -> Vector:
    """Return how probable it is that each split of a fitted tree improves as much by chance.

    Parameters
    ----------
    model : estimator
        A fitted tree.
    test : {"chi2", "permutation", "f"} or None, default=None
        For classes, the chi-squared test of independence of class and side (with Yates' correction for
        two classes), or the distribution of the improvement when labels are shuffled between the two
        sides, which takes longer and holds for any number of rows. For regression the F test of the
        difference of the means. None is "chi2" or "f". With several outputs, classes are tested output
        by output, and the least p-value is corrected for their number; for numbers, sums of squares
        are added up.
    correction : {"sidak", "none"}, default="sidak"
        Whether p-values are corrected for the number of splits that were compared in the node.
    X, y : array or frame, default=None
        Rows to count in place of those that the tree was grown from. If they are new ones, nothing was
        searched for in them, and ``correction="none"`` is right.
    n_permutations : int, default=9999
        How many times labels are shuffled, where p-values are not computed exactly.
    random_state : int, RandomState, Generator or None, default=0
        The seed of that.

    Returns
    -------
    p_values : ndarray of shape (n_nodes,)
        NaN for leaves.
    """
    _check(model, test, correction, n_permutations, X is not None)
    if (X is None) != (y is None):
        raise ParameterError(
            "X and y belong together; give both, or none to test what was recorded"
        )
    tree, p_values = model.tree_, np.full(model.tree_.node_count, np.nan)
    inner = np.flatnonzero(~tree.is_leaf)
    n_tests = np.maximum(tree.n_candidates[inner], 1) if correction == "sidak" else np.ones(1)
    if not is_classifier(model):
        p = _of_means(
            _recorded_squares(tree, inner) if X is None else _squares_of(model, inner, X, y)
        )
    else:
        counts = _recorded_counts(tree) if X is None else _counts_of(model, X, y)
        sides = counts[tree.children_left[inner]], counts[tree.children_right[inner]]
        if test == "permutation":
            p = _shuffled(*sides, model.criterion, n_permutations, check_seed(random_state))
        else:
            p = _chi_squared(*sides)
        n_tests, p = n_tests * tree.n_outputs, p.min(axis=1)
    with np.errstate(divide="ignore"):  # p = 1
        p_values[inner] = -np.expm1(n_tests * np.log1p(-p))
    return p_values


def _check(model: Any, test: Any, correction: Any, n_permutations: Any, has_rows: bool) -> None:
    """Refuse options that the model cannot be tested by."""
    name, is_of_classes = type(model).__name__, is_classifier(model)
    rules = {
        f"test={test!r}": one_of(None, *TESTS[is_of_classes])(test),
        f"correction={correction!r}": one_of(*CORRECTIONS)(correction),
        f"n_permutations={n_permutations!r}": whole_number(99)(n_permutations),
    }
    for given, expected in rules.items():
        if expected is not None:
            raise ParameterError(f"{given} is not allowed for a {name}; give {expected}")
    if not (is_of_classes or has_rows or model.criterion in RECORD_OF_VARIANCE):
        msg = (
            f"the F test needs variances, and this {name} with criterion={model.criterion!r} has no record of them; "
            "give the rows as X= and y=, or prune by reduced_error or cost_complexity"
        )
        raise ParameterError(msg)


# --------------------------------------------------------------------------------------- classes


def _recorded_counts(tree: Tree) -> Vector:
    """Return the counts of classes in each node, of shape (nodes, outputs, classes): shares of its rows."""
    return tree.value * tree.n_node_samples[:, None, None]


def _counts_of(model: Any, X: Any, y: Any) -> Vector:
    """Return the same of given rows."""
    leaves, codes = leaves_and_targets(model, X, y)
    return class_counts(model.tree_, leaves, codes, np.ones(len(leaves)))


def _chi_squared(left: Vector, right: Vector) -> Vector:
    """Return the p-values of tables, sides by classes: counts of shape (..., classes)."""
    of_class, n_left = left + right, left.sum(axis=-1, keepdims=True)
    n = of_class.sum(axis=-1, keepdims=True)
    expected = of_class * _divided(n_left, n)
    degrees = np.sum(of_class > 0, axis=-1) - 1
    apart = np.abs(left - expected)
    apart -= np.where(degrees[..., None] == 1, np.minimum(apart, 0.5), 0.0)  # Yates
    share_right = _divided(n - n_left, n)
    statistic = np.sum(_divided(apart**2, expected * share_right), axis=-1)
    can_be_tested = (degrees > 0) & (n_left > 0)[..., 0] & (share_right > 0)[..., 0]
    p = np.maximum(
        chi2.sf(statistic, np.maximum(degrees, 1)), np.exp(log_probability(left, of_class))
    )
    return np.where(can_be_tested, p, 1.0)


def _shuffled(
    left: Vector, right: Vector, criterion: str, n_permutations: int, seed: int
) -> Vector:
    """Return the p-values of the same tables when labels are shuffled."""
    tables = [whole_counts(side).reshape(-1, side.shape[-1]) for side in (left, right)]
    can_be_tested = (tables[0].sum(axis=1) > 0) & (tables[1].sum(axis=1) > 0)
    p = np.ones(len(can_be_tested))
    p[can_be_tested] = permutation_p_values(
        tables[0][can_be_tested], tables[1][can_be_tested], criterion, n_permutations, seed
    )
    return p.reshape(left.shape[:-1])


# --------------------------------------------------------------------------------------- numbers


@dataclass(frozen=True, eq=False)
class _Squares:
    """What an F test of a node's split needs: squares between the sides and within, up to a factor, and rows."""

    between: Vector
    within: Vector
    n_left: Vector
    n_right: Vector


def _recorded_squares(tree: Tree, nodes: NDArray[np.int64]) -> _Squares:
    """Return those of the rows that the tree was grown from."""
    n, between = tree.n_node_samples.astype(float), split_scores(tree)[nodes]
    within = np.maximum(tree.impurity[nodes] - between, 0.0)
    return _Squares(between, within, n[tree.children_left[nodes]], n[tree.children_right[nodes]])


def _squares_of(model: Any, nodes: NDArray[np.int64], X: Any, y: Any) -> _Squares:
    """Return those of given rows."""
    tree, (leaves, targets) = model.tree_, leaves_and_targets(model, X, y)
    found = moments(tree, leaves, targets, np.ones(len(leaves)))
    left, right = tree.children_left[nodes], tree.children_right[nodes]
    apart, n = (found.mean[left] - found.mean[right]) ** 2, found.weight
    between = np.sum(apart * _divided(n[left] * n[right], n[nodes]), axis=1)
    within = np.sum(found.squares[left] + found.squares[right], axis=1)
    return _Squares(between, within, n[left, 0], n[right, 0])


def _of_means(squares: _Squares) -> Vector:
    """Return the p-values of the F test; two rows are too few for one.

    With several outputs the squares are sums over them. One degree of freedom is then the cautious
    choice: the right one if all outputs tell the same, too few if each tells something of its own.
    """
    n = squares.n_left + squares.n_right
    degrees = np.maximum(n - 2.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # no difference within the sides
        ratio = np.where(squares.between > 0, squares.between / squares.within, 0.0)
    p = np.maximum(f.sf(ratio * degrees, 1, degrees), np.exp(-log_ways(n, squares.n_left)))
    return np.where((n > 2) & (squares.n_left > 0) & (squares.n_right > 0), p, 1.0)


def _divided(a: Vector, b: Vector) -> Vector:
    """Return a / b; 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
