"""Rows at the door: whatever holds the numbers becomes rows the core can read.

Memory is shared wherever its layout allows; a copy is made only of what is not in rows (Fortran
order, CSC, a dataframe's columns) or not float32 or float64.
"""

from __future__ import annotations

import copyreg
from math import isnan
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import HUGE
from hedgerow._base.sparse import checked_sparse
from hedgerow.errors import DataError, DataTypeError

__all__ = [
    "FLOATS",
    "RESHAPE",
    "Rows",
    "array_of",
    "by_use",
    "check_columns",
    "column_names",
    "columns_of",
    "compact",
    "dense",
    "is_missing",
    "matrix_of",
    "matrix_view",
    "n_values",
    "read_rows",
    "refuse_empty",
    "refuse_masked",
    "remember_columns",
    "rows_of",
    "some",
    "with_masked_as_missing",
]

Rows: TypeAlias = Any
"""A C-contiguous float32 or float64 array, or a canonical SciPy CSR matrix or array of them."""

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

MOST_FILLED = {np.dtype(np.float32): 1 / 8, np.dtype(np.float64): 1 / 4}
"""Shares of values other than zero up to which rows are compacted: to 1/4 and 3/8 of their bytes."""

MANY_COLUMNS = 4096
"""From so many on, planes of several classes do not fit into the cache."""
MOST_COPIED = 2**27
"""Stored values up to which rows are copied for speed alone: less than 2 GB."""

_MISSING_TYPES = frozenset({"NAType", "NaTType", "NoneType"})

_PIECE = 2**20
"""Values that are looked at together, so that what is said of them takes little room."""

RESHAPE = (
    "Reshape your data with X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if one row"
)


def read_rows(X: Any) -> tuple[Rows, list[str] | None]:
    """Return X as rows, and the names of its columns if it is a dataframe that has names."""
    if type(X) is np.ndarray:
        rows, names = _array_rows(X), None
    elif sp.issparse(X):
        rows, names = _sparse_rows(X), None
    elif nw.dependencies.is_into_dataframe(X):
        rows, names = _frame_rows(X)
    else:
        rows, names = _array_rows(X), None
    refuse_empty(rows.shape)
    return rows, names


def refuse_empty(shape: tuple[int, int]) -> None:
    """Refuse a table without rows or without columns."""
    if shape[1] == 0:
        msg = f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        raise DataError(msg)
    if shape[0] == 0:
        msg = f"X has 0 rows (shape={shape}); give at least one sample"
        raise DataError(msg)


def refuse_masked(values: Any, name: str) -> None:
    """Refuse a masked array with masked cells: what lies under the mask must not be learnt from."""
    if not np.ma.is_masked(values):
        return
    place = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(values))[0])
    where = f"row {place[0]}" + "".join(f", column {j}" for j in place[1:])
    remedy = "fill masked values first, for example with filled(), or drop their rows"
    if name == "X":
        remedy += "; trees and forests take them for missing values"
    raise DataError(f"{name} is masked at {where}; {remedy}")


def with_masked_as_missing(values: Any) -> Any:
    """Return a masked array with NaN, or among objects None, for its masked cells; others as they are."""
    if not np.ma.is_masked(values):
        return values
    if values.dtype.kind in "biu":
        return values.astype(np.float64).filled(np.nan)
    if values.dtype.kind == "f":
        return values.filled(np.nan)
    return values.astype(object).filled(None)


def _array_rows(X: Any) -> NDArray[Any]:
    refuse_masked(X, "X")
    try:
        array = np.asarray(X)
    except (ValueError, TypeError) as error:
        msg = f"X cannot be read as a table: {error}; give every row the same number of values"
        raise DataError(msg) from error
    if array.ndim == 1 and array.dtype.kind == "U":
        msg = "X holds texts, not vectors of numbers; encode them, or use a kernel of objects, such as FunctionKernel"
        raise DataError(msg)
    if array.ndim != 2:
        msg = (
            f"X has {array.ndim} dimension(s), shape {array.shape}, where 2 are expected; {RESHAPE}"
        )
        raise DataError(msg)
    if array.dtype in FLOATS and array.flags.c_contiguous and array.flags.aligned:
        return array
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
        msg = f"X has {X.ndim} dimension(s), shape {X.shape}, where 2 are expected; {RESHAPE}"
        raise DataError(msg)
    rows = checked_sparse(X)
    # Before the conversion, which SciPy cannot do for every type of numbers that a matrix may hold.
    rows = rows.astype(_float_dtype(rows.data), copy=False).tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _frame_rows(X: Any) -> tuple[NDArray[Any], list[str] | None]:
    frame = nw.from_native(X, eager_only=True)
    names = column_names(frame)
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


def column_names(frame: Any) -> list[str] | None:
    """Return the frame's column names if they are names, None if they are numbers."""
    columns = list(frame.columns)
    texts = sum(isinstance(column, str) for column in columns)
    if 0 < texts < len(columns):
        msg = "X mixes text and numbers as column names; make them all text, for example X.columns.astype(str)"
        raise DataTypeError(msg)
    return columns if texts else None


def dense(rows: Rows) -> NDArray[Any]:
    """Return the rows as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def matrix_of(
    rows: Rows, names: list[str] | None = None, *, may_miss: bool = False
) -> _core.data.Matrix:
    """Return the core's view of the rows, after a check that values are finite, or may be NaN.

    Those that may be NaN are only compared; of others there are sums of squares, so that they may
    not be huge either.
    """
    matrix = matrix_view(rows)
    position = _core.data.first_beyond(matrix, np.inf if may_miss else HUGE)
    if may_miss and position >= 0:
        position = _first_infinite(matrix.parts[0].ravel(), position)
    if position >= 0:
        raise _not_finite(rows, position, names)
    return matrix


def matrix_view(rows: Rows) -> _core.data.Matrix:
    """Return the core's view of rows that have been checked, or are made of such; no value is read."""
    if not sp.issparse(rows):
        return _core.data.Matrix.dense(rows)
    indices, indptr = rows.indices, rows.indptr
    if indices.dtype != indptr.dtype:
        indices, indptr = indices.astype(np.int64), indptr.astype(np.int64)
    try:
        return _core.data.Matrix.csr(rows.data, indices, indptr, rows.shape[1])
    except ValueError as error:
        msg = f"X is not a valid CSR matrix: {error}"
        raise DataError(msg) from error


def _first_infinite(values: NDArray[Any], start: int) -> int:
    """Return the place of the first infinite value from a place on, or -1; a piece at a time."""
    for begin in range(start, len(values), _PIECE):
        found = np.flatnonzero(np.isinf(values[begin : begin + _PIECE]))
        if len(found):
            return begin + int(found[0])
    return -1


def compact(
    matrix: _core.data.Matrix, n_threads: int, most: float | None = None
) -> _core.data.Matrix:
    """Return the matrix, as a CSR matrix if it is dense and few of its values are not zero.

    Then that is read faster than the dense one, and the copy is small beside it. ``most`` is the
    largest share that counts as few; None is the one that pays for a pass over the rows.
    """
    array = array_of(matrix)
    if not isinstance(array, np.ndarray):
        return matrix
    most = MOST_FILLED[array.dtype] if most is None else most
    bounds = _core.data.nonzero_bounds(array, most, n_threads)
    if bounds is None:
        return matrix
    values, columns = _core.data.copy_nonzero(array, bounds, n_threads)
    return _core.data.Matrix.csr(values, columns, bounds, array.shape[1])


def by_use(matrix: _core.data.Matrix) -> tuple[_core.data.Matrix, NDArray[np.intp] | None]:
    """Return the rows with the columns that are used most at the front, and where each column went.

    In wide data few columns have most of the values: what is kept for these then lies together, and
    stays in the cache. That takes a copy of the rows; where it would not pay they stay as they are,
    and None is returned for the places.
    """
    n_columns = matrix.shape[1]
    rows = array_of(matrix)
    if isinstance(rows, np.ndarray) or n_columns < MANY_COLUMNS or rows.nnz > MOST_COPIED:
        return matrix, None
    order = np.argsort(-np.bincount(rows.indices, minlength=n_columns), kind="stable")
    places = np.empty(n_columns, dtype=rows.indices.dtype)
    places[order] = np.arange(n_columns, dtype=places.dtype)
    moved = sp.csr_array((rows.data, places[rows.indices], rows.indptr), shape=rows.shape)
    return matrix_view(moved.tocsc().tocsr()), places  # there and back: columns ascend in each row


def n_values(matrix: _core.data.Matrix) -> int:
    """Return the number of stored values."""
    return int(matrix.parts[0].size)


def array_of(matrix: _core.data.Matrix) -> Rows:
    """Return the array or CSR array that a matrix is a view of."""
    values, *sparse = matrix.parts
    if not sparse:
        return values
    indices, indptr, _ = sparse
    return sp.csr_array((values, indices, indptr), shape=matrix.shape)


def columns_of(matrix: _core.data.Matrix, columns: NDArray[np.intp]) -> _core.data.Matrix:
    """Return a matrix of some of the columns, copied."""
    rows = array_of(matrix)
    return matrix_view(rows[:, columns] if sp.issparse(rows) else np.take(rows, columns, axis=1))


def rows_of(matrix: _core.data.Matrix, selected: NDArray[np.int64]) -> _core.data.Matrix:
    """Return a matrix of some of the rows, copied."""
    return matrix_view(array_of(matrix)[selected])


def _matrix_of_parts(*parts: Any) -> _core.data.Matrix:
    return _core.data.Matrix.dense(*parts) if len(parts) == 1 else _core.data.Matrix.csr(*parts)


# A matrix goes to another process as the arrays it views.
copyreg.pickle(_core.data.Matrix, lambda matrix: (_matrix_of_parts, matrix.parts))


def _not_finite(rows: Rows, position: int, names: list[str] | None) -> DataError:
    """Describe the first value that is NaN, infinite or huge."""
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
    elif np.isinf(value):
        what, remedy = str(float(value)), "replace infinite values by finite ones or drop the row"
    else:
        what = str(float(value))
        remedy = f"values beyond {HUGE:g} overflow when they are multiplied: scale the column, or drop the row"
    return DataError(f"X contains {what} at row {i}, {column}; {remedy}")


def remember_columns(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Set n_features_in_ and, for a frame with named columns, feature_names_in_."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_columns(estimator: Any, names: list[str] | None, n_features: int) -> None:
    """Refuse columns that are not those of fit; a plain array is taken by position."""
    seen = getattr(estimator, "feature_names_in_", None)
    if seen is not None and names is not None and list(seen) != names:
        raise DataError(_how_columns_differ(type(estimator).__name__, list(seen), names))
    if n_features != estimator.n_features_in_:
        msg = (
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input; give the columns it was fitted on"
        )
        raise DataError(msg)


def _how_columns_differ(model: str, seen: list[str], names: list[str]) -> str:
    given, known = set(names), set(seen)
    missing = [name for name in seen if name not in given]
    new = [name for name in names if name not in known]
    if missing and new:
        return (
            f"X has columns {some(new)} that {model} was not fitted on and lacks {some(missing)}; "
            "rename or select the columns that were used in fit"
        )
    if missing:
        return f"X lacks the columns {some(missing)} that {model} was fitted on; add them"
    if new:
        return f"X has columns {some(new)} that {model} was not fitted on; drop them"
    return f"X has the columns {model} was fitted on in another order; use X[list(model.feature_names_in_)]"


def is_missing(cell: Any) -> bool:
    """Say whether a value is None, NaN, or a dataframe library's sign for a missing value."""
    return type(cell).__name__ in _MISSING_TYPES or (isinstance(cell, float) and isnan(cell))


def some(names: list[Any], limit: int = 5) -> str:
    """Return up to ``limit`` quoted names."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
