"""Whatever table the user holds, as columns of numbers and columns of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.sparse import checked_sparse
from hedgerow.data.io import Table
from hedgerow.data.rows import RESHAPE, is_missing, refuse_empty, with_masked_as_missing
from hedgerow.errors import DataError, DataTypeError

__all__ = ["Columns", "as_columns", "is_sparse"]


@dataclass(frozen=True)
class Columns:
    """A table whose columns are either numbers or text.

    Attributes
    ----------
    names : tuple of str, or None
        The names in order; None if the columns are known by position only.
    is_text : ndarray of bool
        For every column whether it is text.
    numbers : ndarray of float64 or csr_matrix, of shape (n_rows, columns that are not text)
        The columns of numbers in order, NaN where missing, never infinite.
    texts : tuple of ndarray of object
        The columns of text in order: str, or None where missing.
    """

    names: tuple[str, ...] | None
    is_text: NDArray[np.bool_]
    numbers: Any
    texts: tuple[NDArray[np.object_], ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.numbers.shape[0]), len(self.is_text)

    def label(self, j: int) -> str:
        """Return how to speak of a column: its name, or x and its position."""
        return self.names[j] if self.names is not None else f"x{j}"

    def values(self, j: int) -> NDArray[Any]:
        """Return a column that is not sparse."""
        place = int(np.count_nonzero(self.is_text[:j] == self.is_text[j]))
        return self.texts[place] if self.is_text[j] else self.numbers[:, place]

    def take(self, rows: NDArray[np.int64]) -> Columns:
        """Return the same columns with the given rows."""
        texts = tuple(text[rows] for text in self.texts)
        return Columns(self.names, self.is_text, self.numbers[rows], texts)


def as_columns(X: Any) -> Columns:
    """Return any table as Columns.

    Parameters
    ----------
    X : Table, mapping, dataframe, 2-D array, sparse matrix or Columns
        A mapping holds one array a name; a dataframe is any that narwhals knows.

    Raises
    ------
    DataError
        A column is neither numbers nor text, or a value is infinite.
    """
    if isinstance(X, Columns):
        return X
    if isinstance(X, Table):
        return as_columns(X.X)
    if is_sparse(X):
        columns = _from_sparse(X)
    elif isinstance(X, Mapping):
        named = {
            str(name): np.asarray(with_masked_as_missing(values)) for name, values in X.items()
        }
        columns = _from_values(list(named.values()), tuple(named))
    elif nw.dependencies.is_into_dataframe(X):
        columns = _from_frame(nw.from_native(X, eager_only=True))
    else:
        columns = _from_array(X)
    refuse_empty(columns.shape)
    _refuse_infinite(columns)
    return columns


def is_sparse(X: Any) -> bool:
    """Say whether X is a SciPy sparse matrix or array."""
    return bool(sp.issparse(X))


def _from_sparse(X: Any) -> Columns:
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        msg = f"X is a sparse {X.ndim}-D array of {X.dtype}; give a matrix of real numbers"
        raise DataError(msg)
    numbers = sp.csr_matrix(checked_sparse(X), dtype=np.float64)
    if np.isnan(numbers.data).any():
        raise DataError(
            "X is sparse and contains NaN; fill missing values first, or give a dense table"
        )
    return Columns(None, np.zeros(X.shape[1], np.bool_), numbers)


def _from_array(X: Any) -> Columns:
    array = np.asarray(with_masked_as_missing(X))
    if array.ndim != 2:
        msg = f"X has {array.ndim} dimension(s), shape {array.shape}, not 2; {RESHAPE}"
        raise DataError(msg)
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: give real and imaginary parts as columns")
    if array.dtype.kind in "biuf":
        numbers = np.asarray(array, dtype=np.float64)
        return Columns(None, np.zeros(array.shape[1], np.bool_), numbers)
    return _from_values(list(array.T), None)


def _from_frame(frame: nw.DataFrame[Any]) -> Columns:
    names = tuple(frame.columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise DataTypeError("X mixes text and numbers as column names; make them all text")
    values = [_from_series(series) for series in frame.iter_columns()]
    return _from_values(values, names if all(texts) else None)


def _from_series(series: nw.Series[Any]) -> NDArray[Any]:
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if series.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Object):
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return values
    msg = f"column {series.name!r} of X holds {series.dtype}; turn it into numbers or text first"
    raise DataTypeError(msg)


def _from_values(values: Sequence[NDArray[Any]], names: tuple[str, ...] | None) -> Columns:
    """Return columns that are given one by one, after a look at what each holds."""
    labels = names if names is not None else tuple(f"x{j}" for j in range(len(values)))
    lengths = {column.shape for column in values}
    if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
        msg = f"the columns of X have shapes {sorted(lengths)}; give each one value a row"
        raise DataError(msg)
    checked = [_checked(label, column) for label, column in zip(labels, values, strict=True)]
    is_text = np.array([column.dtype == object for column in checked], dtype=np.bool_)
    numbers = [column for column in checked if column.dtype != object]
    n_rows = len(checked[0]) if checked else 0
    block = np.column_stack(numbers) if numbers else np.empty((n_rows, 0))
    return Columns(names, is_text, block, tuple(c for c in checked if c.dtype == object))


def _checked(label: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return a column as float64, or as objects that are str or None."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind not in "OU":
        msg = f"column {label!r} of X holds {values.dtype}; turn it into numbers or text first"
        raise DataTypeError(msg)
    cells = [None if is_missing(cell) else cell for cell in values.tolist()]
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, Real) for cell in present):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    if all(isinstance(cell, str) for cell in present):
        return np.array(cells, dtype=object)
    odd = next(cell for cell in present if not isinstance(cell, str))
    msg = f"column {label!r} of X mixes kinds, {odd!r} among them; make it all text or all numbers"
    raise DataTypeError(msg)


def _refuse_infinite(columns: Columns) -> None:
    """Refuse infinite numbers, naming the first one's place."""
    numbers = columns.numbers
    if not np.isinf(numbers.data if is_sparse(numbers) else numbers).any():
        return
    rows, places = (abs(numbers) == np.inf).nonzero()
    column = columns.label(int(np.flatnonzero(~columns.is_text)[places[0]]))
    msg = (
        f"X contains an infinite value at row {rows[0]}, column {column!r}; "
        "replace it by a finite one or drop the row"
    )
    raise DataError(msg)
