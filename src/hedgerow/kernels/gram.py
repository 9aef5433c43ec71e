"""The kernel values among the points of a fit: blocks of them, sums over them, and where solvers get them.

A Gram matrix is never formed. Proofs are made of float64 values computed from the data; solvers take
float32 ones, block by block, from the core's :class:`KernelSource`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add, mul
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.rounding import EXTENDED_UNIT, UNIT, growth_of_rounding
from hedgerow.data.rows import array_of, compact, dense
from hedgerow.errors import DataError

__all__ = [
    "Form",
    "FunctionGram",
    "Gram",
    "MatrixGram",
    "SignedGram",
    "core_kernel",
    "sums_with_errors",
]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

WORTH_COMPACTING = 0.35
"""Dense rows of which at most this share is not zero are multiplied faster as compressed rows."""
BLOCK = 512
"""Rows that a function of Python's is asked for at a time."""

COARSE = 1e-9
"""An error of a sum, relative to the largest, with which solvers cannot go on."""
FEW_POINTS = 2000
PRECISE_VALUES = 2**28
"""Points, and features of all pairs of them, up to which sums are taken in extended precision: seconds at most."""


class Form(Protocol):
    """A kernel as a name, its numbers, and the kernels that it is made of."""

    @property
    def name(self) -> str:
        """The formula, or "sum", "product" or "scaled"."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Its numbers."""

    @property
    def parts(self) -> Sequence[Form]:
        """What a sum, a product or a scaled kernel is made of."""


def core_kernel(form: Form) -> _core.kernel.Kernel:
    """Return the core's kernel of a form."""
    parts = [core_kernel(part) for part in form.parts]
    if form.name in ("sum", "product"):
        return reduce(add if form.name == "sum" else mul, parts)
    if form.name == "scaled":
        return parts[0].scaled(form.parameters["factor"])
    numbers = dict(form.parameters)
    if "degree" in numbers:
        numbers["degree"] = int(numbers["degree"])
    make: Callable[..., _core.kernel.Kernel] = getattr(_core.kernel.Kernel, form.name)
    return make(**numbers)


class Gram(Protocol):
    """The values K(x_i, x_j) among n_points points."""

    @property
    def n_points(self) -> int:
        """How many points there are."""

    @property
    def source(self) -> _core.kernel.KernelSource:
        """Where a solver has float32 values from."""

    @property
    def diagonal(self) -> Vector:
        """K(x_i, x_i)."""

    @property
    def is_cheap(self) -> bool:
        """Whether computing a value costs little more than reading it from memory."""

    @property
    def parts(self) -> Sequence[Any]:
        """All that the values depend on, for a fingerprint."""

    def sums(self, coef: Vector) -> Vector:
        """Return sum_i coef_i K(x_i, x_j) for every j, in float64 from the data; or that of each column."""

    def errors(self, coef: Vector) -> Vector:
        """Return how far, at most, rounding has put each of these sums from its true value."""

    def precise_sums(self, coef: Vector) -> tuple[Vector, Vector] | None:
        """Return the sums in extended precision, and how far each may be off; None where that takes too long."""

    def block(self, rows: Indices, columns: Indices) -> Vector:
        """Return K(x_i, x_j) for some i and j, in float64."""

    def are_equal(self, points: Indices) -> bool:
        """Say whether some points are one and the same."""


def sums_with_errors(gram: Gram, coef: Vector, is_precise: bool) -> tuple[Vector, Vector]:
    """Return the sums, and how far each may be off; in extended precision if asked for, or float64 is too coarse."""
    precise = gram.precise_sums(coef) if is_precise else None
    if precise is not None:
        return precise
    sums, errors = gram.sums(coef), gram.errors(coef)
    size = float(np.max(np.abs(sums), initial=0.0))
    if is_precise or float(np.max(errors, initial=0.0)) <= COARSE * size:
        return sums, errors
    return gram.precise_sums(coef) or (sums, errors)


def _errors_of_sums(sizes: Vector, error: float, unit: float, coef: Vector) -> Vector:
    """Return bounds on the errors of sums of values that are at most ``error * sizes_i * sizes_j`` off."""
    terms = np.abs(coef.reshape(len(coef), -1))
    n_terms = int(np.count_nonzero(terms.any(axis=1)))
    totals = np.sum(terms * sizes[:, None], axis=0)
    share = error + growth_of_rounding(n_terms) * unit
    errors: Vector = (share * sizes[:, None] * totals).reshape(coef.shape)
    return errors


@dataclass(frozen=True, eq=False)
class MatrixGram:
    """A kernel the core knows, among the rows of a matrix.

    Attributes
    ----------
    kernel : _core.kernel.Kernel
        The kernel.
    matrix : _core.data.Matrix
        The rows; given values themselves for ``Kernel.precomputed()``.
    n_threads : int
        Threads to compute with; no result depends on it.
    within : tuple of two ndarrays of float32, or None
        If the rows are those of two classes, one after the other: the values within either.
    """

    kernel: _core.kernel.Kernel
    matrix: _core.data.Matrix
    n_threads: int = 1
    within: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
    _rows: _core.data.Matrix = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = compact(self.matrix, self.n_threads, WORTH_COMPACTING)
        object.__setattr__(self, "_rows", self.matrix if self.kernel.is_given else rows)

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return self.matrix.shape[0]

    @property
    def is_cheap(self) -> bool:
        """Whether computing a value costs little more than reading it from memory."""
        return True

    @cached_property
    def source(self) -> _core.kernel.KernelSource:
        """Where a solver has float32 values from."""
        source = _core.kernel.KernelSource.of_matrix(self.kernel, self._rows, self.n_threads)
        return (
            source
            if self.within is None
            else _core.kernel.KernelSource.of_pair(source, *self.within)
        )

    @property
    def values(self) -> NDArray[np.float32]:
        """All values, as a solver would have them."""
        everyone = np.arange(self.n_points, dtype=np.int64)
        rows = self._rows
        return _core.kernel.kernel_block32(
            self.kernel, rows, rows, everyone, everyone, self.n_threads
        )

    @cached_property
    def diagonal(self) -> Vector:
        """K(x_i, x_i)."""
        return _core.kernel.kernel_diagonal(self.kernel, self._rows, self.n_threads)

    @property
    def parts(self) -> Sequence[Any]:
        """All that the values depend on, for a fingerprint."""
        return self.kernel, self.matrix, self.within is None

    def sums(self, coef: Vector) -> Vector:
        """Return sum_i coef_i K(x_i, x_j) for every j, in float64 from the data; or that of each column."""
        columns = np.ascontiguousarray(coef.reshape(self.n_points, -1))
        rows = self._rows
        sums = _core.kernel.kernel_sums(self.kernel, rows, rows, columns, True, self.n_threads)
        return sums.reshape(coef.shape)

    def errors(self, coef: Vector) -> Vector:
        """Return how far, at most, rounding has put each of these sums from its true value."""
        return _errors_of_sums(*self._rounding, UNIT, coef)

    @cached_property
    def _rounding(self) -> tuple[Vector, float]:
        return _core.kernel.kernel_rounding(self.kernel, self._rows, False, self.n_threads)

    def precise_sums(self, coef: Vector) -> tuple[Vector, Vector] | None:
        """Return the sums in extended precision, and how far each may be off; None where that takes too long."""
        n_points, n_features = self.matrix.shape
        if n_points > FEW_POINTS or n_points * n_points * n_features > PRECISE_VALUES:
            return None
        rows = np.ascontiguousarray(dense(array_of(self.matrix)), dtype=np.float64)
        columns = np.ascontiguousarray(coef.reshape(n_points, -1))
        sums = _core.kernel.precise_kernel_sums(self.kernel, rows, columns, self.n_threads)
        sizes, error = _core.kernel.kernel_rounding(self.kernel, self._rows, True, self.n_threads)
        errors = _errors_of_sums(sizes, error, EXTENDED_UNIT, coef)
        sums = sums.reshape(coef.shape)
        return sums, errors + UNIT * np.abs(sums)

    def block(self, rows: Indices, columns: Indices) -> Vector:
        """Return K(x_i, x_j) for some i and j, in float64."""
        points = self._rows
        return _core.kernel.kernel_block(self.kernel, points, points, rows, columns, self.n_threads)

    def are_equal(self, points: Indices) -> bool:
        """Say whether some points are one and the same."""
        rows = dense(array_of(self.matrix)[points])
        return bool(np.all(rows == rows[0]))


@dataclass(frozen=True, eq=False)
class FunctionGram:
    """A kernel only Python knows.

    Attributes
    ----------
    function : callable
        ``function(rows, columns)`` returns the values K(x_i, x_j) for the points of these numbers.
    n_points : int
        How many points there are.
    square : int
        Points of the squares of values whose diagonals make up the diagonal.
    """

    function: Callable[[Indices, Indices], NDArray[Any]]
    n_points: int
    square: int = 32

    @property
    def is_cheap(self) -> bool:
        """Whether computing a value costs little more than reading it from memory."""
        return False

    @cached_property
    def source(self) -> _core.kernel.KernelSource:
        """Where a solver has values from."""
        return _core.kernel.KernelSource.of_function(self.block, self.n_points)

    @cached_property
    def diagonal(self) -> Vector:
        """K(x_i, x_i)."""
        parts = [
            np.diagonal(self.block(some, some)) for some in self._runs(self._everyone, self.square)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    @property
    def parts(self) -> Sequence[Any]:
        """All that the values depend on, for a fingerprint."""
        return self.function, self.n_points

    def sums(self, coef: Vector) -> Vector:
        """Return sum_i coef_i K(x_i, x_j) for every j; or that of each column."""
        columns = coef.reshape(self.n_points, -1)
        totals = np.zeros((columns.shape[1], self.n_points))
        for some in self._runs(np.flatnonzero(columns.any(axis=1)), BLOCK):
            block = self.block(some, self._everyone)
            for k, column in enumerate(columns[some].T):
                totals[k] += np.sum(column[:, None] * block, axis=0)
        return np.ascontiguousarray(totals.T).reshape(coef.shape)

    def errors(self, coef: Vector) -> Vector:
        """Return how far, at most, rounding has put each of these sums from that of the function's values."""
        return _errors_of_sums(np.sqrt(np.abs(self.diagonal)), 0.0, UNIT, coef)

    def precise_sums(self, coef: Vector) -> None:
        """Return None: values of a function are float64."""

    def block(self, rows: Indices, columns: Indices) -> Vector:
        """Return K(x_i, x_j) for some i and j."""
        values = np.ascontiguousarray(self.function(rows, columns), dtype=np.float64)
        if values.shape != (len(rows), len(columns)):
            msg = (
                f"the kernel returned values of shape {values.shape} for {len(rows)} rows and "
                f"{len(columns)} columns; return one value for each pair"
            )
            raise DataError(msg)
        if not np.all(np.isfinite(values)):
            i, j = np.argwhere(~np.isfinite(values))[0]
            msg = (
                f"the kernel returned {values[i, j]} for the points {rows[i]} and {columns[j]}; "
                "return finite values"
            )
            raise DataError(msg)
        return values

    def are_equal(self, points: Indices) -> bool:
        """Say whether some points have the same values with each other, which is all that is known of them."""
        return bool(np.ptp(self.block(points, points)) == 0.0)

    @property
    def _everyone(self) -> Indices:
        return np.arange(self.n_points, dtype=np.int64)

    @staticmethod
    def _runs(points: Indices, length: int) -> Iterator[Indices]:
        """Yield stretches of the points."""
        for begin in range(0, len(points), length):
            yield points[begin : begin + length]


@dataclass(frozen=True, eq=False)
class SignedGram:
    """The points of another gram times signs: the values s_i s_j K(x_i, x_j).

    Attributes
    ----------
    plain : Gram
        The points.
    signs : ndarray
        +1 or -1 for each.
    """

    plain: Gram
    signs: Vector

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return self.plain.n_points

    @property
    def is_cheap(self) -> bool:
        """Whether computing a value costs little more than reading it from memory."""
        return self.plain.is_cheap

    @cached_property
    def source(self) -> _core.kernel.KernelSource:
        """Where a solver has float32 values from."""
        return _core.kernel.KernelSource.of_signs(self.plain.source, self.signs)

    @property
    def diagonal(self) -> Vector:
        """K(x_i, x_i)."""
        return self.plain.diagonal

    @property
    def parts(self) -> Sequence[Any]:
        """All that the values depend on, for a fingerprint."""
        return *self.plain.parts, self.signs

    def sums(self, coef: Vector) -> Vector:
        """Return sum_i coef_i s_i s_j K(x_i, x_j) for every j; or that of each column."""
        signs = self.signs.reshape(-1, *[1] * (coef.ndim - 1))
        return signs * self.plain.sums(signs * coef)

    def errors(self, coef: Vector) -> Vector:
        """Return how far, at most, rounding has put each of these sums from its true value."""
        return self.plain.errors(coef)

    def precise_sums(self, coef: Vector) -> tuple[Vector, Vector] | None:
        """Return the sums in extended precision, and how far each may be off; None where that takes too long."""
        signs = self.signs.reshape(-1, *[1] * (coef.ndim - 1))
        precise = self.plain.precise_sums(signs * coef)
        return None if precise is None else (signs * precise[0], precise[1])

    def block(self, rows: Indices, columns: Indices) -> Vector:
        """Return s_i s_j K(x_i, x_j) for some i and j, in float64."""
        return self.signs[rows, None] * self.signs[None, columns] * self.plain.block(rows, columns)

    def are_equal(self, points: Indices) -> bool:
        """Say whether some points are one and the same, signs included."""
        is_one = bool(np.all(self.signs[points] == self.signs[points[0]]))
        return is_one and self.plain.are_equal(points)
