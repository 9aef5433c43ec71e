"""The core of trees, called directly: codes, odd tables, limits of its numbers, depth, stopping."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import _core
from tests.grown_trees import (
    FIELDS,
    assert_same_bits,
    core_settings,
    grow,
    grow_and_check,
    numbers_sample,
    table_of,
    take,
    task_of,
)
from tests.reference.tree_checks import leaves
from tests.reference.trees import CLASSES, NUMBERS, Sample, Settings

pytestmark = pytest.mark.sanitize

CRITERIA = (*CLASSES, *NUMBERS)
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)


def codes_of_column(x):
    """Places among the distinct values, and these."""
    values = np.unique(x[~np.isnan(x)])
    return np.where(np.isnan(x), -1, np.searchsorted(values, x)), values


def awkward_matrix(n_rows, dtype):
    """Columns with ties, infinities, two zeros, missing values, nothing else, and all distinct."""
    rng = np.random.default_rng(n_rows)
    columns = [
        rng.integers(-3, 4, size=n_rows),
        rng.choice([-np.inf, -1.5, 0.0, np.inf], size=n_rows),
        rng.choice([0.0, -0.0, 1e-30], size=n_rows),
        np.where(rng.random(n_rows) < 0.4, np.nan, rng.integers(0, 5, size=n_rows)),
        np.full(n_rows, np.nan),
        rng.normal(size=n_rows),
        np.where(rng.random(n_rows) < 0.8, 0.0, rng.normal(size=n_rows)),
    ]
    return np.stack(columns, axis=1).astype(dtype)


# ------------------------------------------------------------------------------------------ codes


def tables_of(X):
    """The same numbers in every container."""
    sparse = sp.csr_array(X)
    parts = sparse.data, sparse.indices.astype(np.int32), sparse.indptr.astype(np.int32)
    zeros = np.zeros(X.shape[1], dtype=np.int64)
    return {
        "dense": _core.tree.CodeTable.of_matrix(_core.data.Matrix.dense(X), 1),
        "dense, two threads": _core.tree.CodeTable.of_matrix(_core.data.Matrix.dense(X), 2),
        "csr": _core.tree.CodeTable.of_matrix(_core.data.Matrix.csr(*parts, X.shape[1]), 1),
        "csr, two threads": _core.tree.CodeTable.of_matrix(
            _core.data.Matrix.csr(*parts, X.shape[1]), 2
        ),
        "columns": _core.tree.CodeTable.of_columns([x.copy() for x in X.T], zeros, 1),
        "columns, two threads": _core.tree.CodeTable.of_columns([x.copy() for x in X.T], zeros, 2),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 2, 300, 70_000])
def test_codes_are_places_among_the_distinct_values_in_every_container(n_rows, dtype):
    X = awkward_matrix(n_rows, dtype)
    for name, table in tables_of(X).items():
        assert (table.n_rows, table.n_features) == X.shape, name
        for j in range(X.shape[1]):
            codes, values = codes_of_column(X[:, j].astype(float))
            np.testing.assert_array_equal(table.codes(j), codes, name)
            np.testing.assert_array_equal(table.values(j), values, name)


def test_stored_zeros_and_left_out_ones_are_the_same_number():
    stored = (np.array([0.0, 2.0, -0.0]), np.array([0, 0, 0], np.int32))
    matrix = _core.data.Matrix.csr(*stored, np.array([0, 1, 2, 2, 3], np.int32), 1)
    table = _core.tree.CodeTable.of_matrix(matrix, 1)
    np.testing.assert_array_equal(table.values(0), [0.0, 2.0])
    np.testing.assert_array_equal(table.codes(0), [0, 1, 0, 0])


def test_categories_keep_their_numbers():
    columns = [np.array([3, -1, 0, 299, 3], np.int32), np.array([0.5, 2.0, np.nan, 0.5, 7.0])]
    table = _core.tree.CodeTable.of_columns(columns, np.array([300, 0]), 1)
    np.testing.assert_array_equal(table.codes(0), columns[0])
    assert len(table.values(0)) == 0
    np.testing.assert_array_equal(table.codes(1), [0, 1, -1, 0, 2])


@pytest.mark.parametrize(("n_values", "n_bytes"), [(200, 1), (3_000, 2), (80_000, 4)])
def test_a_code_takes_as_few_bytes_as_its_feature_allows(n_values, n_bytes):
    n, n_columns = 100_000, 8
    columns = [np.arange(n, dtype=np.float64) % n_values for _ in range(n_columns)]
    table = _core.tree.CodeTable.of_columns(columns, np.zeros(n_columns, dtype=np.int64), 1)
    codes, values = n_bytes * n * n_columns, 8 * n_values * n_columns
    # By columns and by rows, which end with up to eight bytes more.
    assert codes <= table.nbytes - values < 2 * codes + 8 * n + 10_000


def table_with_everything(max_codes=None):
    """Few numbers and many, some missing, and categories."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=2000)
    some_missing = np.where(rng.random(2000) < 0.1, np.nan, np.round(many, 1))
    categories = rng.integers(-1, 300, size=2000).astype(np.int32)
    columns = [many, some_missing, categories, np.zeros(2000)]
    return _core.tree.CodeTable.of_columns(columns, np.array([0, 0, 300, 0]), 1, max_codes)


@pytest.mark.parametrize("max_codes", [None, 16])
def test_a_table_is_made_again_of_its_parts(max_codes):
    table = table_with_everything(max_codes)
    n_rows, is_single, columns = table.parts
    again = _core.tree.CodeTable.of_parts(n_rows, is_single, columns, 2)
    assert (again.n_rows, again.single_precision, again.nbytes) == (2000, False, table.nbytes)
    for found, expected in zip(again.parts[2], columns, strict=True):
        for pair in zip(found, expected, strict=True):
            np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("part", ["bytes", "width", "n_codes", "values", "edges", "codes"])
def test_parts_that_do_not_belong_together_are_refused(column, part):
    n_rows, is_single, columns = table_with_everything().parts
    codes, width, n_codes, *flags, values, edges = columns[column]
    bad = {
        "bytes": (codes[1:], width, n_codes, *flags, values, edges),
        "width": (codes, 3, n_codes, *flags, values, edges),
        "n_codes": (codes, width, 0, *flags, values[:0], edges),
        "values": (codes, width, n_codes, *flags, np.append(values, 1.0), edges),
        "edges": (codes, width, n_codes, *flags, values, np.zeros(n_codes + 1)),
        "codes": (np.full_like(codes, 255), width, n_codes, *flags, values, edges),
    }
    columns[column] = bad[part]
    with pytest.raises(ValueError, match=r"belong together|not below"):
        _core.tree.CodeTable.of_parts(n_rows, is_single, columns, 1)


# ------------------------------------------------------------------------------------ odd samples


def plain(criterion, x, y, **rest):
    """A sample of one column."""
    return replace(numbers_sample(np.asarray(x, float)[:, None], np.asarray(y), criterion), **rest)


@each_criterion
def test_one_row_is_a_leaf(criterion):
    tree = grow_and_check(plain(criterion, [1.0], [1]))
    assert len(tree.feature) == 1
    assert tree.n_node_samples[0] == 1


@each_criterion
def test_features_that_do_not_vary_split_nothing(criterion):
    X = np.stack([np.full(6, 2.0), np.full(6, np.nan)], axis=1)
    tree = grow_and_check(numbers_sample(X, np.array([0, 1, 2, 0, 1, 2]), criterion))
    assert len(tree.feature) == 1


@each_criterion
def test_rows_of_no_weight_are_as_if_absent_but_have_a_leaf(criterion):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, size=40)
    weight = rng.integers(0, 2, size=40).astype(float)
    kept = np.flatnonzero(weight)
    y[kept[:3]] = [0, 1, 2]
    sample = numbers_sample(X, y, criterion, weight)
    whole, part = grow_and_check(sample), grow_and_check(take(sample, kept))
    for name in ("feature", "threshold", "value", "impurity", "n_node_samples"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(part, name), name)
    np.testing.assert_array_equal(whole.leaf_of_row[kept], part.leaf_of_row)


@each_criterion
def test_only_missing_values_can_be_told_apart(criterion):
    x = [np.nan, 4.0, 4.0, np.nan, 4.0]
    tree = grow_and_check(plain(criterion, x, [1, 2, 2, 1, 2]))
    assert len(tree.feature) == 3
    assert not tree.missing_go_to_left[0]
    np.testing.assert_array_equal(tree.leaf_of_row == tree.leaf_of_row[0], np.isnan(x))


def test_infinities_and_missing_values_are_three_different_things():
    x = [np.inf, np.inf, -np.inf, -np.inf, np.nan, np.nan, 0.0, 0.0]
    tree = grow_and_check(plain("gini", x, [0, 0, 1, 1, 2, 2, 3, 3]))
    assert len(leaves(plain("gini", x, [0] * 8), tree.leaf_of_row)) == 4


@each_criterion
def test_neighbouring_numbers_are_parted(criterion):
    low = 1.0 + np.arange(4) * np.spacing(1.0)
    tree = grow_and_check(plain(criterion, low, [1, 2, 1, 2]))
    assert len(np.unique(tree.leaf_of_row)) == 4


@pytest.mark.parametrize("criterion", CLASSES)
@pytest.mark.parametrize("n_classes", [300, 70_000])
def test_there_may_be_many_classes(criterion, n_classes):
    y = np.array([0, 0, n_classes - 1, n_classes - 1, n_classes // 2], np.int32)
    sample = Sample((np.arange(5.0),), (0,), y[:, None], (n_classes,), criterion)
    tree = grow(sample)
    assert np.count_nonzero(tree.children_left < 0) == 3
    np.testing.assert_array_equal(tree.value[tree.leaf_of_row].argmax(axis=2)[:, 0], y)


@each_criterion
@pytest.mark.parametrize("n_categories", [63, 64, 65, 1000])
def test_sets_of_hundreds_of_categories_are_kept_whole(criterion, n_categories):
    rng = np.random.default_rng(0)
    x = rng.integers(0, n_categories, size=4 * n_categories).astype(float)
    y = (x.astype(int) * 7919) % 2
    sample = replace(plain(criterion, x, 1 + y), n_categories=(n_categories,))
    tree = grow(sample)
    assert len(tree.feature) == 3  # one split tells the two kinds apart
    np.testing.assert_array_equal(tree.leaf_of_row == tree.leaf_of_row[0], y == y[0])


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "misclassification"])
def test_a_row_may_be_drawn_more_often_than_two_bytes_can_count(criterion):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(8, 2)), np.array([1, 2, 1, 2, 2, 1, 2, 1])
    counts = np.array([70_000, 1, 200_000, 65_536, 3, 0, 65_535, 9], np.uint32)
    grow_and_check(replace(numbers_sample(X, y, criterion), counts=counts))


@each_criterion
def test_a_table_of_many_rows_keeps_its_figures(criterion):
    rng = np.random.default_rng(5)
    X = np.stack([rng.normal(size=700), rng.integers(0, 30, size=700)], axis=1)
    y = rng.integers(0, 3, size=700) + (X[:, 1] > 11)
    grow_and_check(numbers_sample(X, y, criterion), Settings(max_depth=1))


# ------------------------------------------------------------------------------ numbers of all sizes


def test_one_huge_target_does_not_blur_the_others():
    tree = grow_and_check(plain("squared_error", np.arange(5.0), [1.0, 2.0, 3.0, 4.0, 1e17]))
    np.testing.assert_array_equal(tree.value[tree.leaf_of_row, 0, 0], [1.0, 2.0, 3.0, 4.0, 1e17])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_targets_far_from_zero_are_told_apart(criterion):
    rng = np.random.default_rng(0)
    x, noise = np.arange(64.0), rng.integers(0, 8, size=64) / 8
    far, near = plain(criterion, x, noise + 2.0**40), plain("squared_error", x, noise)
    tree = grow(far)
    np.testing.assert_array_equal(tree.value[tree.leaf_of_row, 0, 0], far.y[:, 0])
    if criterion == "squared_error":
        np.testing.assert_array_equal(tree.threshold, grow(near).threshold)


def test_two_outputs_of_very_different_size_are_both_kept():
    y = np.stack([np.arange(6.0) * 1e-9, np.arange(6.0)[::-1] + 1e9], axis=1)
    tree = grow(numbers_sample(np.arange(6.0)[:, None], y, "squared_error"))
    np.testing.assert_array_equal(tree.value[tree.leaf_of_row, :, 0], y)


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("is_category", [False, True])
def test_no_leaf_predicts_a_poisson_rate_of_zero_by_rounding(n_outputs, is_category):
    x = np.array([4.0, 2.0, 1.0, 3.0, 7.0, 6.0, 0.0, 5.0])
    y = np.stack([np.array([1.0, 2.0, 2.0, 3.0, 0.0, 0.0, 2.0, 0.0])] * n_outputs, axis=1)
    weight = np.array([1.3, 0.7, 0.3, 0.2, 1.7, 1.8, 1.3, 1.5])
    sample = replace(
        numbers_sample(x[:, None], y, "poisson", weight), n_categories=(8 if is_category else 0,)
    )
    tree = grow_and_check(sample)
    assert (tree.value > 0.01).all()


# ------------------------------------------------------------------------------------- candidates


def test_candidates_are_the_splits_that_were_compared():
    X = np.array([[1, 5], [2, 5], [2, 6], [3, 7], [3, 7], [4, 8]], float)
    sample = numbers_sample(X, np.array([0, 1, 0, 1, 0, 1]), "gini")
    tree = grow(sample, Settings(max_depth=1))
    assert tree.n_candidates.tolist() == [3 + 3, 0, 0]
    limited = grow(sample, Settings(max_depth=1, min_samples_leaf=2))
    assert limited.n_candidates[0] == 1 + 2


def test_all_sets_of_categories_of_three_classes_are_candidates():
    x, y = np.arange(12.0) % 4, np.arange(12) % 3
    sample = replace(plain("gini", x, y), n_categories=(4,))
    assert grow(sample, Settings(max_depth=1)).n_candidates[0] == 2**3 - 1


# -------------------------------------------------------------------------------- threads, stopping


def test_trees_grown_side_by_side_are_those_grown_alone():
    rng = np.random.default_rng(0)
    sample = numbers_sample(rng.normal(size=(500, 6)), rng.integers(0, 3, size=500), "entropy")
    task, limits = task_of(sample), core_settings(Settings(max_features=2), 6)
    alone = [task.grow(limits, None, 1, stream) for stream in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda stream: task.grow(limits, None, 1, stream), range(8)))
    for one, other in zip(alone, together, strict=True):
        assert_same_bits(one, other)


def test_arrays_of_a_tree_outlive_it():
    sample = numbers_sample(np.arange(500.0)[:, None], np.arange(500) % 7, "gini")
    views = {
        name: (getattr(grow(sample), name), getattr(grow(sample), name).copy()) for name in FIELDS
    }
    for name, (view, copy) in views.items():
        np.testing.assert_array_equal(view, copy, name)


def test_a_task_outlives_what_it_was_made_from():
    rng = np.random.default_rng(0)
    sample = numbers_sample(rng.normal(size=(200, 3)), rng.normal(size=200), "squared_error")
    expected = grow(sample)
    task = task_of(sample, table_of(sample))
    y = sample.y.copy()
    sample.y[:] = 0.0
    again = task.grow(core_settings(Settings(), 3), None, 0, 0)
    sample.y[:] = y
    assert_same_bits(expected, again)


@pytest.mark.parametrize("max_leaf_nodes", [None, 1000])
def test_a_growth_that_must_stop_leaves_a_whole_tree(max_leaf_nodes):
    rng = np.random.default_rng(0)
    n = 200_000
    sample = numbers_sample(rng.normal(size=(n, 4)), rng.integers(0, 2, size=n), "gini")
    task = task_of(sample)
    settings = core_settings(Settings(max_leaf_nodes=max_leaf_nodes), 4)
    token = _core.system.StopToken(None, False)
    token.stop()
    before = _core.system.exchange_stop_token(token)
    try:
        tree = task.grow(settings, None, 0, 0)
    finally:
        _core.system.exchange_stop_token(before)
    assert tree.was_stopped
    assert len(tree.feature) < n
    is_leaf = tree.children_left < 0
    np.testing.assert_array_equal(is_leaf, tree.feature < 0)
    assert is_leaf[tree.leaf_of_row].all()
    np.testing.assert_array_equal(
        np.bincount(tree.leaf_of_row, minlength=len(is_leaf))[is_leaf], tree.n_node_samples[is_leaf]
    )
    assert not task.grow(core_settings(Settings(max_depth=1), 4), None, 0, 0).was_stopped
