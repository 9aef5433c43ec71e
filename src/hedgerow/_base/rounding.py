"""How far rounding can put a computed figure from its true value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

__all__ = ["EXTENDED_UNIT", "UNIT", "Rounding", "growth_of_rounding"]

UNIT = 2.0**-53
"""Half a unit in the last place of a float64."""
EXTENDED_UNIT = float(np.finfo(np.longdouble).eps) / 2.0
"""The same of NumPy's extended precision."""


def growth_of_rounding(n_terms: int) -> float:
    """Return a bound on the relative error of a sum, in units of half the last place.

    Rounding errors have either sign, so that they grow with the root of their number.
    """
    return min(float(n_terms), 8.0 * math.sqrt(n_terms)) + 4.0


@dataclass(frozen=True)
class Rounding:
    """How far, at most, rounding has put the figures of a solution from their true values.

    Attributes
    ----------
    violation : float
        Of the largest violation.
    primal : float
        Of the primal objective.
    dual : float
        Of the dual objective.
    """

    violation: float
    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Of the gap."""
        return self.primal + self.dual
