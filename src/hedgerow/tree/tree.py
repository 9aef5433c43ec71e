"""A learnt tree: flat arrays that cannot be written to, one entry a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._state import record
from hedgerow._state.rules import Shaped, numbers, truths, whole_numbers

__all__ = ["NO_CHILD", "UNDEFINED", "Tree"]

NO_CHILD = -1
"""The child of a leaf."""
UNDEFINED = -2
"""The feature of a leaf, and the threshold of a leaf or of a split by categories."""

WORD = 64
"""Categories that a word of a set holds."""


def _thresholds(name: str) -> Shaped:
    """Allow a float64 vector without NaN: infinity parts what is missing from all that is not."""

    def expected(value: Any, sizes: Any) -> str | None:
        fine = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1
        fine = fine and sizes.agree(name, len(value)) and not np.isnan(value).any()
        return None if fine else "a float64 vector without NaN"

    return Shaped(expected)


def _unsigned_words(name: str) -> Shaped:
    """Allow a vector of uint64 words."""

    def expected(value: Any, sizes: Any) -> str | None:
        fine = isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 1
        fine = fine and sizes.agree(name, len(value))
        return None if fine else "a vector of uint64 words"

    return Shaped(expected)


@record(
    feature=whole_numbers("nodes", low=UNDEFINED),
    threshold=_thresholds("nodes"),
    children_left=whole_numbers("nodes", low=NO_CHILD, below="nodes"),
    children_right=whole_numbers("nodes", low=NO_CHILD, below="nodes"),
    missing_go_to_left=truths("nodes"),
    impurity=numbers("nodes"),
    n_node_samples=whole_numbers("nodes"),
    weighted_n_node_samples=numbers("nodes", low=0.0),
    value=numbers("nodes", "outputs", "width"),
    n_candidates=whole_numbers("nodes"),
    category_start=whole_numbers("nodes", low=NO_CHILD),
    category_words=_unsigned_words("words"),
    n_categories=whole_numbers("features"),
)
@dataclass(frozen=True, eq=False)
class Tree:
    """A learnt tree as flat arrays; node 0 is the root, and a child comes after its parent.

    Attributes
    ----------
    feature : ndarray of int64 of shape (n_nodes,)
        The feature that a node splits by; -2 for leaves.
    threshold : ndarray of float64 of shape (n_nodes,)
        Rows whose value is at most this go to the left; -2 for leaves and splits by categories,
        infinity where all numbers go left and what is missing goes right.
    children_left, children_right : ndarray of int64 of shape (n_nodes,)
        The children; -1 for leaves.
    missing_go_to_left : ndarray of bool of shape (n_nodes,)
        Where rows go of which the value is missing, or is a category that the split has not seen.
    impurity : ndarray of float64 of shape (n_nodes,)
        By the criterion the tree was grown with.
    n_node_samples : ndarray of int64 of shape (n_nodes,)
        Rows of the training data, of positive weight.
    weighted_n_node_samples : ndarray of float64 of shape (n_nodes,)
        The sum of their weights.
    value : ndarray of float64 of shape (n_nodes, n_outputs, max_n_classes or 1)
        Shares of the classes, or the value predicted.
    n_candidates : ndarray of int64 of shape (n_nodes,)
        How many splits were compared before this one was chosen, over all features that were looked
        at; 0 for leaves. A test of the split's significance must know it.
    category_start : ndarray of int64 of shape (n_nodes,)
        Where in ``category_words`` the set of a split by categories begins; -1 for other nodes.
    category_words : ndarray of uint64
        Sets of categories that go to the left: of word w, bit b stands for category 64 w + b.
    n_categories : ndarray of int64 of shape (n_features,)
        How many categories each feature has; 0 for numbers.
    """

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    missing_go_to_left: NDArray[np.bool_]
    impurity: NDArray[np.float64]
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: NDArray[np.float64]
    value: NDArray[np.float64]
    n_candidates: NDArray[np.int64]
    category_start: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    n_categories: NDArray[np.int64]

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    def _state_problem(self) -> str | None:
        """Say why questions about categories could not be answered."""
        asks = self.category_start != NO_CHILD
        if np.any(asks & (self.children_left == NO_CHILD)):
            return "a leaf asks for a category"
        if np.any(self.feature >= self.n_features) or np.any(self.feature[asks] < 0):
            return "a node splits by a feature that is not there"
        inner = self.feature >= 0
        n_categories = self.n_categories[self.feature[inner]]
        if np.any((n_categories > 0) != asks[inner]):
            return "a node asks for a number of a feature of categories, or the other way round"
        n_words = len(self.category_words)
        n_categories = n_categories[asks[inner]]
        if np.any(n_categories > WORD * n_words):
            return "a split by categories has no set of them"
        if np.any(self.category_start[asks] > n_words - -(-n_categories // WORD)):
            return "the set of a split by categories ends beyond all sets"
        return None

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """How many features the tree was grown on."""
        return len(self.n_categories)

    @property
    def n_outputs(self) -> int:
        """How many targets a row has."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """The most classes that any output has; 1 for regression."""
        return int(self.value.shape[2])

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        leaves: NDArray[np.bool_] = self.children_left == NO_CHILD
        return leaves

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return int(np.count_nonzero(self.is_leaf))

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """The depth of every node; the root's is 0."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for node in np.flatnonzero(~self.is_leaf):
            depth[self.children_left[node]] = depth[self.children_right[node]] = depth[node] + 1
        return depth

    @property
    def max_depth(self) -> int:
        """The depth of the deepest leaf."""
        return int(self.depth.max())

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """The parent of every node; -1 for the root."""
        parent = np.full(self.node_count, NO_CHILD)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.children_left[inner]] = inner
        parent[self.children_right[inner]] = inner
        return parent

    def categories_left(self, node: int) -> NDArray[np.int64]:
        """Return the numbers of the categories that go to the left at a split by categories."""
        start = int(self.category_start[node])
        n = int(self.n_categories[self.feature[node]])
        numbers_ = np.arange(n)
        words = self.category_words[start + numbers_ // WORD]
        is_left = (words >> (numbers_ % WORD).astype(np.uint64)) & np.uint64(1)
        return np.flatnonzero(is_left)

    def splits_by_categories(self, node: int) -> bool:
        """Say whether the node asks for a category, not for a number."""
        return bool(self.category_start[node] != NO_CHILD)

    def bottom_up(self) -> Iterator[int]:
        """Yield the inner nodes, children before their parents."""
        return iter(np.flatnonzero(~self.is_leaf)[::-1].tolist())
