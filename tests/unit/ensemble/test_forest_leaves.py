"""Proximities and the space of leaves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_friedman1

from hedgerow import SVC, LinearSVC
from hedgerow._base import memory as _memory
from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.forest import proximity as _leaves
from hedgerow.errors import DataError, ParameterError, UnavailableError
from tests.reference import forest_answers as slow

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(60, random_state=0)
FORESTS = [
    RandomForestClassifier(7, random_state=0),
    RandomForestClassifier(7, random_state=0, max_depth=2, voting="hard"),
    ExtraTreesClassifier(7, random_state=0),
    BalancedRandomForestClassifier(7, random_state=0),
    RandomForestRegressor(7, random_state=0, min_samples_leaf=5),
    ExtraTreesRegressor(7, random_state=0, ccp_alpha=0.01),
]


def some_iris():
    """Forty rows of three classes."""
    return IRIS[0][::4], IRIS[1][::4]


# ------------------------------------------------------------------------------------- the space


@pytest.mark.parametrize("forest", FORESTS)
def test_a_row_has_a_1_in_the_column_of_its_leaf_in_every_tree(forest):
    X, y = some_iris()
    points = forest.fit(X, y).leaf_embedding(X)
    leaves = [np.flatnonzero(tree.tree_.is_leaf) for tree in forest]
    starts = np.cumsum([0, *map(len, leaves)])
    expected = np.zeros((len(X), starts[-1]))
    for t, of_row in enumerate(forest.apply(X).T):
        for i, leaf in enumerate(of_row):
            expected[i, starts[t] + leaves[t].tolist().index(leaf)] = 1.0
    assert sp.issparse(points)
    assert points.dtype == np.float64
    assert points.has_canonical_format
    assert np.array_equal(points.toarray(), expected)


def test_normalised_points_have_proximities_for_inner_products():
    X, y = some_iris()
    forest = RandomForestClassifier(13, random_state=0).fit(X, y)
    points = forest.leaf_embedding(X, normalize=True)
    assert np.allclose((points @ points.T).toarray(), forest.proximity(X), rtol=1e-14)


def test_a_plane_in_the_space_of_leaves_learns_what_the_forest_knows():
    X, y = IRIS
    forest = ExtraTreesClassifier(30, random_state=0).fit(X[::2], y[::2])
    model = LinearSVC().fit(forest.leaf_embedding(X[::2]), y[::2])
    assert model.score(forest.leaf_embedding(X[1::2]), y[1::2]) > 0.9


# ------------------------------------------------------------------------------------ proximities


@pytest.mark.parametrize("forest", FORESTS)
def test_proximity_is_the_share_of_trees_in_which_two_rows_share_a_leaf(forest):
    X, y = some_iris()
    forest.fit(X, y)
    leaves = forest.apply(X)
    assert np.array_equal(forest.proximity(X), slow.proximity(leaves, leaves))
    assert np.array_equal(forest.proximity(X[:9], X), slow.proximity(leaves[:9], leaves))


def test_proximity_is_symmetric_and_a_row_is_as_close_to_itself_as_can_be():
    shares = RandomForestRegressor(30, random_state=0).fit(*FRIEDMAN).proximity(FRIEDMAN[0])
    assert np.array_equal(shares, shares.T)
    assert np.all(np.diag(shares) == 1.0)
    assert shares.min() >= 0.0


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(5, random_state=0),
        BalancedRandomForestClassifier(5, random_state=0),
        RandomForestRegressor(5, random_state=0, max_samples=0.5),
    ],
)
def test_out_of_bag_only_trees_count_whose_samples_lack_both_rows(forest):
    X, y = some_iris()
    forest.fit(X, y)
    leaves, out = forest.apply(X), slow.left_out(forest, len(X))
    expected = slow.proximity(leaves, leaves, out)
    found = forest.proximity(X, oob=True)
    assert np.isnan(expected).any()
    assert np.allclose(found, expected, rtol=1e-15, equal_nan=True)


def test_rows_of_a_group_are_out_of_the_bag_together():
    X, y = some_iris()
    groups = np.arange(len(X)) // 4
    forest = RandomForestClassifier(40, random_state=0).fit(X, y, oob_group=groups)
    shares = forest.proximity(X, oob=True)
    never = np.isnan(shares)
    assert np.array_equal(never, never[:, np.arange(len(X)) // 4 * 4])


def test_proximity_out_of_bag_of_labels_without_meaning_does_not_see_them():
    random = np.random.default_rng(0)
    X, y = random.standard_normal((150, 5)), random.integers(2, size=150)
    forest = RandomForestClassifier(300, random_state=0).fit(X, y)
    same = (y[:, None] == y) & ~np.eye(150, dtype=bool)

    def excess(shares):
        return np.nanmean(shares[same]) / np.nanmean(shares[y[:, None] != y])

    assert excess(forest.proximity(X)) > 1.3
    assert excess(forest.proximity(X, oob=True)) == pytest.approx(1.0, abs=0.1)


def test_proximities_are_the_same_whatever_the_number_of_threads_and_the_size_of_blocks(
    monkeypatch,
):
    X, y = IRIS
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(X, y)
    ways = [forest.proximity(X), forest.proximity(X, oob=True)]
    forest.n_jobs = 3
    monkeypatch.setattr(_leaves, "_PAIRS_AT_ONCE", 500)
    assert np.array_equal(ways[0], forest.proximity(X))
    assert np.array_equal(ways[1], forest.proximity(X, oob=True), equal_nan=True)


def test_tables_of_any_kind_are_taken():
    X, y = some_iris()
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = RandomForestClassifier(5, random_state=0).fit(frame, y)
    expected = RandomForestClassifier(5, random_state=0).fit(X, y).proximity(X)
    assert np.array_equal(forest.proximity(frame), expected)
    plain = RandomForestClassifier(5, random_state=0).fit(sp.csr_matrix(X), y)
    assert np.array_equal(plain.proximity(sp.csr_matrix(X), X), expected)


def test_a_machine_takes_proximities_for_a_kernel():
    X, y = IRIS
    forest = RandomForestClassifier(50, random_state=0).fit(X[::2], y[::2])
    machine = SVC(kernel="precomputed").fit(forest.proximity(X[::2]), y[::2])
    assert machine.score(forest.proximity(X[1::2], X[::2]), y[1::2]) > 0.9


# --------------------------------------------------------------------------------------- refusals


def test_more_than_the_memory_holds_is_refused_before_any_work(monkeypatch):
    X, y = IRIS
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 150 * 150 * 8 - 1)
    monkeypatch.setattr(forest, "_leaf_table", None)
    with pytest.raises(DataError, match=r"150 and 150 rows takes .* leaf_embedding"):
        forest.proximity(X)


def test_what_just_fits_into_memory_is_made(monkeypatch):
    X, y = IRIS
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setattr(_memory, "available_bytes", lambda: 150 * 150 * 8)
    assert forest.proximity(X).shape == (150, 150)
    monkeypatch.setattr(_memory, "available_bytes", lambda: None)
    assert forest.proximity(X).shape == (150, 150)


def test_the_memory_of_this_machine_is_known_to_be_some():
    available = _memory.available_bytes()
    assert available is None or 2**20 < available < 2**50


def test_a_container_has_what_its_limit_leaves(monkeypatch, tmp_path):
    monkeypatch.setattr(_memory, "_GROUP", tmp_path)
    before = _memory.available_bytes()
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    (tmp_path / "memory.stat").write_text("anon 2500\ninactive_file 400\n")
    assert _memory.available_bytes() == 2400
    (tmp_path / "memory.max").write_text("max\n")
    assert (_memory.available_bytes() is None) == (before is None)


def test_out_of_bag_other_rows_and_forests_that_have_seen_all_are_refused():
    X, y = IRIS
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="leave Y out"):
        forest.proximity(X, X, oob=True)
    with pytest.raises(DataError, match="X has 100 rows and the forest was fitted to 150"):
        forest.proximity(X[:100], oob=True)
    with pytest.raises(UnavailableError, match="every tree has seen every row"):
        ExtraTreesClassifier(5).fit(X, y).proximity(X, oob=True)


def test_a_forest_that_is_not_fitted_says_so():
    for ask in ("proximity", "leaf_embedding"):
        with pytest.raises(ValueError, match="not fitted yet"):
            getattr(RandomForestClassifier(), ask)(IRIS[0])
