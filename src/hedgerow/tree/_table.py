"""X at the door of a tree: any table becomes codes for fit, and rows of numbers for predictions.

An array of numbers goes to the core as it is. The columns of anything else are read one by one; those
that are categories become numbers of categories, whose values are kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.row_sketch import RowSketch, kept_rows
from hedgerow.data.rows import (
    FLOATS,
    RESHAPE,
    check_columns,
    column_names,
    matrix_of,
    read_rows,
    refuse_empty,
    remember_columns,
    with_masked_as_missing,
)
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, UnseenCategoryWarning, warn_user
from hedgerow.monitor import current
from hedgerow.tree._categories import Categories, sorted_values
from hedgerow.tree._choice import Choice, choice_of
from hedgerow.tree._columns import Column, Factors, as_floats, float_kind, read_column

__all__ = [
    "FeatureTable",
    "Source",
    "encode",
    "look_at",
    "prediction_blocks",
    "prediction_rows",
    "read_table",
    "remember_table",
]

_BLOCK = 2**23
"""Values of a sparse matrix that are made dense at a time: 64 MB."""


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """What a tree's fit knows of X.

    Attributes
    ----------
    codes : _core.CodeTable
        The features, each encoded once.
    columns : Categories
        Which of them are categories, and what their numbers stand for.
    names : list of str or None
        Their names, if they have any.
    is_whole : bool
        False if the encoding was stopped: then the codes are those of a column that is all the same.
    sketch : RowSketch or None
        By what the rows are known again, if the table is whole.
    """

    codes: _core.CodeTable
    columns: Categories
    names: list[str] | None = None
    is_whole: bool = True
    sketch: RowSketch | None = None

    @property
    def categories(self) -> tuple[NDArray[Any], ...]:
        """For every feature the values of its categories, sorted; none for numbers."""
        return self.columns.by_feature

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.codes.n_rows

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.columns.n_features


def look_at(X: Any) -> Source:
    """Return X with its shape and names known and nothing else done to it."""
    if isinstance(X, Source):
        return X
    source = _source_of(X)
    refuse_empty(source.shape)
    return source


def encode(
    X: Any, categorical_features: Any, n_threads: int, *, may_stop: bool = False
) -> FeatureTable:
    """Return X encoded for a fit; ``categorical_features`` says which columns are categories.

    If it may stop, it does when the running task must, and the table is not whole.
    """
    source = look_at(X)
    choice = choice_of(categorical_features, source.names, source.shape[1])
    table = source.encoded(choice, n_threads, may_stop)
    if not table.is_whole:
        return table
    kept = source.some(kept_rows(table.n_rows)).rows(table.columns)
    return replace(table, sketch=RowSketch.of(kept, table.n_rows))


def remember_table(estimator: Any, table: FeatureTable) -> None:
    """Set ``n_features_in_``, ``feature_names_in_`` if there are names, ``category_columns_``.

    Also ``row_sketch_``, if the table is whole.
    """
    remember_columns(estimator, table.names, table.n_features)
    estimator.category_columns_ = table.columns
    vars(estimator).pop("row_sketch_", None)
    if table.sketch is not None:
        estimator.row_sketch_ = table.sketch


def read_table(estimator: Any, X: Any, categorical_features: Any, n_threads: int) -> FeatureTable:
    """Encode X for a fit, and remember its columns and categories on the estimator.

    Parameters
    ----------
    estimator : estimator
        Is given ``n_features_in_``, ``feature_names_in_`` if X has names, and ``category_columns_``.
    X : array, sparse matrix, dataframe, mapping of names to columns, or Source
        The table.
    categorical_features : None, "from_dtype", or list of names, places or truth values
        Which columns are categories.
    n_threads : int
        Threads of the encoding.
    """
    table = encode(X, categorical_features, n_threads)
    remember_table(estimator, table)
    return table


def prediction_rows(estimator: Any, X: Any) -> NDArray[Any]:
    """Return X as rows of numbers, after a check against the columns of fit.

    Categories are their numbers; what is missing is NaN, and so is a category that was not there in
    fit, of which one UnseenCategoryWarning tells.
    """
    source = _checked_source(estimator, X)
    return source.rows(estimator.category_columns_)


def prediction_blocks(estimator: Any, X: Any) -> Iterator[NDArray[Any]]:
    """Yield the same rows in blocks: all at once, but those of a wide sparse matrix some at a time."""
    source = _checked_source(estimator, X)
    return source.blocks(estimator.category_columns_)


def _checked_source(estimator: Any, X: Any) -> Source:
    check_fitted(estimator)
    source = look_at(X)
    check_columns(estimator, source.names, source.shape[1])
    return source


# ------------------------------------------------------------------------------------ sources


class Source(ABC):
    """A table that was looked at, and not yet read."""

    names: list[str] | None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @abstractmethod
    def encoded(self, choice: Choice, n_threads: int, may_stop: bool) -> FeatureTable:
        """Return the table encoded, with the columns that were chosen as categories."""

    @abstractmethod
    def rows(self, categories: Categories) -> NDArray[Any]:
        """Return rows of numbers that mean what the numbers of categories stand for."""

    def blocks(self, categories: Categories) -> Iterator[NDArray[Any]]:
        """Yield the rows in blocks."""
        yield self.rows(categories)

    @abstractmethod
    def some(self, rows: NDArray[np.int64]) -> Source:
        """Return the same table with the rows of these numbers."""

    def _table(
        self, codes: Callable[[], _core.CodeTable], categories: Categories, may_stop: bool
    ) -> FeatureTable:
        """Return the table with the codes that are made now, if there is time for it."""
        if not may_stop:
            return FeatureTable(codes(), categories, self.names)
        try:
            with current().guard():
                return FeatureTable(codes(), categories, self.names)
        except _core.Stopped:
            same = np.zeros(self.shape[0])
            constant = _core.CodeTable.of_columns([same], np.zeros(1, dtype=np.int64), 1)
            return FeatureTable(constant, categories, self.names, is_whole=False)


@dataclass(frozen=True, eq=False)
class _DenseSource(Source):
    """An array of numbers."""

    array: NDArray[Any]
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return cast(tuple[int, int], self.array.shape)

    def encoded(self, choice: Choice, n_threads: int, may_stop: bool) -> FeatureTable:
        flags = self.array.flags
        if choice.named or (flags.f_contiguous and not flags.c_contiguous):
            return self._columns().encoded(choice.of_numbers(), n_threads, may_stop)
        matrix = matrix_of(_contiguous(self.array), self.names, may_miss=True)
        codes = partial(_core.CodeTable.of_matrix, matrix, n_threads)
        return self._table(codes, _no_categories(self.shape[1]), may_stop)

    def rows(self, categories: Categories) -> NDArray[Any]:
        if len(categories.columns):
            return self._columns().rows(categories)
        rows = _contiguous(self.array)
        matrix_of(rows, self.names, may_miss=True)
        return rows

    def some(self, rows: NDArray[np.int64]) -> Source:
        return _DenseSource(self.array[rows], self.names)

    def _columns(self) -> _ColumnSource:
        numbers = self.array.astype(np.uint8) if self.array.dtype.kind == "b" else self.array
        return _ColumnSource(list(numbers.T), self.names)


@dataclass(frozen=True, eq=False)
class _SparseSource(Source):
    """Compressed rows of numbers."""

    csr: Any
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return cast(tuple[int, int], self.csr.shape)

    def encoded(self, choice: Choice, n_threads: int, may_stop: bool) -> FeatureTable:
        if choice.named:
            msg = (
                "X is sparse and categorical_features names columns of it; give categories in a dense "
                "array or a dataframe, for example X.toarray()"
            )
            raise DataError(msg)
        matrix = matrix_of(self.csr, may_miss=True)
        codes = partial(_core.CodeTable.of_matrix, matrix, n_threads)
        return self._table(codes, _no_categories(self.shape[1]), may_stop)

    def rows(self, categories: Categories) -> NDArray[Any]:
        matrix_of(self.csr, may_miss=True)
        return _DenseSource(self.csr.toarray()).rows(categories)

    def blocks(self, categories: Categories) -> Iterator[NDArray[Any]]:
        matrix_of(self.csr, may_miss=True)
        height = max(_BLOCK // self.shape[1], 1)
        for start in range(0, self.shape[0], height):
            part = self.csr[start : start + height].toarray()
            yield _DenseSource(part).rows(categories)

    def some(self, rows: NDArray[np.int64]) -> Source:
        return _SparseSource(self.csr[rows], self.names)


@dataclass(frozen=True, eq=False)
class _ColumnSource(Source):
    """Columns that are read one by one: narwhals series, or arrays."""

    columns: Sequence[Any]
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (len(self.columns[0]) if self.columns else 0), len(self.columns)

    def encoded(self, choice: Choice, n_threads: int, may_stop: bool) -> FeatureTable:
        found: dict[int, NDArray[Any]] = {}
        encoded = []
        for j, column in enumerate(self.columns):
            read = self._read(j, column, j in choice.named, choice.by_type)
            if isinstance(read, Factors):
                found[j] = sorted_values(read.values, self._label(j))
            encoded.append(_for_core(read, found.get(j)))
        columns = np.array(sorted(found), dtype=np.int64)
        categories = Categories(self.shape[1], columns, tuple(found.values()))
        n_categories = categories.n_categories
        codes = partial(_core.CodeTable.of_columns, encoded, n_categories, n_threads)
        return self._table(codes, categories, may_stop)

    def rows(self, categories: Categories) -> NDArray[Any]:
        rows = np.empty(self.shape)
        unseen: list[tuple[str, Any]] = []
        for j, column in enumerate(self.columns):
            read = self._read(j, column, j in categories, by_type=False)
            if isinstance(read, Factors):
                rows[:, j], new = categories.numbers(j, read)
                unseen.extend((self._label(j), value) for value in new)
            else:
                rows[:, j] = read
        _warn_of(unseen)
        return rows

    def some(self, rows: NDArray[np.int64]) -> Source:
        return _ColumnSource([column[rows] for column in self.columns], self.names)

    def _read(self, j: int, column: Any, as_category: bool, by_type: bool) -> Column:
        return read_column(column, self._label(j), as_category=as_category, by_type=by_type)

    def _label(self, j: int) -> str:
        return str(j) if self.names is None else repr(self.names[j])


def _source_of(X: Any) -> Source:
    if type(X) is np.ndarray:
        return _array_source(X)
    if sp.issparse(X):
        return _SparseSource(read_rows(X)[0])
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return _ColumnSource(list(frame.iter_columns()), column_names(frame))
    if isinstance(X, Mapping):
        return _mapping_source(X)
    return _array_source(_as_array(X))


def _as_array(X: Any) -> NDArray[Any]:
    """Return lists as an array; numbers beside text stay numbers, and masked cells are missing."""
    X = with_masked_as_missing(X)
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array
    except (ValueError, TypeError) as error:
        msg = f"X cannot be read as a table: {error}; give every row the same number of values"
        raise DataError(msg) from error


def _array_source(X: NDArray[Any]) -> Source:
    if X.ndim != 2:
        msg = f"X has {X.ndim} dimension(s), shape {X.shape}, where 2 are expected; {RESHAPE}"
        raise DataError(msg)
    if X.dtype.kind == "c":
        msg = f"Complex data not supported: X has dtype {X.dtype}; give its real and imaginary parts as features"
        raise DataError(msg)
    return _DenseSource(X) if X.dtype.kind in "biuf" else _ColumnSource(list(X.T))


def _mapping_source(X: Mapping[Any, Any]) -> Source:
    columns = {str(name): np.asarray(with_masked_as_missing(values)) for name, values in X.items()}
    shapes = {column.shape for column in columns.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        msg = f"the columns of X have shapes {sorted(shapes)}; give each one value a row"
        raise DataError(msg)
    return _ColumnSource(list(columns.values()), list(columns))


def _contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as C-contiguous floats, itself if it is so."""
    if array.dtype in FLOATS and array.flags.c_contiguous and array.flags.aligned:
        return array  # at once: np.require takes as long as a row's way down a tree
    return np.require(array, dtype=float_kind(array), requirements=["C", "A"])


def _no_categories(n_features: int) -> Categories:
    return Categories(n_features, np.empty(0, dtype=np.int64), ())


def _for_core(column: Column, values: NDArray[Any] | None) -> NDArray[Any]:
    """Return a column as the core takes it: floats, or numbers of categories."""
    if values is None:
        return as_floats(cast(NDArray[Any], column))
    factors = cast(Factors, column)
    if not len(values):
        return np.full(len(factors.codes), np.nan)
    places = {value: number for number, value in enumerate(values.tolist())}
    numbers = np.array([*(places[value] for value in factors.values), -1], dtype=np.int32)
    return numbers[factors.codes]


def _warn_of(unseen: list[tuple[str, Any]]) -> None:
    """Tell of categories that were not there in fit, once for all."""
    if not unseen:
        return
    label, value = unseen[0]
    more = f", as are {len(unseen) - 1} more" if len(unseen) > 1 else ""
    msg = (
        f"column {label} of X holds the category {value!r}, which was not there in fit; "
        f"it is taken for a missing value{more}"
    )
    warn_user(msg, UnseenCategoryWarning)
