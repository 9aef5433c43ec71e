"""Columns brought to one scale, and the scale folded back into a plane or kept by a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers
from hedgerow.data.rows import Rows

__all__ = ["SCALES", "Scaling"]

Vector = NDArray[np.float64]

SCALES = ("standard", "minmax", None)
"""Names of the scalings there are."""


@record(shift=numbers("features"), factor=numbers("features", low=0.0, open_low=True))
@dataclass(frozen=True, eq=False)
class Scaling:
    """x becomes (x - shift) * factor, column by column; sparse rows are not shifted.

    A column that does not vary keeps its size: its factor is 1.
    """

    shift: Vector
    factor: Vector

    @classmethod
    def of(cls, rows: Rows, weight: Vector, scale: str) -> Scaling:
        """Measure the columns over the rows with a weight: "standard" or "minmax"."""
        used = rows[np.flatnonzero(weight)]
        return cls._standard(used, weight[weight > 0]) if scale == "standard" else cls._minmax(used)

    @classmethod
    def _standard(cls, rows: Rows, weight: Vector) -> Scaling:
        share = weight / np.sum(weight)
        if sp.issparse(rows):
            mean = rows.T @ share
            spread = np.sqrt(np.maximum(rows.multiply(rows).T @ share - mean**2, 0.0))
            return cls(np.zeros_like(mean), _inverse(spread))
        mean = share @ rows.astype(np.float64, copy=False)
        return cls(mean, _inverse(np.sqrt(share @ (rows - mean) ** 2)))

    @classmethod
    def _minmax(cls, rows: Rows) -> Scaling:
        low = rows.min(axis=0)
        high = rows.max(axis=0)
        if sp.issparse(rows):
            size = np.maximum(-low.toarray(), high.toarray()).ravel().astype(np.float64)
            return cls(np.zeros_like(size), _inverse(size))
        low, high = low.astype(np.float64), high.astype(np.float64)
        return cls(low, _inverse(high - low))

    def apply(self, rows: Rows) -> Rows:
        """Return the rows scaled, in their own type."""
        if sp.issparse(rows):
            return (rows @ sp.diags_array(self.factor)).tocsr().astype(rows.dtype, copy=False)
        return ((rows - self.shift) * self.factor).astype(rows.dtype, copy=False)

    def folded(self, w: Vector, intercept: Vector) -> tuple[Vector, Vector]:
        """Return the plane that scores rows as they come as (w, intercept) scores scaled ones."""
        plain = w * self.factor
        return plain, intercept - plain @ self.shift


def _inverse(size: Vector) -> Vector:
    """Return 1 / size, and 1 where that is 0."""
    return 1.0 / np.where(size > 0.0, size, 1.0)
