"""The laws a kernel must obey for its machines to be convex and its blocks to fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernels import Kernel, as_kernel

__all__ = ["check_kernel"]

Matrix = NDArray[np.float64]

_ROUNDING = 1e-10
"""By so much of their scale, sqrt(|k(x, x) k(z, z)|) or 1 if that is more, values may differ."""
_PER_ROW = 1e-13
"""By so much a row an eigenvalue may be negative, beside the largest one."""


def check_kernel(kernel: Any, X: Any) -> None:
    """Check that a kernel is one: symmetric, positive semidefinite, the same in every block.

    Of a kernel that says it is conditionally positive semidefinite, that is checked.

    Values may differ by rounding: 1e-10 of sqrt(|k(x, x) k(z, z)|), or of 1 if that is more.
    Eigenvalues may be negative by 1e-13 of the largest times the number of rows; a kernel that says
    it is indefinite is not asked for more. All of the table is computed, and its eigenvalues: some
    hundred rows are enough.

    Parameters
    ----------
    kernel : str, Kernel, callable or object with ``rows(X, indices)``
        What a machine would be given.
    X : array-like, sparse matrix or sequence
        At least three rows that it is made for, better some of them equal.

    Raises
    ------
    AssertionError
        If a law does not hold; the message says which one, and for what rows.
    """
    kernel = as_kernel(kernel).resolved(X)
    table = np.asarray(kernel(X))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    assert table.shape == (n, n), (
        f"not so: {n} rows make a table of {n} by {n} values (the shape is {table.shape})"
    )
    _hold(np.isfinite(table), table, "every value is finite")
    scale = _scale(table)
    _agree(table, table.T, scale, "k(x, z) is k(z, x)")
    _check_diagonal(kernel, X, table, scale)
    _check_blocks(kernel, X, table, scale)
    if kernel.is_positive_semidefinite:
        _check_eigenvalues(table)
    elif kernel.is_conditionally_positive_semidefinite:
        means = np.mean(table, axis=0)
        _check_eigenvalues(table - means[:, None] - means + np.mean(means))


def _scale(table: Matrix) -> Matrix:
    """Return how large each value can be expected to be, at least 1."""
    sizes = np.sqrt(np.abs(table.diagonal()))
    scale: Matrix = np.maximum(1.0, sizes[:, None] * sizes)
    return scale


def _check_diagonal(kernel: Kernel, X: Any, table: Matrix, scale: Matrix) -> None:
    """Hold the diagonal against that of the table."""
    diagonal = np.asarray(kernel.diagonal(X))
    n = len(table)
    assert diagonal.shape == (n,), (
        f"not so: the diagonal has one value a row ({n} rows, shape {diagonal.shape})"
    )
    found = table.copy()
    np.fill_diagonal(found, diagonal)
    _agree(found, table, scale, "diagonal(X) is the diagonal of the table")


def _check_blocks(kernel: Kernel, X: Any, table: Matrix, scale: Matrix) -> None:
    """Ask for rows in three parts, one of them in reverse and with a row twice."""
    n = len(table)
    parts = (np.arange(n // 2), np.array([n - 1]), np.array([n - 1, n // 2, 0, 0]))
    for part in parts:
        found = np.asarray(kernel.rows(X, part))
        assert found.shape == (len(part), n), (
            f"not so: rows(X, indices) has a row an index and a column a row of X "
            f"({len(part)} indices, {n} rows, shape {found.shape})"
        )
        whole = np.copy(table)
        whole[part] = found
        _agree(whole, table, scale, "rows(X, indices) are those rows of the table")


def _check_eigenvalues(table: Matrix) -> None:
    """Look for a combination of rows whose length in the space of the kernel would be imaginary."""
    values, vectors = np.linalg.eigh(0.5 * (table + table.T))
    least, largest = float(values[0]), float(np.abs(values).max())
    heaviest = np.argsort(-np.abs(vectors[:, 0]), kind="stable")[:2]
    assert least >= -_PER_ROW * len(table) * largest, (
        f"not so: no eigenvalue is negative (one is {least:.3g} beside {largest:.3g}, most of it from "
        f"rows {' and '.join(map(str, sorted(heaviest.tolist())))}); if that is meant, say that the "
        "kernel is indefinite"
    )


def _agree(found: Matrix, expected: Matrix, scale: Matrix, sentence: str) -> None:
    """Raise if values differ by more than rounding."""
    with np.errstate(invalid="ignore"):  # what is not a number differs
        same = np.abs(found - expected) <= _ROUNDING * scale
    if not same.all():
        i, j = np.argwhere(~same)[0].tolist()
        raise AssertionError(
            f"not so: {sentence} (rows {i} and {j}: {found[i, j]:.17g} and {expected[i, j]:.17g})"
        )


def _hold(law: NDArray[np.bool_], table: Matrix, sentence: str) -> None:
    """Raise if the law fails for some pair of rows."""
    if not law.all():
        i, j = np.argwhere(~law)[0].tolist()
        raise AssertionError(f"not so: {sentence} (rows {i} and {j}: {table[i, j]:g})")
