"""Laws of trees: change the sample so, and the tree changes so."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.tree._growth import tree_of
from hedgerow.tree._routing import leaves_of
from tests.grown_trees import (
    FINITE,
    assert_same_bits,
    core_settings,
    grow,
    samples,
    stops,
    table_of,
    take,
    task_of,
)
from tests.property.test_tree_splits import without_ties
from tests.reference.tree_checks import leaves
from tests.reference.trees import CLASSES, NUMBERS, Sample, Settings

CRITERIA = (*CLASSES, *NUMBERS)
WITHOUT_TIES = ("gini", "entropy", "squared_error", "absolute_error", "poisson")
"""Misclassification has splits that gain nothing at all, which are equally good."""
SHAPE = (
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "missing_go_to_left",
    "category_start",
    "category_words",
)
exact_samples = partial(samples, exact=True)
"""Sums are the same in any order, so that equally good splits are equally good."""
PREDICTIONS = ("impurity", "value", "weighted_n_node_samples")

each_criterion = pytest.mark.parametrize("criterion", CRITERIA)
each_without_ties = pytest.mark.parametrize("criterion", WITHOUT_TIES)


def assert_same_tree(one, other, names=PREDICTIONS):
    """The same splits; figures up to the rounding of another order of adding."""
    for name in SHAPE:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in names:
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12, err_msg=name)


@each_criterion
@settings(max_examples=40)
@given(data=st.data())
def test_whole_weights_are_repeated_rows(criterion, data):
    sample = data.draw(exact_samples(criterion, weighted=("whole",), bootstrap=False))
    limits = Settings(max_depth=data.draw(st.sampled_from([None, 2])))
    repeated = np.repeat(np.arange(sample.n_rows), sample.weight.astype(int))
    one, other = grow(sample, limits), grow(replace(take(sample, repeated), weight=None), limits)
    assert_same_tree(one, other)
    np.testing.assert_array_equal(one.leaf_of_row[repeated], other.leaf_of_row)


@each_criterion
@settings(max_examples=40)
@given(data=st.data())
def test_trees_of_one_task_are_those_of_tasks_of_their_own(criterion, data):
    sample = data.draw(samples(criterion))
    task, n = task_of(sample), sample.n_rows
    for stream in range(4):  # what a tree leaves behind must not reach the next one
        limits = replace(data.draw(stops()), max_leaf_nodes=data.draw(st.sampled_from([None, 3])))
        counts = np.random.default_rng(stream).multinomial(n, np.full(n, 1 / n)).astype(np.uint32)
        counts[0] += 1
        grower = core_settings(limits, len(sample.columns))
        one, other = (each.grow(grower, counts, 0, stream) for each in (task, task_of(sample)))
        assert_same_bits(one, other)


@each_criterion
@settings(max_examples=40)
@given(data=st.data())
def test_a_bootstrap_is_the_rows_it_has_drawn(criterion, data):
    sample = data.draw(exact_samples(criterion, bootstrap=True))
    limits = data.draw(stops())
    counts = np.ones(sample.n_rows, dtype=int) if sample.counts is None else sample.counts
    drawn = np.repeat(np.arange(sample.n_rows), counts)
    one, other = grow(sample, limits), grow(replace(take(sample, drawn), counts=None), limits)
    assert_same_tree(one, other)
    np.testing.assert_array_equal(one.leaf_of_row[drawn], other.leaf_of_row)


@each_criterion
@settings(max_examples=30)
@given(data=st.data(), factor=st.sampled_from([0.125, 8.0, 2.0**40, 2.0**-40]))
def test_the_unit_of_weights_does_not_matter(criterion, data, factor):
    sample = data.draw(exact_samples(criterion, weighted=("ones", "whole", "fractions")))
    limits = replace(data.draw(stops()), min_weight_leaf=0.0)
    scaled = replace(sample, weight=sample.weight * factor)
    assert_same_tree(grow(sample, limits), grow(scaled, limits), ("impurity", "value"))


@each_without_ties
@settings(max_examples=30)
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(criterion, data):
    sample = without_ties(data.draw(exact_samples(criterion, columns=("many values",))))
    order = np.array(data.draw(st.permutations(range(sample.n_rows))))
    one, other = grow(sample), grow(take(sample, order))
    assert_same_tree(one, other)
    np.testing.assert_array_equal(one.leaf_of_row[order], other.leaf_of_row)


@each_criterion
@settings(max_examples=30)
@given(data=st.data())
def test_only_the_order_of_a_features_values_matters(criterion, data):
    sample = data.draw(exact_samples(criterion, columns=FINITE))
    stretched = tuple(
        x if n else np.sinh(3.0 * x)
        for x, n in zip(sample.columns, sample.n_categories, strict=True)
    )
    limits = data.draw(stops())
    one, other = grow(sample, limits), grow(replace(sample, columns=stretched), limits)
    bag = sample.root
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_array_equal(one.leaf_of_row[bag], other.leaf_of_row[bag])


@each_criterion
@settings(max_examples=30)
@given(data=st.data())
def test_a_column_that_is_there_twice_changes_nothing(criterion, data):
    sample = data.draw(exact_samples(criterion))
    doubled = replace(
        sample,
        columns=(*sample.columns, *sample.columns),
        n_categories=(*sample.n_categories, *sample.n_categories),
    )
    one, other = grow(sample), grow(doubled)
    assert leaves(sample, one.leaf_of_row) == leaves(doubled, other.leaf_of_row)
    np.testing.assert_allclose(one.impurity, other.impurity, rtol=1e-12)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@settings(max_examples=30)
@given(data=st.data(), shift=st.sampled_from([-(2.0**30), 1.0, 2.0**20]))
def test_a_shift_of_the_targets_is_a_shift_of_the_values(criterion, data, shift):
    sample = data.draw(exact_samples(criterion, n_outputs=data.draw(st.sampled_from([1, 2]))))
    limits = data.draw(stops())
    one, other = grow(sample, limits), grow(replace(sample, y=sample.y + shift), limits)
    assert_same_tree(one, other, ())
    np.testing.assert_allclose(other.value - shift, one.value, atol=4e-16 * abs(shift) + 1e-12)
    np.testing.assert_allclose(other.impurity, one.impurity, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@settings(max_examples=20)
@given(data=st.data(), factor=st.sampled_from([2.0**-60, 0.5, 2.0**60]))
def test_the_unit_of_the_targets_does_not_matter(criterion, data, factor):
    sample = data.draw(exact_samples(criterion))
    one, other = grow(sample), grow(replace(sample, y=sample.y * factor))
    assert_same_tree(one, other, ())
    np.testing.assert_allclose(other.value, one.value * factor, rtol=1e-12)


@each_criterion
@settings(max_examples=30)
@given(data=st.data())
def test_names_of_classes_and_categories_do_not_matter(criterion, data):
    sample = without_ties(
        data.draw(exact_samples(criterion, columns=("many values", "categories")))
    )
    rng = np.random.default_rng(0)
    renamed = tuple(
        _renamed(x, rng.permutation(n)) if n else x
        for x, n in zip(sample.columns, sample.n_categories, strict=True)
    )
    other = replace(sample, columns=renamed)
    if sample.n_classes:
        y = rng.permutation(sample.n_classes[0]).astype(np.int32)[sample.y]
        other = replace(other, y=np.ascontiguousarray(y))
    limits = Settings(max_depth=1)
    one, two = grow(sample, limits), grow(other, limits)
    np.testing.assert_allclose(one.impurity[0], two.impurity[0], rtol=1e-12)
    decrease = [
        t.impurity[0]
        - t.impurity[1:] @ t.weighted_n_node_samples[1:] / t.weighted_n_node_samples[0]
        for t in (one, two)
    ]
    np.testing.assert_allclose(*decrease, atol=1e-10)


def _renamed(x, names):
    return np.where(np.isnan(x), np.nan, names[np.nan_to_num(x).astype(int)])


@each_criterion
@settings(max_examples=15)
@given(data=st.data(), seed=st.integers(0, 2**63 - 1), stream=st.integers(0, 2**40))
def test_the_same_seed_and_stream_give_the_same_bits(criterion, data, seed, stream):
    sample = data.draw(exact_samples(criterion))
    splitter = data.draw(st.sampled_from(["best", "random"]))
    limits = Settings(max_features=1, splitter=splitter)
    again = [grow(sample, limits, seed=seed, stream=stream) for _ in range(2)]
    assert_same_bits(*again)


@each_criterion
@settings(max_examples=25)
@given(data=st.data())
def test_predictions_along_a_constrained_feature_never_turn_back(criterion, data):
    numeric = ("two values", "few values", "many values")
    sample = data.draw(
        exact_samples(criterion, columns=numeric, classes=(2,), missing=(0.0,), max_rows=40)
    )
    signs = tuple(data.draw(st.sampled_from([-1, 1])) for _ in sample.columns)
    n_leaves = data.draw(st.sampled_from([None, 6]))
    tree = grow(sample, Settings(monotonic=signs, max_leaf_nodes=n_leaves))
    grids = [np.unique(x) for x in sample.columns]
    points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1)
    predicted = _predict(tree, points.reshape(-1, len(grids))).reshape(points.shape[:-1])
    for axis, sign in enumerate(signs):
        assert (sign * np.diff(predicted, axis=axis) >= 0).all()


def _predict(tree, X):
    """The last class's share, or the value, row by row."""
    found = []
    for row in X:
        node = 0
        while tree.children_left[node] >= 0:
            is_left = row[tree.feature[node]] <= tree.threshold[node]
            node = (tree.children_left if is_left else tree.children_right)[node]
        found.append(tree.value[node, 0, -1])
    return np.array(found)


@each_criterion
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=25)
@given(data=st.data())
def test_a_row_is_led_to_the_leaf_where_growth_has_put_it(criterion, dtype, data):
    sample = data.draw(samples(criterion, categories=(2, 90), max_rows=60))
    with np.errstate(over="ignore"):
        rounded = tuple(x.astype(dtype).astype(np.float64) for x in sample.columns)
    sample = replace(sample, columns=rounded)
    splitter = data.draw(st.sampled_from(["best", "random", "mean", "median"]))
    limits = core_settings(Settings(splitter=splitter), len(rounded))
    grown = task_of(sample, table_of(sample, dtype)).grow(limits, sample.counts, 0, 0)
    tree = tree_of(grown, np.array(sample.n_categories, dtype=np.int64))
    X = np.stack(rounded, axis=1).astype(dtype)
    for n_threads in (1, 2):
        found = leaves_of([tree, tree], X, n_threads)
        np.testing.assert_array_equal(found, np.stack([grown.leaf_of_row] * 2, axis=1))
    # Rows of the other width hold the same numbers.
    np.testing.assert_array_equal(leaves_of([tree], X.astype(np.float64), 1)[:, 0], found[:, 0])


def noise(n_rows, n_features, seed=0):
    """Numbers that say nothing of classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n_rows, n_features)), rng.integers(0, 2, size=(n_rows, 1))
    return Sample(tuple(X.T.copy()), (0,) * n_features, y.astype(np.int32), (2,), "gini")


def test_other_streams_and_seeds_give_other_trees():
    sample, limits = noise(60, 8), Settings(max_features=1)
    grown = [grow(sample, limits, seed=s, stream=t) for s in range(4) for t in range(4)]
    assert len({tree.feature.tobytes() + tree.threshold.tobytes() for tree in grown}) == len(grown)


def test_a_seed_matters_to_nothing_where_nothing_is_drawn():
    sample = noise(60, 3)
    assert_same_bits(grow(sample, seed=1, stream=5), grow(sample, seed=2, stream=9))


def test_a_constant_column_never_counts_as_a_drawn_feature():
    sample = noise(40, 1)
    constant = tuple(np.full(40, float(j)) for j in range(50))
    columns = (*constant[:25], *sample.columns, *constant[25:])
    hidden = replace(sample, columns=columns, n_categories=(0,) * 51)
    alone = grow(sample)
    for seed in range(5):
        tree = grow(hidden, Settings(max_features=1), seed=seed)
        assert set(tree.feature) == {25, -2}
        np.testing.assert_array_equal(tree.leaf_of_row, alone.leaf_of_row)


def test_columns_that_are_constant_in_a_node_do_not_count_there():
    # The first column halves the rows; in each half only one other column varies.
    rng = np.random.default_rng(0)
    half = np.repeat([0.0, 1.0], 30)
    left, right = rng.normal(size=60) * (half == 0), rng.normal(size=60) * (half == 1)
    y = rng.permutation(60)[:, None] * 1.0
    sample = Sample((half, left, right), (0, 0, 0), y, (), "squared_error")
    for seed in range(20):
        tree = grow(sample, Settings(max_features=1), seed=seed)
        assert np.unique(tree.leaf_of_row).size == 60


def test_every_feature_is_drawn_equally_often():
    sample, n_trees = noise(30, 5), 1500
    limits = Settings(max_features=1, max_depth=1)
    roots = [int(grow(sample, limits, seed=7, stream=t).feature[0]) for t in range(n_trees)]
    seen = np.bincount(roots, minlength=5)
    # Six standard deviations of a binomial count.
    assert np.abs(seen - n_trees / 5).max() < 6 * np.sqrt(n_trees * 0.2 * 0.8)


def test_pairs_of_features_are_drawn_equally_often():
    # Column j gains more than all before it: of a pair the later one is taken.
    n, n_trees = 64, 1500
    y = np.repeat([0, 1], n // 2)
    columns = [np.where(np.arange(n) % 32 < 16 + 4 * j, y, 1 - y) * 1.0 for j in range(4)]
    sample = Sample(tuple(columns), (0,) * 4, y[:, None].astype(np.int32), (2,), "gini")
    limits = Settings(max_features=2, max_depth=1)
    roots = [int(grow(sample, limits, seed=3, stream=t).feature[0]) for t in range(n_trees)]
    expected = np.array([0, 1, 2, 3]) / 6 * n_trees
    assert np.abs(np.bincount(roots, minlength=4) - expected).max() < 6 * np.sqrt(n_trees / 4)


@pytest.mark.parametrize("missing", [0, 10])
def test_random_thresholds_are_uniform_between_the_least_and_the_largest_value(missing):
    rng, n_trees = np.random.default_rng(1), 2000
    x = np.sort(rng.exponential(size=50)) + 2.0
    x[rng.permutation(50)[:missing]] = np.nan
    y = rng.integers(0, 2, size=(50, 1)).astype(np.int32)
    sample = Sample((x,), (0,), y, (2,), "gini")
    limits = Settings(splitter="random", max_depth=1)
    drawn = np.array([grow(sample, limits, seed=5, stream=t).threshold[0] for t in range(n_trees)])
    low, high = np.nanmin(x), np.nanmax(x)
    assert ((drawn >= low) & (drawn < high)).all()
    places = np.sort((drawn - low) / (high - low))
    steps = np.arange(1, n_trees + 1) / n_trees
    # Kolmogorov's distance; 1.95 / sqrt(n) is exceeded once in a thousand seeds.
    assert np.abs(places - steps).max() < 1.95 / np.sqrt(n_trees)


def test_random_sets_of_categories_vary_and_part_the_rows():
    rng = np.random.default_rng(2)
    x, y = np.arange(40.0) % 5, rng.integers(0, 2, size=(40, 1)).astype(np.int32)
    sample = Sample((x,), (5,), y, (2,), "gini")
    limits = Settings(splitter="random", max_depth=1)
    grown = [grow(sample, limits, seed=5, stream=t) for t in range(200)]
    assert all(tree.feature[0] == 0 for tree in grown)
    assert len({int(tree.category_words[0]) for tree in grown}) > 10


def alternating(n_rows):
    """Rows of two classes in turn: each split takes one row off an end."""
    y = np.arange(n_rows, dtype=np.int32) % 2
    return Sample((np.arange(n_rows, dtype=float),), (0,), y[:, None], (2,), "gini")


def depth_of(tree):
    depth = np.zeros(len(tree.feature), dtype=np.int64)
    for node in np.flatnonzero(tree.children_left >= 0):
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return int(depth.max())


CHAIN = """
import threading
import numpy as np
from tests.property.test_tree_laws import alternating, depth_of
from tests.grown_trees import grow
sample, found = alternating({n_rows}), []
threading.stack_size(128 * 1024)
thread = threading.Thread(target=lambda: found.append(grow(sample)))
thread.start()
thread.join()
assert depth_of(found[0]) == {n_rows} - 1, depth_of(found[0])
"""


def run_chain(n_rows):
    code = CHAIN.format(n_rows=n_rows)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"


def test_a_chain_of_nodes_needs_no_deep_stack():
    # Frames of 20 bytes would overflow the stack of its thread.
    run_chain(8_000)


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_nodes_is_grown():
    run_chain(100_000)
