"""Points for the enclosing-ball solvers, which need only their inner products."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import Rows, dense, matrix_of
from hedgerow.kernels import Kernel
from hedgerow.kernels.blocks import read_finite

__all__ = ["KernelPoints", "Points", "RowPoints", "Vector"]

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

_KEPT = 2**25
"""The most inner products that are cached: 256 MB."""


class Points(Protocol):
    """Points of a space in which only inner products may be known."""

    diagonal: Vector

    def column(self, i: int) -> Vector:
        """Return the inner products of all points with point i."""

    def square_distances(self, support: Indices, weights: Vector) -> Vector:
        """Return the squared distances of all points to a weighted mean of some, from scratch."""

    def center(self, support: Indices, weights: Vector) -> Vector | None:
        """Return that mean, or None if it has no coordinates."""


class RowPoints:
    """The rows of a table; dense rows are centred, which keeps inner products accurate."""

    def __init__(self, X: Any) -> None:
        rows = read_finite(X).astype(np.float64, copy=False)
        self._origin = np.zeros(rows.shape[1]) if sp.issparse(rows) else rows.mean(axis=0)
        self._rows: Rows = rows if sp.issparse(rows) else rows - self._origin
        self._matrix = matrix_of(self._rows)
        self.diagonal = _core.data.row_sq_norms(self._matrix, 1)
        self.column = lru_cache(maxsize=max(2, _KEPT // rows.shape[0]))(self._column)

    def _column(self, i: int) -> Vector:
        return self._products(dense(self._rows[[i]])[0])

    def square_distances(self, support: Indices, weights: Vector) -> Vector:
        """Return the squared distances of all rows to a weighted mean; dense rows by subtraction."""
        mean = self._mean(support, weights)
        if sp.issparse(self._rows):
            return self.diagonal - 2.0 * self._products(mean) + float(np.dot(mean, mean))
        squares: Vector = np.square(self._rows - mean).sum(axis=1)
        return squares

    def center(self, support: Indices, weights: Vector) -> Vector:
        """Return that mean in the original coordinates."""
        return self._origin + self._mean(support, weights)

    def _mean(self, support: Indices, weights: Vector) -> Vector:
        mean: Vector = np.asarray(weights @ self._rows[support])
        return mean

    def _products(self, v: Vector) -> Vector:
        """Return the inner products of all rows with a vector."""
        return _core.data.scores(self._matrix, v[None, :], np.zeros(1), 1)[:, 0]


class KernelPoints:
    """The images of rows in the feature space of a kernel."""

    def __init__(self, X: Any, kernel: Kernel) -> None:
        self._X, self._kernel = X, kernel
        self.diagonal = kernel.diagonal(X)
        self.column = lru_cache(maxsize=max(2, _KEPT // len(self.diagonal)))(self._column)

    def _column(self, i: int) -> Vector:
        column: Vector = self._kernel.rows(self._X, np.array([i]))[0]
        return column

    def square_distances(self, support: Indices, weights: Vector) -> Vector:
        """Return the squared distances of all images to a weighted mean of some."""
        products = np.zeros(len(self.diagonal))
        for i, weight in zip(support.tolist(), weights, strict=True):
            products += weight * self._column(i)
        return self.diagonal - 2.0 * products + float(np.dot(weights, products[support]))

    def center(self, support: Indices, weights: Vector) -> None:  # noqa: ARG002 - the protocol's form
        """Return None: the feature space has no coordinates."""
        return
