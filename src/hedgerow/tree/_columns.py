"""One column of a table, whatever holds it: numbers, or the distinct values it is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import is_missing
from hedgerow.errors import DataError, DataTypeError

__all__ = ["Column", "Factors", "as_floats", "float_kind", "read_column"]

_LEVELS = (nw.Categorical, nw.Enum)
_CELLS = (nw.String, nw.Object)
_MISSING = -1


@dataclass(frozen=True, eq=False)
class Factors:
    """A column as the places of its cells among its distinct values.

    Attributes
    ----------
    values : list
        The values that occur, each once, in any order; none is missing.
    codes : ndarray of int32
        For every row the place of its value; -1 where it is missing.
    is_category : bool
        Whether the column can be nothing but categories, or its type says that it is.
    """

    values: list[Any]
    codes: NDArray[np.int32]
    is_category: bool

    def numbers(self, label: str) -> NDArray[np.float64]:
        """Return the cells as numbers, NaN where missing; refuse text."""
        for place, value in enumerate(self.values):
            if isinstance(value, str):
                row = int(np.argmax(self.codes == place))
                msg = (
                    f"column {label} of X holds text, {value!r} at row {row}, where numbers are expected; "
                    "convert it, or let it be a category by its type or by categorical_features"
                )
                raise DataError(msg)
        found = np.array([*map(float, self.values), np.nan])[self.codes]
        refuse_infinite(found, label)
        return found


Column: TypeAlias = NDArray[Any] | Factors
"""A column that was read: numbers, NaN where missing, or factors."""


def read_column(column: Any, label: str, *, as_category: bool, by_type: bool) -> Column:
    """Return a column as float32 or float64 numbers, or as factors if it is to be categories.

    Parameters
    ----------
    column : narwhals.Series or ndarray of shape (n_rows,)
        The column.
    label : str
        How to speak of it.
    as_category : bool
        Whether it is to be categories in any case.
    by_type : bool
        Whether it is to be if its type says so: text, truth values, or a type for categories.
    """
    is_array = isinstance(column, np.ndarray)
    found = _from_array(column, label) if is_array else _from_series(column, label)
    if isinstance(found, np.ndarray):
        refuse_infinite(found, label)
        return _distinct(found, is_category=False) if as_category else as_floats(found)
    if as_category or (by_type and found.is_category):
        return found
    return found.numbers(label)


def float_kind(array: NDArray[Any]) -> type[np.float32] | type[np.float64]:
    """Return the smaller of the two float types that holds every number of the array's own type."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    is_short = size <= (4 if kind == "f" else 2)
    return np.float32 if is_short else np.float64


def as_floats(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as a contiguous column of floats, without a copy if they are one."""
    return np.ascontiguousarray(numbers, dtype=float_kind(numbers))


def refuse_infinite(numbers: NDArray[Any], label: str) -> None:
    """Refuse infinite numbers, naming the first one's place."""
    if numbers.dtype.kind != "f" or not np.isinf(numbers).any():
        return
    row = int(np.argmax(np.isinf(numbers)))
    msg = (
        f"X contains {float(numbers[row])} at row {row}, column {label}; "
        "replace infinite values by finite ones or drop the row"
    )
    raise DataError(msg)


def _from_array(array: NDArray[Any], label: str) -> Column:
    """Return a column of an array: numbers in its own type, or factors."""
    kind = array.dtype.kind
    if kind in "iuf":
        return array
    if kind == "b":
        return _distinct(array, is_category=True)
    if kind in "UOT":
        return _from_cells(array.tolist(), label)
    raise _strange(label, str(array.dtype))


def _from_series(series: nw.Series[Any], label: str) -> Column:
    """Return a column of a dataframe: numbers in its own type, or factors."""
    kind = series.dtype
    if kind.is_numeric():
        return _numbers_of(series)
    if kind == nw.Boolean:
        truths = _distinct(_numbers_of(series), is_category=True)
        return Factors([bool(value) for value in truths.values], truths.codes, is_category=True)
    if kind in _LEVELS and series.implementation.is_pandas():
        known = series.to_native().cat
        return _from_levels(known.categories.tolist(), known.codes.to_numpy(), label)
    if kind in _LEVELS:
        return replace(_from_cells(_level_cells(series), label), is_category=True)
    if kind in _CELLS:
        return _from_cells(series.to_list(), label, or_nothing=kind == nw.String)
    raise _strange(label, str(kind))


def _numbers_of(series: nw.Series[Any]) -> NDArray[Any]:
    """Return the numbers of a series, as they are if none is missing."""
    is_float = series.dtype in (nw.Float32, nw.Float64)
    if series.null_count() and not is_float:
        series = series.cast(nw.Float64)
    numbers = np.asarray(series.to_numpy())
    return numbers if numbers.dtype.kind in "biuf" else numbers.astype(np.float64)


def _level_cells(series: nw.Series[Any]) -> list[Any]:
    """Return the cells of a series whose type lists its values."""
    if not series.implementation.is_pyarrow():
        return series.to_list()
    native = series.to_native()  # Arrow would make an object a cell just to look it up
    cells: list[Any] = native.cast(native.type.value_type).to_pylist()
    return cells


def _from_levels(levels: list[Any], given: NDArray[Any], label: str) -> Factors:
    """Return the factors of cells that are places among levels already, -1 where missing."""
    occurs = np.zeros(len(levels) + 1, dtype=np.bool_)
    occurs[given] = True  # what is missing marks the last
    used = [place for place in np.flatnonzero(occurs[:-1]) if not is_missing(levels[place])]
    values = [levels[place] for place in used]
    _are_categories(values, label)
    places = np.full(len(levels) + 1, _MISSING, dtype=np.int32)
    places[used] = np.arange(len(used))
    return Factors(values, places[given], is_category=True)


def _from_cells(cells: list[Any], label: str, *, or_nothing: bool = False) -> Factors:
    """Return the factors of Python objects; ``or_nothing`` says what they are if all are missing."""
    try:
        distinct = dict.fromkeys(cells)
    except TypeError:
        odd = next(cell for cell in cells if cell.__hash__ is None)
        raise _strange(label, type(odd).__name__) from None
    values = [value for value in distinct if not is_missing(value)]
    places = dict.fromkeys(distinct, _MISSING)
    places.update(zip(values, range(len(values)), strict=True))
    codes = np.fromiter(map(places.__getitem__, cells), np.int32, len(cells))
    return Factors(values, codes, _are_categories(values, label) if values else or_nothing)


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
            raise _strange(label, type(odd).__name__)
    return n_texts > 0 or all(isinstance(value, bool | np.bool_) for value in values)


def _distinct(numbers: NDArray[Any], *, is_category: bool) -> Factors:
    """Return the factors of numbers, NaN among them for what is missing."""
    there = ~np.isnan(numbers) if numbers.dtype.kind == "f" else np.ones(len(numbers), np.bool_)
    values, places = np.unique(numbers[there], return_inverse=True)
    codes = np.full(len(numbers), _MISSING, dtype=np.int32)
    codes[there] = places
    return Factors(values.tolist(), codes, is_category)


def _strange(label: str, kind: str) -> DataTypeError:
    msg = f"column {label} of X holds {kind} values; turn them into numbers or text first"
    return DataTypeError(msg)
