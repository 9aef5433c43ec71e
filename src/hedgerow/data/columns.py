"""One column of a table, from an array or a dataframe: numbers, or codes of its distinct values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import is_missing
from hedgerow.errors import DataError, DataTypeError

__all__ = ["Column", "FactorizedColumn", "NumericColumn", "float_dtype", "infinite", "read_column"]

_CATEGORICAL = (nw.Categorical, nw.Enum)
_OBJECTS = (nw.String, nw.Object)
_MISSING = -1


@dataclass(frozen=True, eq=False)
class NumericColumn:
    """A column of finite numbers in their own type, NaN where a value is missing.

    Attributes
    ----------
    values : ndarray
        The numbers.
    is_category : bool
        Whether the numbers are truth values, which can be read as categories.
    """

    values: NDArray[Any]
    is_category: bool = False
    is_text = False

    def floats(self, label: str) -> NDArray[Any]:  # noqa: ARG002 - every column has this method
        """Return the numbers as contiguous floats, without a copy if they are."""
        return np.ascontiguousarray(self.values, dtype=float_dtype(self.values))

    def factorized(self) -> FactorizedColumn:
        """Return the column as codes of its distinct values."""
        values = self.values
        there = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), np.bool_)
        distinct, places = np.unique(values[there], return_inverse=True)
        codes = np.full(len(values), _MISSING, dtype=np.int32)
        codes[there] = places
        found = distinct.astype(np.bool_) if self.is_category else distinct
        return FactorizedColumn(found.tolist(), codes, self.is_category)


@dataclass(frozen=True, eq=False)
class FactorizedColumn:
    """A column as codes of its distinct values.

    Attributes
    ----------
    values : list
        The values that occur, each once, in any order; none is missing.
    codes : ndarray of int32
        For every row the place of its value; -1 where it is missing.
    is_category : bool
        Whether the values are text or truth values, or the type of the column is categorical.
    """

    values: list[Any]
    codes: NDArray[np.int32]
    is_category: bool

    @property
    def is_text(self) -> bool:
        """Whether the values are text."""
        return bool(self.values) and isinstance(self.values[0], str)

    def floats(self, label: str) -> NDArray[np.float64]:
        """Return the cells as numbers, NaN where missing; refuse text."""
        if self.is_text:
            row = int(np.argmax(self.codes == 0))
            msg = (
                f"column {label} of X holds text, {self.values[0]!r} at row {row}, where numbers are "
                "expected; convert it, or make it a category by its type or by categorical_features"
            )
            raise DataError(msg)
        found = np.array([*map(float, self.values), np.nan])[self.codes]
        _refuse_infinite(found, label)
        return found

    def texts(self) -> NDArray[np.object_]:
        """Return the cells as objects, None where missing."""
        return np.array([*self.values, None], dtype=object)[self.codes]

    def factorized(self) -> FactorizedColumn:
        """Return the column itself."""
        return self


Column: TypeAlias = NumericColumn | FactorizedColumn


def read_column(column: Any, label: str) -> Column:
    """Return a narwhals series or 1-D array as a typed column; ``label`` names it in errors."""
    if isinstance(column, np.ndarray):
        return _from_array(column, label)
    return _from_series(column, label)


def float_dtype(array: NDArray[Any]) -> type[np.float32] | type[np.float64]:
    """Return the smaller of the two float types that holds every number of the array's own type."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    is_short = size <= (4 if kind == "f" else 2)
    return np.float32 if is_short else np.float64


def infinite(value: Any, row: int, label: str) -> DataError:
    """Return the error for an infinite number."""
    msg = (
        f"X contains {float(value)} at row {row}, column {label}; "
        "replace infinite values by finite ones or drop the row"
    )
    return DataError(msg)


def _from_array(array: NDArray[Any], label: str) -> Column:
    kind = array.dtype.kind
    if kind in "biuf":
        return _numeric(array, label, is_category=kind == "b")
    if kind in "UOT":
        return _from_cells(array.tolist(), label)
    raise _unreadable(label, str(array.dtype))


def _from_series(series: nw.Series[Any], label: str) -> Column:
    kind = series.dtype
    if kind.is_numeric() or kind == nw.Boolean:
        return _numeric(_numbers_of(series), label, is_category=kind == nw.Boolean)
    if kind in _CATEGORICAL and series.implementation.is_pandas():
        known = series.to_native().cat
        return _from_levels(known.categories.tolist(), known.codes.to_numpy(), label)
    if kind in _CATEGORICAL:
        return replace(_from_cells(_categorical_cells(series), label), is_category=True)
    if kind in _OBJECTS:
        return _from_cells(series.to_list(), label, if_empty=kind == nw.String)
    if series.null_count() == len(series):
        return NumericColumn(np.full(len(series), np.nan))
    raise _unreadable(label, str(kind))


def _numeric(numbers: NDArray[Any], label: str, *, is_category: bool) -> NumericColumn:
    _refuse_infinite(numbers, label)
    return NumericColumn(numbers, is_category)


def _refuse_infinite(numbers: NDArray[Any], label: str) -> None:
    if numbers.dtype.kind == "f" and np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise infinite(numbers[row], row, label)


def _numbers_of(series: nw.Series[Any]) -> NDArray[Any]:
    """Return the numbers of a series, as they are if none is missing."""
    is_float = series.dtype in (nw.Float32, nw.Float64)
    if series.null_count() and not is_float:
        series = series.cast(nw.Float64)
    numbers = np.asarray(series.to_numpy())
    return numbers if numbers.dtype.kind in "biuf" else numbers.astype(np.float64)


def _categorical_cells(series: nw.Series[Any]) -> list[Any]:
    """Return the cells of a series whose type lists its values."""
    if not series.implementation.is_pyarrow():
        return series.to_list()
    native = series.to_native()  # Arrow would create an object for each cell just to look it up
    cells: list[Any] = native.cast(native.type.value_type).to_pylist()
    return cells


def _from_levels(levels: list[Any], given: NDArray[Any], label: str) -> FactorizedColumn:
    """Return the column of cells that are codes already, -1 where missing; unused levels go."""
    occurs = np.zeros(len(levels) + 1, dtype=np.bool_)
    occurs[given] = True  # a missing cell marks the last
    used = [place for place in np.flatnonzero(occurs[:-1]) if not is_missing(levels[place])]
    values = [levels[place] for place in used]
    _are_categories(values, label)
    places = np.full(len(levels) + 1, _MISSING, dtype=np.int32)
    places[used] = np.arange(len(used))
    return FactorizedColumn(values, places[given], is_category=True)


def _from_cells(cells: list[Any], label: str, *, if_empty: bool = False) -> FactorizedColumn:
    """Return a column of Python objects; ``if_empty`` is its ``is_category`` if all are missing."""
    try:
        distinct = dict.fromkeys(cells)
    except TypeError:
        odd = next(cell for cell in cells if cell.__hash__ is None)
        raise _unreadable(label, type(odd).__name__) from None
    values = [value for value in distinct if not is_missing(value)]
    places = dict.fromkeys(distinct, _MISSING)
    places.update(zip(values, range(len(values)), strict=True))
    codes = np.fromiter(map(places.__getitem__, cells), np.int32, len(cells))
    return FactorizedColumn(values, codes, _are_categories(values, label) if values else if_empty)


def _are_categories(values: list[Any], label: str) -> bool:
    """Say whether distinct values are text or truth values; refuse a mixture with numbers."""
    n_texts = sum(isinstance(value, str) for value in values)
    if n_texts < len(values):
        odd = next(value for value in values if not isinstance(value, str))
        if n_texts:
            text = next(value for value in values if isinstance(value, str))
            msg = (
                f"column {label} of X mixes kinds, {text!r} and {odd!r} among them; "
                "make it all text or all numbers"
            )
            raise DataTypeError(msg)
        if not hasattr(odd, "__float__"):
            raise _unreadable(label, type(odd).__name__)
    return n_texts > 0 or all(isinstance(value, bool | np.bool_) for value in values)


def _unreadable(label: str, kind: str) -> DataTypeError:
    msg = f"column {label} of X holds {kind} values; turn them into numbers or text first"
    return DataTypeError(msg)
