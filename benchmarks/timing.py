"""What several timings of one thing say."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Timing", "geometric_mean"]


@dataclass(frozen=True)
class Timing:
    """Repeated timings of one fit.

    Attributes
    ----------
    seconds : tuple of float
        As measured, in the order of the repeats; at least one.
    """

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The figure that is compared: one slow repeat does not move it."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """(Slowest - fastest) / median: differences between contestants below it mean nothing."""
        return (max(self.seconds) - min(self.seconds)) / self.median


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return the geometric mean of positive ratios; that of none is not a number.

    Examples
    --------
    >>> round(geometric_mean([0.5, 2.0]), 12)
    1.0
    """
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.fmean(logs)) if logs else math.nan
