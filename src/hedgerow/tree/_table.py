"""X as trees take it: any table becomes codes for fit, and rows of numbers for predictions.

An array of numbers is passed to the core as it is. The columns of anything else are read one by one; those
that are categories become numbers of categories, whose values are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.columns import FactorizedColumn, float_dtype
from hedgerow.data.row_sketch import RowSketch, kept_rows
from hedgerow.data.rows import FLOATS, Rows, check_columns, matrix_of, remember_columns
from hedgerow.data.table import TableView, view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, UnseenCategoryWarning, warn_user
from hedgerow.monitor import current
from hedgerow.tree._categories import Categories, sorted_values
from hedgerow.tree._choice import Choice, choice_of

__all__ = [
    "FeatureTable",
    "encode",
    "prediction_blocks",
    "prediction_rows",
    "remember_table",
]

_BLOCK = 2**23
"""Values of a sparse matrix that are made dense at a time: 64 MB."""


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The table that a tree is fitted to.

    Attributes
    ----------
    codes : _core.tree.CodeTable
        The features, each encoded once.
    columns : Categories
        Which of them are categories, and the value of each number.
    names : list of str or None
        Their names, if they have any.
    is_whole : bool
        False if the encoding was stopped: then the codes are those of one constant column.
    sketch : RowSketch or None
        Digests of some rows, if the table is whole.
    """

    codes: _core.tree.CodeTable
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


def encode(
    X: Any, categorical_features: Any, n_threads: int, *, may_stop: bool = False
) -> FeatureTable:
    """Return X encoded for a fit; ``categorical_features`` says which columns are categories.

    If it may stop, it does when the running task must, and the table is not whole.
    """
    view = view_table(X)
    choice = choice_of(categorical_features, view.names, view.shape[1])
    table = _encoded(view, choice, n_threads, may_stop)
    if not table.is_whole:
        return table
    kept = _rows(view.take(kept_rows(table.n_rows)), table.columns)
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


def prediction_rows(estimator: Any, X: Any) -> NDArray[Any]:
    """Return X as rows of numbers, after a check against the columns of fit.

    Categories are their numbers; a missing value is NaN, and so is a category that did not occur in
    fit, of which one UnseenCategoryWarning tells.
    """
    return _rows(_checked_view(estimator, X), estimator.category_columns_)


def prediction_blocks(estimator: Any, X: Any) -> Iterator[NDArray[Any]]:
    """Yield the same rows in blocks: all at once, or some at a time for a sparse matrix."""
    return _blocks(_checked_view(estimator, X), estimator.category_columns_)


def _checked_view(estimator: Any, X: Any) -> TableView:
    check_fitted(estimator)
    view = view_table(X)
    check_columns(estimator, view.names, view.shape[1])
    return view


# ----------------------------------------------------------------------------------------- codes


def _encoded(view: TableView, choice: Choice, n_threads: int, may_stop: bool) -> FeatureTable:
    """Return the table encoded, with the columns that were chosen as categories."""
    if view.rows is None:
        return _encoded_columns(view, choice, n_threads, may_stop)
    if view.is_sparse and choice.named:
        msg = (
            "X is sparse and categorical_features names columns of it; give categories in a dense "
            "array or a dataframe, for example X.toarray()"
        )
        raise DataError(msg)
    if not view.is_sparse:
        flags = view.rows.flags
        if choice.named or (flags.f_contiguous and not flags.c_contiguous):
            return _encoded_columns(view.by_columns(), choice.of_numbers(), n_threads, may_stop)
    matrix = matrix_of(_contiguous(view), may_miss=True)
    codes = partial(_core.tree.CodeTable.of_matrix, matrix, n_threads)
    return _feature_table(view, codes, _no_categories(view.shape[1]), may_stop)


def _encoded_columns(
    view: TableView, choice: Choice, n_threads: int, may_stop: bool
) -> FeatureTable:
    """Return the table encoded, each column read and given to the core on its own."""
    found: dict[int, NDArray[Any]] = {}
    encoded = []
    for j in range(view.shape[1]):
        column = view.read(j)
        if j in choice.named or (choice.by_type and column.is_category):
            factorized = column.factorized()
            found[j] = sorted_values(factorized.values, view.label(j))
            encoded.append(_category_numbers(factorized, found[j]))
        else:
            encoded.append(column.floats(view.label(j)))
    columns = np.array(sorted(found), dtype=np.int64)
    categories = Categories(view.shape[1], columns, tuple(found.values()))
    codes = partial(_core.tree.CodeTable.of_columns, encoded, categories.n_categories, n_threads)
    return _feature_table(view, codes, categories, may_stop)


def _category_numbers(column: FactorizedColumn, values: NDArray[Any]) -> NDArray[Any]:
    """Return the number of each cell's category, as the core takes it."""
    if not len(values):
        return np.full(len(column.codes), np.nan)
    places = {value: number for number, value in enumerate(values.tolist())}
    numbers = np.array([*(places[value] for value in column.values), -1], dtype=np.int32)
    return numbers[column.codes]


def _feature_table(
    view: TableView,
    codes: Callable[[], _core.tree.CodeTable],
    categories: Categories,
    may_stop: bool,
) -> FeatureTable:
    """Return the table with the codes that are made now, if there is time for it."""
    if not may_stop:
        return FeatureTable(codes(), categories, view.names)
    try:
        with current().guard():
            return FeatureTable(codes(), categories, view.names)
    except _core.system.Stopped:
        same = np.zeros(view.shape[0])
        constant = _core.tree.CodeTable.of_columns([same], np.zeros(1, dtype=np.int64), 1)
        return FeatureTable(constant, categories, view.names, is_whole=False)


# ------------------------------------------------------------------------------- rows of numbers


def _rows(view: TableView, categories: Categories) -> NDArray[Any]:
    """Return rows of numbers; categories are numbered as in fit."""
    if view.is_sparse:
        matrix_of(view.rows, may_miss=True)
        view = TableView(view.rows.toarray())
    if view.rows is None or len(categories.columns):
        return _rows_of_columns(view.by_columns(), categories)
    rows: NDArray[Any] = _contiguous(view)
    matrix_of(rows, may_miss=True)
    return rows


def _blocks(view: TableView, categories: Categories) -> Iterator[NDArray[Any]]:
    """Yield the same rows, those of a sparse matrix some at a time."""
    if not view.is_sparse:
        yield _rows(view, categories)
        return
    matrix_of(view.rows, may_miss=True)
    height = max(_BLOCK // view.shape[1], 1)
    for start in range(0, view.shape[0], height):
        yield _rows(TableView(view.rows[start : start + height].toarray()), categories)


def _rows_of_columns(view: TableView, categories: Categories) -> NDArray[np.float64]:
    rows = np.empty(view.shape)
    unseen: list[tuple[str, Any]] = []
    for j in range(view.shape[1]):
        column = view.read(j)
        if j in categories:
            rows[:, j], new = categories.numbers(j, column.factorized())
            unseen.extend((view.label(j), value) for value in new)
        else:
            rows[:, j] = column.floats(view.label(j))
    _warn_of(unseen)
    return rows


def _contiguous(view: TableView) -> Rows:
    """Return rows as the core takes them: CSR, or C-contiguous floats, itself if it is so."""
    rows = view.rows
    if view.is_sparse:
        return rows
    if rows.dtype in FLOATS and rows.flags.c_contiguous and rows.flags.aligned:
        return rows  # at once: np.require takes as long as the prediction of a row
    return np.require(rows, dtype=float_dtype(rows), requirements=["C", "A"])


def _no_categories(n_features: int) -> Categories:
    return Categories(n_features, np.empty(0, dtype=np.int64), ())


def _warn_of(unseen: list[tuple[str, Any]]) -> None:
    """Warn once of all categories that did not occur in fit."""
    if not unseen:
        return
    label, value = unseen[0]
    more = f", as are {len(unseen) - 1} more" if len(unseen) > 1 else ""
    msg = (
        f"column {label} of X holds the category {value!r}, which was not there in fit; "
        f"it is taken for a missing value{more}"
    )
    warn_user(msg, UnseenCategoryWarning)
