"""X, y, weights, seed and threads at the door: whatever the user holds becomes TrainingData.

The only caller of scikit-learn's check functions. Below this file nothing is checked again.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d

from hedgerow import _core
from hedgerow._parameters import is_whole
from hedgerow._targets import encode_labels
from hedgerow.errors import DataError, DataTypeError, ParameterError

__all__ = [
    "Rows",
    "TrainingData",
    "check_classification_data",
    "check_fitted",
    "check_n_threads",
    "check_prediction_data",
    "check_seed",
    "matrix_of",
]

Rows: TypeAlias = Any
"""A C-contiguous float32 or float64 array, or a canonical SciPy CSR matrix or array of them."""

_RESHAPE = (
    "Reshape your data with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if one row"
)


@dataclass(frozen=True)
class TrainingData:
    """What a fit works on.

    Attributes
    ----------
    X : ndarray or CSR
        The rows, C-contiguous, float32 or float64; the user's own memory where its layout allows.
    matrix : _core.Matrix
        The core's view of the same memory.
    classes : ndarray
        The sorted labels.
    y : ndarray of int64
        For every row the number of its class.
    sample_weight : ndarray of float64
        One weight a row, class weights multiplied in; none negative, not all zero.
    """

    X: Rows
    matrix: _core.Matrix
    classes: NDArray[Any]
    y: NDArray[np.int64]
    sample_weight: NDArray[np.float64]


def check_classification_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Mapping[Any, float] | str | None = None,
) -> TrainingData:
    """Turn what was given to a classifier's fit into TrainingData, and remember the columns."""
    rows, names = _rows(X)
    if y is None:
        msg = f"{_name(estimator)} requires y to be passed, but the target y is None; give one label a row"
        raise DataError(msg)
    matrix = matrix_of(rows, names)
    classes, codes = _labels(y, rows.shape[0])
    weights = _row_weights(sample_weight, rows.shape[0])
    weights = weights * _class_factors(class_weight, classes, codes, weights)[codes]
    _refuse_one_class(classes, codes, weights)
    _remember_columns(estimator, names, rows.shape[1])
    return TrainingData(rows, matrix, classes, codes, weights)


def check_prediction_data(estimator: BaseEstimator, X: Any) -> _core.Matrix:
    """Return the core's view of X after checking it against the columns seen in fit."""
    check_fitted(estimator)
    rows, names = _rows(X)
    _check_columns(estimator, names, rows.shape[1])
    return matrix_of(rows, names)


def check_fitted(estimator: BaseEstimator) -> None:
    """Raise NotFittedError, with the remedy, if the estimator has not been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        msg = (
            f"This {_name(estimator)} is not fitted yet; call fit before you ask it for predictions"
        )
        raise NotFittedError(msg) from None


# ---------------------------------------------------------------------------------------- rows


def _rows(X: Any) -> tuple[Rows, list[str] | None]:
    """Return X as rows the core can read, copying only where the layout demands it, and names."""
    if sp.issparse(X):
        rows, names = _sparse_rows(X), None
    elif nw.dependencies.is_into_dataframe(X):
        rows, names = _frame_rows(X)
    else:
        rows, names = _array_rows(X), None
    if rows.shape[1] == 0:
        msg = f"X has 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required."
        raise DataError(msg)
    if rows.shape[0] == 0:
        msg = f"X has 0 rows (shape={rows.shape}); give at least one sample"
        raise DataError(msg)
    return rows, names


def _array_rows(X: Any) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        msg = f"X cannot be read as a table: {error}; give every row the same number of values"
        raise DataError(msg) from error
    if array.ndim != 2:
        msg = f"X has {array.ndim} dimension(s), shape {array.shape}, where 2 are expected; {_RESHAPE}"
        raise DataError(msg)
    return np.require(array, dtype=_float_dtype(array), requirements=["C", "A"])


def _float_dtype(array: NDArray[Any]) -> type[np.float32] | type[np.float64]:
    """Return the dtype to train in, refusing what is not a real number."""
    kind = array.dtype.kind
    if kind == "c":
        msg = f"Complex data not supported: X has dtype {array.dtype}; give its real and imaginary parts as features"
        raise DataError(msg)
    if kind in "USmM":
        msg = f"X holds {array.dtype} values, not numbers; encode them first, for example with OneHotEncoder"
        raise DataError(msg)
    if kind == "O":
        _check_objects(array)
    return np.float32 if array.dtype in (np.float32, np.float16) else np.float64


def _check_objects(array: NDArray[Any]) -> None:
    """Refuse objects that are not numbers, naming the first one."""
    for position, value in np.ndenumerate(array):
        try:
            float(value)
        except (TypeError, ValueError) as error:
            kind = DataTypeError if isinstance(error, TypeError) else DataError
            where = f" at row {position[0]}, column {position[1]}" if array.ndim == 2 else ""
            msg = f"X holds something that is not a number{where} ({error}); encode or remove it"
            raise kind(msg) from error


def _sparse_rows(X: Any) -> Any:
    if X.ndim != 2:
        msg = f"X has {X.ndim} dimension(s), shape {X.shape}, where 2 are expected; {_RESHAPE}"
        raise DataError(msg)
    rows = X.tocsr()
    rows = rows.astype(_float_dtype(rows.data), copy=False)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _frame_rows(X: Any) -> tuple[NDArray[Any], list[str] | None]:
    frame = nw.from_native(X, eager_only=True)
    names = _column_names(frame)
    for column, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Object)):
            msg = (
                f"Column {column!r} of X holds {dtype} values, not numbers; "
                "encode it first, for example with OneHotEncoder, or drop it"
            )
            raise DataError(msg)
    if set(frame.schema.values()) in ({nw.Float64()}, {nw.Float32()}):
        return _array_rows(frame.to_numpy()), names
    rows = np.empty(frame.shape, dtype=np.float64)
    for j, series in enumerate(frame.iter_columns()):
        numbers = series if series.dtype == nw.Object else series.cast(nw.Float64)
        rows[:, j] = _array_rows(np.asarray(numbers.to_numpy())[:, None])[:, 0]
    return rows, names


def _column_names(frame: Any) -> list[str] | None:
    """Return the frame's column names if they are names, None if they are numbers."""
    columns = list(frame.columns)
    texts = sum(isinstance(column, str) for column in columns)
    if 0 < texts < len(columns):
        msg = "X mixes text and numbers as column names; make them all text, for example X.columns.astype(str)"
        raise DataTypeError(msg)
    return columns if texts else None


def matrix_of(rows: Rows, names: list[str] | None = None) -> _core.Matrix:
    """Return the core's view of the rows, after a check that every value is finite."""
    if sp.issparse(rows):
        indices, indptr = rows.indices, rows.indptr
        if indices.dtype != indptr.dtype:
            indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
        try:
            matrix = _core.Matrix.csr(rows.data, indices, indptr, rows.shape[1])
        except ValueError as error:
            msg = f"X is not a valid CSR matrix: {error}"
            raise DataError(msg) from error
    else:
        matrix = _core.Matrix.dense(rows)
    position = _core.first_nonfinite(matrix)
    if position >= 0:
        raise _not_finite(rows, position, names)
    return matrix


def _not_finite(rows: Rows, position: int, names: list[str] | None) -> DataError:
    """Describe the first value that is NaN or infinite."""
    if sp.issparse(rows):
        i = int(np.searchsorted(rows.indptr, position, side="right")) - 1
        j, value = int(rows.indices[position]), rows.data[position]
    else:
        i, j = divmod(position, rows.shape[1])
        value = rows[i, j]
    column = f"column {names[j]!r}" if names else f"column {j}"
    if np.isnan(value):
        what, remedy = (
            "NaN",
            "fill missing values first, for example with SimpleImputer, or drop the row",
        )
    else:
        what, remedy = str(float(value)), "replace infinite values by finite ones or drop the row"
    return DataError(f"X contains {what} at row {i}, {column}; {remedy}")


# ------------------------------------------------------------------------------------- columns


def _remember_columns(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Set n_features_in_ and, for a frame with named columns, feature_names_in_."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _check_columns(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Refuse columns that are not those of fit; a plain array is taken by position."""
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is not None and names is not None and list(seen) != names:
        raise DataError(_how_columns_differ(_name(estimator), list(seen), names))
    if n_features != estimator.n_features_in_:
        msg = (
            f"X has {n_features} features, but {_name(estimator)} is expecting "
            f"{estimator.n_features_in_} features as input; give the columns it was fitted on"
        )
        raise DataError(msg)


def _how_columns_differ(model: str, seen: list[str], names: list[str]) -> str:
    missing = [name for name in seen if name not in set(names)]
    new = [name for name in names if name not in set(seen)]
    if missing and new:
        return (
            f"X has columns {_some(new)} that {model} was not fitted on and lacks {_some(missing)}; "
            "rename or select the columns that were used in fit"
        )
    if missing:
        return f"X lacks the columns {_some(missing)} that {model} was fitted on; add them"
    if new:
        return f"X has columns {_some(new)} that {model} was not fitted on; drop them"
    return f"X has the columns {model} was fitted on in another order; use X[list(model.feature_names_in_)]"


def _some(names: list[str], limit: int = 5) -> str:
    """Return up to ``limit`` quoted names."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


# ---------------------------------------------------------------------------- labels and weights


def _labels(y: Any, n_rows: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes and the class number of every row."""
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    try:
        labels = column_or_1d(y, warn=True)
        _refuse_missing_labels(labels)
        kind = type_of_target(labels, input_name="y")
    except DataError:
        raise
    except ValueError as error:
        msg = f"y cannot be used as labels: {error}"
        raise DataError(msg) from error
    if len(labels) != n_rows:
        msg = f"X has {n_rows} rows but y has {len(labels)} labels; give one label a row"
        raise DataError(msg)
    if kind not in ("binary", "multiclass"):
        msg = f"Unknown label type: y is {kind}, a classifier needs classes; bin the values or use a regressor"
        raise DataError(msg)
    return encode_labels(labels)


def _refuse_missing_labels(labels: NDArray[Any]) -> None:
    for i, label in enumerate(labels.tolist() if labels.dtype.kind in "fO" else []):
        if label is None or (isinstance(label, float) and not math.isfinite(label)):
            msg = f"y contains {label} at row {i}, which is no class; remove the row or label it"
            raise DataError(msg)


def _row_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one weight a row."""
    if sample_weight is None:
        return np.ones(n_rows)
    if nw.dependencies.is_into_series(sample_weight):
        sample_weight = nw.from_native(sample_weight, series_only=True).to_numpy()
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
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
    return weights


def _class_factors(
    class_weight: Mapping[Any, float] | str | None,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return one factor a class; "balanced" gives every class the same total weight."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights, minlength=len(classes))
        present = totals > 0
        share = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, share, 0.0)
    unknown = [label for label in class_weight if label not in set(classes.tolist())]
    if unknown:
        msg = f"class_weight names {unknown[0]!r}, which is not a class of y; its classes are {_some(classes.tolist())}"
        raise DataError(msg)
    factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(factors).all() and (factors >= 0).all()):
        msg = f"class_weight must be finite and not negative, got {dict(class_weight)}"
        raise DataError(msg)
    return factors


def _refuse_one_class(
    classes: NDArray[Any], codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> None:
    """Refuse data in which fewer than two classes have any weight."""
    present = np.bincount(codes, weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        label = classes[present][0] if present.any() else classes[0]
        msg = f"y holds one class with positive weight, {label!r}, where at least two are needed; add rows of another class"
        raise DataError(msg)


# ------------------------------------------------------------------------------ seed and threads


def check_seed(random_state: Any) -> int:
    """Return a 64-bit seed; an integer is its own seed, None draws one from NumPy's global state."""
    if is_whole(random_state):
        if not 0 <= random_state < 2**64:
            msg = f"random_state={random_state} is not between 0 and 2**64 - 1; choose another integer"
            raise ParameterError(msg)
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    try:
        generator = check_random_state(random_state)
    except ValueError:
        msg = f"random_state={random_state!r} is no seed; give an integer, a RandomState, a Generator or None"
        raise ParameterError(msg) from None
    high, low = generator.randint(0, 2**32, size=2, dtype=np.uint64)
    return (int(high) << 32) | int(low)


def check_n_threads(n_jobs: Any) -> int:
    """Return how many threads to use: None is every core, or one inside a joblib or Dask worker."""
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
        msg = f"n_jobs={n_jobs!r} is no number of threads; give a positive integer, -1 or None for all cores"
        raise ParameterError(msg)
    cores = _core.available_cores()
    if n_jobs is None:
        return 1 if _inside_worker() else cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _inside_worker() -> bool:
    """Say whether this code already runs side by side with copies of itself."""
    backend, _ = get_active_backend()
    if backend.nesting_level:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


def _name(estimator: Any) -> str:
    return type(estimator).__name__
