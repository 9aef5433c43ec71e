"""Kernels, their values and sums of these."""

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray

from .data import Matrix


class Kernel:
    """A kernel the core can compute."""

    @staticmethod
    def linear() -> Kernel: ...

    @staticmethod
    def polynomial(gamma: float, coef0: float, degree: int) -> Kernel: ...

    @staticmethod
    def rbf(gamma: float) -> Kernel: ...

    @staticmethod
    def sigmoid(gamma: float, coef0: float) -> Kernel: ...

    @staticmethod
    def cosine() -> Kernel: ...

    @staticmethod
    def laplacian(gamma: float) -> Kernel: ...

    @staticmethod
    def additive_chi2() -> Kernel: ...

    @staticmethod
    def chi2(gamma: float) -> Kernel: ...

    @staticmethod
    def histogram_intersection() -> Kernel: ...

    @staticmethod
    def wavelet(dilation: float) -> Kernel: ...

    @staticmethod
    def precomputed() -> Kernel:
        """The matrix holds the kernel values themselves."""

    def __add__(self, arg: Kernel, /) -> Kernel: ...

    def __mul__(self, arg: Kernel, /) -> Kernel: ...

    def scaled(self, factor: float) -> Kernel: ...

    @property
    def is_given(self) -> bool: ...

    @property
    def parts(self) -> list[tuple[float, ...]]:
        """The numbers of its steps."""

def kernel_block(kernel: Kernel, left: Matrix, right: Matrix, rows: NDArray[numpy.int64], columns: NDArray[numpy.int64], n_threads: int) -> NDArray[numpy.float64]:
    """K(x, z) for some rows x of left and z of right, in float64."""

def kernel_block32(kernel: Kernel, left: Matrix, right: Matrix, rows: NDArray[numpy.int64], columns: NDArray[numpy.int64], n_threads: int) -> NDArray[numpy.float32]:
    """The same in float32, as solvers use it."""

def kernel_sums(kernel: Kernel, left: Matrix, right: Matrix, coef: NDArray[numpy.float64], exact: bool, n_threads: int) -> NDArray[numpy.float64]:
    """
    The sum of coef_ic K(x_i, z_j) over the rows i of left, for each row j of right and column c; from float64 values if exact, else from float32 ones.
    """

def kernel_diagonal(kernel: Kernel, matrix: Matrix, n_threads: int) -> NDArray[numpy.float64]:
    """K(x_i, x_i) for each row."""

def precise_kernel_sums(kernel: Kernel, rows: NDArray[numpy.float64], coef: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.float64]:
    """
    The same sums among the rows of a table, from values in extended precision: slow.
    """

def kernel_rounding(kernel: Kernel, matrix: Matrix, is_precise: bool, n_threads: int) -> tuple[NDArray[numpy.float64], float]:
    """
    Sizes of the rows and an error: computed values K(x_i, x_j) are at most error * sizes[i] * sizes[j] off.
    """

class KernelScorer:
    """Scores of rows by support vectors, made ready once."""

    def __init__(self, kernel: Kernel, vectors: Matrix, *, coef: NDArray[numpy.float64], segments: NDArray[numpy.int64], hyperplanes: NDArray[numpy.int64], n_hyperplanes: int) -> None:
        """
        The coefficients are lines of one for each vector; the lines of a segment go to its hyperplanes.
        """

    def scores(self, rows: Matrix, n_threads: int) -> NDArray[numpy.float64]:
        """A column a hyperplane, from values of the precision of the rows."""

class KernelSource:
    """Where a solver has kernel values from, block by block."""

    @staticmethod
    def of_matrix(kernel: Kernel, matrix: Matrix, n_threads: int) -> KernelSource: ...

    @staticmethod
    def of_function(function: Callable[..., Any], n_points: int) -> KernelSource: ...

    @staticmethod
    def of_pair(points: KernelSource, within_first: NDArray[numpy.float32], within_second: NDArray[numpy.float32]) -> KernelSource:
        """Points of two classes, whose values within either are given."""

    @staticmethod
    def of_signs(points: KernelSource, signs: NDArray[numpy.float64]) -> KernelSource:
        """Points times signs, by which their values are multiplied."""

    @property
    def n_points(self) -> int: ...
