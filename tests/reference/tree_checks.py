"""A grown tree, walked from the root: is each split the best, each figure right, each leaf a leaf?

Decreases of impurity are compared, not splits, because several splits may be equally good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.reference.trees import (
    Sample,
    Settings,
    best_decreases,
    decreases,
    impurities,
    keeps_order,
    level,
    rule_threshold,
    value,
    varies,
)

NO_CHILD = -1
UNDEFINED = -2
WORD = 64
PURE = 1e-14
ACCURACY = 1e-9
"""Two ways to add up the same terms, relative to the impurity."""

Bounds = tuple[float, float]


@dataclass(frozen=True)
class Node:
    """A node on the walk: all rows that reach it, those that weigh nothing included."""

    number: int
    reaching: np.ndarray
    depth: int
    bounds: Bounds


def check_tree(
    sample: Sample,
    tree: Any,
    leaf_of_row: np.ndarray,
    settings: Settings,
    optimal: bool = True,
) -> None:
    """Assert all that must hold of a grown tree.

    With ``optimal=False`` the splits need not be best: heuristics for many categories, and splits at
    random.
    """
    walk = _Walk(sample, tree, settings, optimal)
    stack, seen = [Node(0, np.arange(sample.n_rows), 0, (-np.inf, np.inf))], []
    reached = np.full(sample.n_rows, -1)
    while stack:
        node = stack.pop()
        seen.append(node.number)
        walk.check_figures(node)
        if tree.children_left[node.number] == NO_CHILD:
            walk.check_leaf(node)
            reached[node.reaching] = node.number
        else:
            stack += walk.check_split(node)
    assert sorted(seen) == list(range(len(tree.feature))), "every node is reached once"
    np.testing.assert_array_equal(leaf_of_row, reached, "leaf_of_row")
    if settings.max_leaf_nodes is not None:
        n_leaves = np.count_nonzero(tree.children_left == NO_CHILD)
        assert n_leaves <= settings.max_leaf_nodes, "more leaves than asked for"


@dataclass(frozen=True)
class _Walk:
    sample: Sample
    tree: Any
    settings: Settings
    optimal: bool

    def rows(self, node: Node) -> np.ndarray:
        return node.reaching[self.sample.mass[node.reaching] > 0]

    def check_figures(self, node: Node) -> None:
        """Counts, weights, impurity and value are those of the rows."""
        i, rows, tree, sample = node.number, self.rows(node), self.tree, self.sample
        where = f"node {i}"
        assert tree.n_node_samples[i] == sample.times[rows].sum(), where
        np.testing.assert_allclose(
            tree.weighted_n_node_samples[i], sample.mass[rows].sum(), rtol=1e-12, err_msg=where
        )
        impurity = impurities(sample, sample.group(rows))[0]
        scale = _scale(sample)
        np.testing.assert_allclose(
            tree.impurity[i], impurity, rtol=ACCURACY, atol=1e-12 * scale, err_msg=where
        )
        expected = value(sample, rows)
        if self.settings.monotonic is not None:
            last = np.clip(expected[0, -1], *node.bounds)
            expected = np.array([[last]] if expected.size == 1 else [[1.0 - last, last]])
        if sample.criterion == "absolute_error" and not _has_exact_weights(sample):
            # Rounding decides whether just half of the weight is on each side: any median will do.
            error = np.abs(sample.y[rows] - tree.value[i, :, 0]).mean(axis=1) @ sample.mass[rows]
            assert error <= (impurity + 1e-12 * scale) * sample.mass[rows].sum(), where
            return
        np.testing.assert_allclose(
            tree.value[i], expected, rtol=ACCURACY, atol=1e-12 * scale, err_msg=where
        )

    def check_leaf(self, node: Node) -> None:
        """A leaf has a reason to be one, and says that it has no split."""
        i, tree = node.number, self.tree
        assert tree.children_right[i] == NO_CHILD
        assert tree.feature[i] == tree.threshold[i] == UNDEFINED
        assert tree.category_start[i] == NO_CHILD
        assert tree.n_candidates[i] == 0
        assert self._may_be_leaf(node), f"node {i} could have been split"

    def _may_be_leaf(self, node: Node) -> bool:
        sample, settings, rows = self.sample, self.settings, self.rows(node)
        n, weight = sample.times[rows].sum(), sample.mass[rows].sum()
        n_leaves = np.count_nonzero(self.tree.children_left == NO_CHILD)
        if (
            n < settings.min_samples_split
            or node.depth == settings.max_depth
            or n_leaves == settings.max_leaf_nodes
            or impurities(sample, sample.group(rows))[0] <= PURE * _scale(sample)
        ):
            return True
        if not self.optimal:
            # A split that was looked at may be forbidden while others would not be.
            return _has_limits(sample, settings) or not any(
                varies(sample, rows, j) for j in range(len(sample.columns))
            )
        best = best_decreases(sample, rows, settings, node.bounds)
        found = best[best > -np.inf]
        least = settings.min_impurity_decrease
        is_enough = (weight / sample.mass.sum() * found > least + ACCURACY) | (least == 0.0)
        # Of the features those that are drawn decide, whichever they are.
        is_all = settings.max_features is None
        return not (is_enough.any() if is_all else len(found) and is_enough.all())

    def check_split(self, node: Node) -> list[Node]:
        """The split is what it says and the best there is; return the children."""
        i, tree, rows = node.number, self.tree, self.rows(node)
        children = int(tree.children_left[i]), int(tree.children_right[i])
        assert i < children[0]
        assert i < children[1]
        assert tree.n_candidates[i] > 0
        way = goes_left(self.sample, tree, i)
        self._check_limits(node, way)
        if self.sample.n_categories[tree.feature[i]]:
            self._check_categories(node)
        else:
            self._check_threshold(node, way)
        self._check_side_of_missing(node, way)
        self._check_decrease(node, way)
        bounds = self._bounds_below(node, rows, way)
        return [
            Node(child, node.reaching[side[node.reaching]], node.depth + 1, bound)
            for child, side, bound in zip(children, (way, ~way), bounds, strict=True)
        ]

    def _check_limits(self, node: Node, way: np.ndarray) -> None:
        """Both sides are as large as they must be, and the node itself was."""
        settings, rows, where = self.settings, self.rows(node), f"node {node.number}"
        assert self.sample.times[rows].sum() >= settings.min_samples_split, where
        if settings.max_depth is not None:
            assert node.depth < settings.max_depth, where
        for side in (rows[way[rows]], rows[~way[rows]]):
            assert self.sample.times[side].sum() >= max(1, settings.min_samples_leaf), where
            assert self.sample.mass[side].sum() >= settings.min_weight_leaf - 1e-12, where
        if settings.monotonic is not None:
            sign = settings.monotonic[self.tree.feature[node.number]]
            assert keeps_order(self.sample, rows, way, sign, node.bounds), where

    def _check_threshold(self, node: Node, way: np.ndarray) -> None:
        """A threshold lies in the middle of two neighbours, or where the rule says."""
        i, rows, tree = node.number, self.rows(node), self.tree
        assert tree.category_start[i] == NO_CHILD
        x, threshold = self.sample.columns[tree.feature[i]], tree.threshold[i]
        there = rows[~np.isnan(x[rows])]
        left, right = x[there[way[there]]], x[there[~way[there]]]
        assert len(left), f"node {i}: missing values alone go to the right"
        if not len(right):
            assert not tree.missing_go_to_left[i]
            return
        low, high = left.max(), right.min()
        assert low <= threshold < high, f"node {i}: {low} <= {threshold} < {high}"
        if self.settings.splitter == "best" and np.isfinite([low, high]).all():
            middle = low / 2 + high / 2
            np.testing.assert_allclose(threshold, middle, rtol=1e-12, atol=1e-300, err_msg=f"{i}")
        if self.settings.splitter in ("mean", "median"):
            rule = rule_threshold(self.sample, rows, x, self.settings.splitter)
            np.testing.assert_allclose(threshold, rule, rtol=1e-12, atol=1e-12, err_msg=f"{i}")

    def _check_categories(self, node: Node) -> None:
        """Categories that the node has not seen go with the missing values."""
        i, tree = node.number, self.tree
        assert tree.threshold[i] == UNDEFINED
        x = self.sample.columns[tree.feature[i]]
        n = self.sample.n_categories[tree.feature[i]]
        unseen = np.setdiff1d(np.arange(n), x[self.rows(node)])
        is_left = np.isin(unseen, categories_left(self.sample, tree, i))
        assert (is_left == tree.missing_go_to_left[i]).all(), f"node {i}"

    def _check_side_of_missing(self, node: Node, way: np.ndarray) -> None:
        """Where no value was missing, those to come go with the most rows, the heavier ones."""
        i, rows = node.number, self.rows(node)
        if np.isnan(self.sample.columns[self.tree.feature[i]][rows]).any():
            return
        left, right = rows[way[rows]], rows[~way[rows]]
        rows_more = self.sample.times[left].sum() - self.sample.times[right].sum()
        weight_more = self.sample.mass[left].sum() - self.sample.mass[right].sum()
        # Scikit-learn goes by rows; ours by weight, so that whole weights are repeated rows.
        if rows_more * weight_more > 1e-9:
            assert self.tree.missing_go_to_left[i] == (rows_more > 0), f"node {i}"

    def _check_decrease(self, node: Node, way: np.ndarray) -> None:
        """No split that was looked at is better; the whole tree gains what was asked for."""
        sample, settings, rows = self.sample, self.settings, self.rows(node)
        where, feature = f"node {node.number}", self.tree.feature[node.number]
        decrease = decreases(sample, rows, way[None, :])[0]
        scale = impurities(sample, sample.group(rows))[0] + 1e-3 * PURE * _scale(sample)
        share = sample.mass[rows].sum() / sample.mass.sum()
        least = settings.min_impurity_decrease
        assert share * decrease >= least - ACCURACY * scale, where
        if not self.optimal:
            return
        best = best_decreases(sample, rows, settings, node.bounds)
        np.testing.assert_allclose(
            decrease, best[feature], rtol=0, atol=ACCURACY * scale, err_msg=where
        )
        n_better = np.count_nonzero(best > decrease + ACCURACY * scale)
        n_varying = sum(varies(sample, rows, j) for j in range(len(best)))
        n_drawn = min(n_varying, settings.max_features or n_varying)
        assert n_better <= n_varying - n_drawn, f"{where}: {n_better} features are better"

    def _bounds_below(self, node: Node, rows: np.ndarray, way: np.ndarray) -> tuple[Bounds, Bounds]:
        """What the children's values must lie between, so that the order holds below too."""
        settings, (low, high) = self.settings, node.bounds
        sign = (
            0 if settings.monotonic is None else settings.monotonic[self.tree.feature[node.number]]
        )
        if sign == 0:
            return node.bounds, node.bounds
        sides = level(self.sample, rows[way[rows]]), level(self.sample, rows[~way[rows]])
        middle = sides[0] / 2 + sides[1] / 2
        lower, upper = (low, middle), (middle, high)
        return (lower, upper) if sign > 0 else (upper, lower)


def goes_left(sample: Sample, tree: Any, node: int) -> np.ndarray:
    """Which rows a node would send to the left."""
    x = sample.columns[tree.feature[node]]
    if sample.n_categories[tree.feature[node]]:
        is_left = np.isin(x, categories_left(sample, tree, node))
    else:
        is_left = x <= tree.threshold[node]
    return np.where(np.isnan(x), tree.missing_go_to_left[node], is_left)


def categories_left(sample: Sample, tree: Any, node: int) -> np.ndarray:
    """The numbers of the categories that go to the left."""
    start, n = int(tree.category_start[node]), sample.n_categories[tree.feature[node]]
    assert start >= 0
    words = [int(tree.category_words[start + c // WORD]) for c in range(n)]
    return np.flatnonzero([word >> (c % WORD) & 1 for c, word in enumerate(words)])


def leaves(sample: Sample, leaf_of_row: np.ndarray) -> set[frozenset[int]]:
    """The rows of each leaf, among those that weigh something."""
    rows = sample.root
    return {frozenset(rows[leaf_of_row[rows] == leaf].tolist()) for leaf in leaf_of_row[rows]}


def best_single_category(sample: Sample, rows: np.ndarray, feature: int) -> float:
    """The most that parting one category, or the missing values, from all others gains."""
    return decreases(sample, rows, np.array(_one_each(sample, rows, feature))).max()


def _one_each(sample: Sample, rows: np.ndarray, feature: int) -> list[np.ndarray]:
    x = sample.columns[feature]
    ways = [x == kind for kind in np.unique(x[rows]) if not np.isnan(kind)]
    return [*ways, np.isnan(x)] if np.isnan(x[rows]).any() else ways


def _has_limits(sample: Sample, settings: Settings) -> bool:
    """Whether something forbids splits by what they would leave on a side."""
    return (
        settings.min_samples_leaf > 1
        or settings.min_weight_leaf > 0
        or settings.min_impurity_decrease > 0
        or settings.monotonic is not None
        or sample.criterion == "poisson"
    )


def _has_exact_weights(sample: Sample) -> bool:
    """Whether sums of the weights are not rounded."""
    return bool((sample.mass * 8 % 1 == 0).all())


def _scale(sample: Sample) -> float:
    """The size of an impurity, to which rounding is relative: targets, or squares of them."""
    if sample.n_classes:
        return 1.0
    size = float(np.abs(sample.y).max())
    return size**2 if sample.criterion == "squared_error" else size
