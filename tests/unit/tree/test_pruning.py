"""Trees cut, merged and pruned by errors, held against slow judges; what all methods of pruning share."""

from __future__ import annotations

import time
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import hedgerow
from hedgerow import DecisionTreeClassifier
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import DataError, ParameterError
from hedgerow.tree.pruning import (
    cost_complexity_path,
    cut,
    merge_equal_leaves,
    prune,
    prune_cost_complexity,
)
from hedgerow.tree.pruning.reduced_error import prune_by_errors
from hedgerow.tree.tree import Tree
from tests.reference.pruning import (
    SlowClassifier,
    SlowRegressor,
    all_prunings,
    best_pruning,
    chain,
    hand_made,
    leaves_under,
    noisy,
    path_of,
    pruned_nodes,
    tree_of,
)


def with_sets():
    """Splits by categories, of which one needs two words and one is cut off; features 1 and 2 have categories."""
    splits = {
        0: (1, {0, 63, 64, 69}, 1, 2),
        1: (2, {0, 2}, 3, 4),
        2: (0, 0.5, 5, 6),
        4: (1, {1, 65}, 7, 8),
    }
    counts = {3: (3, 1), 5: (4, 4), 6: (0, 9), 7: (5, 0), 8: (1, 2)}
    return hand_made(splits, counts, n_categories=[0, 70, 3])


def assert_sound(tree):
    """Every array has an entry a node, children come after their parents, and each node but the root has one."""
    for field in fields(Tree):
        assert not getattr(tree, field.name).flags.writeable
    inner = np.flatnonzero(~tree.is_leaf)
    children = np.r_[tree.children_left[inner], tree.children_right[inner]]
    assert np.all(
        np.r_[tree.children_left[inner], tree.children_right[inner]] > np.r_[inner, inner]
    )
    np.testing.assert_array_equal(np.sort(children), np.arange(1, tree.node_count))
    assert np.all(tree.feature[tree.is_leaf] == -2)
    assert np.all(tree.threshold[tree.is_leaf] == -2)
    assert np.all(tree.n_candidates[tree.is_leaf] == 0)
    assert np.all(tree.category_start[tree.is_leaf] == -1)
    assert not np.any(tree.missing_go_to_left[tree.is_leaf])
    assert load_state(*dump_state(tree)).node_count == tree.node_count


# ------------------------------------------------------------------------------------- cutting


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_tree_has_the_same_nodes_above_the_cut_and_none_below(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy(seed, n=200)
    tree = tree_of(sklearn.tree.DecisionTreeClassifier(random_state=0).fit(X, y).tree_)
    named = rng.choice(tree.node_count, size=rng.integers(1, 12), replace=False)
    small = cut(tree, named)
    assert_sound(small)
    assert pruned_nodes(tree, small) == frozenset(leaves_after_cut(tree, set(named.tolist())))
    for row in X[:50]:
        whole, pruned = path_of(tree, row), path_of(small, row)
        stop = next((k for k, node in enumerate(whole) if node in named), len(whole) - 1)
        assert len(pruned) == stop + 1
        for old, new in zip(whole[: stop + 1], pruned, strict=True):
            assert_same_node(tree, old, small, new)


def leaves_after_cut(tree, named, node=0):
    if node in named or tree.children_left[node] == -1:
        return [node]
    children = tree.children_left[node], tree.children_right[node]
    return [leaf for child in children for leaf in leaves_after_cut(tree, named, int(child))]


def assert_same_node(tree, old, small, new):
    for name in ("impurity", "n_node_samples", "weighted_n_node_samples", "value"):
        np.testing.assert_array_equal(getattr(tree, name)[old], getattr(small, name)[new])
    if not small.is_leaf[new]:
        for name in ("feature", "threshold", "missing_go_to_left", "n_candidates"):
            assert getattr(tree, name)[old] == getattr(small, name)[new]
        if tree.splits_by_categories(old):
            np.testing.assert_array_equal(tree.categories_left(old), small.categories_left(new))


def test_sets_of_categories_move_with_their_splits_and_others_are_dropped():
    tree = with_sets()
    small = cut(tree, [1])
    assert_sound(small)
    assert pruned_nodes(tree, small) == {1, 5, 6}
    np.testing.assert_array_equal(small.categories_left(0), [0, 63, 64, 69])
    assert len(small.category_words) == 2
    other = cut(tree, [2])
    np.testing.assert_array_equal(other.categories_left(1), [0, 2])
    np.testing.assert_array_equal(other.categories_left(4), [1, 65])
    assert len(other.category_words) == 5
    rows = [[v, c, d] for v in (0.0, 1.0, np.nan) for c in (0.0, 65.0, np.nan) for d in (0.0, 1.0)]
    for row in rows:
        whole, pruned = path_of(tree, row), path_of(other, row)
        for old, new in zip(whole, pruned, strict=False):
            assert_same_node(tree, old, other, new)


def test_nothing_named_leaves_the_tree_and_the_root_leaves_one_node():
    tree = with_sets()
    same = cut(tree, [])
    for field in fields(Tree):
        np.testing.assert_array_equal(getattr(same, field.name), getattr(tree, field.name))
    root = cut(tree, np.arange(9) == 0)
    assert_sound(root)
    assert root.node_count == 1
    assert len(root.category_words) == 0


def test_a_chain_of_depth_100_000_is_cut_and_pruned():
    tree = chain(100_000)
    began = time.process_time()
    small = cut(tree, [2 * 70_000])
    assert small.n_leaves == 70_001
    path = cost_complexity_path(tree)
    assert path.n_leaves[-1] == 1
    assert prune_cost_complexity(tree, np.inf).node_count == 1
    assert merge_equal_leaves(tree).n_leaves <= tree.n_leaves
    assert prune_by_errors(tree, np.ones(tree.node_count)).node_count == 1
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([9], "no node 9; its nodes are 0 to 8"),
        ([-1], "no node -1"),
        ([0.5], "are no nodes"),
        ("root", "are no nodes"),
        (np.ones(4, dtype=bool), r"shape \(4,\) and the tree 9 nodes"),
    ],
)
def test_what_are_no_nodes_is_refused(nodes, message):
    with pytest.raises(ParameterError, match=message):
        cut(with_sets(), nodes)


# ------------------------------------------------------------------------------- equal leaves


@pytest.mark.parametrize("seed", range(8))
def test_merged_leaves_change_no_prediction_and_none_are_left_to_merge(seed):
    X, y = noisy(seed, n=150)
    model = SlowClassifier(random_state=0, max_depth=6).fit(X, y)
    small = prune(model, "equal_leaves")
    assert_sound(small.tree_)
    assert small.tree_.n_leaves < model.tree_.n_leaves
    np.testing.assert_array_equal(small.predict(X), model.predict(X))
    said = small.tree_.value[:, 0].argmax(axis=1)
    for node in small.tree_.bottom_up():
        assert len({said[leaf] for leaf in leaves_under(small.tree_, node)}) > 1


def test_several_outputs_must_all_be_equal_to_be_merged():
    X, y = noisy(3, n=120)
    both = np.stack([y, (X[:, 1] > 0) * 1], axis=1)
    model = SlowClassifier(random_state=0, max_depth=5).fit(X, both)
    small = prune(model, "equal_leaves")
    assert small.tree_.n_leaves < model.tree_.n_leaves
    np.testing.assert_array_equal(small.predict(X), model.predict(X))


def test_leaves_of_numbers_are_merged_if_the_numbers_are_equal():
    X = np.arange(8.0)[:, None]
    y = np.array([0.0, 0, 0, 9, 1, 1, 1, 1])
    model = SlowRegressor(criterion="absolute_error", random_state=0).fit(X, y)
    small = prune(model, "equal_leaves")
    np.testing.assert_array_equal(small.predict(X), model.predict(X))
    squared = SlowRegressor(random_state=0).fit(X, y)
    assert prune(squared, "equal_leaves").tree_.n_leaves == squared.tree_.n_leaves


# ------------------------------------------------------------------------------ reduced error


@pytest.mark.parametrize("seed", range(40))
def test_reduced_error_finds_the_smallest_of_all_prunings_with_least_error(seed):
    X, y = noisy(seed, n=30)
    new, labels = noisy(seed + 1000, n=12)
    model = SlowClassifier(max_leaf_nodes=6, random_state=seed).fit(X, y)
    weight = np.random.default_rng(seed).integers(0, 3, size=12).astype(float)
    weight[0] = 1.0
    small = prune(model, "reduced_error", X=new, y=labels, sample_weight=weight)
    errors = [
        error_as_leaf(model, node, new, labels, weight) for node in range(model.tree_.node_count)
    ]
    assert pruned_nodes(model.tree_, small.tree_) == best_pruning(model.tree_, errors)


def error_as_leaf(model, node, X, y, weight):
    passes = [node in path_of(model.tree_, row) for row in X.astype(np.float32)]
    if hasattr(model, "classes_"):
        label = model.classes_[model.tree_.value[node, 0].argmax()]
        return float(np.sum(weight * passes * (y != label)))
    residual = y - model.tree_.value[node, 0, 0]
    loss = np.abs(residual) if model.criterion == "absolute_error" else residual**2
    return float(np.sum(weight * passes * loss))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("seed", range(8))
def test_reduced_error_of_numbers_is_squared_or_absolute_as_the_tree_was_grown(criterion, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(30, 2)), rng.normal(size=(15, 2))
    y, values = (np.exp(rows[:, 0]) + rng.normal(size=len(rows)) ** 2 + 1e6 for rows in (X, new))
    model = SlowRegressor(criterion=criterion, max_leaf_nodes=6, random_state=0).fit(X, y)
    small = prune(model, "reduced_error", X=new, y=values)
    ones = np.ones(15)
    errors = [
        error_as_leaf(model, node, new, values, ones) for node in range(model.tree_.node_count)
    ]
    assert pruned_nodes(model.tree_, small.tree_) == best_pruning(model.tree_, errors)


def test_errors_that_differ_by_rounding_are_equal():
    tree = hand_made({0: (0, 0.0, 1, 2)}, {1: (1, 0), 2: (0, 1)})
    assert 0.1 + 0.2 > 0.3
    assert prune_by_errors(tree, np.array([0.1 + 0.2, 0.3, 0.0])).n_leaves == 1
    assert prune_by_errors(tree, np.array([0.3 + 1e-9, 0.3, 0.0])).n_leaves == 2


def test_labels_that_the_tree_does_not_know_are_errors_everywhere():
    X, y = noisy(0, n=60)
    model = SlowClassifier(random_state=0).fit(X, y)
    strange = np.where(np.arange(60) % 7 == 0, 99, y)
    counted = prune(model, "reduced_error", X=X, y=strange).tree_
    known = np.arange(60) % 7 != 0
    assert counted.n_leaves == prune(model, "reduced_error", X=X[known], y=y[known]).tree_.n_leaves


def test_a_pruned_tree_is_no_worse_on_rows_it_was_pruned_by():
    X, y = load_breast_cancer(return_X_y=True)
    model = SlowClassifier(random_state=0).fit(X[::2], y[::2])
    small = prune(model, "reduced_error", X=X[1::2], y=y[1::2])
    assert small.tree_.n_leaves < model.tree_.n_leaves
    assert small.score(X[1::2], y[1::2]) >= model.score(X[1::2], y[1::2])


def test_several_outputs_are_pruned_by_the_mean_of_their_errors():
    X, y = noisy(5, n=60)
    both = np.stack([y, (X[:, 1] > 0) * 1], axis=1)
    model = SlowClassifier(max_leaf_nodes=6, random_state=0).fit(X, both)
    new, labels = X[::3] + 0.3, both[::3]
    small = prune(model, "reduced_error", X=new, y=labels)
    said = model.tree_.value.argmax(axis=2)
    errors = []
    for node in range(model.tree_.node_count):
        passes = np.array([node in path_of(model.tree_, row) for row in new.astype(np.float32)])
        errors.append(float(np.sum(labels[passes] != said[node])))
    assert pruned_nodes(model.tree_, small.tree_) == best_pruning(model.tree_, errors)


# -------------------------------------------------------------------------------------- models


@pytest.mark.parametrize(
    "method", ["significance", "reduced_error", "cost_complexity", "equal_leaves"]
)
def test_pruning_makes_a_new_model_and_leaves_the_old_one(method):
    X, y = noisy(1, n=150)
    model = SlowClassifier(random_state=0, max_depth=6, n_candidates=20).fit(X, y)
    tree, said = model.tree_, model.predict(X)
    options = {"reduced_error": {"X": X, "y": y[::-1]}, "cost_complexity": {"alpha": 0.01}}
    small = prune(model, method, **options.get(method, {}))
    assert type(small) is SlowClassifier
    assert small is not model
    assert model.tree_ is tree
    np.testing.assert_array_equal(model.predict(X), said)
    assert not hasattr(model, "pruning_")
    assert_sound(small.tree_)
    report = small.pruning_
    assert (report.method, report.n_leaves_before) == (method, tree.n_leaves)
    assert report.n_leaves_after == small.tree_.n_leaves < tree.n_leaves
    assert f"by {method}" in str(report)
    assert load_state(*dump_state(report)) == report


def test_equal_leaves_are_merged_afterwards_if_asked_for():
    X, y = noisy(1, n=150)
    model = SlowClassifier(random_state=0, max_depth=6).fit(X, y)
    plain = prune(model, "cost_complexity", alpha=0.001)
    merged = prune(model, "cost_complexity", alpha=0.001, merge_equal=True)
    assert merged.tree_.n_leaves < plain.tree_.n_leaves
    np.testing.assert_array_equal(merged.predict(X), plain.predict(X))


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("c4.5", {}, "method='c4.5' is no way to prune; give one of 'significance'"),
        ("reduced_error", {"alpha": 0.1}, "has no option alpha; it takes X, y, sample_weight"),
        ("equal_leaves", {"cv": 3}, "has no option cv; it takes none"),
        ("reduced_error", {}, "give them as X= and y="),
        ("equal_leaves", {"merge_equal": "yes"}, "merge_equal='yes'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(method, options, message):
    model = SlowClassifier(random_state=0).fit(*noisy(0))
    with pytest.raises(ParameterError, match=message):
        prune(model, method, **options)


def test_rows_and_targets_that_do_not_match_are_refused():
    X, y = noisy(0)
    model = SlowClassifier(random_state=0).fit(X, y)
    with pytest.raises(DataError, match="40 rows but y has 39"):
        prune(model, "reduced_error", X=X, y=y[1:])
    with pytest.raises(DataError, match="y has 2 columns and the model 1 outputs"):
        prune(model, "reduced_error", X=X, y=np.stack([y, y], axis=1))


def test_a_model_that_is_not_fitted_is_not_pruned():
    with pytest.raises(NotFittedError, match="fit"):
        prune(SlowClassifier())


def test_every_pruning_of_a_small_tree_is_among_those_that_the_judge_counts():
    """Of a full tree of depth 2 there are 1 + (1 + 1)^2 of them."""
    splits = {0: (0, 0.0, 1, 2), 1: (0, -1.0, 3, 4), 2: (0, 1.0, 5, 6)}
    tree = hand_made(splits, {k: (1, k) for k in (3, 4, 5, 6)})
    assert len(all_prunings(tree)) == 5


# ------------------------------------------------------------------------------ grown by the core


def mixed_table(n=240):
    """Numbers with holes and categories, of which both tell something."""
    rng = np.random.default_rng(0)
    numbers, colours = rng.normal(size=n), rng.choice(["red", "green", "blue"], size=n)
    y = np.where((numbers > 0) ^ (colours == "red") ^ (rng.random(n) < 0.2), "yes", "no")
    numbers[::17] = np.nan
    return pd.DataFrame({"number": numbers, "colour": colours, "noise": rng.normal(size=n)}), y


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("significance", {}),
        ("significance", {"test": "permutation"}),
        ("reduced_error", {"X": "new", "y": "new"}),
        ("cost_complexity", {"alpha": 0.01}),
        ("cost_complexity", {"X": "old", "y": "old", "random_state": 0}),
    ],
)
def test_trees_with_categories_and_holes_are_pruned_saved_and_loaded(method, options, tmp_path):
    X, y = mixed_table()
    tables = {"old": (X[:160], y[:160]), "new": (X[160:], y[160:])}
    options = {
        name: tables[value]["Xy".index(name)] if name in ("X", "y") else value
        for name, value in options.items()
    }
    model = DecisionTreeClassifier(random_state=0).fit(*tables["old"])
    small = model.prune(method, **options)
    assert_sound(small.tree_)
    assert 1 < small.get_n_leaves() < model.get_n_leaves() / 2
    hedgerow.save(small, tmp_path / "tree.hedgerow")
    loaded = hedgerow.load(tmp_path / "tree.hedgerow")
    np.testing.assert_array_equal(loaded.predict_proba(X), small.predict_proba(X))
    assert loaded.pruning_ == small.pruning_


def test_rows_pass_the_same_nodes_above_the_cut_as_before():
    X, y = mixed_table()
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    small = model.prune("cost_complexity", alpha=0.01)
    whole, pruned = model.decision_path(X), small.decision_path(X)
    size = small.tree_.n_node_samples
    for node in range(small.tree_.node_count):
        rows = set(pruned[:, [node]].nonzero()[0])
        assert len(rows) == size[node]
        assert rows in [set(whole[:, [k]].nonzero()[0]) for k in range(model.tree_.node_count)]
