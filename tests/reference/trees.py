"""A tree's splits by enumeration: the judge of every criterion, threshold and set of categories.

A node is a set of rows. Every way a feature can part them is tried: each threshold, each set of the
categories that are there, missing values left or right. Impurities are computed from their
definitions, for many groups of rows at once: a group is a row of weights, 0 for rows outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from scipy.special import xlogy

CLASSES = ("gini", "entropy", "misclassification")
NUMBERS = ("squared_error", "absolute_error", "poisson")


@dataclass(frozen=True)
class Sample:
    """What a tree is grown on.

    Columns are floats, NaN where a value is missing; those of categories hold their numbers.
    ``n_categories`` is 0 for numbers, ``n_classes`` is empty for regression, ``y`` has a column for
    each output, and ``counts`` says how often a bootstrap has drawn each row.
    """

    columns: tuple[np.ndarray, ...]
    n_categories: tuple[int, ...]
    y: np.ndarray
    n_classes: tuple[int, ...]
    criterion: str
    weight: np.ndarray | None = None
    counts: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @cached_property
    def times(self) -> np.ndarray:
        """How often each row counts as a row."""
        times = np.ones(self.n_rows, dtype=int) if self.counts is None else self.counts.astype(int)
        return times if self.weight is None else times * (self.weight > 0)

    @cached_property
    def mass(self) -> np.ndarray:
        """What each row weighs."""
        return self.times * (1.0 if self.weight is None else self.weight)

    @cached_property
    def root(self) -> np.ndarray:
        """The rows that weigh something."""
        return np.flatnonzero(self.mass > 0)

    def group(self, rows: np.ndarray) -> np.ndarray:
        """The weights of one group."""
        weights = np.zeros((1, self.n_rows))
        weights[0, rows] = self.mass[rows]
        return weights


@dataclass(frozen=True)
class Settings:
    """What the core's settings are, with their usual values; None stands for no limit."""

    splitter: str = "best"
    max_features: int | None = None
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    monotonic: tuple[int, ...] | None = None


def _shares(y: np.ndarray, W: np.ndarray, n: int) -> np.ndarray:
    """Weighted shares of the classes in each group."""
    return np.stack([W @ (y == c) for c in range(n)], axis=1) / W.sum(axis=1, keepdims=True)


def _means(y: np.ndarray, W: np.ndarray) -> np.ndarray:
    return W @ y / W.sum(axis=1)


def _of_classes(criterion: str, y: np.ndarray, W: np.ndarray, n: int) -> np.ndarray:
    p = _shares(y, W, n)
    if criterion == "gini":
        return (p * (1.0 - p)).sum(axis=1)
    if criterion == "entropy":
        return -xlogy(p, p).sum(axis=1) / np.log(2.0)
    return 1.0 - p.max(axis=1)


def _of_numbers(criterion: str, y: np.ndarray, W: np.ndarray) -> np.ndarray:
    total = W.sum(axis=1)
    if criterion == "squared_error":
        return (W * (y - _means(y, W)[:, None]) ** 2).sum(axis=1) / total
    if criterion == "absolute_error":
        # A median is a value among them that makes the error least.
        return (W @ np.abs(y[:, None] - y[None, :])).min(axis=1) / total
    mean = _means(y, W)
    ratio = y / np.where(mean > 0, mean, 1.0)[:, None]
    # Half the deviance; a mean of 0 cannot be a Poisson rate.
    return np.where(mean > 0, (W * xlogy(y, ratio)).sum(axis=1) / total, np.inf)


def impurities(sample: Sample, W: np.ndarray) -> np.ndarray:
    """The impurity of each group: the mean of its outputs'."""
    if sample.criterion in CLASSES:
        of_outputs = [
            _of_classes(sample.criterion, y, W, n)
            for y, n in zip(sample.y.T, sample.n_classes, strict=True)
        ]
    else:
        of_outputs = [_of_numbers(sample.criterion, y, W) for y in sample.y.T]
    return np.mean(of_outputs, axis=0)


def median(y: np.ndarray, weights: np.ndarray) -> float:
    """The weighted median: the middle of all values that have half the weight on either side."""
    order = np.argsort(y)
    below, half = np.cumsum(weights[order]), weights.sum() / 2
    lower, upper = np.argmax(below >= half), np.argmax(below > half)
    return 0.5 * (y[order][lower] + y[order][upper])


def value(sample: Sample, rows: np.ndarray) -> np.ndarray:
    """What a node of these rows predicts, of shape (n_outputs, max_n_classes or 1)."""
    W = sample.group(rows)
    if sample.criterion in CLASSES:
        padded = np.zeros((sample.y.shape[1], max(sample.n_classes)))
        for k, n in enumerate(sample.n_classes):
            padded[k, :n] = _shares(sample.y[:, k], W, n)[0]
        return padded
    if sample.criterion == "absolute_error":
        return np.array([[median(y[rows], sample.mass[rows])] for y in sample.y.T])
    return np.array([_means(y, W) for y in sample.y.T])


def level(sample: Sample, rows: np.ndarray) -> float:
    """The number that monotonic constraints are about: the last class's share, or the value."""
    return float(value(sample, rows)[0, -1])


def lower_median(x: np.ndarray, weights: np.ndarray) -> float:
    """The least value with at least half of the weight at or below it."""
    order = np.argsort(x)
    return float(x[order][np.argmax(np.cumsum(weights[order]) >= weights.sum() / 2)])


def rule_threshold(sample: Sample, rows: np.ndarray, x: np.ndarray, splitter: str) -> float:
    """Where a simple rule cuts: at the mean or the median, but always below the largest value."""
    there = rows[~np.isnan(x[rows])]
    rule = {"mean": lambda x, w: np.average(x, weights=w), "median": lower_median}[splitter]
    kinds, middle = np.unique(x[there]), rule(x[there], sample.mass[there])
    return float(middle if middle < kinds[-1] else kinds[-2])


def _thresholds(sample: Sample, rows: np.ndarray, x: np.ndarray, splitter: str) -> np.ndarray:
    """Numbers at or below which rows go left."""
    kinds = np.unique(x[rows][~np.isnan(x[rows])])
    if splitter == "best" or len(kinds) < 2:
        return kinds[:-1]
    return np.array([rule_threshold(sample, rows, x, splitter)])


def _sets(things: list[np.ndarray]) -> Iterator[np.ndarray]:
    """Unions of some of the things, not all; the first is always in, as sides have no names."""
    for others in product([False, True], repeat=len(things) - 1):
        if not all(others):
            yield np.any(
                [thing for thing, is_in in zip(things, (True, *others), strict=True) if is_in],
                axis=0,
            )


def _as_rows(ways: list[np.ndarray], n_rows: int) -> np.ndarray:
    return np.array(ways, dtype=bool).reshape(-1, n_rows)


def partitions(
    sample: Sample, rows: np.ndarray, feature: int, splitter: str = "best"
) -> np.ndarray:
    """Every way to part the rows of a node by a feature: which rows go left, one way a row."""
    x = sample.columns[feature]
    is_missing = np.isnan(x)
    with_missing = bool(is_missing[rows].any())
    kinds = np.unique(x[rows][~is_missing[rows]])
    if sample.n_categories[feature]:
        things = [x == kind for kind in kinds] + [is_missing] * with_missing
        return _as_rows(list(_sets(things)) if things else [], sample.n_rows)
    ways = []
    for threshold in _thresholds(sample, rows, x, splitter):
        ways.append(x <= threshold)
        if with_missing:
            ways.append((x <= threshold) | is_missing)
    # A simple rule parts the missing from all others where there is nothing else to part.
    if with_missing and (len(kinds) == 1 or (splitter == "best" and len(kinds))):
        ways.append(~is_missing)
    return _as_rows(ways, sample.n_rows)


def varies(sample: Sample, rows: np.ndarray, feature: int) -> bool:
    """Whether a feature has two values in the node; missing is one."""
    x = sample.columns[feature][rows]
    return len(np.unique(x)) > 1  # NumPy takes all NaN as one


def decreases(sample: Sample, rows: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """I(node) - (n_left/n I(left) + n_right/n I(right)) of each way; nothing is asked of the sides."""
    node = sample.group(rows)
    left, right = node * ways, node * ~ways
    parts = [W.sum(axis=1) / node.sum() * impurities(sample, W) for W in (left, right)]
    return impurities(sample, node)[0] - parts[0] - parts[1]


def _allowed(sample: Sample, settings: Settings, rows: np.ndarray, ways: np.ndarray) -> np.ndarray:
    """Those of the ways that leave enough on both sides."""
    is_fine = np.ones(len(ways), dtype=bool)
    for sides in (ways[:, rows], ~ways[:, rows]):
        is_fine &= sides @ sample.times[rows] >= max(1, settings.min_samples_leaf)
        is_fine &= sides @ sample.mass[rows] >= settings.min_weight_leaf
        if sample.criterion == "poisson":
            is_fine &= (sides @ (sample.y[rows] > 0) > 0).all(axis=1)
    return ways[is_fine]


def keeps_order(
    sample: Sample, rows: np.ndarray, way: np.ndarray, sign: int, bounds: tuple[float, float]
) -> bool:
    """Whether a split obeys a monotonic constraint, and the bounds that those above have set."""
    if sign == 0:
        return True
    left, right = level(sample, rows[way[rows]]), level(sample, rows[~way[rows]])
    inside = all(bounds[0] <= side <= bounds[1] for side in (left, right))
    return inside and (left - right) * sign <= 0


def best_decreases(
    sample: Sample,
    rows: np.ndarray,
    settings: Settings,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> np.ndarray:
    """The best that each feature can do for a node; -inf where it can do nothing."""
    best = np.full(len(sample.columns), -np.inf)
    for feature in range(len(best)):
        ways = partitions(sample, rows, feature, settings.splitter)
        ways = _allowed(sample, settings, rows, ways)
        if settings.monotonic is not None:
            sign = settings.monotonic[feature]
            ways = ways[[keeps_order(sample, rows, way, sign, bounds) for way in ways]]
        if len(ways):
            best[feature] = decreases(sample, rows, ways).max()
    return best


def best_way(
    sample: Sample, rows: np.ndarray, settings: Settings
) -> tuple[float, np.ndarray | None]:
    """The best decrease of all features, and who goes left then."""
    found: tuple[float, np.ndarray | None] = (-np.inf, None)
    for feature in range(len(sample.columns)):
        ways = partitions(sample, rows, feature, settings.splitter)
        ways = _allowed(sample, settings, rows, ways)
        if len(ways):
            scores = decreases(sample, rows, ways)
            found = max(found, (scores.max(), ways[scores.argmax()]), key=lambda pair: pair[0])
    return found


def best_first_leaves(sample: Sample, settings: Settings) -> set[frozenset[int]]:
    """Grow a tree one split at a time, each time the one that improves the whole tree most.

    Returns the rows of each leaf. Ties are broken by chance: give rows that have none.
    """
    open_nodes, leaves = [sample.root], []
    while open_nodes and len(open_nodes) + len(leaves) < settings.max_leaf_nodes:
        gains = []
        for rows in open_nodes:
            is_pure = impurities(sample, sample.group(rows))[0] < 1e-14
            gain, way = (-np.inf, None) if is_pure else best_way(sample, rows, settings)
            gains.append((gain * sample.mass[rows].sum(), way))
        best = int(np.argmax([gain for gain, _ in gains]))
        rows, way = open_nodes.pop(best), gains[best][1]
        if way is None:
            leaves.append(rows)
        else:
            open_nodes += [rows[way[rows]], rows[~way[rows]]]
    return {frozenset(rows.tolist()) for rows in open_nodes + leaves}
