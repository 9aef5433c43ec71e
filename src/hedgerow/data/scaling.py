"""The scales of columns: measured, brought to one scale, and warned of where they differ too much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers
from hedgerow.data.rows import Rows
from hedgerow.errors import ScaleWarning, warn_user

__all__ = ["SCALES", "FilledScaling", "Scaling", "warn_of_scales"]

Vector = NDArray[np.float64]

SCALES = ("standard", "minmax", None)
"""Names of the scalings there are."""
TOO_FAR_APART = 1000.0
"""How many times wider than another a feature may be without a warning."""


@record(shift=numbers("features"), factor=numbers("features", low=0.0, open_low=True))
@dataclass(frozen=True, eq=False)
class Scaling:
    """x becomes (x - shift) * factor, column by column; sparse rows are not shifted.

    A column that does not vary is not scaled: its factor is 1.
    """

    shift: Vector
    factor: Vector

    @classmethod
    def of(cls, rows: Rows, weight: Vector, scale: str) -> Scaling:
        """Measure the columns over the rows with a positive weight: "standard" or "minmax"."""
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
        low, high = _extremes(rows)
        if sp.issparse(rows):
            return cls(np.zeros_like(low), _inverse(np.maximum(-low, high)))
        return cls(low, _inverse(high - low))

    def apply(self, rows: Rows) -> Rows:
        """Return the rows scaled, in their own type."""
        if sp.issparse(rows):
            return (rows @ sp.diags_array(self.factor)).tocsr().astype(rows.dtype, copy=False)
        return ((rows - self.shift) * self.factor).astype(rows.dtype, copy=False)

    def folded(self, w: Vector, intercept: Vector) -> tuple[Vector, Vector]:
        """Return the w and intercept that score unscaled rows as the given ones score scaled rows."""
        plain = w * self.factor
        return plain, intercept - plain @ self.shift


@dataclass(frozen=True, eq=False)
class FilledScaling:
    """x becomes (x - center) / spread, column by column; a missing x is ``fill`` before that.

    A column that does not vary is not scaled: its spread is 1.
    """

    fill: Vector
    center: Vector
    spread: Vector

    @classmethod
    def of(cls, rows: Rows, scale: str | None) -> FilledScaling:
        """Measure the columns: "standard" (of dense rows only), "maxabs", or None."""
        low, high, mean = _summary(rows)
        center, spread = np.zeros_like(mean), np.ones_like(mean)
        if scale == "maxabs":
            spread = np.maximum(np.abs(low), np.abs(high))
        elif scale == "standard":
            center, spread = mean, np.where(np.isnan(rows), mean, rows).std(axis=0)
        # Rounding gives a constant column a tiny spread, so equality of the extremes decides.
        spread[(spread == 0) | ((low == high) & (scale == "standard"))] = 1.0
        return cls(mean, center, spread)

    def apply(self, rows: Rows) -> NDArray[np.float64]:
        """Return dense rows filled and scaled."""
        filled = np.where(np.isnan(rows), self.fill, rows)
        return np.asarray((filled - self.center) / self.spread)

    def apply_sparse(self, rows: Rows) -> Rows:
        """Return CSR rows scaled, none of which is missing and whose zeros stay."""
        data = rows.data / self.spread[rows.indices]
        return sp.csr_matrix((data, rows.indices, rows.indptr), shape=rows.shape)


def warn_of_scales(rows: Rows, names: NDArray[np.object_] | None) -> None:
    """Warn, with the fix, if the ranges of two features that vary differ by more than a thousand.

    Kernels of distances and dot products add features up. The fits of a search have the same columns,
    and warn once.
    """
    low, high = _extremes(rows)
    ranges = high - low
    varying = np.flatnonzero(ranges > 0.0)
    if not len(varying):
        return
    wide = varying[np.argmax(ranges[varying])]
    narrow = varying[np.argmin(ranges[varying])]
    if ranges[wide] <= TOO_FAR_APART * ranges[narrow]:
        return
    wide_one, narrow_one = (
        f"feature {column if names is None else repr(names[column])}" for column in (wide, narrow)
    )
    msg = (
        f"{wide_one} ranges over {ranges[wide]:.3g} and {narrow_one} over {ranges[narrow]:.3g}: "
        "the kernel hardly sees the latter; give scale='standard' or scale='minmax'"
    )
    columns = rows.shape[1] if names is None else tuple(names)
    warn_user(msg, ScaleWarning, once_for=columns)


def _extremes(rows: Rows) -> tuple[Vector, Vector]:
    """Return the smallest and the largest value of each column."""
    found: list[Any] = [rows.min(axis=0), rows.max(axis=0)]
    if sp.issparse(rows):
        found = [each.toarray().ravel() for each in found]
    low, high = (np.asarray(each, dtype=np.float64) for each in found)
    return low, high


def _summary(rows: Rows) -> tuple[Vector, Vector, Vector]:
    """Return smallest, largest and mean value of each column, 0 for a column without values."""
    if sp.issparse(rows):
        return *_extremes(rows), np.asarray(rows.mean(axis=0)).ravel()
    n_present = np.count_nonzero(~np.isnan(rows), axis=0)
    low = np.nan_to_num(np.fmin.reduce(rows, axis=0))
    high = np.nan_to_num(np.fmax.reduce(rows, axis=0))
    mean = np.nansum(rows, axis=0) / np.maximum(n_present, 1)
    return low, high, np.clip(mean, low, high)


def _inverse(size: Vector) -> Vector:
    """Return 1 / size, and 1 where size is 0."""
    return 1.0 / np.where(size > 0.0, size, 1.0)
