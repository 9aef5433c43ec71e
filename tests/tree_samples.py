"""Trees for tests of what is done with a learnt tree: scikit-learn's as ours, and some made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.tree.tree import NO_CHILD, UNDEFINED, WORD, Tree


def tree_of_sklearn(sk_tree: Any, n_features: int) -> Tree:
    """Return scikit-learn's ``model.tree_`` as a Tree, node for node, all features being numbers."""
    n_nodes = sk_tree.node_count
    left = np.array(sk_tree.children_left, dtype=np.int64)
    is_leaf = left == NO_CHILD
    return Tree(
        feature=np.array(sk_tree.feature, dtype=np.int64),
        threshold=np.array(sk_tree.threshold, dtype=np.float64),
        children_left=left,
        children_right=np.array(sk_tree.children_right, dtype=np.int64),
        missing_go_to_left=np.array(sk_tree.missing_go_to_left, dtype=np.bool_),
        impurity=np.array(sk_tree.impurity, dtype=np.float64),
        n_node_samples=np.array(sk_tree.n_node_samples, dtype=np.int64),
        weighted_n_node_samples=np.array(sk_tree.weighted_n_node_samples, dtype=np.float64),
        value=np.array(sk_tree.value, dtype=np.float64),
        n_candidates=np.where(is_leaf, 0, 1).astype(np.int64),
        category_start=np.full(n_nodes, NO_CHILD, dtype=np.int64),
        category_words=np.zeros(0, dtype=np.uint64),
        n_categories=np.zeros(n_features, dtype=np.int64),
    )


def tree_by_hand(
    nodes: Sequence[dict[str, Any]],
    n_categories: Sequence[int],
    value: NDArray[np.float64] | None = None,
) -> Tree:
    """Return a Tree of nodes that say what they are.

    A node is ``{"feature", "left", "right"}`` with ``"threshold"`` or ``"in"`` (the categories that go
    left) and perhaps ``"missing_left"``, or a leaf; each has ``"value"``, (n_outputs, width), unless
    ``value`` holds them all, and perhaps ``"n"``, its rows.
    """
    n_nodes = len(nodes)
    words: list[int] = []
    starts = []
    for node in nodes:
        if "in" not in node:
            starts.append(NO_CHILD)
            continue
        starts.append(len(words))
        bits = sum(1 << int(category) for category in node["in"])
        n_words = -(-n_categories[node["feature"]] // WORD)
        words += [(bits >> (WORD * w)) & (2**WORD - 1) for w in range(n_words)]
    rows = np.array([node.get("n", 1) for node in nodes], dtype=np.int64)
    values = (
        value if value is not None else np.array([node["value"] for node in nodes], dtype=float)
    )
    return Tree(
        feature=np.array([node.get("feature", UNDEFINED) for node in nodes], dtype=np.int64),
        threshold=np.array([node.get("threshold", UNDEFINED) for node in nodes], dtype=np.float64),
        children_left=np.array([node.get("left", NO_CHILD) for node in nodes], dtype=np.int64),
        children_right=np.array([node.get("right", NO_CHILD) for node in nodes], dtype=np.int64),
        missing_go_to_left=np.array(
            [node.get("missing_left", False) for node in nodes], dtype=np.bool_
        ),
        impurity=np.array([node.get("impurity", 0.0) for node in nodes], dtype=np.float64),
        n_node_samples=rows,
        weighted_n_node_samples=np.array(
            [node.get("weight", n) for node, n in zip(nodes, rows, strict=True)], dtype=np.float64
        ),
        value=np.asarray(values, dtype=np.float64).reshape(n_nodes, -1, np.shape(values)[-1]),
        n_candidates=np.array([int("feature" in node) for node in nodes], dtype=np.int64),
        category_start=np.array(starts, dtype=np.int64),
        category_words=np.array(words, dtype=np.uint64),
        n_categories=np.asarray(n_categories, dtype=np.int64),
    )


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


class TreeModel:
    """A fitted tree without a fit: what exports and the like may ask of a model, and a slow predict.

    ``classes`` is an array, or a list of arrays if there are several outputs.
    """

    def __init__(
        self,
        tree: Tree,
        classes: Any = None,
        categories: Sequence[Sequence[Any]] | None = None,
        names: Sequence[str] | None = None,
        criterion: str = "gini",
    ) -> None:
        self.tree_ = tree
        self.criterion = criterion
        self.n_features_in_ = tree.n_features
        self.n_outputs_ = tree.n_outputs
        self.categories_ = tuple(map(np.asarray, categories or [[]] * tree.n_features))
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        if classes is not None:
            self.classes_ = classes if isinstance(classes, list) else np.asarray(classes)
            per_output = self.classes_ if isinstance(classes, list) else [self.classes_]
            self.n_classes_ = [len(each) for each in per_output]

    @classmethod
    def of_sklearn(cls, model: Any, names: Sequence[str] | None = None) -> TreeModel:
        """Return scikit-learn's fitted tree as such a model."""
        tree = tree_of_sklearn(model.tree_, model.n_features_in_)
        return cls(tree, getattr(model, "classes_", None), None, names, model.criterion)

    def leaf(self, row: Sequence[Any]) -> int:
        """Return the leaf that a row of values falls into, one question after the other."""
        node, tree = 0, self.tree_
        while not tree.is_leaf[node]:
            feature = int(tree.feature[node])
            value = row[feature]
            categories = self.categories_[feature].tolist()
            if _is_missing(value) or (categories and value not in categories):
                to_left = bool(tree.missing_go_to_left[node])
            elif categories:
                to_left = categories.index(value) in tree.categories_left(node)
            else:
                to_left = bool(float(value) <= tree.threshold[node])
            node = int((tree.children_left if to_left else tree.children_right)[node])
        return node

    def predict_row(self, row: Sequence[Any]) -> list[Any]:
        """Return what is predicted for a row, for each output."""
        value = self.tree_.value[self.leaf(row)]
        if not hasattr(self, "classes_"):
            return value[:, 0].tolist()
        per_output = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        return [
            np.asarray(labels)[np.argmax(shares[: len(labels)])].item()
            for labels, shares in zip(per_output, value, strict=True)
        ]


def chain(depth: int) -> Tree:
    """Return a tree each of whose splits by one feature has a leaf to the left, down to that depth."""
    n_nodes = 2 * depth + 1
    inner = np.arange(0, n_nodes - 1, 2)
    undefined = np.full(n_nodes, UNDEFINED)
    feature, left, right = undefined.copy(), undefined * 0 + NO_CHILD, undefined * 0 + NO_CHILD
    threshold = undefined.astype(float)
    feature[inner], left[inner], right[inner] = 0, inner + 1, inner + 2
    threshold[inner] = np.arange(depth) + 0.5
    rows = np.ones(n_nodes, dtype=np.int64)
    rows[0::2] = np.arange(depth, -1, -1) + 1
    value = np.zeros((n_nodes, 1, 2))
    value[np.arange(n_nodes), 0, np.arange(n_nodes) // 2 % 2] = 1.0
    return Tree(
        feature=feature,
        threshold=threshold,
        children_left=left,
        children_right=right,
        missing_go_to_left=np.zeros(n_nodes, dtype=np.bool_),
        impurity=np.zeros(n_nodes),
        n_node_samples=rows,
        weighted_n_node_samples=rows.astype(float),
        value=value,
        n_candidates=(left != NO_CHILD).astype(np.int64),
        category_start=np.full(n_nodes, NO_CHILD),
        category_words=np.zeros(0, dtype=np.uint64),
        n_categories=np.zeros(1, dtype=np.int64),
    )


def random_tree(
    random: np.random.Generator,
    n_leaves: int,
    n_categories: Sequence[int],
    n_outputs: int = 1,
    width: int = 3,
    deepest: bool = False,
) -> Tree:
    """Return a tree of random questions; ``deepest`` splits the newest leaf again and again."""
    nodes: list[dict[str, Any]] = [{"n": 10 * n_leaves}]
    leaves = [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(-1 if deepest else int(random.integers(len(leaves))))
        feature = int(random.integers(len(n_categories)))
        k = n_categories[feature]
        n_left = int(random.integers(1, max(2, nodes[node]["n"])))
        nodes[node] |= {
            "feature": feature,
            "left": len(nodes),
            "right": len(nodes) + 1,
            "missing_left": bool(random.integers(2)),
        }
        if k:
            nodes[node]["in"] = np.flatnonzero(random.integers(2, size=k))
        else:
            nodes[node]["threshold"] = float(np.round(random.normal(), 3))
        leaves += [len(nodes), len(nodes) + 1]
        nodes += [{"n": n_left}, {"n": max(1, nodes[node]["n"] - n_left)}]
    value = random.dirichlet(np.ones(width), size=(len(nodes), n_outputs))
    return tree_by_hand(nodes, n_categories, value)
