"""The structure of sparse matrices, checked before SciPy reads them.

SciPy's compiled code trusts row bounds and indices: a matrix whose arrays contradict each other makes
it read, or write, memory that is not its own. Its own check comes too late, as many conversions run
without it, and its full form stops early if the last bound is 0. So whatever is sparse is passed
through :func:`checked_sparse` where it comes in: from a user, or from a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.errors import DataError

__all__ = ["checked_sparse", "compressed_problem"]

_INDEX_TYPES = (np.dtype(np.int32), np.dtype(np.int64))


def checked_sparse(matrix: Any, name: str = "X") -> Any:
    """Return a sparse matrix if its arrays describe one, else raise DataError; what is dense passes.

    One pass over bounds and indices, without a copy of them. Lists and dictionaries of values (LIL,
    DOK) come back as CSR and COO, half precision as float32, and diagonals outside the matrix are left out.
    """
    if not sp.issparse(matrix):
        return matrix
    try:
        matrix = _READERS.get(matrix.format, _as_it_is)(matrix)
        check = _CHECKS.get(matrix.format, _unknown)
        problem = f"has the shape {matrix.shape}" if min(matrix.shape) < 0 else check(matrix)
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        problem = f"cannot be read ({type(error).__name__}: {error})"
    if problem is not None:
        msg = f"{name} is a damaged {type(matrix).__name__}: it {problem}; build the matrix again"
        raise DataError(msg)
    if matrix.dtype == np.float16:  # which SciPy can hold, but not convert to other formats
        matrix = matrix.astype(np.float32)
    return _meeting(matrix) if matrix.format == "dia" else matrix


def compressed_problem(
    n_values: int, indices: Any, indptr: Any, shape: tuple[int, int]
) -> str | None:
    """Say what is wrong with compressed rows, or columns if the shape is turned; None if nothing is."""
    n_major, n_minor = shape
    if not (_are_indices(indices) and _are_indices(indptr)):
        return "has indices that are not vectors of int32 or int64"
    if len(indptr) != n_major + 1 or indptr[0] != 0:
        return f"has row bounds (indptr) that are not {n_major + 1} numbers from 0 on"
    if np.any(indptr[1:] < indptr[:-1]):
        return "has row bounds (indptr) that decrease"
    if len(indices) != n_values:
        return f"has {len(indices)} indices for {n_values} values"
    end = int(indptr[-1])
    if end > n_values:
        return f"has row bounds (indptr) up to {end} for {n_values} values"
    return _outside(indices[:end], n_minor)


# ------------------------------------------------------------------------------------- by format


def _rows(matrix: Any) -> str | None:
    if matrix.data.ndim != 1:
        return f"has values in {matrix.data.ndim} dimensions"
    return compressed_problem(len(matrix.data), matrix.indices, matrix.indptr, matrix.shape)


def _columns(matrix: Any) -> str | None:
    if matrix.data.ndim != 1:
        return f"has values in {matrix.data.ndim} dimensions"
    return compressed_problem(len(matrix.data), matrix.indices, matrix.indptr, matrix.shape[::-1])


def _blocks(matrix: Any) -> str | None:
    if matrix.data.ndim != 3:
        return f"has blocks in {matrix.data.ndim} dimensions"
    n_blocks, height, width = matrix.data.shape
    if not height or not width or matrix.shape[0] % height or matrix.shape[1] % width:
        return f"has blocks of {height} by {width} in a shape of {matrix.shape}"
    shape = matrix.shape[0] // height, matrix.shape[1] // width
    return compressed_problem(n_blocks, matrix.indices, matrix.indptr, shape)


def _coordinates(matrix: Any) -> str | None:
    coords = matrix.coords if hasattr(matrix, "coords") else (matrix.row, matrix.col)
    if len(coords) != len(matrix.shape) or matrix.data.ndim != 1:
        return "has not one coordinate for each dimension"
    for axis, size in zip(coords, matrix.shape, strict=True):
        if not _are_indices(axis) or len(axis) != len(matrix.data):
            return "has coordinates that are not one int32 or int64 for each value"
        problem = _outside(axis, size)
        if problem is not None:
            return problem
    return None


def _diagonals(matrix: Any) -> str | None:
    offsets = matrix.offsets
    if not _are_indices(offsets) or matrix.data.ndim != 2 or len(matrix.data) != len(offsets):
        return "has not one offset, int32 or int64, for each diagonal"
    if len(np.unique(offsets)) != len(offsets):
        return "has a diagonal twice"
    return None


def _meeting(matrix: Any) -> Any:
    """Return the diagonals that meet the matrix: SciPy may take a far one for another."""
    n_rows, n_columns = matrix.shape
    meets = (matrix.offsets > -n_rows) & (matrix.offsets < n_columns)
    if meets.all():
        return matrix
    return type(matrix)((matrix.data[meets], matrix.offsets[meets]), shape=matrix.shape)


def _unknown(matrix: Any) -> str:  # noqa: ARG001 - one of the checks
    return "is of a format that is not known here"


_CHECKS: dict[str, Callable[[Any], str | None]] = {
    "csr": _rows,
    "csc": _columns,
    "bsr": _blocks,
    "coo": _coordinates,
    "dia": _diagonals,
}


def _as_it_is(matrix: Any) -> Any:
    return matrix


def _from_lists(matrix: Any) -> Any:
    """Return a LIL matrix as CSR; SciPy would write beyond its arrays if the lists differ in length."""
    sizes = [[len(part) for part in lists] for lists in (matrix.rows, matrix.data)]
    if sizes[0] != sizes[1] or len(sizes[0]) != matrix.shape[0]:
        raise ValueError("its lists of columns and of values differ in length")
    return matrix.tocsr()


_READERS: dict[str, Callable[[Any], Any]] = {
    "lil": _from_lists,
    "dok": lambda matrix: matrix.tocoo(),
}


# ---------------------------------------------------------------------------------------- checks


def _are_indices(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype in _INDEX_TYPES


def _outside(indices: NDArray[Any], size: int) -> str | None:
    """Say if an index is not one of so many."""
    if not len(indices):
        return None
    least, most = int(indices.min()), int(indices.max())
    if least >= 0 and most < size:
        return None
    return f"has the index {least if least < 0 else most} where 0 to {size - 1} are possible"
