"""Any table as columns of numbers and columns of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.columns import infinite
from hedgerow.data.io.table import Features
from hedgerow.data.table import TableView, view_table
from hedgerow.errors import DataError

__all__ = ["Columns", "as_columns"]


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

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are those of a sparse matrix."""
        return bool(sp.issparse(self.numbers))

    @property
    def features(self) -> Features:
        """The columns in the form that a Table has them."""
        if self.is_sparse:
            return self.numbers
        return {self.label(j): self.values(j) for j in range(self.shape[1])}

    def label(self, j: int) -> str:
        """Return the name of a column, or x and its position."""
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
    X : Columns, or any table that :func:`view_table` accepts
        The table.

    Raises
    ------
    DataError
        A column is neither numbers nor text, or a value is infinite.
    """
    if isinstance(X, Columns):
        return X
    view = view_table(X)
    return _from_columns(view) if view.rows is None else _from_rows(view)


def _from_columns(view: TableView) -> Columns:
    columns = [view.read(j) for j in range(view.shape[1])]
    is_text = np.array([column.is_text for column in columns], dtype=np.bool_)
    numbers = [
        column.floats(view.label(j)).astype(np.float64, copy=False)
        for j, column in enumerate(columns)
        if not column.is_text
    ]
    block = np.column_stack(numbers) if numbers else np.empty((view.shape[0], 0))
    texts = tuple(column.factorized().texts() for column in columns if column.is_text)
    return Columns(None if view.names is None else tuple(view.names), is_text, block, texts)


def _from_rows(view: TableView) -> Columns:
    if view.is_sparse:
        numbers = sp.csr_matrix(view.rows, dtype=np.float64)
        if np.isnan(numbers.data).any():
            msg = "X is sparse and contains NaN; fill missing values first, or give a dense table"
            raise DataError(msg)
    else:
        numbers = np.asarray(view.rows, dtype=np.float64)
    if np.isinf(numbers.data if view.is_sparse else numbers).any():
        rows, places = (abs(numbers) == np.inf).nonzero()
        raise infinite(numbers[rows[0], places[0]], int(rows[0]), view.label(int(places[0])))
    return Columns(None, np.zeros(view.shape[1], np.bool_), numbers)
