"""``categorical_features``: which columns of a table are categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow._base.parameters import is_whole
from hedgerow.data.rows import some
from hedgerow.errors import ParameterError

__all__ = ["Choice", "categorical_rule", "choice_of"]

_EXPECTED = "None, 'from_dtype', or a list of column names, of places, or of a truth value a column"


@dataclass(frozen=True)
class Choice:
    """Which columns are categories: those that are named, and those whose type says so."""

    named: frozenset[int]
    by_type: bool

    def of_numbers(self) -> Choice:
        """Return the choice for an array of numbers, whose type says nothing of single columns."""
        return replace(self, by_type=False)


def categorical_rule(value: Any) -> str | None:
    """Allow what ``categorical_features`` may be, whatever the table."""
    if value is None or (isinstance(value, str) and value == "from_dtype"):
        return None
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return _EXPECTED
    items = _items(value)
    kinds = {_kind(item) for item in items}
    return None if len(kinds) <= 1 and None not in kinds else _EXPECTED


def choice_of(value: Any, names: list[str] | None, n_features: int) -> Choice:
    """Return the choice that a value of ``categorical_features`` means for a table."""
    if value is None:
        return Choice(frozenset(), by_type=False)
    if isinstance(value, str):
        return Choice(frozenset(), by_type=True)
    items = _items(value)
    kind = _kind(items[0]) if items else None
    if kind == "truth":
        return Choice(_from_mask(items, n_features), by_type=True)
    if kind == "name":
        return Choice(_from_names(items, names), by_type=True)
    return Choice(_from_places(items, n_features), by_type=True)


def _items(value: Any) -> list[Any]:
    return list(np.asarray(value).tolist() if isinstance(value, np.ndarray) else value)


def _kind(item: Any) -> str | None:
    if isinstance(item, bool | np.bool_):
        return "truth"
    if isinstance(item, str):
        return "name"
    return "place" if is_whole(item) else None


def _from_mask(items: list[Any], n_features: int) -> frozenset[int]:
    if len(items) != n_features:
        msg = (
            f"categorical_features has {len(items)} truth values and X has {n_features} columns; "
            "give one a column"
        )
        raise ParameterError(msg)
    return frozenset(j for j, item in enumerate(items) if item)


def _from_names(items: list[Any], names: list[str] | None) -> frozenset[int]:
    if names is None:
        msg = (
            f"categorical_features names {some(items)} and the columns of X have no names; "
            "give their places, or a dataframe"
        )
        raise ParameterError(msg)
    strange = [item for item in items if item not in names]
    if strange:
        msg = f"categorical_features names {some(strange)}, and X has no such column; it has {some(names)}"
        raise ParameterError(msg)
    return frozenset(names.index(item) for item in items)


def _from_places(items: list[Any], n_features: int) -> frozenset[int]:
    wrong = [item for item in items if not 0 <= item < n_features]
    if wrong:
        msg = f"categorical_features holds {wrong[0]}, and X has the columns 0 to {n_features - 1}"
        raise ParameterError(msg)
    return frozenset(int(item) for item in items)
