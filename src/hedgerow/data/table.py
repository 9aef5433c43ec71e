"""Any table a user may hold, viewed in one way: its shape, its names, and columns to be read.

Arrays (masked ones too), lists, SciPy sparse matrices, dataframes that narwhals knows, mappings of
names to columns, and :class:`Table` from a file are accepted. Numbers in one array or CSR matrix stay
together; the columns of anything else are read one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.columns import Column, read_column
from hedgerow.data.io.table import Table
from hedgerow.data.rows import (
    RESHAPE,
    Rows,
    column_names,
    read_rows,
    refuse_empty,
    with_masked_as_missing,
)
from hedgerow.errors import DataError

__all__ = ["TableView", "view_table"]


@dataclass(frozen=True, eq=False)
class TableView:
    """A table whose shape and names are known, and whose values have not been read.

    Attributes
    ----------
    rows : ndarray of numbers, CSR matrix, or None
        All values, if one container of numbers holds them; its columns have no names.
    columns : sequence of ndarray or narwhals.Series
        Otherwise the columns, to be read one by one.
    names : list of str or None
        Their names, if they have any.
    """

    rows: Rows
    columns: Sequence[Any] = ()
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        if self.rows is not None:
            return cast(tuple[int, int], self.rows.shape)
        return (len(self.columns[0]) if self.columns else 0), len(self.columns)

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a sparse matrix."""
        return bool(sp.issparse(self.rows))

    def label(self, j: int) -> str:
        """Return how an error names a column: its name in quotes, or its position."""
        return str(j) if self.names is None else repr(self.names[j])

    def read(self, j: int) -> Column:
        """Return a column of a table that is read column by column."""
        return read_column(self.columns[j], self.label(j))

    def by_columns(self) -> TableView:
        """Return a dense array as a table that is read column by column."""
        if self.rows is None:
            return self
        numbers = self.rows.astype(np.uint8) if self.rows.dtype.kind == "b" else self.rows
        return TableView(None, list(numbers.T))

    def take(self, rows: NDArray[np.int64]) -> TableView:
        """Return the same table with the rows of these numbers."""
        if self.rows is not None:
            return TableView(self.rows[rows])
        return TableView(None, [column[rows] for column in self.columns], self.names)


def view_table(X: Any) -> TableView:
    """Return a view of any table; one without rows or without columns is refused.

    Parameters
    ----------
    X : array, sparse matrix, dataframe, mapping of names to columns, Table, or TableView
        The table.
    """
    if isinstance(X, TableView):
        return X
    view = _view_of(X.X if isinstance(X, Table) else X)
    refuse_empty(view.shape)
    return view


def _view_of(X: Any) -> TableView:
    if type(X) is np.ndarray:
        return _array_view(X)
    if sp.issparse(X):
        return TableView(read_rows(X)[0])
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return TableView(None, list(frame.iter_columns()), column_names(frame))
    if isinstance(X, Mapping):
        return _mapping_view(X)
    return _array_view(_as_array(X))


def _as_array(X: Any) -> NDArray[Any]:
    """Return lists as an array; numbers beside text stay numbers, and masked cells are missing."""
    X = with_masked_as_missing(X)
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    except (ValueError, TypeError) as error:
        msg = f"X cannot be read as a table: {error}; give every row the same number of values"
        raise DataError(msg) from error


def _array_view(X: NDArray[Any]) -> TableView:
    if X.ndim != 2:
        msg = f"X has {X.ndim} dimension(s), shape {X.shape}, where 2 are expected; {RESHAPE}"
        raise DataError(msg)
    if X.dtype.kind == "c":
        msg = f"Complex data not supported: X has dtype {X.dtype}; give its real and imaginary parts as features"
        raise DataError(msg)
    return TableView(X) if X.dtype.kind in "biuf" else TableView(None, list(X.T))


def _mapping_view(X: Mapping[Any, Any]) -> TableView:
    columns = {str(name): np.asarray(with_masked_as_missing(values)) for name, values in X.items()}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        msg = f"the columns of X have shapes {sorted(shapes)}; give each one value per row"
        raise DataError(msg)
    return TableView(None, list(columns.values()), list(columns))
