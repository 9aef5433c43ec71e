"""Statistics as functions of how often each row counts: the fast ones by name, any other by call.

A statistic takes a block of counts and returns one value, or one array of values, a resample. What
is known by name never sees the drawn rows: sums are products of the counts with the data, ranks are
cumulative counts of data sorted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.resampling.plan import Counts

__all__ = [
    "Auc",
    "Correlation",
    "GiniCoefficient",
    "Mean",
    "Quantile",
    "Ratio",
    "Regression",
    "Sums",
    "WeightedStatistic",
]

Values: TypeAlias = NDArray[np.float64]


class WeightedStatistic(Protocol):
    """Counts of a block of resamples to the statistic of each, along the first axis."""

    def __call__(self, counts: Counts) -> Values:
        """Return the statistic of every resample."""
        ...


class Sums:
    """The sums of columns over the rows of a resample, the same bits for any number of threads."""

    def __init__(self, columns: Values) -> None:
        self._by_column = np.ascontiguousarray(columns.T, dtype=np.float64)
        self._zeros = np.zeros(len(self._by_column))

    def __call__(self, counts: NDArray[Any]) -> Values:
        """Return counts @ columns; single bytes are exact in single precision."""
        rows = counts.astype(np.float32) if counts.dtype == np.uint8 else counts
        return _core.scores(_core.Matrix.dense(rows), self._by_column, self._zeros, 1)


def with_ones(columns: Values) -> Values:
    """Append a column of ones, whose product is the number of rows drawn."""
    return np.column_stack([columns, np.ones(len(columns))])


class Mean:
    """The mean of every column."""

    def __init__(self, columns: Values) -> None:
        # Sums around the mean keep their digits when the mean is far from zero.
        self._shift = columns.mean(axis=0)
        centred = with_ones(columns - self._shift)
        self._sums, self._squares = Sums(centred), Sums(centred**2)

    def __call__(self, counts: Counts) -> Values:
        """Return the means of every resample."""
        sums = self._sums(counts)
        means: Values = self._shift + sums[:, :-1] / sums[:, -1:]
        return means

    def standard_error(self, counts: Counts) -> Values:
        """Return s / sqrt(n) of every resample."""
        sums, squares = self._sums(counts), self._squares(counts)
        n = sums[:, -1:]
        variance = np.maximum(squares[:, :-1] - sums[:, :-1] ** 2 / n, 0) / (n - 1)
        error: Values = np.sqrt(variance / n)
        return error


class Ratio:
    """The sum of the first column over the sum of the second."""

    def __init__(self, columns: Values) -> None:
        x, y = columns.T
        self._sums = Sums(columns)
        self._moments = Sums(with_ones(np.column_stack([x, y, x * x, x * y, y * y])))

    def __call__(self, counts: Counts) -> Values:
        """Return the ratio of every resample."""
        sums = self._sums(counts)
        ratio: Values = sums[:, 0] / sums[:, 1]
        return ratio

    def standard_error(self, counts: Counts) -> Values:
        """Return the standard error by the delta method: that of the residuals x - ratio y."""
        x, y, xx, xy, yy, n = self._moments(counts).T
        ratio = x / y
        squares = np.maximum(xx - 2 * ratio * xy + ratio**2 * yy, 0)
        error: Values = np.sqrt(squares * n / (n - 1)) / np.abs(y)
        return error


class Correlation:
    """Pearson's correlation of two columns."""

    def __init__(self, columns: Values) -> None:
        x, y = (columns - columns.mean(axis=0)).T
        self._moments = Sums(with_ones(np.column_stack([x, y, x * x, y * y, x * y])))

    def __call__(self, counts: Counts) -> Values:
        """Return the correlation in every resample."""
        x, y, xx, yy, xy, n = self._moments(counts).T
        correlation = (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))
        # Rounding may carry a perfect correlation past one.
        clipped: Values = np.clip(correlation, -1, 1)
        return clipped


class Regression:
    """Least squares: the intercept, then one coefficient a feature.

    The normal equations are solved for centred and scaled features; their error grows with the
    square of the features' condition number.
    """

    def __init__(self, X: Values, y: Values) -> None:
        self._centre, self._scale = X.mean(axis=0), X.std(axis=0)
        scaled = with_ones((X - self._centre) / self._scale)
        self._n_terms = scaled.shape[1]
        self._upper = np.triu_indices(self._n_terms)
        squares = scaled[:, self._upper[0]] * scaled[:, self._upper[1]]
        self._moments = Sums(np.column_stack([squares, scaled * y[:, None]]))

    def __call__(self, counts: Counts) -> Values:
        """Return the coefficients in every resample."""
        sums = self._moments(counts)
        n_squares = len(self._upper[0])
        gram = np.empty((len(counts), self._n_terms, self._n_terms))
        gram[:, self._upper[0], self._upper[1]] = sums[:, :n_squares]
        gram[:, self._upper[1], self._upper[0]] = sums[:, :n_squares]
        solution = solve_each(gram, sums[:, n_squares:])
        coef = solution[:, :-1] / self._scale
        return np.column_stack([solution[:, -1] - coef @ self._centre, coef])


def solve_each(matrices: Values, right: Values) -> Values:
    """Solve every system; the solution of a singular one is NaN."""
    singular = np.linalg.matrix_rank(matrices, hermitian=True) < matrices.shape[1]
    matrices = np.where(singular[:, None, None], np.eye(matrices.shape[1]), matrices)
    solution = np.linalg.solve(matrices, right[:, :, None])[:, :, 0].astype(np.float64, copy=False)
    solution[singular] = np.nan
    return solution


class Quantile:
    """The quantile of every column, by linear interpolation between order statistics."""

    def __init__(self, columns: Values, probability: float) -> None:
        self._orders = np.argsort(columns, axis=0, kind="stable").T
        self._sorted = np.sort(columns, axis=0).T
        self._probability = probability

    def __call__(self, counts: Counts) -> Values:
        """Return the quantiles of every resample."""
        each = [
            self._of(counts, *column) for column in zip(self._orders, self._sorted, strict=True)
        ]
        return np.stack(each, axis=1)

    def _of(self, counts: Counts, order: NDArray[np.int64], ordered: Values) -> Values:
        ranks = cumulative(counts, order)
        position = (ranks[:, -1] - 1) * self._probability
        below = np.floor(position).astype(np.int64)
        above = np.ceil(position).astype(np.int64)
        # The value of rank k, counted from 0, is the first whose cumulative count exceeds k.
        low = ordered[[int(r.searchsorted(k, "right")) for r, k in zip(ranks, below, strict=True)]]
        high = ordered[[int(r.searchsorted(k, "right")) for r, k in zip(ranks, above, strict=True)]]
        quantile: Values = low + (high - low) * (position - below)
        return quantile


class GiniCoefficient:
    """Half the mean absolute difference of two draws over the mean: 0 if all are equal.

    With C_i the cumulative counts of the sorted values, and n = C_last, summation by parts gives
    the sum of all ranks times values as n^2 x_last - sum of C_i^2 (x_{i+1} - x_i).
    """

    def __init__(self, values: Values) -> None:
        self._order = np.argsort(values, kind="stable")
        self._steps = Sums(np.diff(values[self._order])[:, None])
        self._largest = values[self._order[-1]]
        self._total = Sums(values[:, None])

    def __call__(self, counts: Counts) -> Values:
        """Return the coefficient of every resample."""
        ranks = cumulative(counts, self._order).astype(np.float64)
        n = ranks[:, -1]
        lower = np.ascontiguousarray(ranks[:, :-1])
        ranked = n**2 * self._largest - self._steps(lower * lower)[:, 0]
        coefficient: Values = ranked / (n * self._total(counts)[:, 0]) - 1
        return coefficient


@dataclass(frozen=True)
class _Pairs:
    """For every positive row, how many of the sorted negative scores lie below it, or not above."""

    positive: NDArray[np.int64]
    negative: NDArray[np.int64]
    below: NDArray[np.int64]
    not_above: NDArray[np.int64]


class Auc:
    """The share of pairs of a positive and a negative row that the score puts in order.

    Ties count half. With ``gini`` it is 2 AUC - 1.
    """

    def __init__(self, is_positive: NDArray[np.bool_], score: Values, *, gini: bool) -> None:
        positive, negative = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        positive = positive[np.argsort(score[positive], kind="stable")]
        negative = negative[np.argsort(score[negative], kind="stable")]
        below = np.searchsorted(score[negative], score[positive], side="left")
        not_above = np.searchsorted(score[negative], score[positive], side="right")
        self._pairs = _Pairs(positive, negative, below, not_above)
        self._has_ties = bool(np.any(below != not_above))
        self._gini = gini

    def __call__(self, counts: Counts) -> Values:
        """Return the AUC, or 2 AUC - 1, of every resample."""
        pairs = self._pairs
        ranks = np.zeros((len(counts), len(pairs.negative) + 1), dtype=np.int32)
        np.cumsum(counts.take(pairs.negative, axis=1), axis=1, dtype=np.int32, out=ranks[:, 1:])
        positive = counts.take(pairs.positive, axis=1)
        ordered = _sum_products(positive, ranks.take(pairs.below, axis=1))
        if self._has_ties:
            ordered = (ordered + _sum_products(positive, ranks.take(pairs.not_above, axis=1))) / 2
        auc: Values = ordered / (positive.sum(axis=1, dtype=np.float64) * ranks[:, -1])
        return 2 * auc - 1 if self._gini else auc


def cumulative(counts: Counts, order: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the cumulative counts of the rows in the given order."""
    return np.cumsum(counts.take(order, axis=1), axis=1, dtype=np.int32)


def _sum_products(a: NDArray[Any], b: NDArray[Any]) -> Values:
    total: Values = np.einsum("bi,bi->b", a, b, dtype=np.float64, casting="unsafe")
    return total
