"""The compiled core: arrays come in contiguous, of the very type named, and are never copied.

A length that does not fit the matrix is a ``ValueError``, another type of array a ``TypeError``.
Results are the same bits for any ``n_threads``.
"""

from typing import Any, final, overload

import numpy as np
from numpy.typing import NDArray

_Float32 = NDArray[np.float32]
_Float64 = NDArray[np.float64]
_Int32 = NDArray[np.int32]
_Int64 = NDArray[np.int64]
_Int8 = NDArray[np.int8]
_UInt8 = NDArray[np.uint8]
_UInt32 = NDArray[np.uint32]
_Truths = NDArray[np.bool_]
_UInt64 = NDArray[np.uint64]

@final
class Matrix:
    @staticmethod
    def dense(array: _Float32 | _Float64) -> Matrix: ...
    @overload
    @staticmethod
    def csr(
        values: _Float32 | _Float64, indices: _Int32, indptr: _Int32, n_cols: int
    ) -> Matrix: ...
    @overload
    @staticmethod
    def csr(
        values: _Float32 | _Float64, indices: _Int64, indptr: _Int64, n_cols: int
    ) -> Matrix: ...
    @property
    def parts(
        self,
    ) -> tuple[NDArray[Any]] | tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]: ...
    @property
    def shape(self) -> tuple[int, int]: ...

def scores(matrix: Matrix, coef: _Float64, intercept: _Float64, n_threads: int) -> _Float64: ...
def votes_of_pairs(scores: _Float64, n_classes: int) -> _Float64: ...
def weighted_row_sum(matrix: Matrix, v: _Float64, n_threads: int) -> _Float64: ...
def weighted_square_sum(matrix: Matrix, v: _Float64, n_threads: int) -> _Float64: ...
def gram_times(
    matrix: Matrix, v: _Float64, constant: float, p: _Float64, n_threads: int
) -> _Float64: ...
def row_sq_norms(matrix: Matrix, n_threads: int) -> _Float64: ...
def column_counts(matrix: Matrix) -> _Int64: ...
def row_maxima(matrix: Matrix, v: _Float64) -> _Float64: ...
def first_beyond(matrix: Matrix, largest: float) -> int: ...
def nonzero_bounds(array: _Float32 | _Float64, most: float, n_threads: int) -> _Int32 | None: ...
def copy_nonzero(
    array: _Float32 | _Float64, bounds: _Int32, n_threads: int
) -> tuple[_Float32 | _Float64, _Int32]: ...
def gram(matrix: Matrix, v: _Float64, constant: float, n_threads: int) -> _Float64: ...
def row_gram(matrix: Matrix, n_threads: int) -> _Float64: ...
def cholesky(a: _Float64, n_threads: int) -> int: ...
def cholesky_solve(l: _Float64, b: _Float64) -> _Float64: ...

@final
class Kernel:
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
    def precomputed() -> Kernel: ...
    def __add__(self, other: Kernel) -> Kernel: ...
    def __mul__(self, other: Kernel) -> Kernel: ...
    def scaled(self, factor: float) -> Kernel: ...
    @property
    def is_given(self) -> bool: ...
    @property
    def parts(self) -> list[tuple[float, ...]]: ...

def kernel_block(
    kernel: Kernel, left: Matrix, right: Matrix, rows: _Int64, columns: _Int64, n_threads: int
) -> _Float64: ...
def kernel_block32(
    kernel: Kernel, left: Matrix, right: Matrix, rows: _Int64, columns: _Int64, n_threads: int
) -> _Float32: ...
def kernel_sums(
    kernel: Kernel, left: Matrix, right: Matrix, coef: _Float64, exact: bool, n_threads: int
) -> _Float64: ...
def kernel_diagonal(kernel: Kernel, matrix: Matrix, n_threads: int) -> _Float64: ...
def precise_kernel_sums(
    kernel: Kernel, rows: _Float64, coef: _Float64, n_threads: int
) -> _Float64: ...
def kernel_rounding(
    kernel: Kernel, matrix: Matrix, is_precise: bool, n_threads: int
) -> tuple[_Float64, float]: ...

@final
class KernelScorer:
    def __init__(
        self,
        kernel: Kernel,
        vectors: Matrix,
        *,
        coef: _Float64,
        segments: _Int64,
        hyperplanes: _Int64,
        n_hyperplanes: int,
    ) -> None: ...
    def scores(self, rows: Matrix, n_threads: int) -> _Float64: ...

@final
class KernelSource:
    @staticmethod
    def of_matrix(kernel: Kernel, matrix: Matrix, n_threads: int) -> KernelSource: ...
    @staticmethod
    def of_function(function: Any, n_points: int) -> KernelSource: ...
    @staticmethod
    def of_pair(
        points: KernelSource, within_first: _Float32, within_second: _Float32
    ) -> KernelSource: ...
    @staticmethod
    def of_signs(points: KernelSource, signs: _Float64) -> KernelSource: ...
    @property
    def n_points(self) -> int: ...

@final
class Program:
    def __init__(
        self,
        *,
        linear: _Float64,
        lower: _Float64,
        upper: _Float64,
        ridge: _Float64,
        diagonal: _Float64,
        group: _UInt8,
        keeps_sums: bool,
    ) -> None: ...

@final
class BoxQp:
    def __init__(
        self,
        source: KernelSource,
        program: Program,
        *,
        beta: _Float64,
        scores: _Float64,
        n_bytes: int,
        working_set: int,
        n_threads: int,
    ) -> None: ...
    def restart(self, program: Program, *, beta: _Float64, scores: _Float64) -> None: ...
    def activate(self, points: _Int64) -> None: ...
    def run(
        self, n_rounds: int, n_steps: int, tolerance: float
    ) -> tuple[int, int, float, bool]: ...
    def look(self) -> None: ...
    def set_linear(self, linear: _Float64) -> None: ...
    def set_beta(self, beta: _Float64, scores: _Float64) -> None: ...
    @property
    def beta(self) -> _Float64: ...
    @property
    def scores(self) -> _Float64: ...
    @property
    def is_active(self) -> _UInt8: ...
    @property
    def state(self) -> dict[str, NDArray[Any]]: ...
    def set_state(
        self,
        *,
        beta: _Float64,
        scores: _Float64,
        seen: _Float64,
        points: _Int64,
        ends: _Int64,
        slot: _Int64,
        last_wanted: _Int64,
        computed: _Int64,
    ) -> None: ...

@final
class ClassQp:
    def __init__(
        self,
        source: KernelSource,
        *,
        label: _Int64,
        weight: _Float64,
        diagonal: _Float64,
        rho: float,
        beta: _Float64,
        scores: _Float64,
        intercept: _Float64,
        n_bytes: int,
        working_set: int,
        n_threads: int,
    ) -> None: ...
    def run(
        self, n_rounds: int, n_steps: int, tolerance: float
    ) -> tuple[int, int, float, bool]: ...
    def set_point(self, beta: _Float64, scores: _Float64, intercept: _Float64) -> None: ...
    @property
    def state(self) -> dict[str, NDArray[Any]]: ...
    def set_state(
        self,
        *,
        beta: _Float64,
        scores: _Float64,
        shift: _Float64,
        excess: _Float64,
        intercept: _Float64,
        slot: _Int64,
        last_wanted: _Int64,
        computed: _Int64,
    ) -> None: ...
    @property
    def beta(self) -> _Float64: ...
    @property
    def intercept(self) -> _Float64: ...

@final
class LossShape:
    @staticmethod
    def one_sided(steepness: float, bounded: bool) -> LossShape: ...
    @staticmethod
    def two_sided(epsilon: float, steepness: float, bounded: bool) -> LossShape: ...
    @staticmethod
    def logistic() -> LossShape: ...

@final
class LossSums:
    @property
    def balance(self) -> float: ...
    @property
    def smooth(self) -> float: ...
    @property
    def value(self) -> float: ...
    @property
    def gain(self) -> float: ...

def loss_pass(
    matrix: Matrix,
    loss: LossShape,
    y: _Float64,
    target: _Float64,
    weight: _Float64,
    shift: _Float64 | None,
    w: _Float64,
    intercept: float,
    residual: _Float64,
    alpha: _Float64,
    bend: _Float64,
    n_threads: int,
) -> tuple[_Float64, LossSums]: ...
def loss_at(
    loss: LossShape,
    y: _Float64,
    target: _Float64,
    weight: _Float64,
    shift: _Float64 | None,
    residual: _Float64,
    alpha: _Float64,
    bend: _Float64,
    n_threads: int,
) -> LossSums: ...
def loss_along(
    loss: LossShape,
    weight: _Float64,
    shift: _Float64 | None,
    residual: _Float64,
    change: _Float64,
    step: float,
    n_threads: int,
) -> tuple[float, float, float]: ...

@final
class DualCoordinateDescent:
    def __init__(
        self,
        matrix: Matrix,
        y: _Float64,
        target: _Float64,
        weight: _Float64,
        *,
        loss: str,
        epsilon: float = 0.0,
        rho: float = 0.0,
        free_intercept: bool = False,
        balance: float = 0.0,
        order: str = "shuffled",
        shrinking: bool = True,
        seed: int,
        n_threads: int = 1,
    ) -> None: ...
    def run(self, n_sweeps: int, tolerance: float) -> tuple[int, float]: ...
    def set_alpha(self, alpha: _Float64, intercept: float) -> None: ...
    def state(self) -> tuple[_Float64, _Float64, float, float, int, bool]: ...
    def restore(
        self,
        alpha: _Float64,
        w: _Float64,
        shift: float,
        excess: float,
        n_swept: int,
        multiplier_due: bool,
    ) -> None: ...
    @property
    def alpha(self) -> _Float64: ...
    @property
    def w(self) -> _Float64: ...
    @property
    def scores(self) -> _Float64: ...
    @property
    def intercept(self) -> float: ...

@final
class JointDescent:
    def __init__(
        self,
        matrix: Matrix,
        weight: _Float64,
        *,
        loss: str,
        target: float,
        rho: float = 0.0,
        free_intercept: bool = False,
        shrinking: bool = True,
        seed: int,
        n_threads: int = 1,
    ) -> None: ...
    def run(self, n_sweeps: int, tolerance: _Float64) -> tuple[_Float64, _Float64, int, int]: ...
    def set_alpha(self, alpha: _Float64, intercept: _Float64) -> None: ...
    def retire(self, hyperplane: int) -> None: ...
    @property
    def n_swept(self) -> int: ...
    @property
    def alpha(self) -> _Float64: ...
    @property
    def w(self) -> _Float64: ...
    @property
    def scores(self) -> _Float64: ...
    @property
    def intercept(self) -> _Float64: ...
    @property
    def excess(self) -> _Float64: ...

@final
class SequentialDual:
    def __init__(
        self,
        matrix: Matrix,
        label: _Int64,
        weight: _Float64,
        *,
        n_classes: int,
        rho: float = 0.0,
        free_intercept: bool = False,
        shuffled: bool = True,
        shrinking: bool = True,
        seed: int,
        n_threads: int = 1,
    ) -> None: ...
    def run(self, n_sweeps: int, tolerance: float) -> tuple[int, float]: ...
    def state(self) -> tuple[_Float64, _Float64, _Float64, _Float64, int, bool]: ...
    def restore(
        self,
        alpha: _Float64,
        w: _Float64,
        shift: _Float64,
        excess: _Float64,
        n_swept: int,
        multiplier_due: bool,
    ) -> None: ...
    @property
    def alpha(self) -> _Float64: ...
    @property
    def hyperplanes(self) -> _Float64: ...
    @property
    def scores(self) -> _Float64: ...

def perceptron_pass(
    matrix: Matrix,
    y: _Float64,
    weight: _Float64,
    order: _Int64,
    step: float,
    fit_intercept: bool,
    coef: _Float64,
    intercept: float,
) -> tuple[int, _Int64, float]: ...
def averaged_steps(
    matrix: Matrix,
    y: _Float64,
    target: _Float64,
    order: _Int64,
    total_weight: float,
    constant: float,
    n_before: int,
    harmonic: float,
    theta: _Float64,
    lagged: _Float64,
    violations: _Int64,
) -> tuple[int, float]: ...
def steady_steps(
    matrix: Matrix,
    y: _Float64,
    target: _Float64,
    push: _Float64,
    order: _Int64,
    keep: float,
    keep_intercept: float,
    intercept_share: float,
    coef: _Float64,
    intercept: float,
    violations: _Int64,
) -> tuple[int, float]: ...
def l1_sweeps(
    hessian: _Float64,
    price: _Float64,
    point: _Float64,
    slope: _Float64,
    n_sweeps: int,
    tolerance: float,
) -> float: ...
def random_uint64(seed: int, stream: int, n: int) -> _UInt64: ...
def random_uniform(seed: int, stream: int, n: int) -> _Float64: ...
def random_permutation(seed: int, stream: int, n: int) -> _Int64: ...
def random_below(seed: int, stream: int, bound: int, n: int) -> _Int64: ...
def multinomial_counts(seed: int, stream: int, size: int, n_resamples: int) -> _UInt8: ...
def drawn_rows(counts: _UInt8) -> _Int64: ...
def count_sizes(counts: _UInt8) -> _Float64: ...
def count_sums(counts: _UInt8, columns: _Float64) -> _Float64: ...
def count_quantiles(
    counts: _UInt8, order: _Int64, values: _Float64, probability: float
) -> _Float64: ...
def count_gini_coefficients(counts: _UInt8, order: _Int64, values: _Float64) -> _Float64: ...
def count_auc(
    counts: _UInt8, order: _Int64, is_negative: _Float64, is_tied: _Float64
) -> _Float64: ...

@final
class CodeTable:
    @staticmethod
    def of_matrix(matrix: Matrix, n_threads: int, max_codes: int | None = None) -> CodeTable: ...
    @staticmethod
    def of_columns(
        columns: list[NDArray[Any]],
        n_categories: _Int64,
        n_threads: int,
        max_codes: int | None = None,
    ) -> CodeTable: ...
    @staticmethod
    def of_parts(
        n_rows: int, single_precision: bool, columns: list[Any], n_threads: int
    ) -> CodeTable: ...
    @property
    def parts(self) -> tuple[int, bool, list[Any]]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def single_precision(self) -> bool: ...
    def values(self, feature: int) -> _Float64: ...
    def codes(self, feature: int) -> _Int32: ...

@final
class TreeSettings:
    def __init__(
        self,
        *,
        splitter: str,
        max_features: int,
        max_depth: int,
        min_samples_split: int,
        min_samples_leaf: int,
        min_weight_leaf: float,
        max_leaf_nodes: int,
        min_impurity_decrease: float,
        in_any_order: bool,
        monotonic: _Int8 | None,
    ) -> None: ...

@final
class TreeTask:
    @staticmethod
    def classification(
        table: CodeTable, criterion: str, y: _Int32, n_classes: _Int32, weights: _Float64 | None
    ) -> TreeTask: ...
    @staticmethod
    def regression(
        table: CodeTable, criterion: str, y: _Float64, weights: _Float64 | None
    ) -> TreeTask: ...
    def with_targets(self, y: _Int32 | _Float64, weights: _Float64 | None) -> TreeTask: ...
    def grow(
        self, settings: TreeSettings, counts: _UInt32 | None, seed: int, stream: int
    ) -> GrownTree: ...

@final
class GrownTree:
    @property
    def was_stopped(self) -> bool: ...
    @property
    def feature(self) -> _Int64: ...
    @property
    def threshold(self) -> _Float64: ...
    @property
    def children_left(self) -> _Int64: ...
    @property
    def children_right(self) -> _Int64: ...
    @property
    def missing_go_to_left(self) -> _Truths: ...
    @property
    def impurity(self) -> _Float64: ...
    @property
    def n_node_samples(self) -> _Int64: ...
    @property
    def weighted_n_node_samples(self) -> _Float64: ...
    @property
    def value(self) -> _Float64: ...
    @property
    def n_candidates(self) -> _Int64: ...
    @property
    def category_start(self) -> _Int64: ...
    @property
    def category_words(self) -> _UInt64: ...
    @property
    def leaf_of_row(self) -> _Int32: ...
    def pruned(self, becomes_leaf: _Truths) -> GrownTree: ...
    def with_leaf_values(self, value: _Float64) -> GrownTree: ...

@final
class TreeRouter:
    def __init__(
        self,
        feature: _Int64,
        threshold: _Float64,
        children_left: _Int64,
        children_right: _Int64,
        missing_go_to_left: _Truths,
        category_start: _Int64,
        category_words: _UInt64,
        n_categories: _Int64,
    ) -> None: ...
    def leaves(self, X: _Float32 | _Float64, n_threads: int) -> _Int32: ...

@final
class ForestTrees:
    def __init__(
        self,
        n_features: int,
        n_outputs: int,
        n_classes: _Int32,
        n_categories: _Int64,
        single_precision: bool,
    ) -> None: ...
    @staticmethod
    def of_parts(parts: dict[str, NDArray[Any]]) -> ForestTrees: ...
    def parts(self) -> dict[str, NDArray[Any]]: ...
    def add(self, tree: GrownTree) -> None: ...
    def add_arrays(
        self,
        feature: _Int64,
        threshold: _Float64,
        children_left: _Int64,
        children_right: _Int64,
        missing_go_to_left: _Truths,
        weighted_n_node_samples: _Float64,
        value: _Float64,
        category_start: _Int64,
        category_words: _UInt64,
    ) -> None: ...
    @property
    def is_single_precision(self) -> bool: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_nodes(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def width(self) -> int: ...
    def tree(self, number: int) -> tuple[NDArray[Any], ...]: ...
    def sums(
        self,
        X: _Float32 | _Float64,
        begin: int,
        end: int,
        n_threads: int,
        weights: _Float64 | None = None,
    ) -> _Float64: ...
    def leaves(self, X: _Float32 | _Float64, n_threads: int) -> _Int32: ...

@final
class OutOfBag:
    @staticmethod
    def of_classification(y: _Int32, width: int, is_judged: _Truths) -> OutOfBag: ...
    @staticmethod
    def of_regression(y: _Float64, is_judged: _Truths) -> OutOfBag: ...
    def add(self, tree: GrownTree, counts: _UInt32) -> float: ...
    def add_packed(
        self, trees: ForestTrees, number: int, leaf_of_row: _Int32, counts: _UInt32
    ) -> float: ...
    def restore(self, sums: _Float64, n_trees_of_row: _Int32, tree_losses: _Float64) -> None: ...
    @property
    def sums(self) -> _Float64: ...
    @property
    def n_trees_of_row(self) -> _Int32: ...
    @property
    def tree_losses(self) -> _Float64: ...

def parse_libsvm(text: bytes) -> tuple[_Float64, _Float64, _Int32, _Int32, int, bool]: ...

class Stopped(Exception): ...  # noqa: N818 - a wish that was granted, no error

@final
class StopToken:
    def __init__(self, parent: StopToken | None, runs_signal_handlers: bool) -> None: ...
    def stop(self) -> None: ...
    def stop_after(self, seconds: float) -> None: ...
    @property
    def is_stopped(self) -> bool: ...

def exchange_stop_token(token: StopToken | None) -> StopToken | None: ...
def isa() -> str: ...
def supported_isas() -> list[str]: ...
def available_cores() -> int: ...
