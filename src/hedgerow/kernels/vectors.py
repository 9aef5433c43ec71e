"""Kernels of vectors: how their tables are made, and what ``gamma`` may stand for."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._base.parameters import any_of, one_of, real_number
from hedgerow.data.rows import Rows, matrix_of, read_rows
from hedgerow.errors import DataError, ParameterError
from hedgerow.kernels.base import Kernel, Matrix, Vector
from hedgerow.kernels.blocks import read_finite, tiles, variance

__all__ = ["GammaKernel", "VectorKernel", "finite_number", "gamma_of", "gamma_rule"]

Gamma = float | str

gamma_rule = any_of(one_of("scale", "auto"), real_number(0.0))
"""The rule of ``gamma``."""


def finite_number(value: Any) -> str | None:
    """Check that a value is a finite number.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str or None
        What is expected, or None if the value is valid.
    """
    return None if real_number(-np.inf)(value) is None else "a finite number"


def gamma_of(gamma: Gamma, rows: Rows, weight: Vector | None = None) -> float:
    """Return the numeric value of ``gamma`` for the training rows, as in scikit-learn.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
        The parameter.
    rows : ndarray or CSR matrix
        The training rows.
    weight : ndarray of shape (n_samples,) or None
        Sample weights.

    Returns
    -------
    float
        The value.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    n_features: int = rows.shape[1]
    if gamma == "auto":
        return 1.0 / n_features
    with np.errstate(over="ignore", invalid="ignore"):
        spread = variance(rows, weight)
    if not np.isfinite(spread):
        matrix_of(rows)  # which names a value that is not finite
        msg = "gamma='scale' cannot be computed: X holds values so large that their variance overflows; scale the features"
        raise DataError(msg)
    return 1.0 / (n_features * spread) if spread > 0 else 1.0


class VectorKernel(Kernel):
    """A kernel of rows of numbers, dense or sparse, float32 or float64; its values are float64."""

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return k(x, z) for each row x of X and each row z of Y, or of X again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : array-like or sparse matrix of shape (n_others, n_features), optional
            The other rows.

        Returns
        -------
        ndarray of float64 of shape (n_samples, n_others)
            The values; nothing else that is as large is made on the way.
        """
        self._check()
        A = self._read(X)
        B = A if Y is None else self._read(Y)
        if A.shape[1] != B.shape[1]:
            msg = (
                f"X has {A.shape[1]} features and Y has {B.shape[1]}; give rows of one space to "
                f"{type(self).__name__}"
            )
            raise DataError(msg)
        return self._table(A, B)

    def block(self, rows: Rows, others: Rows) -> Matrix:
        """Return k(x, z) for each of some rows and each of others, all of which have been checked."""
        return self._table(rows, others)

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x."""
        self._check()
        rows = self._read(X)
        return self._diagonal(rows.astype(np.float64, copy=False))

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        rows = self._read(X)
        return self._table(rows[np.asarray(indices)], rows)

    def _read(self, X: Any) -> Rows:
        """Return X as rows that the kernel is defined on."""
        return read_finite(X)

    def _table(self, A: Rows, B: Rows) -> Matrix:
        """Return the values, made tile by tile."""
        table = np.empty((A.shape[0], B.shape[0]))
        for i, j in tiles(*table.shape):
            a, b = (part.astype(np.float64, copy=False) for part in (A[i], B[j]))
            table[i, j] = self._values(a, b)
        return table

    @abstractmethod
    def _values(self, A: Rows, B: Rows) -> Matrix:
        """Return the values of a tile of float64 rows."""

    def _diagonal(self, A: Rows) -> Vector:
        """Return k(a, a) of float64 rows; 1 unless a kernel says otherwise."""
        return np.ones(A.shape[0])


class GammaKernel(VectorKernel):
    """A kernel with the factor ``gamma``, which may follow from the training rows."""

    gamma: Gamma

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:
        """Return a new kernel whose ``gamma`` is the number it stands for on these training rows."""
        self._check()
        kernel = copy.copy(self)
        kernel.gamma = gamma_of(self.gamma, read_rows(X)[0], sample_weight)
        return kernel

    @property
    def _factor(self) -> float:
        """The number ``gamma``."""
        if isinstance(self.gamma, str):
            msg = (
                f"gamma={self.gamma!r} of {type(self).__name__} is a number only for given training "
                "rows; take kernel.resolved(X), or give the number"
            )
            raise ParameterError(msg)
        return float(self.gamma)
