"""Statistics as functions of how often each row counts: the fast ones by name, any other by call.

A statistic takes a block of counts and returns one value, or one array of values, a resample. What
is known by name never sees the drawn rows: sums are products of the counts with the data, ranks are
cumulative counts of data sorted once, and both are computed in the core.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

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

    def __call__(self, counts: Counts) -> Values:
        """Return counts @ columns."""
        return _core.resample.count_sums(counts, self._by_column)


class Mean:
    """The mean of every column."""

    def __init__(self, columns: Values) -> None:
        # Sums around the mean keep their digits when the mean is far from zero.
        self._shift = columns.mean(axis=0)
        centred = columns - self._shift
        self._sums = Sums(centred)
        self._moments = Sums(np.column_stack([centred, centred**2]))

    def __call__(self, counts: Counts) -> Values:
        """Return the means of every resample."""
        means: Values = (
            self._shift + self._sums(counts) / _core.resample.count_sizes(counts)[:, None]
        )
        return means

    def standard_error(self, counts: Counts) -> Values:
        """Return s / sqrt(n) of every resample."""
        sums, squares = np.split(self._moments(counts), 2, axis=1)
        n = _core.resample.count_sizes(counts)[:, None]
        variance = np.maximum(squares - sums**2 / n, 0) / (n - 1)
        error: Values = np.sqrt(variance / n)
        return error


class Ratio:
    """The sum of the first column over the sum of the second."""

    def __init__(self, columns: Values) -> None:
        x, y = columns.T
        self._sums = Sums(columns)
        self._moments = Sums(np.column_stack([x, y, x * x, x * y, y * y]))

    def __call__(self, counts: Counts) -> Values:
        """Return the ratio of every resample."""
        sums = self._sums(counts)
        ratio: Values = sums[:, 0] / sums[:, 1]
        return ratio

    def standard_error(self, counts: Counts) -> Values:
        """Return the standard error by the delta method: that of the residuals x - ratio y."""
        x, y, xx, xy, yy = self._moments(counts).T
        n = _core.resample.count_sizes(counts)
        ratio = x / y
        squares = np.maximum(xx - 2 * ratio * xy + ratio**2 * yy, 0)
        error: Values = np.sqrt(squares * n / (n - 1)) / np.abs(y)
        return error


class Correlation:
    """Pearson's correlation of two columns."""

    def __init__(self, columns: Values) -> None:
        x, y = (columns - columns.mean(axis=0)).T
        self._moments = Sums(np.column_stack([x, y, x * x, y * y, x * y]))

    def __call__(self, counts: Counts) -> Values:
        """Return the correlation in every resample."""
        x, y, xx, yy, xy = self._moments(counts).T
        n = _core.resample.count_sizes(counts)
        correlation = (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))
        # Rounding may carry a perfect correlation past one.
        clipped: Values = np.clip(correlation, -1, 1)
        return clipped


class Regression:
    """Least squares: the intercept, then one coefficient per feature.

    The normal equations are solved for centred and scaled features; their error grows with the
    square of the features' condition number.
    """

    def __init__(self, X: Values, y: Values) -> None:
        self._centre, self._scale = X.mean(axis=0), X.std(axis=0)
        scaled = np.column_stack([(X - self._centre) / self._scale, np.ones(len(X))])
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
        self._sorted = [sorted_rows(column) for column in columns.T]
        self._probability = probability

    def __call__(self, counts: Counts) -> Values:
        """Return the quantiles of every resample."""
        each = [
            _core.resample.count_quantiles(counts, *rows, self._probability)
            for rows in self._sorted
        ]
        return np.stack(each, axis=1)


class GiniCoefficient:
    """Half the mean absolute difference of two draws over the mean: 0 if all are equal."""

    def __init__(self, values: Values) -> None:
        self._sorted = sorted_rows(values)

    def __call__(self, counts: Counts) -> Values:
        """Return the coefficient of every resample."""
        return _core.resample.count_gini_coefficients(counts, *self._sorted)


class Auc:
    """The share of pairs of a positive and a negative row that the score puts in order.

    Ties count half. With ``gini`` it is 2 AUC - 1.
    """

    def __init__(self, is_positive: NDArray[np.bool_], score: Values, *, gini: bool) -> None:
        self._order = np.lexsort((is_positive, score))
        ordered = score[self._order]
        self._is_negative = (~is_positive[self._order]).astype(np.float64)
        self._is_tied = np.append(False, ordered[1:] == ordered[:-1]).astype(np.float64)
        self._gini = gini

    def __call__(self, counts: Counts) -> Values:
        """Return the AUC, or 2 AUC - 1, of every resample."""
        auc = _core.resample.count_auc(counts, self._order, self._is_negative, self._is_tied)
        return 2 * auc - 1 if self._gini else auc


def sorted_rows(values: Values) -> tuple[NDArray[np.int64], Values]:
    """Return the order that sorts the rows, and their values in that order."""
    order = np.argsort(values, kind="stable")
    return order, values[order]
