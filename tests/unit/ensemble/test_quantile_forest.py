"""Quantile forests: what is kept of targets, and the quantiles and intervals made of it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_friedman1

import hedgerow
from hedgerow._base.state import StateError, dump_state, load_state
from hedgerow.ensemble import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from hedgerow.ensemble.forest import quantiles as _quantiles
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.monitor import keeping_in
from tests.memory_store import CrashError, Memory
from tests.reference import forest_answers as slow

FRIEDMAN = make_friedman1(120, noise=1.0, random_state=0)
COUNTS = FRIEDMAN[0], np.round(FRIEDMAN[1] / 2)
ASKED = [0.0, 0.05, 0.25, 0.5, 0.9, 1.0]
ONES = np.ones(120)

WAYS = {
    "full-grown": {},
    "leaves of five": {"min_samples_leaf": 5},
    "shallow": {"max_depth": 2},
    "stumps": {"max_depth": 1, "n_estimators": 30},
    "one leaf": {"max_depth": 1, "min_samples_leaf": 100},
    "few leaves": {"max_leaf_nodes": 7},
    "pruned": {"ccp_alpha": 0.3},
    "few drawn": {"max_samples": 0.3},
    "medians": {"criterion": "absolute_error", "min_samples_leaf": 4},
    "rates": {"criterion": "poisson", "max_depth": 3},
}


def forest_of(cls, data, sample_weight=None, **parameters):
    """A fitted forest of few trees that keeps its targets."""
    given = {"n_estimators": 9, "random_state": 0, "keep_targets": True} | parameters
    return cls(**given).fit(*data, sample_weight=sample_weight)


# ------------------------------------------------------------------------------ against the slow way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("data", [FRIEDMAN, COUNTS], ids=["continuous", "ties"])
@pytest.mark.parametrize("cls", [RandomForestRegressor, ExtraTreesRegressor])
def test_quantiles_are_those_of_the_targets_in_the_leaves(cls, data, way):
    parameters = WAYS[way] | ({"bootstrap": True} if "max_samples" in WAYS[way] else {})
    forest = forest_of(cls, data, **parameters)
    X = data[0][:25]
    expected = slow.quantiles(forest, (*data, ONES), X, ASKED)
    assert np.array_equal(forest.predict_quantiles(X, ASKED), expected)


@pytest.mark.parametrize("way", ["full-grown", "leaves of five", "one leaf"])
def test_targets_share_the_weight_of_a_tree_by_their_weights(way):
    weights = np.random.default_rng(0).random(120) * (np.arange(120) % 7 > 0)
    forest = forest_of(RandomForestRegressor, COUNTS, weights, **WAYS[way])
    expected = slow.quantiles(forest, (*COUNTS, weights), COUNTS[0], ASKED)
    assert np.array_equal(forest.predict_quantiles(COUNTS[0], ASKED), expected)


@pytest.mark.parametrize("way", ["full-grown", "leaves of five", "one leaf"])
def test_out_of_bag_only_trees_answer_whose_samples_lack_the_row(way):
    forest = forest_of(RandomForestRegressor, FRIEDMAN, n_estimators=4, **WAYS[way])
    X = FRIEDMAN[0]
    out = slow.left_out(forest, 120)
    expected = slow.quantiles(forest, (*FRIEDMAN, ONES), X, ASKED, out)
    assert np.isnan(expected).any()
    assert np.array_equal(forest.predict_quantiles(X, ASKED, oob=True), expected, equal_nan=True)


def test_each_of_several_outputs_has_its_own_quantiles():
    X, y = FRIEDMAN
    both = np.c_[y, COUNTS[1]]
    forest = forest_of(RandomForestRegressor, (X, both), min_samples_leaf=3)
    found = forest.predict_quantiles(X, ASKED)
    assert found.shape == (120, 2, len(ASKED))
    for k in range(2):
        expected = slow.quantiles(forest, (X, both[:, k], ONES), X, ASKED)
        assert np.array_equal(found[:, k], expected)
    assert forest.predict_interval(X).shape == (120, 2, 2)


def test_a_forest_of_one_leaf_knows_the_quantiles_of_its_bootstraps():
    X, y = np.zeros((40, 1)), np.random.default_rng(0).standard_normal(40)
    forest = forest_of(RandomForestRegressor, (X, y), n_estimators=1)
    drawn = np.sort(y[forest.estimators_samples_[0]])
    assert forest.predict_quantiles(X[:1], [0.5])[0, 0] == drawn[19]
    whole = forest_of(ExtraTreesRegressor, (X, y))
    assert np.array_equal(whole.predict_quantiles(X[:1], [0.25, 0.5])[0], np.sort(y)[[9, 19]])


def test_an_interval_leaves_out_as_much_below_as_above():
    forest = forest_of(RandomForestRegressor, FRIEDMAN, min_samples_leaf=5)
    bounds = forest.predict_interval(FRIEDMAN[0], level=0.8)
    expected = forest.predict_quantiles(FRIEDMAN[0], [(1 - 0.8) / 2, (1 + 0.8) / 2])
    assert np.array_equal(bounds, expected)
    assert np.all(bounds[:, 0] < bounds[:, 1])


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_hold_about_as_many_new_targets_as_they_say(level):
    X, y = make_friedman1(1500, noise=2.0, random_state=1)
    new_X, new_y = make_friedman1(1500, noise=2.0, random_state=2)
    forest = RandomForestRegressor(100, min_samples_leaf=5, keep_targets=True, random_state=0).fit(
        X, y
    )

    def share_inside(bounds, targets):
        return np.mean((bounds[:, 0] <= targets) & (targets <= bounds[:, 1]))

    assert share_inside(forest.predict_interval(new_X, level), new_y) == pytest.approx(
        level, abs=0.08
    )
    assert share_inside(forest.predict_interval(X, level, oob=True), y) == pytest.approx(
        level, abs=0.08
    )
    assert share_inside(forest.predict_interval(X, level), y) > level + 0.05


def test_noise_that_grows_with_a_feature_widens_the_interval_there():
    random = np.random.default_rng(0)
    X = random.random((1000, 1))
    y = X[:, 0] * random.standard_normal(1000)
    forest = RandomForestRegressor(50, min_samples_leaf=20, keep_targets=True, random_state=0).fit(
        X, y
    )
    narrow, wide = np.diff(forest.predict_interval([[0.1], [0.9]]))
    assert wide > 4 * narrow


# ----------------------------------------------------------------------------------- what is kept


def test_full_grown_trees_of_different_targets_keep_nothing():
    forest = RandomForestRegressor(20, random_state=0).fit(*FRIEDMAN)
    kept = forest.leaf_targets_
    assert len(kept.cells) == len(kept.ranks) == len(kept.values) == 0
    assert np.isin(forest.predict_quantiles(FRIEDMAN[0]), FRIEDMAN[1]).all()


def test_each_target_of_a_leaf_is_kept_once_with_its_weight():
    X, y = np.zeros((6, 1)), np.array([1.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    kept = ExtraTreesRegressor(2, keep_targets=True).fit(X, y).leaf_targets_
    assert np.array_equal(kept.values, [1.0, 2.0, 3.0])
    assert np.array_equal(kept.sizes, [3, 3])
    assert np.array_equal(kept.ranks, [0, 1, 2] * 2)
    assert np.array_equal(kept.weights, [1, 2, 3] * 2)
    assert kept.weights.dtype == np.uint8
    weighted = ExtraTreesRegressor(2, keep_targets=True).fit(X, y, sample_weight=y)
    assert np.array_equal(weighted.leaf_targets_.weights, [1.0, 4.0, 9.0] * 2)


def test_targets_are_left_if_they_would_take_more_than_the_trees_unless_told_otherwise():
    X, y = FRIEDMAN
    shallow = RandomForestRegressor(5, max_depth=2, random_state=0).fit(X, y)
    with pytest.raises(UnavailableError, match="set keep_targets=True and fit again"):
        shallow.predict_interval(X)
    deep = RandomForestRegressor(5, min_samples_leaf=3, random_state=0).fit(X, y)
    kept = deep.leaf_targets_
    assert sum(getattr(kept, n).nbytes for n in ("cells", "sizes", "ranks", "weights")) > 0
    told = RandomForestRegressor(5, random_state=0, keep_targets=False).fit(X, y)
    with pytest.raises(UnavailableError, match="or was told not to"):
        told.predict_quantiles(X)
    assert not hasattr(told, "leaf_targets_")


def test_forests_for_classes_have_no_intervals():
    forest = RandomForestClassifier(3, random_state=0).fit(FRIEDMAN[0], FRIEDMAN[1] > 14)
    assert not hasattr(forest, "predict_interval")
    assert not hasattr(forest, "predict_quantiles")
    assert "keep_targets" not in forest.get_params()


# ------------------------------------------------------------------------------- any way, the same


def parts(forest):
    """What is kept, as bytes."""
    kept = forest.leaf_targets_
    arrays = (kept.values, kept.tree_ends, kept.cells, kept.sizes, kept.ranks, kept.weights)
    return [(array.dtype.str, array.tobytes()) for array in arrays]


GROWN = [
    RandomForestRegressor(15, random_state=1, min_samples_leaf=5, keep_targets=True),
    RandomForestRegressor(15, random_state=1, min_samples_leaf=3),
    RandomForestRegressor(15, random_state=1, max_features=0.4),
    ExtraTreesRegressor(15, random_state=1, max_depth=3, keep_targets=True),
]


@pytest.mark.parametrize("forest", GROWN)
def test_threads_added_trees_and_crashes_change_no_bit_of_what_is_kept(forest):
    whole = clone(forest).set_params(n_jobs=1).fit(*COUNTS)
    assert parts(clone(forest).set_params(n_jobs=3).fit(*COUNTS)) == parts(whole)
    grown = clone(forest).set_params(warm_start=True, n_estimators=4).fit(*COUNTS)
    assert parts(grown.set_params(n_estimators=15).fit(*COUNTS)) == parts(whole)
    store = Memory(crash_after=6)
    with keeping_in(store), pytest.raises(CrashError):
        clone(forest).fit(*COUNTS)
    store.crash_after = None
    with keeping_in(store):
        assert parts(clone(forest).fit(*COUNTS)) == parts(whole)


def test_trees_that_were_grown_without_are_looked_at_again():
    whole = clone(GROWN[0]).fit(*COUNTS)
    grown = clone(GROWN[0]).set_params(warm_start=True, n_estimators=4, keep_targets=False)
    grown.fit(*COUNTS).set_params(n_estimators=15, keep_targets=True).fit(*COUNTS)
    assert parts(grown) == parts(whole)
    grown.set_params(n_estimators=16, keep_targets=False).fit(*COUNTS)
    assert not hasattr(grown, "leaf_targets_")


def test_what_was_left_with_the_first_tree_is_left_with_all():
    forest = RandomForestRegressor(3, max_depth=2, random_state=0, warm_start=True).fit(*FRIEDMAN)
    forest.set_params(n_estimators=6).fit(*FRIEDMAN)
    assert not hasattr(forest, "leaf_targets_")
    store = Memory(crash_after=2)
    with keeping_in(store), pytest.raises(CrashError):
        RandomForestRegressor(6, max_depth=2, random_state=0).fit(*FRIEDMAN)
    store.crash_after = None
    with keeping_in(store):
        again = RandomForestRegressor(6, max_depth=2, random_state=0).fit(*FRIEDMAN)
    assert not hasattr(again, "leaf_targets_")


def test_other_targets_do_not_go_on_with_those_that_are_kept():
    forest = clone(GROWN[0]).set_params(warm_start=True).fit(*FRIEDMAN)
    with pytest.raises(DataError, match="give the same y"):
        forest.set_params(n_estimators=20).fit(FRIEDMAN[0], FRIEDMAN[1] + 1)


def test_a_forest_cut_short_answers_with_the_trees_it_has():
    forest = RandomForestRegressor(10**6, max_time=0.3, keep_targets=True, max_depth=4).fit(
        *FRIEDMAN
    )
    assert forest.status_ == "time_limit"
    assert len(forest.leaf_targets_.tree_ends) == len(forest)
    tiny = RandomForestRegressor(100, max_time=1e-9, keep_targets=True).fit(*FRIEDMAN)
    assert np.isin(tiny.predict_quantiles(FRIEDMAN[0]), FRIEDMAN[1]).all()


def test_answers_do_not_depend_on_threads_blocks_or_other_rows(monkeypatch):
    X = FRIEDMAN[0]
    forest = forest_of(RandomForestRegressor, COUNTS, min_samples_leaf=4, n_jobs=1)
    whole = forest.predict_quantiles(X, ASKED)
    forest.n_jobs = 3
    monkeypatch.setattr(_quantiles, "_LEAVES_AT_ONCE", 100)
    monkeypatch.setattr(_quantiles, "_TARGETS_AT_ONCE", 50)
    assert np.array_equal(forest.predict_quantiles(X, ASKED), whole)
    assert np.array_equal(np.concatenate([forest.predict_quantiles([x], ASKED) for x in X]), whole)
    sparse = forest_of(RandomForestRegressor, (sp.csr_matrix(X), COUNTS[1]), min_samples_leaf=4)
    assert np.array_equal(sparse.predict_quantiles(sp.csr_matrix(X), ASKED), whole)


def test_both_ways_of_adding_up_weights_agree(monkeypatch):
    forest = forest_of(RandomForestRegressor, COUNTS, max_depth=3, n_estimators=40)
    rows = COUNTS[0]
    by_value = forest.predict_quantiles(rows, ASKED)
    monkeypatch.setattr(_quantiles._Leaves, "_by_value", None)
    with pytest.raises(TypeError):
        forest.predict_quantiles(
            rows, ASKED
        )  # such leaves have more targets than there are distinct ones
    monkeypatch.undo()

    def one_by_one(self, row, asked):
        return self._by_sorting(np.array([row]), asked)[0]

    monkeypatch.setattr(_quantiles._Leaves, "_by_value", one_by_one)
    assert np.array_equal(forest.predict_quantiles(rows, ASKED), by_value)


# ----------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("forest", GROWN)
def test_a_forest_comes_back_from_its_file_with_its_quantiles(forest, tmp_path):
    forest = clone(forest).fit(*COUNTS)
    hedgerow.save(forest, tmp_path / "forest.hedge")
    copies = [
        hedgerow.load(tmp_path / "forest.hedge"),
        pickle.loads(pickle.dumps(forest)),
        copy.deepcopy(forest),
    ]
    expected = forest.predict_quantiles(COUNTS[0], ASKED)
    for each in copies:
        assert parts(each) == parts(forest)
        assert np.array_equal(each.predict_quantiles(COUNTS[0], ASKED), expected)


STATE, ARRAYS = dump_state(clone(GROWN[0]).fit(*COUNTS))
KEPT = [name for name in ARRAYS if ".leaf_targets_." in name]


def test_a_file_holds_what_is_kept():
    assert len(KEPT) == 6
    assert len(load_state(STATE, ARRAYS).leaf_targets_.tree_ends) == 15


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_kept_targets_of_another_length_are_refused(name, change):
    array = ARRAYS[name]
    changed = array[:-1] if change == "shorter" else np.append(array, array[-1:])
    with pytest.raises(StateError):
        load_state(STATE, ARRAYS | {name: changed})


@pytest.mark.parametrize("part", ["tree_ends", "cells", "sizes", "ranks"])
@pytest.mark.parametrize("value", [-1, 10**9])
def test_kept_targets_that_do_not_belong_together_are_refused(part, value):
    name = f"model.leaf_targets_.{part}"
    changed = ARRAYS[name].copy()
    changed[0] = value
    with pytest.raises(StateError):
        load_state(STATE, ARRAYS | {name: changed})


def test_targets_of_a_leaf_must_be_in_their_order():
    name = "model.leaf_targets_.ranks"
    changed = ARRAYS[name].copy()
    changed[:2] = changed[1::-1]
    with pytest.raises(StateError, match="do not belong together"):
        load_state(STATE, ARRAYS | {name: changed})


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_weights_that_are_none_are_refused(weight):
    name = next(each for each in KEPT if each.endswith(".weights"))
    changed = ARRAYS[name].astype(np.float64)
    changed[3] = weight
    with pytest.raises(StateError, match="fit the forest again"):
        load_state(STATE, ARRAYS | {name: changed})


# --------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("asked", [[], 0.5, [1.1], [-0.1], [np.nan], ["a"], [[0.5]], [True]])
def test_what_is_no_quantile_is_refused(asked):
    with pytest.raises(ParameterError, match="numbers between 0 and 1"):
        forest_of(RandomForestRegressor, FRIEDMAN).predict_quantiles(FRIEDMAN[0], asked)


@pytest.mark.parametrize("level", [0, 1, 90, "0.9", None, True])
def test_what_is_no_level_is_refused(level):
    with pytest.raises(ParameterError, match="above 0 and below 1"):
        forest_of(RandomForestRegressor, FRIEDMAN).predict_interval(FRIEDMAN[0], level)


@pytest.mark.parametrize("value", ["yes", None, 1, 0])
def test_what_is_no_way_to_keep_targets_is_refused(value):
    with pytest.raises(ParameterError, match="keep_targets"):
        RandomForestRegressor(2, keep_targets=value).fit(*FRIEDMAN)


def test_out_of_bag_answers_need_the_rows_of_the_fit():
    forest = forest_of(RandomForestRegressor, FRIEDMAN)
    with pytest.raises(DataError, match="the rows of the fit, in their order"):
        forest.predict_interval(FRIEDMAN[0][:10], oob=True)
    with pytest.raises(UnavailableError, match="every tree has seen every row"):
        forest_of(ExtraTreesRegressor, FRIEDMAN).predict_quantiles(FRIEDMAN[0], oob=True)


def test_a_forest_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="not fitted yet"):
        RandomForestRegressor().predict_interval(FRIEDMAN[0])
