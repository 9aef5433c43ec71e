"""Where a kernel machine lives: its rows and its kernel, as solvers and predictions need them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.items import Items, are_items, as_kept
from hedgerow.data.rows import Rows, dense, matrix_view
from hedgerow.errors import DataError
from hedgerow.kernels import Kernel, RowsKernel
from hedgerow.kernels.gram import FunctionGram, Gram, MatrixGram, core_kernel
from hedgerow.monitor import stop_if_asked

__all__ = ["KernelSpace", "compiled"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
Values32 = NDArray[np.float32]


FEW_OBJECTS = 2048
"""Objects up to which all values among them are kept: 32 MB."""

MANY_COLUMNS = 0.125
"""Share of the points of a problem from which on their values are worth keeping."""
ROWS_AT_ONCE = 64
"""Whole rows of values among objects that are computed between two looks at the monitor."""

FAR = 10.0
"""Rows farther from 0 than this many times their spread are centred."""


def compiled(kernel: Kernel) -> _core.kernel.Kernel | None:
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

    def gram(
        self, points: Indices, n_threads: int, within: tuple[Values32, Values32] | None = None
    ) -> Gram:
        """Return the kernel values among some of the rows; those within two classes may be there."""
        kernel = self._compiled
        if kernel is None and are_items(self.rows) and len(self.rows) <= FEW_OBJECTS:
            return FunctionGram(partial(_among, self._kept_values, points), len(points), square=1)
        if kernel is None:
            return FunctionGram(_values_of(self.kernel, self.rows, points), len(points))
        return _finite(MatrixGram(kernel, self._matrix(kernel, points), n_threads, within))

    def within(self, points: Indices, n_threads: int) -> Values32 | None:
        """Return the values among the points of a class, which its pairs with others share."""
        kernel = self._compiled
        if kernel is None or kernel.is_given:
            return None
        return MatrixGram(kernel, self._matrix(kernel, points), n_threads).values

    @cached_property
    def _compiled(self) -> _core.kernel.Kernel | None:
        """The kernel as the core knows it, if it does."""
        return compiled(self.kernel)

    @cached_property
    def _kept_values(self) -> _KeptValues:
        """The values among objects, which problems over some of them share."""
        return _KeptValues(self.kernel, self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return what worker processes are sent: all but what belongs to this one."""
        own = ("_compiled", "_kept_values")
        return {name: part for name, part in vars(self).items() if name not in own}

    def _matrix(self, kernel: _core.kernel.Kernel, points: Indices) -> _core.data.Matrix:
        """Return some of the rows, or of a given table their values."""
        if kernel.is_given:
            return matrix_view(np.ascontiguousarray(dense(self.rows)[np.ix_(points, points)]))
        is_whole = np.array_equal(points, np.arange(self.rows.shape[0]))
        return matrix_view(self._near_rows if is_whole else self._near_rows[points])

    @cached_property
    def _near_rows(self) -> Rows:
        """The rows, with 0 in their midst if they are far from it and the kernel does not mind."""
        if sp.issparse(self.rows) or not self.kernel.is_translation_invariant:
            return self.rows
        with np.errstate(over="ignore", invalid="ignore"):
            centre = np.mean(self.rows, axis=0, dtype=np.float64)
            spread = np.max(self.rows, axis=0) - np.min(self.rows, axis=0)
            is_far = np.sum(np.square(centre)) > FAR**2 * np.sum(
                np.square(spread, dtype=np.float64)
            )
        return self.rows - centre if is_far else self.rows


def _values_of(kernel: Kernel, rows: Rows, points: Indices) -> Any:
    """Return the function of two sets of numbers of points that gives their values."""
    mine = rows[points]
    if isinstance(kernel, RowsKernel):
        return _Rows(kernel, as_kept(mine))
    return partial(_block, kernel, mine)


def _block(kernel: Kernel, points: Rows, rows: Indices, columns: Indices) -> Vector:
    return kernel.block(points[rows], points[columns])


def _among(values: _KeptValues, points: Indices, rows: Indices, columns: Indices) -> Vector:
    is_worth_keeping = len(columns) >= MANY_COLUMNS * len(points)
    return values(points[rows], points[columns], is_worth_keeping)


@dataclass
class _KeptValues:
    """The values among a few objects: each is computed once, as Python takes long for it."""

    kernel: Kernel
    objects: Items

    def __post_init__(self) -> None:
        n = len(self.objects)
        self._values, self._is_known = np.empty((n, n)), np.zeros(n, dtype=bool)
        self._one_at_a_time = Lock()

    def __call__(self, rows: Indices, columns: Indices, is_worth_keeping: bool) -> Vector:
        """Return the values of some rows at some columns; where it is worth it, compute and keep whole rows."""
        if not is_worth_keeping:
            return self.kernel.block(self.objects[rows], self.objects[columns])
        with self._one_at_a_time:
            missing = np.unique(rows[~self._is_known[rows]])
            for begin in range(0, len(missing), ROWS_AT_ONCE):
                stop_if_asked()
                some = missing[begin : begin + ROWS_AT_ONCE]
                self._values[some] = self._whole_rows(some)
                self._is_known[some] = True
        return self._values[np.ix_(rows, columns)]

    def _whole_rows(self, rows: Indices) -> Vector:
        if isinstance(self.kernel, RowsKernel):
            return self.kernel.rows(as_kept(self.objects), rows)
        return self.kernel.block(self.objects[rows], self.objects)

    def __reduce__(self) -> tuple[type[_KeptValues], tuple[Kernel, Items]]:
        return _KeptValues, (self.kernel, self.objects)


@dataclass
class _Rows:
    """The values of a kernel that computes whole rows; those asked for last are kept."""

    kernel: Kernel
    points: Rows

    def __post_init__(self) -> None:
        self._asked: Indices = np.empty(0, dtype=np.int64)
        self._values: Vector = np.empty((0, 0))

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
