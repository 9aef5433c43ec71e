"""An interval for the accuracy of a classifier on rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from hedgerow._base.parameters import any_number, generator_of, one_of, real_number, whole_number
from hedgerow._base.state import record
from hedgerow.errors import DataError, ParameterError

__all__ = ["Interval", "accuracy_interval"]


@record(
    estimate=any_number,
    low=any_number,
    high=any_number,
    confidence_level=real_number(0.0, 1.0),
    n=whole_number(1),
    method=one_of("bootstrap", "exact"),
)
@dataclass(frozen=True)
class Interval:
    """An estimate and the interval around it.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the two ends of the interval.
    confidence_level : float
        The share of such intervals that are to contain the true value.
    n : int
        How many observations the estimate rests on.
    method : {"bootstrap", "exact"}
        "exact" (Clopper and Pearson 1934) where every observation is the same and resampling
        would show no spread at all.
    """

    estimate: float
    low: float
    high: float
    confidence_level: float
    n: int
    method: str


def accuracy_interval(
    correct: NDArray[np.bool_],
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    seed: int,
) -> Interval:
    """Return the share of correct predictions with its percentile bootstrap interval.

    Parameters
    ----------
    correct : ndarray of bool
        For every row whether it was predicted right.
    confidence_level : float
        Between 0 and 1.
    n_resamples : int
        How many bootstrap samples are drawn.
    seed : int
        Seed of the draws.

    Returns
    -------
    Interval
        Its ``method`` is "exact" if no row, or every row, was predicted right.
    """
    n = len(correct)
    if n == 0:
        raise DataError("there are no predictions to judge; give at least one row")
    if not 0 < confidence_level < 1:
        msg = f"confidence_level={confidence_level!r} is not between 0 and 1; try 0.95"
        raise ParameterError(msg)
    n_correct = int(np.count_nonzero(correct))
    if n_correct in (0, n):
        exact = binomtest(n_correct, n).proportion_ci(confidence_level, method="exact")
        low, high, method = float(exact.low), float(exact.high), "exact"
    else:
        low, high = _bootstrap(n_correct, n, confidence_level, n_resamples, seed)
        method = "bootstrap"
    return Interval(n_correct / n, low, high, float(confidence_level), n, method)


def _bootstrap(
    n_correct: int, n: int, confidence_level: float, n_resamples: int, seed: int
) -> tuple[float, float]:
    """Return the percentile interval.

    n draws with replacement from n rows of which n_correct are right hold a binomial number of
    right ones: drawing that number is the bootstrap itself, at a cost that does not grow with n.
    """
    shares = generator_of(seed).binomial(n, n_correct / n, n_resamples) / n
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(shares, [tail, 1 - tail])
    return float(low), float(high)
