"""X, y and weights at the door: whatever the user gives a fit becomes TrainingData.

The only caller of scikit-learn's check functions. Below this file nothing is checked again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgerow import _core
from hedgerow._base.parameters import HUGE, is_whole, shown
from hedgerow._base.sparse import checked_sparse
from hedgerow.data.rows import (
    Rows,
    check_columns,
    is_missing,
    matrix_of,
    read_rows,
    refuse_masked,
    remember_columns,
    some,
)
from hedgerow.data.targets import encode_labels
from hedgerow.errors import DataError, DataTypeError, ParameterError, warn_user

__all__ = [
    "LabelMatrixData",
    "RegressionData",
    "TrainingData",
    "WeightedRows",
    "check_batch",
    "check_classification_data",
    "check_fitted",
    "check_label_matrix_data",
    "check_labels",
    "check_prediction_data",
    "check_prediction_rows",
    "check_regression_batch",
    "check_regression_data",
    "check_rows",
    "check_targets",
    "check_weights",
    "class_factors",
    "refuse_one_class",
]


@dataclass(frozen=True)
class WeightedRows:
    """What every fit works on.

    Attributes
    ----------
    X : ndarray or CSR
        The rows, C-contiguous, float32 or float64; the user's own memory where its layout allows.
    matrix : _core.Matrix
        The core's view of the same memory.
    sample_weight : ndarray of float64
        One weight a row, class weights multiplied in; none negative, not all zero.
    """

    X: Rows
    matrix: _core.Matrix
    sample_weight: NDArray[np.float64]


@dataclass(frozen=True)
class TrainingData(WeightedRows):
    """What a classifier's fit works on.

    Attributes
    ----------
    classes : ndarray
        The sorted labels.
    y : ndarray of int64
        For every row the number of its class.
    """

    classes: NDArray[Any]
    y: NDArray[np.int64]


@dataclass(frozen=True)
class LabelMatrixData(WeightedRows):
    """What the fit of a classifier for several labels a row works on.

    Attributes
    ----------
    has_label : ndarray of bool of shape (n_samples, n_labels)
        Which labels each row has.
    label_weight : ndarray of float64, same shape
        The weight of each row for each label, class weights multiplied in.
    """

    has_label: NDArray[np.bool_]
    label_weight: NDArray[np.float64]


@dataclass(frozen=True)
class RegressionData(WeightedRows):
    """What a regressor's fit works on.

    Attributes
    ----------
    targets : ndarray of float64
        The finite value of every row.
    """

    targets: NDArray[np.float64]


def check_classification_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> TrainingData:
    """Turn what was given to a classifier's fit into TrainingData, and remember the columns."""
    rows, names = read_rows(X)
    if y is None:
        msg = f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one label a row"
        raise DataError(msg)
    matrix = matrix_of(rows, names)
    classes, codes = check_labels(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    weights = weights * class_factors(class_weight, classes, codes, weights)[codes]
    refuse_one_class(classes, codes, weights)
    remember_columns(estimator, names, rows.shape[1])
    return TrainingData(rows, matrix, weights, classes, codes)


def check_label_matrix_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> LabelMatrixData:
    """Turn X and a matrix of 0 and 1, a column a label, into LabelMatrixData; remember the columns."""
    rows, names = read_rows(X)
    matrix = matrix_of(rows, names)
    has_label = _read_label_matrix(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    values = np.array([0, 1])
    by_label = [
        weights * class_factors(class_weight, values, codes, weights)[codes]
        for codes in has_label.T.astype(np.int64)
    ]
    remember_columns(estimator, names, rows.shape[1])
    return LabelMatrixData(rows, matrix, weights, has_label, np.array(by_label).T)


def check_regression_data(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any = None
) -> RegressionData:
    """Turn what was given to a regressor's fit into RegressionData, and remember the columns."""
    rows, names = read_rows(X)
    if y is None:
        msg = f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one number a row"
        raise DataError(msg)
    matrix = matrix_of(rows, names)
    targets = check_targets(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    remember_columns(estimator, names, rows.shape[1])
    return RegressionData(rows, matrix, weights, targets)


def check_rows(estimator: BaseEstimator, X: Any, sample_weight: Any = None) -> WeightedRows:
    """Turn what was given to a fit without targets into WeightedRows, and remember the columns."""
    rows, names = read_rows(X)
    matrix = matrix_of(rows, names)
    weights = check_weights(sample_weight, rows.shape[0])
    remember_columns(estimator, names, rows.shape[1])
    return WeightedRows(rows, matrix, weights)


def check_batch(
    estimator: Any, X: Any, y: Any, classes: Any, sample_weight: Any = None
) -> TrainingData:
    """Turn what was given to ``partial_fit`` into TrainingData; it may lack some of the classes."""
    rows, names = read_rows(X)
    matrix = matrix_of(rows, names)
    labels, codes = check_labels(y, rows.shape[0])
    known = _all_classes(estimator, classes)
    codes = _codes_among(known, labels)[codes]
    weights = check_weights(sample_weight, rows.shape[0])
    weights = weights * class_factors(estimator.class_weight, known, codes, weights)[codes]
    if hasattr(estimator, "classes_"):
        check_columns(estimator, names, rows.shape[1])
    else:
        remember_columns(estimator, names, rows.shape[1])
    return TrainingData(rows, matrix, weights, known, codes)


def check_regression_batch(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None
) -> RegressionData:
    """Turn what was given to a regressor's ``partial_fit`` into RegressionData."""
    rows, names = read_rows(X)
    matrix = matrix_of(rows, names)
    targets = check_targets(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    if hasattr(estimator, "n_features_in_"):
        check_columns(estimator, names, rows.shape[1])
    else:
        remember_columns(estimator, names, rows.shape[1])
    return RegressionData(rows, matrix, weights, targets)


def check_prediction_rows(estimator: Any, X: Any) -> tuple[Rows, _core.Matrix]:
    """Return X as rows, and the core's view of them, after a check against the columns of fit."""
    check_fitted(estimator)
    rows, names = read_rows(X)
    check_columns(estimator, names, rows.shape[1])
    return rows, matrix_of(rows, names)


def check_prediction_data(estimator: BaseEstimator, X: Any) -> _core.Matrix:
    """Return the core's view of X after a check against the columns of fit."""
    return check_prediction_rows(estimator, X)[1]


def check_fitted(estimator: BaseEstimator) -> None:
    """Raise NotFittedError, with the remedy, if the estimator has not been fitted."""
    if "n_features_in_" in vars(estimator):  # scikit-learn looks at all tags before it sees this
        return
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        msg = f"This {type(estimator).__name__} is not fitted yet; call fit before you ask it for predictions"
        raise NotFittedError(msg) from None


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


def _read_label_matrix(y: Any, n_rows: int) -> NDArray[np.bool_]:
    """Return which labels each row has."""
    table = checked_sparse(y, "y").toarray() if sp.issparse(y) else _as_array(y, "y")
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
    values = _as_array(y, "y")
    column: NDArray[Any] = column_or_1d(values)
    if np.asarray(values).ndim == 2:
        msg = "A column-vector y was passed when a 1d array was expected; give y.ravel()"
        warn_user(msg, DataConversionWarning)
    return column


def _as_array(values: Any, name: str) -> Any:
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


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one weight a row."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(_as_array(sample_weight, "sample_weight"), dtype=np.float64)
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        msg = f"sample_weight cannot be read as numbers: {error}; give one number a row"
        raise DataError(msg) from error
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        msg = f"sample_weight has shape {weights.shape} but X has {n_rows} rows; give one weight a row"
        raise DataError(msg)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        msg = f"sample_weight is {weights[wrong[0]]} at row {wrong[0]}; weights must be finite and not negative"
        raise DataError(msg)
    if not weights.any():
        msg = "every sample_weight is zero, so there is nothing to learn from; give some row a positive weight"
        raise DataError(msg)
    largest = float(np.max(weights))
    if not 1.0 / HUGE <= largest <= HUGE:
        msg = f"the largest sample_weight is {largest:g}, where it must be from {1.0 / HUGE:g} to {HUGE:g}; scale the weights, for example to a mean of 1"
        raise DataError(msg)
    return _without_faint(weights, largest)


def _without_faint(weights: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Return the weights, 0 for those that no sum beside the largest one would see."""
    faint = (weights > 0.0) & (weights < largest / HUGE)
    return np.where(faint, 0.0, weights) if faint.any() else weights


def class_factors(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return one factor a class; "balanced" gives every class the same total weight.

    A dictionary is read as scikit-learn reads it: it may leave classes out, which then have weight 1, or
    name classes that these rows lack, as a fold may lack a rare one. To do both is an error, as it
    is how a misspelt class shows.
    """
    if class_weight is None or len(class_weight) == 0:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights, minlength=len(classes))
        present = totals > 0
        share = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, share, 0.0)
    if not isinstance(class_weight, Mapping):
        msg = f"class_weight={shown(class_weight)} is not known; give 'balanced', a dictionary or None"
        raise ParameterError(msg)
    labels = set(classes.tolist())
    unknown = [label for label in class_weight if label not in labels]
    if unknown and not labels <= set(class_weight):
        unnamed = [label for label in classes.tolist() if label not in class_weight]
        msg = (
            f"class_weight names {unknown[0]!r}, which is not a class of y, and has no weight for "
            f"{some(unnamed)}; name classes of y, or give every class of y a weight"
        )
        raise DataError(msg)
    given: list[Any] = [class_weight.get(label, 1.0) for label in classes.tolist()]
    factors = np.array([float(each) if isinstance(each, Real) else np.nan for each in given])
    if not np.all((factors >= 0) & (factors <= HUGE)):
        msg = f"class_weight must hold finite numbers from 0 to {HUGE:g}, got {dict(class_weight)}"
        raise DataError(msg)
    return factors


def refuse_one_class(
    classes: NDArray[Any], codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> None:
    """Refuse data in which fewer than two classes have any weight."""
    present = np.bincount(codes, weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        label = classes[present][0] if present.any() else classes[0]
        msg = f"y holds one class with positive weight, {label!r}, where at least two are needed; add rows of another class"
        raise DataError(msg)


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
    among = set(known.tolist())
    strange = [label for label in labels.tolist() if label not in among]
    if strange:
        msg = (
            f"y holds the label {strange[0]!r}, which is not among the classes {known.tolist()}; "
            "name it in classes in the first call to partial_fit"
        )
        raise DataError(msg)
    return np.searchsorted(known, labels).astype(np.int64)
