"""Structural risk minimisation: the margin whose bound on the error is the smallest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.errors import DataError
from hedgerow.theory._numbers import check_count, check_number, check_share
from hedgerow.theory.bounds import margin_error_bound, margin_vc_dimension

__all__ = ["StructuralRisk", "structural_risk"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StructuralRisk:
    """The bounds of one plane, by the margin that is asked of it.

    Attributes
    ----------
    margins : ndarray
        The margins, from the widest on.
    training_errors : ndarray
        The share of rows that do not keep each of them.
    vc_dimensions : ndarray
        What each leaves of the dimension.
    error_bounds : ndarray
        The bounds on the error; all hold at once with probability 1 - delta.
    """

    margins: Vector
    training_errors: Vector
    vc_dimensions: Vector
    error_bounds: Vector

    @property
    def best(self) -> int:
        """The position of the smallest bound."""
        return int(self.error_bounds.argmin())


def structural_risk(
    margins_of_rows: ArrayLike,
    radius: float,
    n_features: int,
    *,
    delta: float = 0.05,
    n_margins: int = 20,
) -> StructuralRisk:
    """Return the bounds for the margins R, R/2, R/4, ... of a plane.

    A wide margin leaves a small dimension and many rows that do not keep it. As there are
    ``n_margins`` bounds, each is given the part delta / n_margins of the probability to fail.

    Parameters
    ----------
    margins_of_rows : array-like of shape (n_samples,)
        The margin of each row: its distance to the plane, negative on the wrong side.
    radius : float
        The radius R of a ball around the rows.
    n_features : int
        The dimension of the space.
    delta : float, default=0.05
        The probability with which any of the bounds may fail.
    n_margins : int, default=20
        How many margins there are.
    """
    rows = np.asarray(margins_of_rows, dtype=np.float64)
    if rows.ndim != 1 or not rows.size or not np.isfinite(rows).all():
        msg = f"the margins have shape {rows.shape}; give one finite number a row"
        raise DataError(msg)
    check_number("radius", radius, above=0.0)
    check_share("delta", delta)
    check_count("n_margins", n_margins)
    margins = radius * np.exp2(-np.arange(n_margins, dtype=np.float64))
    errors = np.array([np.mean(rows < margin) for margin in margins])
    dimensions = np.array([margin_vc_dimension(radius, float(m), n_features) for m in margins])
    bounds = [
        margin_error_bound(float(error), float(h), len(rows), delta / n_margins)
        for error, h in zip(errors, dimensions, strict=True)
    ]
    return StructuralRisk(margins, errors, dimensions, np.array(bounds))
