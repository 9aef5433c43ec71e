"""The values of categories, kept for every column of them; trees see their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import record
from hedgerow._base.state.rules import (
    Shaped,
    Sizes,
    expectation,
    labels,
    several,
    size,
    whole_numbers,
)
from hedgerow.data.columns import FactorizedColumn
from hedgerow.errors import DataTypeError

__all__ = ["Categories", "sorted_values"]

_NONE: NDArray[Any] = np.empty(0)
_NONE.flags.writeable = False


def _category_values(name: str) -> Shaped:
    """Allow different values, sorted, or none at all."""
    some = labels(name)

    def expected(value: Any, sizes: Sizes) -> str | None:
        is_empty = isinstance(value, np.ndarray) and value.shape == (0,)
        return None if is_empty else expectation(some, value, sizes)

    return Shaped(expected)


@record(
    n_features=size("features"),
    columns=whole_numbers("columns", below="features"),
    values=several(tuple, "columns", _category_values("values[]")),
)
@dataclass(frozen=True, eq=False)
class Categories:
    """The columns that are categories, and the values of each.

    Attributes
    ----------
    n_features : int
        How many columns there are in all.
    columns : ndarray of int64
        Those of them that are categories, ascending.
    values : tuple of ndarray
        The sorted values of each of these; the number of a value is its position. A column that was
        missing in every row of fit has none.
    """

    n_features: int
    columns: NDArray[np.int64]
    values: tuple[NDArray[Any], ...]

    @property
    def n_categories(self) -> NDArray[np.int64]:
        """For every column the number of its categories; 0 for numbers."""
        counts = np.zeros(self.n_features, dtype=np.int64)
        counts[self.columns] = [len(values) for values in self.values]
        return counts

    @property
    def by_feature(self) -> tuple[NDArray[Any], ...]:
        """For every column its values, sorted; none for numbers."""
        found = [_NONE] * self.n_features
        for column, values in zip(self.columns.tolist(), self.values, strict=True):
            found[column] = values
        return tuple(found)

    def __contains__(self, column: int) -> bool:
        return column in self._numbers

    def numbers(
        self, column: int, cells: FactorizedColumn
    ) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the numbers of cells, NaN where missing or unseen, and the values that are unseen."""
        known = self._numbers[column]
        found = np.array([*(known.get(value, np.nan) for value in cells.values), np.nan])
        return found[cells.codes], [value for value in cells.values if value not in known]

    @cached_property
    def _numbers(self) -> dict[int, dict[Any, int]]:
        """For every column of categories the number of each value."""
        return {
            column: {value: number for number, value in enumerate(values.tolist())}
            for column, values in zip(self.columns.tolist(), self.values, strict=True)
        }


def sorted_values(values: list[Any], label: str) -> NDArray[Any]:
    """Return distinct values sorted, as an array that can be kept: text as objects."""
    if all(isinstance(value, str) for value in values):
        return np.array(sorted(values), dtype=object)
    try:
        found = np.sort(np.array(values))
        is_fine = found.dtype.kind in "biuf" and bool(np.isfinite(found).all())
    except (TypeError, ValueError):
        is_fine = False
    if not is_fine:
        msg = (
            f"column {label} of X has categories that are neither text nor finite numbers, "
            f"{values[0]!r} among them; turn them into text first"
        )
        raise DataTypeError(msg)
    return found
