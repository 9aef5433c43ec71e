"""Where a kernel machine lives: its rows and its kernel, as solvers and predictions need them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._rows import Rows, dense, matrix_of
from hedgerow.errors import DataError
from hedgerow.gram import FunctionGram, Gram, MatrixGram, core_kernel
from hedgerow.kernels import Kernel, RowsKernel

__all__ = ["KernelSpace", "compiled"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


def compiled(kernel: Kernel) -> _core.Kernel | None:
    """Return the kernel as the core knows it, None if only Python does."""
    form = kernel.core_form()
    return None if form is None else core_kernel(form)


@dataclass(frozen=True, eq=False)
class KernelSpace:
    """Rows and a kernel.

    Attributes
    ----------
    kernel : Kernel
        With numbers for all its parameters.
    rows : Rows
        Brought to scale; of a given table, its rows.
    """

    kernel: Kernel
    rows: Rows

    def gram(self, points: Indices, n_threads: int) -> Gram:
        """Return the kernel values among some of the rows."""
        kernel, whole = compiled(self.kernel), len(points) == self.rows.shape[0]
        if kernel is None:
            return FunctionGram(_values_of(self.kernel, self.rows, points), len(points))
        if kernel.is_given:
            table = dense(self.rows)
            table = table if whole else np.ascontiguousarray(table[np.ix_(points, points)])
            return _finite(MatrixGram(kernel, matrix_of(table), n_threads))
        rows = self.rows if whole else self.rows[points]
        return _finite(MatrixGram(kernel, matrix_of(rows), n_threads))


def _values_of(kernel: Kernel, rows: Rows, points: Indices) -> Any:
    """Return the function of two sets of numbers of points that gives their values."""
    mine = rows if len(points) == rows.shape[0] else rows[points]
    return _Rows(kernel, mine) if isinstance(kernel, RowsKernel) else partial(_block, kernel, mine)


def _block(kernel: Kernel, points: Rows, rows: Indices, columns: Indices) -> Vector:
    return kernel(points[rows], points[columns])


@dataclass
class _Rows:
    """The values of a kernel that computes whole rows; those asked for last are kept."""

    kernel: Kernel
    points: Rows
    _asked: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64), init=False)
    _values: Vector = field(default_factory=lambda: np.empty((0, 0)), init=False)

    def __call__(self, rows: Indices, columns: Indices) -> Vector:
        """Return the values of some rows at some columns."""
        if not len(self._asked) or not np.array_equal(rows, self._asked):
            self._values = self.kernel.rows(self.points, rows)
            self._asked = rows.copy()
        return self._values[:, columns]


def _finite(gram: MatrixGram) -> MatrixGram:
    """Return the gram, refusing values that are too large to compute with."""
    wrong = np.flatnonzero(~np.isfinite(gram.diagonal))
    if len(wrong):
        msg = (
            f"the kernel of row {wrong[0]} with itself is {gram.diagonal[wrong[0]]}; scale the features, "
            "for example by scale='standard', or take a smaller degree or gamma"
        )
        raise DataError(msg)
    return gram
