"""Kernels that are given: by their table, by a function of two blocks, or by rows of the table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from hedgerow._base.parameters import Rule, true_or_false
from hedgerow._base.sparse import checked_sparse
from hedgerow._base.state import stateful
from hedgerow.data.rows import read_rows
from hedgerow.errors import DataError
from hedgerow.kernels.base import CoreForm, Kernel, Matrix, Vector
from hedgerow.kernels.blocks import read_finite

__all__ = ["FunctionKernel", "Precomputed", "RowSource", "RowsKernel"]

Indices = NDArray[np.intp]

_VALUES = 2**22
"""Kernel values asked for at a time: 32 MB."""
_SQUARE = 16
"""Rows of the squares whose diagonals make up the diagonal."""


class RowSource(Protocol):
    """What a :class:`RowsKernel` is made of."""

    def rows(self, X: Any, indices: Indices) -> ArrayLike:
        """Return k(x, z) for the rows x of X with these indices and all rows z of X."""


def _a_function(value: Any) -> str | None:
    """Allow callables."""
    return None if callable(value) else "a function of two blocks of rows"


def _a_row_source(value: Any) -> str | None:
    """Allow objects with a method ``rows``."""
    fine = callable(getattr(value, "rows", None))
    return None if fine else "an object with a method rows(X, indices)"


@stateful()
class Precomputed(Kernel):
    """A table of values that is there already, in place of the rows.

    X is the table of the training rows with each other, and to predict, of the new rows with the
    training rows.
    """

    @property
    def is_precomputed(self) -> bool:
        """Yes."""
        return True

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the table as float64; with Y its columns must be as many as the rows of Y."""
        table = read_finite(X)
        _refuse_other_columns(table, table.shape[0] if Y is None else _n_rows(Y))
        return _float64(table)

    def diagonal(self, X: Any) -> Vector:
        """Return the diagonal of the table."""
        return self(X).diagonal().copy()

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return rows of the table."""
        table, _ = read_rows(X)
        _refuse_other_columns(table, table.shape[0])
        return _float64(read_finite(table[np.asarray(indices)]))  # the others may be many

    def core_form(self) -> CoreForm:
        """Return "precomputed"."""
        return CoreForm("precomputed")


class _Given(Kernel):
    """A kernel of whatever can be indexed, known by values that somebody else computes."""

    indefinite: bool

    @property
    def is_positive_semidefinite(self) -> bool:
        """What was said when it was made; ``hedgerow.testing.check_kernel`` tells."""
        return not self.indefinite

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        wanted = np.asarray(indices, dtype=np.intp)
        X = _rows_to_pick(X)
        n = _n_rows(X)
        values = np.empty((len(wanted), n))
        for block in _blocks(len(wanted), n):
            values[block] = self._rows_of(X, wanted[block])
        return values

    @abstractmethod
    def _rows_of(self, X: Any, indices: Indices) -> Matrix:
        """Return some rows of the table of X."""


class FunctionKernel(_Given):
    """A function of two blocks of rows, which is asked for some rows of the table at a time.

    Rows are whatever can be indexed: arrays, sparse matrices, dataframes, lists.

    Parameters
    ----------
    function : callable
        Takes blocks X and Y; returns k(x, z) for each of X with each of Y.
    indefinite : bool, default=False
        Whether tables of its values may have negative eigenvalues.

    Examples
    --------
    >>> from hedgerow.kernels import FunctionKernel
    >>> in_common = lambda X, Y: [[len(set(x) & set(y)) for y in Y] for x in X]
    >>> FunctionKernel(in_common)(["hedge", "row"], ["edge", "crow"])
    array([[3., 0.],
           [0., 3.]])
    """

    _rules: ClassVar[dict[str, Rule]] = {"function": _a_function, "indefinite": true_or_false}

    def __init__(self, function: Callable[[Any, Any], ArrayLike], indefinite: bool = False) -> None:
        self.function = function
        self.indefinite = indefinite

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return k(x, z) for each row x of X and each row z of Y, or of X again."""
        self._check()
        X = _rows_to_pick(X)
        others = X if Y is None else _rows_to_pick(Y)
        n, m = _n_rows(X), _n_rows(others)
        values = np.empty((n, m))
        for block in _blocks(n, m):
            values[block] = self._values(_part(X, block), others)
        return values

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x, from small squares along the diagonal."""
        self._check()
        X = _rows_to_pick(X)
        parts = (_part(X, block) for block in _slices(_n_rows(X), _SQUARE))
        return np.concatenate([self._values(part, part).diagonal() for part in parts])

    def _rows_of(self, X: Any, indices: Indices) -> Matrix:
        return self._values(_safe_indexing(X, indices), X)

    def _values(self, A: Any, B: Any) -> Matrix:
        """Ask the function, and refuse what does not fit."""
        return _fitting(self.function(A, B), (_n_rows(A), _n_rows(B)), self.function)


class RowsKernel(_Given):
    """An object that computes rows of the table: ``rows(X, indices)``.

    New rows are compared with others by a table of both together, of which only the new rows are
    asked for.

    Parameters
    ----------
    source : RowSource
        The object; if it has a method ``diagonal(X)`` too, that is used.
    indefinite : bool, default=False
        Whether its tables may have negative eigenvalues.
    """

    _rules: ClassVar[dict[str, Rule]] = {"source": _a_row_source, "indefinite": true_or_false}

    def __init__(self, source: RowSource, indefinite: bool = False) -> None:
        self.source = source
        self.indefinite = indefinite

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return k(x, z) for each row x of X and each row z of Y, or of X again."""
        n = _n_rows(X)
        if Y is None:
            return self.rows(X, np.arange(n))
        both = _one_after_the_other(_rows_to_pick(X), _rows_to_pick(Y))
        return self.rows(both, np.arange(n))[:, n:]

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x; unless the source knows them, all rows are asked for."""
        self._check()
        X = _rows_to_pick(X)
        n = _n_rows(X)
        if hasattr(self.source, "diagonal"):
            return np.array(self.source.diagonal(X), dtype=np.float64)
        blocks = (np.arange(n)[block] for block in _blocks(n, n))
        return np.concatenate([self._rows_of(X, i)[np.arange(len(i)), i] for i in blocks])

    def _rows_of(self, X: Any, indices: Indices) -> Matrix:
        values = self.source.rows(X, indices)
        return _fitting(values, (len(indices), _n_rows(X)), self.source)


def _refuse_other_columns(table: Any, n_columns: int) -> None:
    """Refuse a table that does not have a column for each training row."""
    if table.shape[1] != n_columns:
        msg = (
            f"the precomputed kernel has shape {table.shape}, and for these rows it needs "
            f"{n_columns} columns; give one for each training row"
        )
        raise DataError(msg)


def _rows_to_pick(X: Any) -> Any:
    """Return X as something whose rows can be picked; a sparse matrix is checked and in rows."""
    return checked_sparse(X).tocsr() if sp.issparse(X) else X


def _n_rows(X: Any) -> int:
    """Return how many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _part(X: Any, block: slice) -> Any:
    """Return some rows of whatever holds them."""
    return _safe_indexing(X, np.arange(_n_rows(X))[block])


def _one_after_the_other(X: Any, Y: Any) -> Any:
    """Return the rows of X and then those of Y."""
    if sp.issparse(X) or sp.issparse(Y):
        return sp.vstack([X, Y], format="csr")
    if hasattr(X, "shape"):
        return np.concatenate([X, Y])
    return [*X, *Y]


def _slices(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most this size that cover n rows."""
    return (slice(first, min(first + size, n)) for first in range(0, n, size))


def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of the rows whose values with all columns fit into the room there is."""
    return _slices(n_rows, max(1, _VALUES // max(n_columns, 1)))


def _fitting(values: Any, shape: tuple[int, int], who: Any) -> Matrix:
    """Return what was computed as float64, or refuse another shape than was asked for."""
    table = _float64(values)
    if table.shape != shape:
        msg = (
            f"the kernel {who!r} returned shape {table.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; return one value for each pair of rows"
        )
        raise DataError(msg)
    return table


def _float64(values: Any) -> Matrix:
    """Return a dense float64 array of its own or that of the values."""
    dense = (
        checked_sparse(values, "the table of kernel values").toarray()
        if sp.issparse(values)
        else values
    )
    return np.array(dense, dtype=np.float64)
