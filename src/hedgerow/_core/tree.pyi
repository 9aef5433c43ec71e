"""Encoded features, growing trees, and forests."""

from typing import Any, overload

import numpy
from numpy.typing import NDArray

from .data import Matrix


class CodeTable:
    """The features of a table as codes, each encoded once."""

    @staticmethod
    def of_matrix(matrix: Matrix, n_threads: int, max_codes: int | None = None) -> CodeTable: ...

    @staticmethod
    def of_columns(columns: list[Any], n_categories: NDArray[numpy.int64], n_threads: int, max_codes: int | None = None) -> CodeTable: ...

    @staticmethod
    def of_parts(n_rows: int, single_precision: bool, columns: list[Any], n_threads: int) -> CodeTable: ...

    @property
    def parts(self) -> tuple[int, bool, list[Any]]:
        """What of_parts makes an equal table of."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def single_precision(self) -> bool: ...

    def values(self, feature: int) -> NDArray[numpy.float64]:
        """The distinct numbers of a feature, sorted; none for categories."""

    def codes(self, feature: int) -> NDArray[numpy.int32]:
        """Every row's place among them, or category; -1 missing."""

class TreeSettings:
    """How a tree is grown."""

    def __init__(self, *, splitter: str, max_features: int, max_depth: int, min_samples_split: int, min_samples_leaf: int, min_weight_leaf: float, max_leaf_nodes: int, min_impurity_decrease: float, in_any_order: bool, monotonic: NDArray[numpy.int8] | None) -> None: ...

class TreeTask:
    """What trees learn from: made once, used by every tree."""

    @staticmethod
    def classification(table: CodeTable, criterion: str, y: NDArray[numpy.int32], n_classes: NDArray[numpy.int32], weights: NDArray[numpy.float64] | None) -> TreeTask: ...

    @staticmethod
    def regression(table: CodeTable, criterion: str, y: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None) -> TreeTask: ...

    @overload
    def with_targets(self, y: NDArray[numpy.int32], weights: NDArray[numpy.float64] | None) -> TreeTask:
        """The task with other targets and weights; codes and memory are shared."""

    @overload
    def with_targets(self, y: NDArray[numpy.float64], weights: NDArray[numpy.float64] | None) -> TreeTask: ...

    def grow(self, settings: TreeSettings, counts: NDArray[numpy.uint32] | None, seed: int, stream: int) -> GrownTree:
        """A tree of the rows, each as often as it counts."""

class GrownTree:
    """A grown tree; its arrays are views."""

    @property
    def was_stopped(self) -> bool: ...

    def pruned(self, becomes_leaf: NDArray[numpy.bool_]) -> GrownTree:
        """The tree with the marked nodes as leaves."""

    def with_leaf_values(self, value: NDArray[numpy.float64]) -> GrownTree:
        """
        The tree with other values in its leaves; those of inner nodes are the means below them.
        """

    @property
    def feature(self) -> NDArray[numpy.int64]: ...

    @property
    def threshold(self) -> NDArray[numpy.float64]: ...

    @property
    def children_left(self) -> NDArray[numpy.int64]: ...

    @property
    def children_right(self) -> NDArray[numpy.int64]: ...

    @property
    def missing_go_to_left(self) -> NDArray[numpy.bool_]: ...

    @property
    def impurity(self) -> NDArray[numpy.float64]: ...

    @property
    def n_node_samples(self) -> NDArray[numpy.int64]: ...

    @property
    def weighted_n_node_samples(self) -> NDArray[numpy.float64]: ...

    @property
    def value(self) -> NDArray[numpy.float64]: ...

    @property
    def n_candidates(self) -> NDArray[numpy.int64]: ...

    @property
    def category_start(self) -> NDArray[numpy.int64]: ...

    @property
    def category_words(self) -> NDArray[numpy.uint64]: ...

    @property
    def leaf_of_row(self) -> NDArray[numpy.int32]: ...

class TreeRouter:
    """Finds the leaves of rows."""

    def __init__(self, feature: NDArray[numpy.int64], threshold: NDArray[numpy.float64], children_left: NDArray[numpy.int64], children_right: NDArray[numpy.int64], missing_go_to_left: NDArray[numpy.bool_], category_start: NDArray[numpy.int64], category_words: NDArray[numpy.uint64], n_categories: NDArray[numpy.int64]) -> None: ...

    @overload
    def leaves(self, X: NDArray[numpy.float32], n_threads: int) -> NDArray[numpy.int32]: ...

    @overload
    def leaves(self, X: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.int32]: ...

class ForestTrees:
    """Many trees, packed."""

    def __init__(self, n_features: int, n_outputs: int, n_classes: NDArray[numpy.int32], n_categories: NDArray[numpy.int64], single_precision: bool) -> None: ...

    def add(self, tree: GrownTree) -> None: ...

    def add_arrays(self, feature: NDArray[numpy.int64], threshold: NDArray[numpy.float64], children_left: NDArray[numpy.int64], children_right: NDArray[numpy.int64], missing_go_to_left: NDArray[numpy.bool_], weighted_n_node_samples: NDArray[numpy.float64], value: NDArray[numpy.float64], category_start: NDArray[numpy.int64], category_words: NDArray[numpy.uint64]) -> None: ...

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

    def tree(self, number: int) -> tuple[NDArray[Any], ...]:
        """The arrays of one of the trees."""

    @overload
    def sums(self, X: NDArray[numpy.float32], begin: int, end: int, n_threads: int, weights: NDArray[numpy.float64] | None = None) -> NDArray[numpy.float64]: ...

    @overload
    def sums(self, X: NDArray[numpy.float64], begin: int, end: int, n_threads: int, weights: NDArray[numpy.float64] | None = None) -> NDArray[numpy.float64]: ...

    @overload
    def leaves(self, X: NDArray[numpy.float32], n_threads: int) -> NDArray[numpy.int32]: ...

    @overload
    def leaves(self, X: NDArray[numpy.float64], n_threads: int) -> NDArray[numpy.int32]: ...

    def parts(self) -> dict[str, NDArray[Any]]:
        """Compact arrays that make an equal forest."""

    @staticmethod
    def of_parts(parts: dict[str, NDArray[Any]]) -> ForestTrees: ...

class OutOfBag:
    """
    What trees say of the rows that their samples lack, and how wrong that is.
    """

    @staticmethod
    def of_classification(y: NDArray[numpy.int32], width: int, is_judged: NDArray[numpy.bool_]) -> OutOfBag: ...

    @staticmethod
    def of_regression(y: NDArray[numpy.float64], is_judged: NDArray[numpy.bool_]) -> OutOfBag: ...

    def add(self, tree: GrownTree, counts: NDArray[numpy.uint32]) -> float:
        """Returns the error of all trees so far."""

    def add_packed(self, trees: ForestTrees, number: int, leaf_of_row: NDArray[numpy.int32], counts: NDArray[numpy.uint32]) -> float: ...

    def restore(self, sums: NDArray[numpy.float64], n_trees_of_row: NDArray[numpy.int32], tree_losses: NDArray[numpy.float64]) -> None: ...

    @property
    def sums(self) -> NDArray[numpy.float64]: ...

    @property
    def n_trees_of_row(self) -> NDArray[numpy.int32]: ...

    @property
    def tree_losses(self) -> NDArray[numpy.float64]: ...
