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
    """An estimate with an interval.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the end points of the interval.
    confidence_level : float
        The proportion of such intervals that contain the true value.
    n : int
        The number of observations.
    method : {"bootstrap", "exact"}
        "exact" (Clopper and Pearson 1934) if all observations are equal, so that resampling shows no
        variation.
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
    """Return the proportion of correct predictions with a percentile bootstrap interval.

    Parameters
    ----------
    correct : ndarray of bool
        For every row whether it was predicted correctly.
    confidence_level : float
        The confidence level, between 0 and 1.
    n_resamples : int
        The number of bootstrap samples.
    seed : int
        Seed of the draws.

    Returns
    -------
    Interval
        Its ``method`` is "exact" if no row, or every row, was predicted correctly.
    """
    n = len(correct)
    if n == 0:
        raise DataError("there are no predictions to evaluate; give at least one row")
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

    The number of correct rows in n draws with replacement is binomial: drawing this number is the
    bootstrap itself, at a cost that does not grow with n.
    """
    shares = generator_of(seed).binomial(n, n_correct / n, n_resamples) / n
    tail = (1 - confidence_level) / 2
    low, high = np.quantile(shares, [tail, 1 - tail])
    return float(low), float(high)
