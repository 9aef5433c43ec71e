"""Structural risk minimisation: the margin with the smallest bound on the error."""

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
    """Error bounds of one hyperplane for a sequence of margins.

    Attributes
    ----------
    margins : ndarray
        The margins, in decreasing order.
    training_errors : ndarray
        The proportion of rows that violate each margin.
    vc_dimensions : ndarray
        The bound on the VC dimension for each margin.
    error_bounds : ndarray
        The bounds on the error; all hold at once with probability 1 - delta.
    """

    margins: Vector
    training_errors: Vector
    vc_dimensions: Vector
    error_bounds: Vector

    @property
    def best(self) -> int:
        """The index of the smallest bound."""
        return int(self.error_bounds.argmin())


def structural_risk(
    margins_of_rows: ArrayLike,
    radius: float,
    n_features: int,
    *,
    delta: float = 0.05,
    n_margins: int = 20,
) -> StructuralRisk:
    """Return the error bounds of a hyperplane for the margins R, R/2, R/4, ...

    A wide margin has a small VC dimension but many rows violate it. Each of the ``n_margins`` bounds may
    fail with probability delta / n_margins.

    Parameters
    ----------
    margins_of_rows : array-like of shape (n_samples,)
        The margin of each row: its distance to the hyperplane, negative on the wrong side.
    radius : float
        The radius R of a ball that contains the rows.
    n_features : int
        The dimension of the space.
    delta : float, default=0.05
        The probability with which any of the bounds may fail.
    n_margins : int, default=20
        The number of margins.

    Returns
    -------
    StructuralRisk
        The bound for each margin.
    """
    rows = np.asarray(margins_of_rows, dtype=np.float64)
    if rows.ndim != 1 or not rows.size or not np.isfinite(rows).all():
        msg = f"the margins have shape {rows.shape}; give one finite number per row"
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
