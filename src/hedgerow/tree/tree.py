"""A learnt tree: flat arrays that cannot be written to, one entry a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from hedgerow._base.state import record
from hedgerow._base.state.rules import Shaped, numbers, truths, whole_numbers
from hedgerow.errors import DataError
from hedgerow.tree._partial_dependence import partial_dependence
from hedgerow.tree._routing import router_of
from hedgerow.tree.importance import impurity_importance

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
    value=numbers("nodes", "outputs+", "width+"),
    n_candidates=whole_numbers("nodes"),
    category_start=whole_numbers("nodes", low=NO_CHILD),
    category_words=_unsigned_words("words"),
    n_categories=whole_numbers("features"),
    n_classes=whole_numbers("outputs+", low=1),
)
@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A learnt tree as flat arrays; node 0 is the root, and a child comes after its parent.

    The attributes and methods that scikit-learn's ``Tree`` has are here under the same names, with the
    same shapes and meanings.

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
    n_classes : ndarray of int64 of shape (n_outputs,)
        How many classes each output has; 1 for regression.
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
    n_classes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if not len(self.n_classes):
            every_output = np.full(self.n_outputs, self.max_n_classes, dtype=np.int64)
            object.__setattr__(self, "n_classes", every_output)
        for each in fields(self):
            getattr(self, each.name).flags.writeable = False

    def __repr__(self) -> str:
        return f"<Tree of {self.node_count} nodes on {self.n_features} features>"

    def _state_problem(self) -> str | None:
        """Say why leaves could not answer, or questions about categories not be asked."""
        if self.n_classes.max() != self.max_n_classes:
            return (
                f"value is of {self.max_n_classes} classes, and n_classes of {self.n_classes.max()}"
            )
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
    def capacity(self) -> int:
        """How many nodes there is room for: as many as there are."""
        return self.node_count

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

    @cached_property
    def votes(self) -> NDArray[np.float64]:
        """The values with 1 for the most frequent class of an output, the first of equals, and 0 else."""
        classes = np.arange(self.max_n_classes)
        is_chosen: NDArray[np.bool_] = classes == self.value.argmax(axis=2)[:, :, None]
        return is_chosen.astype(np.float64)

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
        """Return the codes of the categories that go to the left at a categorical split.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        ndarray of int64
            The codes.
        """
        start = int(self.category_start[node])
        n = int(self.n_categories[self.feature[node]])
        numbers_ = np.arange(n)
        words = self.category_words[start + numbers_ // WORD]
        is_left = (words >> (numbers_ % WORD).astype(np.uint64)) & np.uint64(1)
        return np.flatnonzero(is_left)

    def splits_by_categories(self, node: int) -> bool:
        """Return whether the node splits on a categorical feature.

        Parameters
        ----------
        node : int
            The number of the node.

        Returns
        -------
        bool
            True for a categorical split.
        """
        return bool(self.category_start[node] != NO_CHILD)

    def bottom_up(self) -> Iterator[int]:
        """Return an iterator over the inner nodes, children before their parents.

        Returns
        -------
        iterator of int
            The numbers of the nodes.
        """
        return iter(np.flatnonzero(~self.is_leaf)[::-1].tolist())

    def levels_upwards(self) -> Iterator[NDArray[np.int64]]:
        """Yield the inner nodes level by level, the deepest first.

        Yields
        ------
        ndarray of int64
            The nodes of one level.
        """
        inner = np.flatnonzero(~self.is_leaf)
        depth = self.depth[inner]
        order = np.argsort(-depth, kind="stable")
        ends = np.flatnonzero(np.diff(depth[order])) + 1
        yield from np.split(inner[order], ends) if len(inner) else []

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows of numbers. Categorical columns hold the codes of the categories, as the tree does not know
            their values; ``apply`` of the estimator takes values.

        Returns
        -------
        ndarray of int64 of shape (n_samples,)
            The numbers of the leaves.
        """
        return router_of(self).leaves(self._rows(X), 1).astype(np.int64)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the value of each row's leaf.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows of numbers, as for :meth:`apply`.

        Returns
        -------
        value : ndarray of shape (n_samples, max_n_classes) or (n_samples, n_outputs, max_n_classes)
            Shares of the classes, or the value predicted.
        """
        value: NDArray[np.float64] = self.value[self.apply(X)]
        return value.reshape(len(value), -1) if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that each row passes on its way to its leaf.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            Rows of numbers, as for :meth:`apply`.

        Returns
        -------
        passes : CSR matrix of shape (n_samples, n_nodes)
            1 where the row passes the node.
        """
        return self.paths_to(self.apply(X))

    def paths_to(self, leaves: NDArray[np.int64]) -> Any:
        """Return the nodes on the path from the root to each of the given leaves.

        Parameters
        ----------
        leaves : ndarray of int64
            The numbers of the leaves.

        Returns
        -------
        CSR matrix of shape (n_leaves, n_nodes)
            A 1 for every node on the path.
        """
        ends = np.cumsum(self.depth[leaves] + 1)
        starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
        nodes = np.empty(starts[-1], dtype=np.int64)
        node, place = leaves, ends - 1
        while len(node):
            nodes[place] = node
            goes_on = self.parent[node] != NO_CHILD
            node, place = self.parent[node[goes_on]], place[goes_on] - 1
        ones = np.ones(len(nodes), dtype=np.int64)
        return sp.csr_matrix((ones, nodes, starts), shape=(len(leaves), self.node_count))

    def compute_feature_importances(self, normalize: bool = True) -> NDArray[np.float64]:
        """Return the impurity decrease of each feature.

        Parameters
        ----------
        normalize : bool, default=True
            Whether to divide the importances by their sum, if that is not 0.

        Returns
        -------
        ndarray of shape (n_features,)
            The importances.
        """
        return impurity_importance(self, normalize)

    def compute_node_depths(self) -> NDArray[np.int64]:
        """Return the depth of every node as scikit-learn counts it here, starting at 1 for the root.

        Returns
        -------
        ndarray of int64 of shape (n_nodes,)
            The depths.
        """
        return self.depth + 1

    def compute_partial_dependence(
        self, X: ArrayLike, target_features: ArrayLike, out: NDArray[np.float64]
    ) -> None:
        """Add the partial dependence of the first output on some features to ``out``.

        Parameters
        ----------
        X : array of shape (n_points, n_target_features)
            Values of the target features.
        target_features : array of int of shape (n_target_features,)
            Their places among the features.
        out : ndarray of float64 of shape (n_points,)
            Is added to. Splits on other features count both of their sides, each by its share of the
            training weight.
        """
        out += partial_dependence(self, np.asarray(X), np.asarray(target_features))[:, 0, 0]

    def _rows(self, X: Any) -> NDArray[Any]:
        """Return rows of numbers as the core takes them."""
        rows = X.toarray() if sp.issparse(X) else np.asarray(X)
        try:
            rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
        except (TypeError, ValueError) as error:
            msg = f"X holds what is no number ({error}); give numbers, for categories those of the tree, or use the estimator's own methods"
            raise DataError(msg) from None
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            msg = f"X has shape {rows.shape} and the tree {self.n_features} features; give a row for each sample and a column for each feature"
            raise DataError(msg)
        return np.ascontiguousarray(rows)
