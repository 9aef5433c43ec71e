"""What kernels of vectors are computed from, a tile of rows by rows at a time.

Dot products of dense rows are the core's and those of sparse ones SciPy's: neither depends on a
number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import Rows, matrix_of, read_rows
from hedgerow.errors import DataError
from hedgerow.kernels.base import Matrix, Vector

__all__ = [
    "column_pairs",
    "dots",
    "paired_with_columns",
    "read_finite",
    "refuse_negative",
    "square_norms",
    "squared_distances",
    "tiles",
    "variance",
]

_TILE = 256, 1024
_NEAR = 1e-3
"""Below this share of |x|^2 + |z|^2 a distance that is left of it has lost three digits."""
_DIFFERENCES = 2**20
"""Numbers held at a time where distances are taken from differences: 8 MB."""


def read_finite(X: Any) -> Rows:
    """Return X as rows of finite numbers."""
    rows, names = read_rows(X)
    matrix_of(rows, names)
    return rows


def tiles(n_rows: int, n_columns: int) -> Iterator[tuple[slice, slice]]:
    """Yield the tiles that cover a matrix of this shape."""
    height, width = _TILE
    for i in range(0, n_rows, height):
        for j in range(0, n_columns, width):
            yield slice(i, i + height), slice(j, j + width)


def dots(A: Rows, B: Rows) -> Matrix:
    """Return <a, b> of float64 rows."""
    if sp.issparse(A) or sp.issparse(B):
        product = A @ B.T
        return product.toarray() if sp.issparse(product) else np.asarray(product)
    return _core.data.scores(_core.data.Matrix.dense(A), B, np.zeros(B.shape[0]), 1)


def square_norms(A: Rows) -> Vector:
    """Return |a|^2 of float64 rows."""
    if sp.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    squares: Vector = np.einsum("ij,ij->i", A, A)
    return squares


def squared_distances(A: Rows, B: Rows) -> Matrix:
    """Return |a - b|^2 of float64 rows.

    Rows much nearer to each other than to the origin are subtracted: the sum
    |a|^2 + |b|^2 - 2 <a, b> would cancel. Equal rows have distance 0.
    """
    sums = square_norms(A)[:, None] + square_norms(B)
    squared = sums - 2.0 * dots(A, B)
    near = np.nonzero(squared < _NEAR * sums)
    at_once = max(1, _DIFFERENCES // A.shape[1])
    for first in range(0, len(near[0]), at_once):
        i, j = (index[first : first + at_once] for index in near)
        squared[i, j] = square_norms(A[i] - B[j])
    return squared


def paired_with_columns(A: Rows, B: Rows) -> tuple[Matrix, Matrix]:
    """Return both as dense arrays; if both are sparse, of the columns that are not zero in both."""
    if sp.issparse(A) and sp.issparse(B):
        columns = np.union1d(A.indices, B.indices)
        columns = columns if len(columns) else np.array([0])
        return A[:, columns].toarray(), B[:, columns].toarray()
    a, b = (rows.toarray() if sp.issparse(rows) else rows for rows in (A, B))
    return a, b


def column_pairs(A: Rows, B: Rows) -> Iterator[tuple[Matrix, Matrix]]:
    """Yield, feature by feature, the values of A as a column and those of B as a row."""
    a, b = paired_with_columns(A, B)
    for j in range(a.shape[1]):
        yield a[:, j, None], b[None, :, j]


def variance(rows: Rows, weight: NDArray[np.float64] | None = None) -> float:
    """Return the variance of all numbers of the rows together; a row counts as often as its weight says."""
    weight = np.ones(rows.shape[0]) if weight is None else weight
    share = weight / (np.sum(weight) * rows.shape[1])
    mean = float(share @ _row_sums(rows))
    if sp.issparse(rows):
        return float(share @ _row_sums(rows.multiply(rows))) - mean * mean
    return float(share @ _row_sums((rows.astype(np.float64, copy=False) - mean) ** 2))


def _row_sums(rows: Rows) -> NDArray[np.float64]:
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def refuse_negative(rows: Rows, who: str) -> None:
    """Refuse rows with a negative number, naming the first."""
    values = rows.data if sp.issparse(rows) else rows.ravel()
    negative: NDArray[np.intp] = np.flatnonzero(values < 0)
    if not len(negative):
        return
    first = int(negative[0])
    if sp.issparse(rows):
        i = int(np.searchsorted(rows.indptr, first, side="right")) - 1
        j = int(rows.indices[first])
    else:
        i, j = divmod(first, rows.shape[1])
    msg = (
        f"X holds {values[first]:g} at row {i}, column {j}, and {who} is for features that are not "
        "negative; shift or clip the column, or take another kernel"
    )
    raise DataError(msg)
