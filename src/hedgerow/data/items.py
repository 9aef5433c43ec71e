"""Rows that are objects: strings, trees, graphs, sequences, whatever a kernel can compare.

Inside they are a one-dimensional array of objects, so that rows are picked as those of a table are;
a fitted model keeps them as a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.parameters import Rule, shown
from hedgerow.data.rows import Rows, refuse_masked
from hedgerow.errors import DataError

__all__ = ["Items", "any_item", "are_items", "as_kept", "as_rows", "is_table", "read_items"]

Items: TypeAlias = NDArray[np.object_]
"""A one-dimensional array of objects, one for each row."""


def any_item(_: Any) -> None:
    """Allow every object as a row."""


def are_items(rows: Rows) -> bool:
    """Say whether checked rows are objects, not vectors."""
    return isinstance(rows, np.ndarray) and rows.dtype == object


def read_items(X: Any, rule: Rule) -> Items:
    """Return the objects that X holds, one for each row, each of which must meet the rule."""
    refuse_masked(X, "X")
    items: Items = as_rows(_listed(X))
    if not len(items):
        raise DataError("X has 0 rows; give at least one sample")
    for i, item in enumerate(items):
        expected = rule(item)
        if expected is not None:
            msg = f"X holds {shown(item)} at row {i}, where the kernel needs {expected}"
            raise DataError(msg)
    return items


def is_table(X: Any) -> bool:
    """Say whether X holds vectors of numbers, or numbers, and not objects of another kind.

    Sequences of as many numbers each are vectors.
    """
    if isinstance(X, np.ndarray):
        return X.ndim == 2 if X.dtype.kind in "OUT" else X.ndim <= 2
    if not isinstance(X, list | tuple):
        return not nw.dependencies.is_into_series(X)
    if not len(X) or isinstance(X[0], Number):
        return True
    if not (isinstance(X[0], list | tuple) or hasattr(X[0], "__array__")):
        return False
    try:
        array = np.asarray(X)
    except ValueError:  # they differ in length
        return False
    return array.dtype.kind not in "UT" and is_table(array)


def as_rows(vectors: Any) -> Rows:
    """Return the vectors or objects that a model keeps as rows that can be picked."""
    if not isinstance(vectors, list):
        return vectors
    items = np.empty(len(vectors), dtype=object)
    for i, item in enumerate(vectors):  # at once NumPy would look into them
        items[i] = item
    return items


def as_kept(rows: Rows) -> Any:
    """Return rows as a model keeps them: objects in a list."""
    return list(rows) if are_items(rows) else rows


def _listed(X: Any) -> list[Any]:
    """Return what holds objects as a list of them."""
    if isinstance(X, np.ndarray) and X.ndim:
        return list(X) if X.ndim > 1 or X.dtype == object else X.tolist()
    if nw.dependencies.is_into_series(X):
        return list(nw.from_native(X, series_only=True).to_list())
    if isinstance(X, Sequence) and not isinstance(X, str | bytes | bytearray):
        return list(X)
    what = "sparse matrix" if sp.issparse(X) else type(X).__name__
    msg = (
        f"X is of type {what}, where a kernel of objects needs a list, a tuple or an array of them"
    )
    raise DataError(msg)
