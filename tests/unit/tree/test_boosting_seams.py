"""The tree core has what boosting needs: new targets, other leaf values, weights of trees, binned features.

Two small boosting algorithms are written on it here, and equal scikit-learn's.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_friedman1, make_hastie_10_2
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from hedgerow import _core
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.tree._growth import tree_of
from tests.grown_trees import (
    assert_same_bits,
    core_settings,
    numbers_sample,
    samples,
    task_of,
    weights,
)
from tests.reference.binning import binned
from tests.reference.trees import Settings

CRITERIA = ("gini", "entropy", "misclassification", "squared_error", "absolute_error", "poisson")
NO_CATEGORIES = np.zeros(4, dtype=np.int64)


def table_of_matrix(X, max_codes=None):
    """The columns of a matrix as codes."""
    columns = [np.ascontiguousarray(x) for x in X.T]
    n_categories = np.zeros(X.shape[1], dtype=np.int64)
    return _core.tree.CodeTable.of_columns(columns, n_categories, 1, max_codes)


def no_trees(n_features, n_classes=0):
    """A packed ensemble of one output that has no trees yet."""
    return _core.tree.ForestTrees(
        n_features,
        1,
        np.array([n_classes], dtype=np.int32),
        np.zeros(n_features, dtype=np.int64),
        False,
    )


# ------------------------------------------------------------------------------- new targets, weights


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_outputs", [1, 2])
@settings(max_examples=15)
@given(data=st.data())
def test_a_task_with_new_targets_grows_the_tree_of_a_task_made_for_them(criterion, n_outputs, data):
    sample = data.draw(samples(criterion, n_outputs=n_outputs))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    kind = data.draw(st.sampled_from(["none", "fractions"]))
    order = rng.permutation(sample.n_rows)
    if criterion == "poisson":
        order = np.arange(sample.n_rows)  # the first is the one that is positive for sure
    other = replace(
        sample,
        y=np.ascontiguousarray(sample.y[order]),
        weight=weights(rng, kind, sample.n_rows),
    )
    limits = core_settings(Settings(), len(sample.columns))
    task = task_of(sample)
    before = task.grow(limits, sample.counts, 0, 0)
    renewed = task.with_targets(other.y, other.weight)
    assert_same_bits(
        renewed.grow(limits, sample.counts, 0, 0), task_of(other).grow(limits, sample.counts, 0, 0)
    )
    assert_same_bits(task.grow(limits, sample.counts, 0, 0), before)


def test_tasks_that_share_their_memory_grow_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    table = table_of_matrix(X)
    targets = [np.ascontiguousarray(rng.normal(size=(400, 1))) for _ in range(24)]
    limits = core_settings(Settings(), 4)
    first = _core.tree.TreeTask.regression(table, "squared_error", targets[0], None)
    tasks = [first.with_targets(y, None) for y in targets]
    with ThreadPoolExecutor(4) as pool:
        grown = list(pool.map(lambda task: task.grow(limits, None, 0, 0), tasks))
    for y, tree in zip(targets, grown, strict=True):
        alone = _core.tree.TreeTask.regression(table, "squared_error", y, None).grow(
            limits, None, 0, 0
        )
        assert_same_bits(tree, alone)


def test_new_targets_must_be_of_the_kind_and_number_of_the_old_ones():
    X = np.arange(6.0).reshape(-1, 1)
    classes = task_of(numbers_sample(X, np.array([0, 1, 0, 1, 0, 1]), "gini"))
    numbers = task_of(numbers_sample(X, np.arange(6.0), "squared_error"))
    with pytest.raises(TypeError, match="give y of its own kind"):
        classes.with_targets(np.ones((6, 1)), None)
    with pytest.raises(TypeError, match="give y of its own kind"):
        numbers.with_targets(np.ones((6, 1), dtype=np.int32), None)
    with pytest.raises(ValueError, match=r"outside 0 \.\.\. n_classes - 1"):
        classes.with_targets(np.full((6, 1), 2, dtype=np.int32), None)
    with pytest.raises(ValueError, match="one for each output"):
        numbers.with_targets(np.ones((6, 2)), None)
    with pytest.raises(ValueError, match="one for each row"):
        numbers.with_targets(np.ones((5, 1)), None)
    with pytest.raises(ValueError, match="one for each row"):
        numbers.with_targets(np.ones((6, 1)), np.ones(7))


# ---------------------------------------------------------------------------------------- leaf values


@settings(max_examples=30)
@given(sample=samples("squared_error", n_outputs=2))
def test_inner_nodes_have_the_means_of_the_leaf_values_below_them(sample):
    grown = task_of(sample).grow(core_settings(Settings(), len(sample.columns)), None, 0, 0)
    values = np.random.default_rng(0).normal(size=grown.value.shape)
    changed = grown.with_leaf_values(values)
    expected = values.copy()
    weight = grown.weighted_n_node_samples
    left, right = grown.children_left, grown.children_right
    for node in np.flatnonzero(left >= 0)[::-1]:
        children = [left[node], right[node]]
        expected[node] = np.average(expected[children], axis=0, weights=weight[children])
    np.testing.assert_allclose(changed.value, expected, rtol=1e-12, atol=1e-12)
    unchanged = grown.with_leaf_values(values).with_leaf_values(np.array(grown.value))
    is_leaf = left < 0
    np.testing.assert_array_equal(unchanged.value[is_leaf], grown.value[is_leaf])
    np.testing.assert_array_equal(changed.leaf_of_row, grown.leaf_of_row)
    np.testing.assert_array_equal(changed.threshold, grown.threshold)


def test_leaf_values_of_classes_need_not_be_shares():
    X = np.arange(8.0).reshape(-1, 1)
    sample = numbers_sample(X, np.array([0, 0, 0, 0, 1, 1, 1, 1]), "gini")
    grown = task_of(sample).grow(core_settings(Settings(), 1), None, 0, 0)
    values = np.array(
        [[[0.0, 0.0]], [[1.0, 0.25]], [[-3.0, 1.0]]]
    )  # 1 and 0.25: not of class 0 alone
    trees = no_trees(1, n_classes=2)
    trees.add(grown.with_leaf_values(values))
    expected = values[grown.leaf_of_row]
    np.testing.assert_array_equal(trees.sums(X, 0, 1, 1), expected)
    again = _core.tree.ForestTrees.of_parts(trees.parts())
    np.testing.assert_array_equal(again.sums(X, 0, 1, 1), expected)
    feature, threshold, left, right, missing, _, _, weight, value, _, *sets = trees.tree(0)
    again = no_trees(1, n_classes=2)
    again.add_arrays(feature, threshold, left, right, missing, weight, value, *sets)
    np.testing.assert_array_equal(again.sums(X, 0, 1, 1), expected)


def test_leaf_values_are_finite_and_one_for_each_node():
    X = np.arange(4.0).reshape(-1, 1)
    sample = numbers_sample(X, np.arange(4.0), "squared_error")
    grown = task_of(sample).grow(core_settings(Settings(max_depth=1), 1), None, 0, 0)
    with pytest.raises(ValueError, match="not finite"):
        grown.with_leaf_values(np.array([0.0, np.nan, 1.0]).reshape(3, 1, 1))
    grown.with_leaf_values(np.array([np.nan, 0.0, 1.0]).reshape(3, 1, 1))  # of the root, not read
    with pytest.raises(ValueError, match="one for each node"):
        grown.with_leaf_values(np.zeros((4, 1, 1)))


# ----------------------------------------------------------------------------------- weights of trees


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("n_rows", [1, 700])
def test_sums_over_trees_are_weighted(criterion, n_rows):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    task = task_of(numbers_sample(X, y, criterion))
    limits = core_settings(Settings(max_depth=5, max_features=2), 4)
    trees = no_trees(4, n_classes=2 if criterion == "gini" else 0)
    grown = []
    for stream in range(7):
        counts = rng.multinomial(300, np.full(300, 1 / 300)).astype(np.uint32)
        grown.append(task.grow(limits, counts, 0, stream))
        trees.add(grown[-1])
    packed = PackedTrees.of(trees)
    rows, weight = rng.normal(size=(n_rows, 4)), rng.normal(size=7)
    each = np.stack(
        [w * tree_of(t, NO_CATEGORIES).predict(rows) for w, t in zip(weight, grown, strict=True)]
    )
    each = each.reshape(7, n_rows, 1, -1)
    np.testing.assert_allclose(packed.sums(rows, 1, weight), each.sum(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(packed.sums(rows, 2, weight), packed.sums(rows, 1, weight))
    np.testing.assert_array_equal(list(packed.values_by_tree(rows, 1, weight)), each)
    stages = list(packed.staged_sums(rows, 1, weight))
    np.testing.assert_allclose(stages, np.cumsum(each, axis=0), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(stages[-1], packed.sums(rows, 1, weight))
    np.testing.assert_array_equal(packed.sums(rows, 1), packed.sums(rows, 1, np.ones(7)))
    with pytest.raises(ValueError, match="one for each tree"):
        packed.sums(rows, 1, weight[:6])


# ------------------------------------------------------------------------------------ binned features


@pytest.mark.parametrize("max_codes", [2, 7, 255])
@pytest.mark.parametrize("kind", ["continuous", "heavy", "few", "infinite", "single"])
def test_bins_are_those_of_the_reference(kind, max_codes):
    rng = np.random.default_rng(2)
    x = {
        "continuous": rng.normal(size=1000),
        "heavy": np.round(rng.exponential(size=1000), 2) * (rng.random(1000) < 0.6),
        "few": rng.integers(0, 5, size=1000) / 4,
        "infinite": np.where(rng.random(1000) < 0.1, np.inf, rng.normal(size=1000)),
        "single": rng.normal(size=1000).astype(np.float32),
    }[kind]
    x[rng.random(1000) < 0.05] = np.nan
    codes, edges = binned(x.astype(np.float64), max_codes)
    table = _core.tree.CodeTable.of_columns([x], np.zeros(1, dtype=np.int64), 1, max_codes)
    np.testing.assert_array_equal(table.codes(0), codes)
    assert len(table.values(0)) == codes.max() + 1 <= max_codes
    for code, number in enumerate(table.values(0)):
        inside = x[codes == code]
        assert inside.min() <= number <= inside.max()
    y = rng.normal(size=(1000, 1))
    task = _core.tree.TreeTask.regression(table, "squared_error", y, None)
    tree = task.grow(core_settings(Settings(), 1), None, 0, 0)
    used = tree.threshold[(tree.children_left >= 0) & np.isfinite(tree.threshold)]
    is_edge = np.isin(used, edges) if codes.max() + 1 == max_codes else np.ones(len(used), bool)
    assert is_edge.all()


@pytest.mark.parametrize("splitter", ["best", "random", "mean", "median"])
@settings(max_examples=25)
@given(data=st.data())
def test_rows_go_where_their_bins_go(splitter, data):
    """Also those that are not in the sample of the tree, whose bins may be empty in a node."""
    sample = data.draw(samples("squared_error", max_rows=60, columns=("many values", "infinities")))
    table = _core.tree.CodeTable.of_columns(
        [np.ascontiguousarray(x) for x in sample.columns],
        np.array(sample.n_categories, dtype=np.int64),
        1,
        data.draw(st.integers(2, 12)),
    )
    limits = core_settings(Settings(splitter=splitter), len(sample.columns))
    grown = task_of(sample, table).grow(limits, sample.counts, 3, 0)
    tree = tree_of(grown, np.array(sample.n_categories, dtype=np.int64))
    rows = np.stack(sample.columns, axis=1)
    np.testing.assert_array_equal(tree.apply(rows), grown.leaf_of_row)


def test_a_matrix_is_binned_as_its_columns_are():
    X = np.random.default_rng(3).normal(size=(2000, 5))
    by_rows = _core.tree.CodeTable.of_matrix(_core.data.Matrix.dense(X), 2, 100)
    by_columns = table_of_matrix(X, 100)
    for j in range(5):
        np.testing.assert_array_equal(by_rows.codes(j), by_columns.codes(j))
        assert by_rows.codes(j).max() == 99
    assert by_rows.nbytes < table_of_matrix(X).nbytes
    with pytest.raises(ValueError, match="from 2 to 255"):
        table_of_matrix(X, 256)


# ------------------------------------------------------------------------------------------- boosting


def gradient_boosting(table, y, n_rounds, rate, limits):
    """Boost squared loss; return the mean of y and the trees, whose leaves hold mean residuals."""
    task = _core.tree.TreeTask.regression(table, "squared_error", y.reshape(-1, 1), None)
    trees = no_trees(table.n_features)
    scores = np.full(len(y), y.mean())
    for seed in range(n_rounds):
        residuals = y - scores
        grown = task.with_targets(residuals.reshape(-1, 1), None).grow(limits, None, seed, 0)
        leaf = grown.leaf_of_row
        n = len(grown.value)
        means = np.bincount(leaf, residuals, n) / np.maximum(np.bincount(leaf, minlength=n), 1)
        grown = grown.with_leaf_values(means.reshape(n, 1, 1))
        scores += rate * grown.value[leaf, 0, 0]
        trees.add(grown)
    return y.mean(), PackedTrees.of(trees)


def test_gradient_boosting_equals_scikit_learns():
    X, y = make_friedman1(400, n_features=6, noise=1.0, random_state=0)
    X = X.astype(np.float32).astype(np.float64)  # as scikit-learn reads it
    other = GradientBoostingRegressor(
        n_estimators=30, learning_rate=0.2, max_depth=3, min_samples_leaf=10, random_state=0
    ).fit(X, y)
    limits = core_settings(Settings(max_depth=3, min_samples_leaf=10), 6)
    start, trees = gradient_boosting(table_of_matrix(X), y, 30, 0.2, limits)
    new = np.random.default_rng(0).random((100, 6), dtype=np.float32).astype(np.float64)
    rates = np.full(30, 0.2)
    for rows in (X, new):
        scores = start + trees.sums(rows, 1, rates)[:, 0, 0]
        np.testing.assert_allclose(scores, other.predict(rows), rtol=1e-9)
        stages = zip(trees.staged_sums(rows, 1, rates), other.staged_predict(rows), strict=True)
        for sums, expected in stages:
            np.testing.assert_allclose(start + sums[:, 0, 0], expected, rtol=1e-9)


def test_gradient_boosting_of_bins_equals_scikit_learns_histogram_boosting():
    """64 bins of 16 rows each, whose edges scikit-learn computes without rounding."""
    X, y = make_friedman1(1024, n_features=6, noise=1.0, random_state=1)
    other = HistGradientBoostingRegressor(
        max_iter=25,
        learning_rate=0.2,
        max_leaf_nodes=8,
        min_samples_leaf=20,
        max_bins=64,
        early_stopping=False,
    ).fit(X, y)
    limits = core_settings(Settings(max_leaf_nodes=8, min_samples_leaf=20), 6)
    start, trees = gradient_boosting(table_of_matrix(X, 64), y, 25, 0.2, limits)
    scores = start + trees.sums(X, 1, np.full(25, 0.2))[:, 0, 0]
    np.testing.assert_allclose(
        scores, other.predict(X), rtol=1e-6
    )  # of gradients in single precision


def adaboost(table, codes, n_classes, n_rounds):
    """Boost stumps (discrete SAMME); return the trees, whose leaves vote, and their weights."""
    n = len(codes)
    y = codes.reshape(-1, 1).astype(np.int32)
    counts = np.array([n_classes], dtype=np.int32)
    task = _core.tree.TreeTask.classification(table, "gini", y, counts, None)
    limits = core_settings(Settings(max_depth=1), table.n_features)
    trees, tree_weights = no_trees(table.n_features, n_classes), []
    weight = np.full(n, 1 / n)
    for seed in range(n_rounds):
        grown = task.with_targets(y, weight).grow(limits, None, seed, 0)
        votes = np.eye(n_classes)[grown.value.argmax(axis=2)]
        is_wrong = votes[grown.leaf_of_row, 0].argmax(axis=1) != codes
        error = weight[is_wrong].sum() / weight.sum()
        tree_weights.append(np.log((1 - error) / error) + np.log(n_classes - 1))
        weight = weight * np.exp(tree_weights[-1] * is_wrong)
        weight /= weight.sum()
        trees.add(grown.with_leaf_values(votes))
    return PackedTrees.of(trees), np.array(tree_weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_discrete_adaboost_equals_scikit_learns(n_classes):
    X, y = make_hastie_10_2(600, random_state=0)
    X = X.astype(np.float32).astype(np.float64)
    codes = (y > 0).astype(int) if n_classes == 2 else np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    trees, tree_weights = adaboost(table_of_matrix(X), codes, n_classes, 20)
    stump = DecisionTreeClassifier(max_depth=1)
    other = AdaBoostClassifier(stump, n_estimators=20, random_state=0).fit(X, codes)
    np.testing.assert_allclose(tree_weights, other.estimator_weights_, rtol=1e-9)
    new = np.random.default_rng(0).normal(size=(300, 10)).astype(np.float32).astype(np.float64)
    for rows in (X, new):
        votes = trees.sums(rows, 1, tree_weights)[:, 0]
        np.testing.assert_array_equal(votes.argmax(axis=1), other.predict(rows))
