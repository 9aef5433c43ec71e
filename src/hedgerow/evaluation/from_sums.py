"""Scorers that are formulas of sums over rows: computed from counts, without drawing rows.

Names and values are those of scikit-learn's scorers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.resampling.plan import Counts
from hedgerow.resampling.statistics import Sums

__all__ = ["FromSums", "has_formula", "score_from_sums"]

Values: TypeAlias = NDArray[np.float64]
Formula: TypeAlias = Callable[[Sequence[Values]], Values]

_MOST_CLASSES = 50
"""Balanced accuracy needs two sums per class: with more classes than this, drawing rows is cheaper."""


class FromSums:
    """A formula of the sums of columns over the rows of a resample."""

    def __init__(self, columns: Sequence[NDArray[Any]], formula: Formula) -> None:
        self._sums = Sums(np.column_stack(columns).astype(np.float64))
        self._formula = formula

    def __call__(self, counts: Counts) -> Values:
        """Return the formula's value for every resample."""
        return self._formula([*self._sums(counts).T])


def has_formula(scorer: str, y: NDArray[Any], prediction: NDArray[Any]) -> bool:
    """Return whether the scorer can be computed from sums on these rows."""
    if scorer in _OF_POSITIVES:
        # scikit-learn takes 1 as the positive class, and refuses other labels by itself.
        labels = np.union1d(y, prediction).tolist()
        return labels in ([0, 1], [-1, 1])
    if scorer == "balanced_accuracy":
        return len(np.unique(y)) <= _MOST_CLASSES
    return scorer in _OF_ROWS


def score_from_sums(scorer: str, y: NDArray[Any], prediction: NDArray[Any]) -> FromSums:
    """Return the scorer as a function of counts."""
    if scorer == "balanced_accuracy":
        return _balanced_accuracy(y, prediction)
    if scorer in _OF_POSITIVES:
        is_positive, says_positive = y == 1, prediction == 1
        columns = (is_positive & says_positive, is_positive, says_positive)
        return FromSums(columns, _OF_POSITIVES[scorer])
    return _OF_ROWS[scorer](y, prediction)


def _mean(values: NDArray[Any]) -> FromSums:
    return FromSums((values, np.ones(len(values))), lambda sums: sums[0] / sums[1])


def _r2(y: NDArray[Any], prediction: NDArray[Any]) -> FromSums:
    centred = y - y.mean()

    def formula(sums: Sequence[Values]) -> Values:
        residual, square, total, n = sums
        return 1 - residual / (square - total**2 / n)

    return FromSums(((y - prediction) ** 2, centred**2, centred, np.ones(len(y))), formula)


def _balanced_accuracy(y: NDArray[Any], prediction: NDArray[Any]) -> FromSums:
    """Return the mean recall over the classes that occur in a resample."""
    members = [y == label for label in np.unique(y)]
    correct = [member & (prediction == y) for member in members]

    def formula(sums: Sequence[Values]) -> Values:
        right, size = sums[: len(members)], sums[len(members) :]
        share: Values = np.nanmean(np.divide(right, size), axis=0)
        return share

    return FromSums((*correct, *members), formula)


def _share(part: Values, whole: Values) -> Values:
    """Return part / whole, and 0 where there is nothing, as scikit-learn does."""
    share: Values = part / np.where(whole == 0, 1, whole)
    return share


_OF_POSITIVES: dict[str, Formula] = {
    "precision": lambda sums: _share(sums[0], sums[2]),
    "recall": lambda sums: _share(sums[0], sums[1]),
    "f1": lambda sums: _share(2 * sums[0], sums[1] + sums[2]),
}
"""Formulas of the numbers of true positives, positives, and predicted positives."""

_OF_ROWS: dict[str, Callable[[NDArray[Any], NDArray[Any]], FromSums]] = {
    "accuracy": lambda y, prediction: _mean(y == prediction),
    "neg_mean_absolute_error": lambda y, prediction: _mean(-np.abs(y - prediction)),
    "neg_mean_squared_error": lambda y, prediction: _mean(-((y - prediction) ** 2)),
    "r2": _r2,
}
