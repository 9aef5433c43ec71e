"""Targets at the door: labels, label matrices and regression targets are read and checked here."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from hedgerow._base.parameters import HUGE, is_whole
from hedgerow._base.sparse import checked_sparse
from hedgerow.data.rows import is_missing, refuse_masked
from hedgerow.errors import DataError, DataTypeError, warn_user

__all__ = [
    "as_array",
    "check_label_matrix",
    "check_labels",
    "check_targets",
    "class_labels",
    "encode_labels",
    "is_label_matrix",
]


def check_labels(
    y: Any, n_rows: int, *, instead: str = "a regressor"
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and the class number of every row; values are sent elsewhere."""
    try:
        labels = _one_dimensional(y)
        _refuse_missing_labels(labels)
        labels = _without_objects(labels)
        kind = type_of_target(labels, input_name="y")
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        msg = f"y cannot be used as labels: {_first_line(error)}"
        raise (DataTypeError if isinstance(error, TypeError) else DataError)(msg) from error
    if len(labels) != n_rows:
        msg = f"X has {n_rows} rows but y has {len(labels)} labels; give one label a row"
        raise DataError(msg)
    if kind not in ("binary", "multiclass"):
        msg = f"Unknown label type: y is {kind}, a classifier needs classes; bin the values or use {instead}"
        raise DataError(msg)
    return encode_labels(labels)


def check_label_matrix(y: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which labels each row has."""
    table = checked_sparse(y, "y").toarray() if sp.issparse(y) else as_array(y, "y")
    table = np.asarray(table)
    if len(table) != n_rows:
        msg = f"X has {n_rows} rows but y has {len(table)}; give one row of labels a row"
        raise DataError(msg)
    wrong = np.argwhere((table != 0) & (table != 1))
    if len(wrong):
        i, k = wrong[0]
        msg = (
            f"y has {table.shape[1]} columns, so that each is a label, and holds {table[i, k]!r} at row "
            f"{i}, column {k}; give 1 for a label that the row has, 0 for one that it has not"
        )
        raise DataError(msg)
    return table.astype(bool)


def check_targets(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Return the value of every row, a finite float64."""
    try:
        values = _one_dimensional(y)
        _refuse_what_is_no_number(values)
        targets: NDArray[np.float64] = values.astype(np.float64)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        msg = f"y cannot be used as the values of a regression: {_first_line(error)}"
        raise DataError(msg) from error
    if len(targets) != n_rows:
        msg = f"X has {n_rows} rows but y has {len(targets)} values; give one number a row"
        raise DataError(msg)
    wrong = np.flatnonzero(~np.isfinite(targets))
    if len(wrong):
        msg = f"y is {targets[wrong[0]]} at row {wrong[0]}, where a regressor needs a finite number; remove the row or fill it in"
        raise DataError(msg)
    huge = np.flatnonzero(np.abs(targets) > HUGE)
    if len(huge):
        msg = f"y is {targets[huge[0]]} at row {huge[0]}; values beyond {HUGE:g} overflow when they are multiplied: scale y, or drop the row"
        raise DataError(msg)
    return targets


def _first_line(error: Exception) -> str:
    """Return what scikit-learn says, without the array it may show below."""
    return str(error).splitlines()[0]


def _refuse_what_is_no_number(values: NDArray[Any]) -> None:
    if values.dtype.kind in "biuf":
        return
    for i, value in enumerate(values.tolist()):
        if not isinstance(value, Real):
            msg = f"y holds {value!r} at row {i}, where a regressor needs a number; convert it, or use a classifier for labels"
            raise DataError(msg)


def _one_dimensional(y: Any) -> NDArray[Any]:
    """Return y as an array of one dimension; a table of one column is taken with a warning."""
    values = as_array(y, "y")
    column: NDArray[Any] = column_or_1d(values)
    if np.asarray(values).ndim == 2:
        msg = "A column-vector y was passed when a 1d array was expected; give y.ravel()"
        warn_user(msg, DataConversionWarning)
    return column


def as_array(values: Any, name: str) -> Any:
    """Return a series of any dataframe library as an array; others as they are, if nothing is masked."""
    refuse_masked(values, name)
    is_series = nw.dependencies.is_into_series(values)
    return nw.from_native(values, series_only=True).to_numpy() if is_series else values


def _refuse_missing_labels(labels: NDArray[Any]) -> None:
    for i, label in enumerate(labels.tolist() if labels.dtype.kind in "fO" else []):
        if is_missing(label) or (isinstance(label, float) and math.isinf(label)):
            msg = f"y contains {label} at row {i}, which is no class; remove the row or label it"
            raise DataError(msg)


def _without_objects(labels: NDArray[Any]) -> NDArray[Any]:
    """Return an array of objects that are all truth values, or all integers, as an array of those.

    A dataframe has such columns where values were missing once; scikit-learn calls them unknown.
    """
    if labels.dtype != object or not len(labels) or isinstance(labels[0], str):
        return labels
    truths = sum(isinstance(label, bool | np.bool_) for label in labels)
    if truths == len(labels):
        return labels.astype(np.bool_)
    if truths == 0 and all(is_whole(label) and abs(label) < 2**63 for label in labels):
        return labels.astype(np.int64)
    return labels


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and, for every row, the number of its class."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= len(y):  # so that a table of all that lies between is no longer than y
            return _encode_whole_numbers(y, low, high)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _encode_whole_numbers(
    y: NDArray[Any], low: int, high: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the same without sorting."""
    wide = y if y.dtype.kind == "u" else y.astype(np.int64)  # differences of int8 may be larger
    offsets = (wide - wide.dtype.type(low)).astype(np.int64)
    row_of = np.full(high - low + 1, -1, dtype=np.int64)
    row_of[offsets] = np.arange(len(y))
    occurs = row_of >= 0
    number_of = np.cumsum(occurs, dtype=np.int64) - 1
    return y[row_of[occurs]], number_of[offsets]


def is_label_matrix(y: Any) -> bool:
    """Say whether y has several columns, each of which is a label that a row has or has not."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of different lengths; what reads labels says so
        return False
    return len(shape) == 2 and shape[1] > 1


def class_labels(codes: NDArray[Any], classes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    """Return the labels of numbers of classes, of shape (n_rows, n_outputs), or (n_rows,) for one."""
    columns = [labels[codes[:, k]] for k, labels in enumerate(classes)]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
