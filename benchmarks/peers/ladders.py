"""Ladders of tolerances that adapters share."""

from __future__ import annotations

import numpy as np

__all__ = ["half_decades"]


def half_decades(loosest: float, tightest: float) -> tuple[float, ...]:
    """Return tolerances from loosest to tightest, each about a third of the one before.

    Examples
    --------
    >>> half_decades(1e-1, 1e-2)
    (0.1, 0.0316, 0.01)
    """
    exponents = np.arange(np.log10(loosest), np.log10(tightest) - 0.25, -0.5)
    return tuple(float(f"{10.0**exponent:.3g}") for exponent in exponents)
