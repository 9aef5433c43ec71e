"""Matrices, sums and products over their rows, text files."""

from typing import Any, overload

import numpy
from numpy.typing import NDArray


class Matrix:
    """Rows of data, dense or sparse; a view."""

    @overload
    @staticmethod
    def dense(array: NDArray[numpy.float32]) -> Matrix: ...

    @overload
    @staticmethod
    def dense(array: NDArray[numpy.float64]) -> Matrix: ...

    @overload
    @staticmethod
    def csr(values: NDArray[numpy.float32], indices: NDArray[numpy.int32], indptr: NDArray[numpy.int32], n_cols: int) -> Matrix: ...

    @overload
    @staticmethod
    def csr(values: NDArray[numpy.float32], indices: NDArray[numpy.int64], indptr: NDArray[numpy.int64], n_cols: int) -> Matrix: ...

    @overload
    @staticmethod
    def csr(values: NDArray[numpy.float64], indices: NDArray[numpy.int32], indptr: NDArray[numpy.int32], n_cols: int) -> Matrix: ...

    @overload
    @staticmethod
    def csr(values: NDArray[numpy.float64], indices: NDArray[numpy.int64], indptr: NDArray[numpy.int64], n_cols: int) -> Matrix: ...

    @property
    def parts(self) -> tuple[NDArray[Any]] | tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
        """The arrays it views, and n_cols if it is sparse."""

    @property
    def shape(self) -> tuple[int, int]: ...

@overload
def nonzero_bounds(array: NDArray[numpy.float32], most: float, n_threads: int) -> NDArray[numpy.int32] | None: ...

@overload
def nonzero_bounds(array: NDArray[numpy.float64], most: float, n_threads: int) -> NDArray[numpy.int32] | None:
    """
    The row bounds of a CSR matrix of the values other than 0; None if they are more than that share of all.
    """

@overload
def copy_nonzero(array: NDArray[numpy.float32], bounds: NDArray[numpy.int32], n_threads: int) -> tuple[NDArray[numpy.float32] | NDArray[numpy.float64], NDArray[numpy.int32]]: ...

@overload
def copy_nonzero(array: NDArray[numpy.float64], bounds: NDArray[numpy.int32], n_threads: int) -> tuple[NDArray[numpy.float32] | NDArray[numpy.float64], NDArray[numpy.int32]]:
    """The values other than 0 and their columns, by the bounds of each row."""

def scores(matrix: Matrix, coef: NDArray[numpy.float64], intercept: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.float64]:
    """coef . x_i + intercept, for each row i and each row of coef."""

def votes_of_pairs(scores: NDArray[numpy.float64], n_classes: int) -> NDArray[numpy.float64]:
    """
    For each row and class its votes by the scores of pairs, and less than 1/3 besides.
    """

def weighted_row_sum(matrix: Matrix, v: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.float64]:
    """The sum of v_i x_i."""

def weighted_square_sum(matrix: Matrix, v: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.float64]:
    """The sum of v_i x_ij^2, for each column j."""

def gram_times(matrix: Matrix, v: NDArray[numpy.float64], constant: float, p: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.float64]:
    """gram(matrix, v, constant) p, in one pass."""

def row_sq_norms(matrix: Matrix, n_threads: int) -> NDArray[numpy.float64]:
    """|x_i|^2."""

def column_counts(matrix: Matrix) -> NDArray[numpy.int64]:
    """How many rows have another value than 0 in each column."""

def row_maxima(matrix: Matrix, v: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """
    The largest v_j over the columns in which a row has another value than 0, or 0.
    """

def first_beyond(matrix: Matrix, largest: float) -> int:
    """
    The first position among the stored values that is not finite or beyond the largest, or -1.
    """

def gram(matrix: Matrix, v: NDArray[numpy.float64], constant: float, n_threads: int) -> NDArray[numpy.float64]:
    """
    The sum of v_i z_i z_i' with z_i = (x_i, constant), or x_i if constant is 0.
    """

def row_gram(matrix: Matrix, n_threads: int) -> NDArray[numpy.float64]:
    """The products x_i . x_j."""

def cholesky(a: NDArray[numpy.float64], n_threads: int) -> int:
    """
    Factor a = L L' in place; -1, or the first pivot that is not positive and finite.
    """

def cholesky_solve(l: NDArray[numpy.float64], b: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """The x with L L' x = b."""

def parse_libsvm(text: bytes) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32], int, bool]:
    """
    Labels, values, indices and row bounds of lines of a LIBSVM file, how many lines were read, and whether that is all of them: if not, the next one cannot be understood.
    """
