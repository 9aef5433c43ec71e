"""From the bootstrap distribution of a statistic to an interval: percentile, basic, BCa, studentized.

Distributions have one row per resample and one column per component of the statistic. All definitions
follow SciPy.

Efron, Tibshirani (1993), "An Introduction to the Bootstrap", chapters 12 to 14.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from hedgerow.errors import DataError

__all__ = [
    "Alternative",
    "Method",
    "acceleration",
    "basic",
    "bca",
    "one_sided",
    "percentile",
    "studentized",
    "tails",
]

Values: TypeAlias = NDArray[np.float64]
Method: TypeAlias = Literal["BCa", "percentile", "basic", "studentized"]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]


def tails(confidence_level: float, alternative: Alternative) -> Values:
    """Return the probabilities below the lower end and below the upper end."""
    outside = 1 - confidence_level
    tail = outside / 2 if alternative == "two-sided" else outside
    return np.array([tail, 1 - tail])


def one_sided(low: Values, high: Values, alternative: Alternative) -> tuple[Values, Values]:
    """Make the end point infinite that the alternative leaves open."""
    if alternative == "less":
        low = np.full_like(low, -np.inf)
    if alternative == "greater":
        high = np.full_like(high, np.inf)
    return low, high


def percentile(distribution: Values, probabilities: Values) -> tuple[Values, Values]:
    """Return quantiles of the distribution."""
    low, high = np.quantile(distribution, probabilities, axis=0)
    return low, high


def basic(distribution: Values, estimate: Values, probabilities: Values) -> tuple[Values, Values]:
    """Return the percentile interval reflected at the estimate."""
    low, high = percentile(distribution, probabilities)
    return 2 * estimate - high, 2 * estimate - low


def bca(
    distribution: Values, estimate: Values, acceleration: Values, probabilities: Values
) -> tuple[Values, Values]:
    """Return the bias-corrected and accelerated interval.

    Efron (1987), "Better bootstrap confidence intervals", JASA 82.
    """
    share_below = (
        (distribution < estimate).mean(axis=0) + (distribution <= estimate).mean(axis=0)
    ) / 2
    one_side = np.flatnonzero((share_below == 0) | (share_below == 1))
    if len(one_side):
        msg = f"BCa is undefined: every resample lies on one side of the estimate {estimate[one_side[0]]:g}; use method='percentile'"
        raise DataError(msg)
    bias = ndtri(share_below)
    reach = bias + ndtri(probabilities)[:, None]
    adjusted = ndtr(bias + reach / (1 - acceleration * reach))
    columns = zip(distribution.T, adjusted.T, strict=True)
    low, high = np.array([np.quantile(column, p) for column, p in columns]).T
    return low, high


def acceleration(pools: list[Values]) -> Values:
    """Return the skewness of the jackknife values, pool by pool, that BCa corrects for.

    Each pool has one row per deletion; the sums over several pools are those of independent samples.
    """
    cubes = squares = np.zeros(pools[0].shape[1])
    for values in pools:
        n = len(values)
        influence = (n - 1) * (values.mean(axis=0) - values)
        cubes = cubes + (influence**3).sum(axis=0) / n**3
        squares = squares + (influence**2).sum(axis=0) / n**2
    if np.any(squares == 0):
        msg = "BCa is undefined: leaving out any row does not change the statistic; use method='percentile'"
        raise DataError(msg)
    skewness: Values = cubes / (6 * squares**1.5)
    return skewness


def studentized(
    distribution: Values,
    estimate: Values,
    errors: Values,
    error: Values,
    probabilities: Values,
) -> tuple[Values, Values]:
    """Return the interval from the quantiles of the studentised statistic.

    ``errors`` are those of every resample, ``error`` is that of the data.
    """
    distance = distribution - estimate
    flat = errors == 0
    t = np.where(flat, np.copysign(np.inf, distance), distance / np.where(flat, 1, errors))
    t[flat & (distance == 0)] = 0
    low, high = np.quantile(t, probabilities, axis=0, method="inverted_cdf")
    if not np.all(np.isfinite([low, high])):
        msg = f"the standard error is zero in {int(flat.any(axis=1).sum())} of {len(t)} resamples; use method='BCa' or 'percentile'"
        raise DataError(msg)
    return estimate - high * error, estimate - low * error
