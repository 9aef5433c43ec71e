"""A look at the scales of features, which kernels of distances and dot products add up."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.rows import Rows
from hedgerow.errors import ScaleWarning, warn_user

__all__ = ["warn_of_scales"]

TOO_FAR_APART = 1000.0
"""How many times wider than another a feature may be."""


def warn_of_scales(rows: Rows, names: NDArray[np.object_] | None) -> None:
    """Warn, with the fix, if the ranges of two features that vary differ by more than a thousand.

    The fits of a search have the same columns, and are told once.
    """
    ranges = _ranges(rows)
    varying = np.flatnonzero(ranges > 0.0)
    if not len(varying):
        return
    wide = varying[np.argmax(ranges[varying])]
    narrow = varying[np.argmin(ranges[varying])]
    if ranges[wide] <= TOO_FAR_APART * ranges[narrow]:
        return
    msg = (
        f"{_called(wide, names)} ranges over {ranges[wide]:.3g} and {_called(narrow, names)} over "
        f"{ranges[narrow]:.3g}: the kernel hardly sees the latter; give scale='standard' or scale='minmax'"
    )
    columns = rows.shape[1] if names is None else tuple(names)
    warn_user(msg, ScaleWarning, once_for=columns)


def _ranges(rows: Rows) -> NDArray[np.float64]:
    """Return the largest minus the least value of each column."""
    highest, lowest = rows.max(axis=0), rows.min(axis=0)
    if sp.issparse(rows):
        highest, lowest = highest.toarray().ravel(), lowest.toarray().ravel()
    return np.asarray(highest, dtype=np.float64) - np.asarray(lowest, dtype=np.float64)


def _called(column: np.intp, names: NDArray[np.object_] | None) -> str:
    return f"feature {column}" if names is None else f"feature {names[column]!r}"
