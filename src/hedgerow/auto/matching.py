"""The columns of a new table, in the order and of the kinds of the table a model was fitted on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.auto.columns import Columns
from hedgerow.data.io.table import missing_mask
from hedgerow.data.rows import some
from hedgerow.errors import DataError

__all__ = ["match_columns", "unused_note"]

Names = tuple[str, ...] | None


def match_columns(columns: Columns, names: Names, is_text: NDArray[np.bool_]) -> Columns:
    """Return the columns with the given names and kinds; columns without names go by position.

    Raises
    ------
    DataError
        A column is missing, or holds numbers where there was text or text where there were numbers.
    """
    order = _order(columns, names, len(is_text))
    if order == list(range(columns.shape[1])) and np.array_equal(columns.is_text, is_text):
        return columns
    if columns.is_sparse:
        raise DataError("X is sparse, but the model was fitted on text too; give a table")
    values = [_of_kind(columns, j, want) for j, want in zip(order, is_text, strict=True)]
    numbers = np.empty((columns.shape[0], np.count_nonzero(~is_text)))
    for place, j in enumerate(np.flatnonzero(~is_text)):
        numbers[:, place] = values[j]
    return Columns(names, is_text, numbers, tuple(values[j] for j in np.flatnonzero(is_text)))


def unused_note(columns: Columns, matched: Columns) -> str | None:
    """Return a sentence that names the columns that were not used, if there are any."""
    if columns.names is None or matched.names is None:
        return None
    extra = [name for name in columns.names if name not in set(matched.names)]
    if not extra:
        return None
    return f"Not used, because the model was not trained on it: {some(extra)}."


def _order(columns: Columns, names: Names, n_seen: int) -> list[int]:
    """Return the position of every column of fit in the new table."""
    if names is None or columns.names is None:
        if columns.shape[1] != n_seen:
            msg = (
                f"X has {columns.shape[1]} features, but TableEncoder is expecting {n_seen} features "
                "as input; give the columns it was fitted on"
            )
            raise DataError(msg)
        return list(range(n_seen))
    places = {name: j for j, name in enumerate(columns.names)}
    missing = [name for name in names if name not in places]
    if missing:
        new = [name for name in columns.names if name not in set(names)]
        has = f" and has {_columns(new)} that it was not fitted on" if new else ""
        msg = (
            f"X lacks {_columns(missing)} that the model was fitted on{has}; add or rename columns"
        )
        raise DataError(msg)
    return [places[name] for name in names]


def _of_kind(columns: Columns, j: int, want_text: bool) -> NDArray[Any]:
    """Return a column of the kind wanted; a column without any value is of either kind."""
    values = columns.values(j)
    if columns.is_text[j] == want_text:
        return values
    missing = missing_mask(values)
    if missing.all():
        return np.full(
            len(values), None if want_text else np.nan, dtype=object if want_text else float
        )
    row = int(np.flatnonzero(~missing)[0])
    held, holds = ("text", "numbers") if want_text else ("numbers", "text")
    msg = (
        f"column {columns.label(j)!r} held {held} when the model was fitted and holds {holds} now "
        f"({values[row]!r} at row {row}); give {held}"
    )
    raise DataError(msg)


def _columns(names: list[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {some(names)}"
