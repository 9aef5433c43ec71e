"""A metric or cost at every threshold between distinct scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import true_or_false
from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers

__all__ = ["Intervals", "ThresholdCurve"]

Values: TypeAlias = NDArray[np.float64]

_TIE = 1e-12
"""Values that differ by no more than this, relatively, differ by rounding."""


@dataclass(frozen=True)
class Intervals:
    """Intervals between neighbouring scores: all thresholds in one give the same decisions.

    Attributes
    ----------
    low, high : ndarray of shape (n_scores + 1,)
        The end points. The intervals below the first score and above the last are as wide as the
        range of the scores, or 1 if that is 0.
    place : ndarray of int
        For every row the index of the interval below its score.
    """

    low: Values
    high: Values
    place: NDArray[np.int64]

    @classmethod
    def between(cls, scores: Values) -> Intervals:
        """Return the intervals between the scores of rows."""
        distinct, place = np.unique(scores, return_inverse=True)
        reach = float(distinct[-1] - distinct[0]) or 1.0
        low = np.concatenate([[distinct[0] - reach], distinct])
        high = np.concatenate([distinct, [distinct[-1] + reach]])
        return cls(low, high, place)


@record(
    low=numbers("thresholds+"),
    high=numbers("thresholds+"),
    values=numbers("thresholds+"),
    lower_is_better=true_or_false,
)
@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """A metric, or the mean cost, at each threshold.

    Attributes
    ----------
    low, high : ndarray
        The intervals of thresholds; every threshold in one gives the same value.
    values : ndarray
        The metric, or the mean cost per row.
    lower_is_better : bool
        Whether the values are costs.
    """

    low: Values
    high: Values
    values: Values
    lower_is_better: bool = False

    @property
    def thresholds(self) -> Values:
        """The midpoint of each interval, in increasing order."""
        return _middle(self.low, self.high)

    def best(self) -> tuple[float, float]:
        """Return the best threshold and its value.

        Neighbouring intervals of the best value are merged, and the threshold is the midpoint. Among
        several, an interval between two scores is preferred to one beyond all scores, and a wider one to a
        narrower one.

        Returns
        -------
        tuple of float
            The threshold, and the value there.
        """
        merit = -self.values if self.lower_is_better else self.values
        is_best = merit >= merit.max() - _TIE * max(np.abs(merit).max(), 1.0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], is_best, [False]])))
        runs = [(int(first), int(end) - 1) for first, end in edges.reshape(-1, 2)]
        first, last = max(runs, key=self._worth)
        threshold = _middle(self.low[first : first + 1], self.high[last : last + 1])[0]
        return float(threshold), float(self.values[first])

    def _worth(self, run: tuple[int, int]) -> tuple[bool, float]:
        first, last = run
        is_inner = first > 0 and last < len(self.values) - 1
        return is_inner, float(self.high[last] - self.low[first])


def _middle(low: Values, high: Values) -> Values:
    """Return numbers from low on and below high: the score at the lower end is not above them."""
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)
