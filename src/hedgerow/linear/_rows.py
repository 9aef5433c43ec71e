"""Rows at the door, for what needs the rows themselves or only some of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._validation import (
    Rows,
    TrainingData,
    _check_columns,
    _class_factors,
    _labels,
    _remember_columns,
    _row_weights,
    _rows,
    check_fitted,
    matrix_of,
)
from hedgerow.errors import DataError, ParameterError

__all__ = ["check_batch", "check_prediction_rows", "check_rows", "dense"]


def check_rows(X: Any) -> Rows:
    """Return X as rows; they are checked for finite values when ``matrix_of`` sees them."""
    return _rows(X)[0]


def dense(rows: Rows) -> NDArray[Any]:
    """Return the rows as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def check_prediction_rows(estimator: Any, X: Any) -> Rows:
    """Return X as finite rows after checking it against the columns seen in fit."""
    check_fitted(estimator)
    rows, names = _rows(X)
    _check_columns(estimator, names, rows.shape[1])
    matrix_of(rows, names)
    return rows


def check_batch(estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> TrainingData:
    """Turn what was given to ``partial_fit`` into TrainingData; it may lack some of the classes."""
    rows, names = _rows(X)
    matrix = matrix_of(rows, names)
    labels, codes = _labels(y, rows.shape[0])
    known = _all_classes(estimator, classes)
    codes = _codes_among(known, labels)[codes]
    weights = _row_weights(sample_weight, rows.shape[0])
    weights = weights * _class_factors(estimator.class_weight, known, codes, weights)[codes]
    if hasattr(estimator, "classes_"):
        _check_columns(estimator, names, rows.shape[1])
    else:
        _remember_columns(estimator, names, rows.shape[1])
    return TrainingData(rows, matrix, known, codes, weights)


def _all_classes(estimator: Any, classes: Any) -> NDArray[Any]:
    """Return the classes of every batch, named in the first call."""
    seen: NDArray[Any] | None = getattr(estimator, "classes_", None)
    if classes is None:
        if seen is None:
            msg = (
                "classes must be passed on the first call to partial_fit; "
                "give all labels that will ever come"
            )
            raise ParameterError(msg)
        return seen
    known = np.unique(np.asarray(classes))
    if len(known) < 2:
        msg = f"classes={known.tolist()} are fewer than two; give all labels that will ever come"
        raise ParameterError(msg)
    if seen is not None and not np.array_equal(known, seen):
        msg = (
            f"classes={known.tolist()} is not the same as on the first call to partial_fit, "
            f"{seen.tolist()}; leave it out"
        )
        raise ParameterError(msg)
    return known


def _codes_among(known: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number that each label has among the known classes."""
    strange = [label for label in labels.tolist() if label not in set(known.tolist())]
    if strange:
        msg = (
            f"y holds the label {strange[0]!r}, which is not among the classes {known.tolist()}; "
            "name it in classes in the first call to partial_fit"
        )
        raise DataError(msg)
    return np.searchsorted(known, labels).astype(np.int64)
