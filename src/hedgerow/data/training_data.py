"""X, y and weights at the door: whatever the user gives a fit becomes TrainingData.

Rows are read by ``rows``, targets by ``targets`` and weights by ``weights``, once for each fit. Below
this door nothing is checked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgerow import _core
from hedgerow._base.parameters import Rule
from hedgerow.data.items import are_items, read_items
from hedgerow.data.rows import Rows, check_columns, matrix_of, read_rows, remember_columns
from hedgerow.data.targets import check_label_matrix, check_labels, check_targets
from hedgerow.data.weights import check_weights, class_factors, refuse_one_class
from hedgerow.errors import DataError, ParameterError

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
        The rows, C-contiguous, float32 or float64; the user's own memory where its layout allows. Or
        a one-dimensional array of objects.
    matrix : _core.data.Matrix
        The core's view of the same memory; None of objects.
    sample_weight : ndarray of float64
        One weight a row, class weights multiplied in; none negative, not all zero.
    """

    X: Rows
    matrix: Any
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
    class_factor : ndarray of float64
        What ``sample_weight`` was multiplied by, for each class.
    given_weight : ndarray of float64
        The weights before that.
    """

    classes: NDArray[Any]
    y: NDArray[np.int64]
    class_factor: NDArray[np.float64]
    given_weight: NDArray[np.float64]


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
    *,
    item: Rule | None = None,
) -> TrainingData:
    """Turn what was given to a classifier's fit into TrainingData, and remember the columns.

    With ``item``, rows are objects that must meet that rule, here and below.
    """
    rows, names = _read(X, item)
    if y is None:
        msg = f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one label a row"
        raise DataError(msg)
    matrix = _checked(rows, names)
    classes, codes = check_labels(y, rows.shape[0])
    given = check_weights(sample_weight, rows.shape[0])
    factors = class_factors(class_weight, classes, codes, given)
    weights = given * factors[codes]
    refuse_one_class(classes, codes, weights)
    _remember(estimator, rows, names)
    return TrainingData(rows, matrix, weights, classes, codes, factors, given)


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
    has_label = check_label_matrix(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    values = np.array([0, 1])
    by_label = [
        weights * class_factors(class_weight, values, codes, weights)[codes]
        for codes in has_label.T.astype(np.int64)
    ]
    remember_columns(estimator, names, rows.shape[1])
    return LabelMatrixData(rows, matrix, weights, has_label, np.array(by_label).T)


def check_regression_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    item: Rule | None = None,
) -> RegressionData:
    """Turn what was given to a regressor's fit into RegressionData, and remember the columns."""
    rows, names = _read(X, item)
    if y is None:
        msg = f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one number a row"
        raise DataError(msg)
    matrix = _checked(rows, names)
    targets = check_targets(y, rows.shape[0])
    weights = check_weights(sample_weight, rows.shape[0])
    _remember(estimator, rows, names)
    return RegressionData(rows, matrix, weights, targets)


def check_rows(
    estimator: BaseEstimator, X: Any, sample_weight: Any = None, *, item: Rule | None = None
) -> WeightedRows:
    """Turn what was given to a fit without targets into WeightedRows, and remember the columns."""
    rows, names = _read(X, item)
    matrix = _checked(rows, names)
    weights = check_weights(sample_weight, rows.shape[0])
    _remember(estimator, rows, names)
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
    given = check_weights(sample_weight, rows.shape[0])
    factors = class_factors(estimator.class_weight, known, codes, given)
    if hasattr(estimator, "classes_"):
        check_columns(estimator, names, rows.shape[1])
    else:
        remember_columns(estimator, names, rows.shape[1])
    return TrainingData(rows, matrix, given * factors[codes], known, codes, factors, given)


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


def check_prediction_rows(estimator: Any, X: Any, *, item: Rule | None = None) -> tuple[Rows, Any]:
    """Return X as rows, and the core's view of them, after a check against the columns of fit."""
    check_fitted(estimator)
    if item is not None:
        return read_items(X, item), None
    rows, names = read_rows(X)
    check_columns(estimator, names, rows.shape[1])
    return rows, matrix_of(rows, names)


def check_prediction_data(estimator: BaseEstimator, X: Any) -> _core.data.Matrix:
    """Return the core's view of X after a check against the columns of fit."""
    matrix: _core.data.Matrix = check_prediction_rows(estimator, X)[1]
    return matrix


def _read(X: Any, item: Rule | None) -> tuple[Rows, list[str] | None]:
    """Return the rows of X and the names of its columns; with a rule, objects, which have none."""
    return read_rows(X) if item is None else (read_items(X, item), None)


def _checked(rows: Rows, names: list[str] | None) -> Any:
    """Return the core's view of rows, after a check that values are finite; None of objects."""
    return None if are_items(rows) else matrix_of(rows, names)


def _remember(estimator: Any, rows: Rows, names: list[str] | None) -> None:
    """Set which columns the rows have; objects have none."""
    if not are_items(rows):
        remember_columns(estimator, names, rows.shape[1])
        return
    for name in ("n_features_in_", "feature_names_in_"):
        vars(estimator).pop(name, None)


def check_fitted(estimator: BaseEstimator) -> None:
    """Raise NotFittedError, with the remedy, if the estimator has not been fitted."""
    if "n_features_in_" in vars(estimator):  # scikit-learn looks at all tags before it sees this
        return
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        msg = f"This {type(estimator).__name__} is not fitted yet; call fit before you ask it for predictions"
        raise NotFittedError(msg) from None


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
