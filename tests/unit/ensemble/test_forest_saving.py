"""Forests in files: small, equal, and refused if they were tampered with."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_digits, make_friedman1

import hedgerow
import hedgerow.ensemble
from hedgerow._base.state import StateError, dump_state, load_state
from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.errors import ParameterError
from hedgerow.tree._categories import Categories

DIGITS = load_digits(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
FRIEDMAN = make_friedman1(1000, noise=1.0, random_state=0)


def with_categories():
    """A table with names, categories and missing values."""
    random = np.random.default_rng(0)
    kinds = np.array([f"kind {k:03d}" for k in range(90)])[random.integers(90, size=600)]
    height = np.where(random.random(600) < 0.2, np.nan, random.random(600))
    return pd.DataFrame({"kind": pd.Categorical(kinds), "height": height}), np.char.endswith(
        kinds, "3"
    )


CASES = [
    (RandomForestClassifier(20, random_state=0), DIGITS),
    (RandomForestClassifier(20, random_state=0, oob_score=True, voting="hard"), CANCER),
    (BalancedRandomForestClassifier(20, random_state=0, oob_score=True), CANCER),
    (RandomForestRegressor(20, random_state=0, oob_score=True, max_samples=0.5), FRIEDMAN),
    (ExtraTreesRegressor(20, random_state=0), (FRIEDMAN[0], np.c_[FRIEDMAN[1], FRIEDMAN[1] ** 2])),
    (RandomForestClassifier(20, random_state=0, oob_score="roc_auc"), with_categories()),
    (RandomForestClassifier(5, random_state=0), (CANCER[0], np.c_[CANCER[1], CANCER[1] * 2 + 1])),
]


def same_answers(a, b, X):
    """Whether two forests agree to the bit in all that can be asked of them."""
    assert np.array_equal(a.predict(X), b.predict(X))
    assert np.array_equal(a.apply(X), b.apply(X))
    assert np.array_equal(a.feature_importances_, b.feature_importances_)
    assert all(map(np.array_equal, a.estimators_samples_, b.estimators_samples_))
    assert hasattr(a, "oob_") == hasattr(b, "oob_")
    if hasattr(a, "oob_"):
        assert repr(a.oob_) == repr(b.oob_)
        assert np.array_equal(a.oob_.prediction, b.oob_.prediction, equal_nan=True)
        assert a.oob_.measure("vote_error") == b.oob_.measure("vote_error")
    return True


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(("forest", "data"), CASES)
def test_a_forest_comes_back_from_its_file_as_it_was(forest, data, tmp_path):
    forest.fit(*data)
    hedgerow.save(forest, tmp_path / "forest.hedge")
    loaded = hedgerow.load(tmp_path / "forest.hedge")
    assert same_answers(forest, loaded, data[0])
    assert loaded.get_params() == forest.get_params()
    assert loaded.status_ == "grown"


@pytest.mark.parametrize("take", [copy.deepcopy, lambda forest: pickle.loads(pickle.dumps(forest))])
def test_a_copy_is_equal_and_its_growth_leaves_the_original_alone(take):
    X, y = CANCER
    forest = RandomForestClassifier(5, random_state=0, warm_start=True).fit(X, y)
    before = forest.predict_proba(X)
    taken = take(forest)
    assert same_answers(forest, taken, X)
    taken.set_params(n_estimators=8).fit(X, y)
    assert (len(forest), len(taken)) == (5, 8)
    assert np.array_equal(forest.predict_proba(X), before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("RandomForestClassifier", DIGITS),
        ("RandomForestClassifier", CANCER),
        ("RandomForestRegressor", FRIEDMAN),
        ("ExtraTreesClassifier", DIGITS),
    ],
)
def test_a_file_is_at_most_a_quarter_of_scikit_learns_pickle(name, data, dtype, tmp_path):
    X, y = data[0].astype(dtype), data[1]
    ours = getattr(hedgerow.ensemble, name)(100, random_state=0).fit(X, y)
    theirs = getattr(sklearn.ensemble, name)(100, random_state=0).fit(X, y)
    hedgerow.save(ours, tmp_path / "forest.hedge")
    assert (tmp_path / "forest.hedge").stat().st_size <= len(pickle.dumps(theirs)) / 4


def test_a_forest_loads_in_a_process_that_has_not_imported_forests(tmp_path):
    hedgerow.save(RandomForestClassifier(2, random_state=0).fit(*CANCER), tmp_path / "forest.hedge")
    code = f"import hedgerow; print(len(hedgerow.load({str(tmp_path / 'forest.hedge')!r})))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2"


def test_a_forest_with_a_function_for_a_metric_cannot_be_saved(tmp_path):
    forest = RandomForestClassifier(60, random_state=0, oob_score=lambda y, p: np.mean(y == p))
    with pytest.raises(ParameterError, match="oob_score"):
        hedgerow.save(forest.fit(*CANCER), tmp_path / "forest.hedge")


# ------------------------------------------------------------------------------------ forged files


def state_of_a_forest():
    """The JSON and arrays of a small forest."""
    forest = RandomForestClassifier(60, random_state=0, oob_score=True).fit(*CANCER)
    state, arrays = dump_state(forest)
    return state, {name: array.copy() for name, array in arrays.items()}


STATE, ARRAYS = state_of_a_forest()
PARTS = [name for name, array in ARRAYS.items() if ".trees_.parts" in name and array.size]


def test_the_state_of_a_forest_is_a_forest():
    assert len(load_state(STATE, ARRAYS)) == 60


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_packed_trees_of_another_length_are_refused(name, change):
    array = ARRAYS[name]
    changed = array[:-1] if change == "shorter" else np.append(array, array[-1:])
    with pytest.raises(StateError):
        load_state(STATE, ARRAYS | {name: changed.astype(array.dtype)})


@pytest.mark.parametrize("part", ["n_categories", "begins"])
@pytest.mark.parametrize("count", [-1, 2**31, 2**63 - 1, -(2**63)])
def test_counts_of_packed_trees_that_the_core_could_not_add_to_are_refused(part, count):
    parts = dict(RandomForestClassifier(2, random_state=0).fit(*CANCER).trees_.parts)
    parts[part] = np.full_like(parts[part], count)
    with pytest.raises(ValueError, match=f"{part} has counts that are not from 0 to 2147483647"):
        PackedTrees(parts)


@pytest.mark.parametrize("name", PARTS)
def test_packed_trees_of_any_other_content_are_refused_or_answer_within_bounds(name):
    random = np.random.default_rng(0)
    array = ARRAYS[name]
    for _ in range(20):
        changed = array.copy()
        raw = changed.view(np.uint8).reshape(-1)
        places = random.integers(raw.size, size=3)
        raw[places] = random.integers(256, size=3)
        try:
            forest = load_state(STATE, ARRAYS | {name: changed})
        except StateError:
            continue
        assert forest.predict_proba(CANCER[0]).shape == (569, 2)
        assert forest.estimators_[0].predict(CANCER[0]).shape == (569,)


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("category_columns_", Categories(29, np.empty(0, dtype=np.int64), ())),
        ("classes_", np.array([0, 1, 2])),
        ("status_", 3),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(part, changed):
    forest = RandomForestClassifier(3, random_state=0).fit(*CANCER)
    setattr(forest, part, changed)
    with pytest.raises(StateError, match=part):
        dump_state(forest)
