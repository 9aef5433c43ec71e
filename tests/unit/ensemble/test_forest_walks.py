"""Rows on their way down packed trees, against one question after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hedgerow.ensemble import RandomForestClassifier, RandomForestRegressor
from hedgerow.tree.tree import Tree

N_ROWS = 700
SIZES = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, N_ROWS]


def slow_leaf(tree: Tree, row: NDArray[Any]) -> int:
    """Return where a row arrives; its categories are numbers, of which some may be unknown."""
    node = 0
    while not tree.is_leaf[node]:
        feature = int(tree.feature[node])
        value, n_categories = float(row[feature]), int(tree.n_categories[feature])
        if np.isnan(value) or (n_categories and not 0 <= value < n_categories):
            to_left = bool(tree.missing_go_to_left[node])
        elif n_categories:
            to_left = int(value) in tree.categories_left(node)
        else:
            to_left = value <= tree.threshold[node]
        node = int((tree.children_left if to_left else tree.children_right)[node])
    return node


def sample(n_categories: int, dtype: Any, missing: str, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of two numbers and of a feature of so many categories, and classes."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_ROWS, 3)).astype(dtype)
    if n_categories:
        X[:, 1] = np.r_[:n_categories, random.integers(n_categories, size=N_ROWS - n_categories)]
    columns = {"nothing": [], "numbers": [0], "categories": [1], "both": [0, 1]}[missing]
    for j in columns:
        X[random.random(N_ROWS) < 0.2, j] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) % 3 + random.normal(size=N_ROWS)
    return X, np.digitize(signal, [0.0, 1.5])


def grown(X: Any, y: Any, n_categories: int, regression: bool = False) -> Any:
    kind = RandomForestRegressor if regression else RandomForestClassifier
    chosen = [1] if n_categories else None
    return kind(5, random_state=0, categorical_features=chosen, max_features=2).fit(X, y)


def strangers(X: Any, n_categories: int) -> Any:
    """Return rows in which some categories are not among those that were learnt."""
    X = X.copy()
    X[::7, 1] = [(-1.0, n_categories, 1e30, -np.inf, np.inf)[i % 5] for i in range(len(X[::7]))]
    return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_categories", [0, 2, 63, 64, 65, 200])
@pytest.mark.parametrize("missing", ["nothing", "numbers", "categories", "both"])
def test_rows_arrive_where_one_question_after_the_other_leads_them(dtype, n_categories, missing):
    X, y = sample(n_categories, dtype, missing)
    forest = grown(X, y, n_categories)
    assert not n_categories or any((each.tree_.feature == 1).any() for each in forest)
    core = forest.trees_.core
    trees = [forest.trees_.tree(t, forest[t].tree_.n_categories) for t in range(5)]
    asked = [X, sample(n_categories, np.float64, "nothing", 1)[0]]
    asked += [strangers(X, n_categories)] if n_categories else []
    for rows in asked:
        expected = np.array([[slow_leaf(tree, row) for tree in trees] for row in rows])
        assert np.array_equal(core.leaves(rows, 1), expected)
        values = sum(tree.value[expected[:, t]] for t, tree in enumerate(trees))
        assert np.array_equal(core.sums(rows, 0, 5, 1), values)
        assert np.array_equal(core.sums(rows, 0, 5, 2), values)


@pytest.mark.parametrize("n_categories", [0, 5, 70])
@pytest.mark.parametrize("missing", ["nothing", "both"])
def test_a_row_goes_its_way_whatever_the_number_of_its_companions(n_categories, missing):
    X, y = sample(n_categories, np.float64, missing)
    core = grown(X, y.astype(float), n_categories, regression=True).trees_.core
    alone = np.concatenate([core.leaves(row[None], 1) for row in X])
    sums = np.concatenate([core.sums(row[None], 0, 5, 1) for row in X])
    for size in SIZES:
        assert np.array_equal(core.leaves(X[:size], 1), alone[:size])
        assert np.array_equal(core.sums(X[:size], 0, 5, 1), sums[:size])
    many = np.tile(X, (60, 1))
    assert np.array_equal(core.leaves(many, 2), np.tile(alone, (60, 1)))
    assert np.array_equal(core.sums(many, 0, 5, 2), np.tile(sums, (60, 1, 1)))


@pytest.mark.parametrize("n_categories", [0, 5, 70])
def test_wide_rows_go_their_way_in_smaller_parts(n_categories):
    X, y = sample(n_categories, np.float32, "both")
    wide = np.c_[X, np.zeros((len(X), 2000), dtype=np.float32)]
    core = grown(wide, y, n_categories).trees_.core
    alone = np.concatenate([core.leaves(row[None], 1) for row in wide])
    assert np.array_equal(core.leaves(wide, 1), alone)
    assert np.array_equal(core.leaves(wide, 2), alone)


@pytest.mark.parametrize("n_categories", [3, 63, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sets_of_categories_come_back_from_the_packed_trees(n_categories, dtype):
    X, y = sample(n_categories, dtype, "both")
    forest = grown(X, y, n_categories)
    packed = forest.trees_
    again = type(packed)(packed.parts)
    for t in range(5):
        tree, same = (each.tree(t, forest[t].tree_.n_categories) for each in (packed, again))
        for node in np.flatnonzero(~tree.is_leaf & (tree.feature == 1)):
            members = tree.categories_left(node)
            assert np.array_equal(members, same.categories_left(node))
            assert all(0 <= member < n_categories for member in members)
    assert np.array_equal(packed.core.leaves(X, 1), again.core.leaves(X, 1))
