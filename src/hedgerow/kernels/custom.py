"""Kernels that are given: by their table, by a function of two blocks, or by rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import _safe_indexing

from hedgerow._base.parameters import Rule, true_or_false
from hedgerow._base.sparse import checked_sparse
from hedgerow._base.state import stateful
from hedgerow.data.items import any_item, as_kept, is_table
from hedgerow.data.rows import read_rows
from hedgerow.errors import DataError
from hedgerow.kernels.base import CoreForm, Kernel, Matrix, Vector
from hedgerow.kernels.blocks import read_finite
from hedgerow.kernels.objects import (
    BlockKernel,
    Indices,
    float64,
    n_rows_of,
    row_blocks,
    values_of_pairs,
)

__all__ = ["FunctionKernel", "Precomputed", "RowSource", "RowsKernel"]


class RowSource(Protocol):
    """What a :class:`RowsKernel` is made of."""

    def rows(self, X: Any, indices: Indices) -> ArrayLike:
        """Return k(x, z) for the rows x of X with the given indices and all rows z of X.

        Parameters
        ----------
        X : object
            The rows.
        indices : ndarray of int
            The indices of the rows.

        Returns
        -------
        array-like of shape (n_indices, n_samples)
            The kernel values.
        """


def _a_function(value: Any) -> str | None:
    """Allow callables."""
    return None if callable(value) else "a function of two blocks of rows, or of two rows"


_FUNCTION: dict[str, Rule] = {
    "function": _a_function,
    "indefinite": true_or_false,
    "pairwise": true_or_false,
}


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

    @property
    def reads(self) -> frozenset[str]:
        """A table."""
        return frozenset({"table"})

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the table as float64; with Y its columns must be as many as the rows of Y."""
        table = read_finite(X)
        _refuse_other_columns(table, table.shape[0] if Y is None else n_rows_of(Y))
        return float64(table)

    def diagonal(self, X: Any) -> Vector:
        """Return the diagonal of the table."""
        return self(X).diagonal().copy()

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return rows of the table."""
        table, _ = read_rows(X)
        _refuse_other_columns(table, table.shape[0])
        return float64(read_finite(table[np.asarray(indices)]))  # the others may be many

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

    @property
    def reads(self) -> frozenset[str]:
        """Vectors and objects."""
        return frozenset({"vectors", "objects"})

    def item_rule(self, X: Any) -> Rule | None:
        """Return None for a table of numbers, else allow any object as a row."""
        return None if is_table(X) else any_item

    def block(self, rows: Any, others: Any) -> Matrix:
        """Return k(x, z) for each of some rows and each of others; objects are handed on in lists."""
        return self(as_kept(rows), as_kept(others))


@stateful(_FUNCTION)
class FunctionKernel(_Given, BlockKernel):
    """A function of two blocks of rows, or of two rows, which is asked for some of the table at a time.

    Rows are whatever can be indexed: arrays, sparse matrices, dataframes, lists of objects. A machine
    hands the function arrays or sparse matrices if it was fitted on vectors of numbers, and lists if it was fitted on
    objects of another kind, such as strings or sequences of different lengths.

    Parameters
    ----------
    function : callable
        Takes blocks X and Y; returns k(x, z) for each of X with each of Y.
    indefinite : bool, default=False
        Whether tables of its values may have negative eigenvalues.
    pairwise : bool, default=False
        Whether the function takes two rows x and z instead, and returns the number k(x, z). The items of a
        list, a tuple or a one-dimensional array are then always objects, sequences of as many numbers included.

    Examples
    --------
    >>> from hedgerow.kernels import FunctionKernel
    >>> in_common = lambda X, Y: [[len(set(x) & set(y)) for y in Y] for x in X]
    >>> FunctionKernel(in_common)(["hedge", "row"], ["edge", "crow"])
    array([[3., 0.],
           [0., 3.]])
    >>> FunctionKernel(lambda x, z: len(set(x) & set(z)), pairwise=True)(["hedge", "row"])
    array([[4., 0.],
           [0., 3.]])
    """

    _rules: ClassVar = _FUNCTION

    def __init__(
        self,
        function: Callable[[Any, Any], ArrayLike],
        indefinite: bool = False,
        pairwise: bool = False,
    ) -> None:
        self.function = function
        self.indefinite = indefinite
        self.pairwise = pairwise

    def item_rule(self, X: Any) -> Rule | None:
        """Return None for a table of numbers, else allow any object as a row."""
        if self.pairwise and (isinstance(X, list | tuple) or np.ndim(X) == 1):
            return any_item
        return super().item_rule(X)

    def _read(self, X: Any) -> Any:
        return _rows_to_pick(X)

    def _values(self, rows: Any, others: Any) -> Matrix:
        """Ask the function, and refuse what does not fit."""
        if self.pairwise:
            who = f"the kernel {getattr(self.function, '__name__', self.function)}"
            return values_of_pairs(self.function, _one_by_one(rows), _one_by_one(others), who)
        shape = n_rows_of(rows), n_rows_of(others)
        remedy = "return one value for each pair of rows, or say pairwise=True if it takes two rows"
        return float64(self.function(rows, others), shape, self.function, remedy)


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
        n = n_rows_of(X)
        if Y is None:
            return self.rows(X, np.arange(n))
        both = _one_after_the_other(_rows_to_pick(X), _rows_to_pick(Y))
        return self.rows(both, np.arange(n))[:, n:]

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x; unless the source knows them, all rows are asked for."""
        self._check()
        X = _rows_to_pick(X)
        n = n_rows_of(X)
        if hasattr(self.source, "diagonal"):
            return np.array(self.source.diagonal(X), dtype=np.float64)
        blocks = (np.arange(n)[block] for block in row_blocks(n, n))
        return np.concatenate([self._rows_of(X, i)[np.arange(len(i)), i] for i in blocks])

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        wanted = np.asarray(indices, dtype=np.intp)
        X = _rows_to_pick(X)
        n = n_rows_of(X)
        values = np.empty((len(wanted), n))
        for block in row_blocks(len(wanted), n):
            values[block] = self._rows_of(X, wanted[block])
        return values

    def _rows_of(self, X: Any, indices: Indices) -> Matrix:
        values = self.source.rows(X, indices)
        return float64(values, (len(indices), n_rows_of(X)), self.source)


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


def _one_by_one(X: Any) -> list[Any]:
    """Return the rows of whatever holds them."""
    if isinstance(X, list | tuple | np.ndarray):
        return list(X)
    return [_safe_indexing(X, i) for i in range(n_rows_of(X))]


def _one_after_the_other(X: Any, Y: Any) -> Any:
    """Return the rows of X and then those of Y."""
    if sp.issparse(X) or sp.issparse(Y):
        return sp.vstack([X, Y], format="csr")
    if hasattr(X, "shape"):
        return np.concatenate([X, Y])
    return [*X, *Y]
