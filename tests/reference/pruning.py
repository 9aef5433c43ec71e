"""Slow, obvious judges of pruning, and trees to judge by: scikit-learn's as ours, and hand-made ones.

A pruning of a tree is written down as the set of its leaves, by their numbers in the whole tree.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import scipy.stats as st
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow.tree.tree import Tree

# ------------------------------------------------------------------------------------ trees


def tree_of(grown, n_candidates=None):
    """scikit-learn's ``tree_`` as ours; it does not say how many splits it compared."""
    n = grown.node_count
    is_leaf = grown.children_left == -1
    candidates = np.ones(n) if n_candidates is None else np.asarray(n_candidates)
    value = grown.value
    return Tree(
        feature=grown.feature.astype(np.int64),
        threshold=grown.threshold.astype(np.float64),
        children_left=grown.children_left.astype(np.int64),
        children_right=grown.children_right.astype(np.int64),
        missing_go_to_left=grown.missing_go_to_left.astype(bool) & ~is_leaf,
        impurity=grown.impurity.astype(np.float64),
        n_node_samples=grown.n_node_samples.astype(np.int64),
        weighted_n_node_samples=grown.weighted_n_node_samples.astype(np.float64),
        value=np.array(value, dtype=np.float64),
        n_candidates=np.where(is_leaf, 0, candidates).astype(np.int64),
        category_start=np.full(n, -1),
        category_words=np.zeros(0, dtype=np.uint64),
        n_categories=np.zeros(grown.n_features, dtype=np.int64),
    )


def with_candidates(tree, n):
    """The same tree, each split of which was the best of so many."""
    parts = {name: getattr(tree, name) for name in Tree.__dataclass_fields__}
    return Tree(**{**parts, "n_candidates": np.where(tree.is_leaf, 0, n).astype(np.int64)})


def hand_made(splits, counts, n_features=3, n_categories=None):
    """A tree by its splits and the counts of classes in its leaves.

    ``splits`` is {node: (feature, threshold or set of categories, left, right)}, ``counts`` {leaf: counts}.
    Its impurity is Gini's.
    """
    n = len(splits) + len(counts)
    kinds = np.zeros(n_features, np.int64) if n_categories is None else np.array(n_categories)
    arrays = {name: np.full(n, -2.0) for name in ("feature", "threshold")}
    arrays |= {name: np.full(n, -1) for name in ("children_left", "children_right", "starts")}
    words, of_node = [], dict(counts)
    for node in sorted(splits, reverse=True):
        of_node[node] = np.add(of_node[splits[node][2]], of_node[splits[node][3]])
    for node, (feature, question, left, right) in sorted(splits.items()):
        arrays["feature"][node] = feature
        arrays["children_left"][node], arrays["children_right"][node] = left, right
        if isinstance(question, set):
            arrays["starts"][node] = len(words)
            mine = [0] * -(-int(kinds[feature]) // 64)
            for category in question:
                mine[category // 64] |= 1 << (category % 64)
            words += mine
        else:
            arrays["threshold"][node] = question
    table = np.array([of_node[node] for node in range(n)], dtype=float)
    size = table.sum(axis=1)
    shares = table / size[:, None]
    is_leaf = arrays["children_left"] == -1
    return Tree(
        feature=arrays["feature"].astype(np.int64),
        threshold=arrays["threshold"],
        children_left=arrays["children_left"],
        children_right=arrays["children_right"],
        missing_go_to_left=~is_leaf & (np.arange(n) % 2 == 0),
        impurity=1.0 - np.sum(shares**2, axis=1),
        n_node_samples=size.astype(np.int64),
        weighted_n_node_samples=size,
        value=shares[:, None, :],
        n_candidates=np.where(is_leaf, 0, np.arange(n) + 1),
        category_start=arrays["starts"],
        category_words=np.array(words, dtype=np.uint64),
        n_categories=kinds,
    )


def chain(depth):
    """A tree in which every right child is a leaf of one row of the second class, as deep as asked for."""
    splits = {2 * k: (0, -float(k), 2 * k + 2, 2 * k + 1) for k in range(depth)}
    leaves = {2 * k + 1: (k % 3, 1) for k in range(depth)}
    return hand_made(splits, {**leaves, 2 * depth: (2, 0)}, n_features=1)


def random_tree(seed, n_leaves, n_classes=2):
    """A tree grown by splitting leaves at random: its nodes are in the order of no walk."""
    rng = np.random.default_rng(seed)
    leaves, splits = [0], {}
    for k in range(n_leaves - 1):
        place = int(rng.integers(len(leaves)))
        children = 2 * k + 1, 2 * k + 2
        splits[leaves[place]] = (int(rng.integers(3)), float(rng.normal()), *children)
        leaves[place] = children[0]
        leaves.append(children[1])
    counts = rng.integers(0, 4, size=(len(leaves), n_classes))
    counts[:, 0] += counts.sum(axis=1) == 0
    return hand_made(splits, dict(zip(leaves, counts, strict=True)))


def noisy(seed, n=40, n_classes=3, n_features=3):
    """Rows of which the class tells something of the first feature; values come more than once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)).round(1)
    return X, np.where(rng.random(n) < 0.4, rng.integers(0, n_classes, n), X[:, 0] > 0)


# -------------------------------------------------------------------------------- walking


def path_of(tree, row):
    """The nodes that a row passes, from the root to its leaf."""
    nodes = [0]
    while tree.children_left[nodes[-1]] != -1:
        node = nodes[-1]
        value = row[tree.feature[node]]
        if tree.category_start[node] != -1:
            n = tree.n_categories[tree.feature[node]]
            is_known = not np.isnan(value) and 0 <= value < n
            goes_left = (
                int(value) in tree.categories_left(node)
                if is_known
                else tree.missing_go_to_left[node]
            )
        else:
            goes_left = (
                tree.missing_go_to_left[node] if np.isnan(value) else value <= tree.threshold[node]
            )
        nodes.append(int((tree.children_left if goes_left else tree.children_right)[node]))
    return nodes


def leaves_under(tree, node=0):
    """The leaves below a node."""
    if tree.children_left[node] == -1:
        return [node]
    return [
        leaf
        for child in (tree.children_left[node], tree.children_right[node])
        for leaf in leaves_under(tree, int(child))
    ]


def all_prunings(tree, node=0):
    """Every pruning of what is below a node."""
    found = [frozenset([node])]
    if tree.children_left[node] != -1:
        children = int(tree.children_left[node]), int(tree.children_right[node])
        found += [a | b for a, b in product(*(all_prunings(tree, child) for child in children))]
    return found


def pruned_nodes(whole, pruned, node=0, twin=0):
    """The leaves of a pruned tree by their numbers in the whole one."""
    if pruned.children_left[twin] == -1:
        return frozenset([node])
    pairs = [
        (int(a[node]), int(b[twin]))
        for a, b in (
            (whole.children_left, pruned.children_left),
            (whole.children_right, pruned.children_right),
        )
    ]
    return frozenset().union(*(pruned_nodes(whole, pruned, *pair) for pair in pairs))


# -------------------------------------------------------------------------------- judges


def exact_risks(tree, measure):
    """R(t) of every node as fractions, from counts that are whole numbers."""
    total, risks = int(tree.n_node_samples[0]), []
    for node in range(tree.node_count):
        n = int(tree.n_node_samples[node])
        counts = [round(share * n) for share in tree.value[node, 0]]
        if measure == "misclassification":
            risks.append(Fraction(n - max(counts), total))
        else:
            risks.append(Fraction(n, total) * (1 - sum(Fraction(c, n) ** 2 for c in counts)))
    return risks


def best_pruning(tree, costs, alpha=0):
    """The pruning of least sum of costs plus alpha a leaf; of equal ones the one with fewest leaves."""
    return min(
        all_prunings(tree),
        key=lambda leaves: (sum(costs[leaf] + alpha for leaf in leaves), len(leaves)),
    )


def critical_alphas(tree, risks):
    """Every alpha at which two prunings cost the same, and 0."""
    points = {(sum(risks[leaf] for leaf in leaves), len(leaves)) for leaves in all_prunings(tree)}
    return sorted(
        {Fraction(0)}
        | {(r - s) / (m - n) for r, n in points for s, m in points if n < m and r >= s}
    )


def prune_one_by_one(tree, is_significant):
    """What the lectures say: look at the splits above two leaves, drop one that is not significant, start again."""
    leaves = {int(node) for node in np.flatnonzero(tree.children_left == -1)}
    changed = True
    while changed:
        changed = False
        for node in range(tree.node_count):
            children = {int(tree.children_left[node]), int(tree.children_right[node])}
            if -1 not in children and children <= leaves and not is_significant(node):
                leaves = (leaves - children) | {node}
                changed = True
                break
    return frozenset(leaves)


def chi_squared_p(left, right):
    """The p-value of a table, by SciPy."""
    table = np.array([left, right])
    table = table[:, table.sum(axis=0) > 0]
    return st.chi2_contingency(table).pvalue if table.shape[1] > 1 else 1.0


def shuffled_p(left, right, criterion):
    """The share of all ways to deal the labels out that improve the split as much, one by one."""
    from itertools import combinations

    labels = np.repeat(np.arange(len(left)), np.add(left, right))
    n_left, reached, ways = int(sum(left)), 0, 0
    observed = impurity_of_sides(left, right, criterion)
    for chosen in combinations(range(len(labels)), n_left):
        mine = np.bincount(labels[list(chosen)], minlength=len(left))
        others = np.add(left, right) - mine
        reached += impurity_of_sides(mine, others, criterion) <= observed + 1e-9
        ways += 1
    return reached / ways


def impurity_of_sides(left, right, criterion):
    """n_left I(left) + n_right I(right)."""
    total = 0.0
    for side in (np.asarray(left, float), np.asarray(right, float)):
        p = side / side.sum()
        impurity = {
            "gini": lambda p: np.sum(p * (1 - p)),
            "entropy": lambda p: -np.sum(p[p > 0] * np.log2(p[p > 0])),
            "misclassification": lambda p: 1 - p.max(),
        }[criterion](p)
        total += side.sum() * impurity
    return total


# ------------------------------------------------------------------------------ estimators


class _Slow:
    """A tree that scikit-learn grows and that finds leaves one row at a time."""

    def __init__(
        self, criterion=None, max_depth=None, max_leaf_nodes=None, n_candidates=1, random_state=None
    ):
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.n_candidates = n_candidates
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        names = ("criterion", "max_depth", "max_leaf_nodes", "random_state")
        grower = self._grower(**{name: getattr(self, name) for name in names})
        grower.fit(X, y, sample_weight)
        self.n_features_in_ = grower.n_features_in_
        if hasattr(grower, "classes_"):
            self.classes_ = grower.classes_
        self.tree_ = with_candidates(tree_of(grower.tree_), self.n_candidates)
        return self

    def apply(self, X):
        rows = np.asarray(X, dtype=np.float32).astype(np.float64)  # as scikit-learn compares them
        return np.array([path_of(self.tree_, row)[-1] for row in rows])


class SlowClassifier(_Slow, ClassifierMixin, BaseEstimator):
    _grower = DecisionTreeClassifier

    def __init__(
        self,
        criterion="gini",
        max_depth=None,
        max_leaf_nodes=None,
        n_candidates=1,
        random_state=None,
    ):
        super().__init__(criterion, max_depth, max_leaf_nodes, n_candidates, random_state)

    def predict(self, X):
        said = self.tree_.value[self.apply(X)].argmax(axis=2)
        if said.shape[1] == 1:
            return self.classes_[said[:, 0]]
        return np.stack([c[k] for c, k in zip(self.classes_, said.T, strict=True)], axis=1)


class SlowRegressor(_Slow, RegressorMixin, BaseEstimator):
    _grower = DecisionTreeRegressor

    def __init__(
        self,
        criterion="squared_error",
        max_depth=None,
        max_leaf_nodes=None,
        n_candidates=1,
        random_state=None,
    ):
        super().__init__(criterion, max_depth, max_leaf_nodes, n_candidates, random_state)

    def predict(self, X):
        values = self.tree_.value[self.apply(X), :, 0]
        return values[:, 0] if values.shape[1] == 1 else values
