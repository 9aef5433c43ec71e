"""A forest as a selector of features."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline

import hedgerow
from hedgerow.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    SelectFromForest,
)
from hedgerow.errors import DataError, ParameterError, UnavailableError

IRIS = load_iris(as_frame=True)
FRIEDMAN = make_friedman1(300, n_features=9, random_state=0)


def twins(n_rows=300, seed=0):
    """Two features that matter, the first there in four nearly equal copies, and noise."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n_rows))
    copies = {f"a{k}": a + random.normal(0, 0.05, n_rows) for k in range(4)}
    noise = {f"n{k}": random.normal(size=n_rows) for k in range(4)}
    return pd.DataFrame({**copies, "b": b, **noise}), (a + 0.7 * b > 0).astype(int)


def small(**parameters):
    """A selector with few trees."""
    forest = RandomForestClassifier(40)
    return SelectFromForest(**{"estimator": forest, "random_state": 0} | parameters)


# ------------------------------------------------------------------------------- what is kept


def test_features_that_matter_are_kept_and_noise_is_not():
    X, y = FRIEDMAN
    for kind in ("permutation", "impurity_debiased"):
        selector = SelectFromForest(kind=kind, random_state=0).fit(X, y)
        assert isinstance(selector.estimator_, RandomForestRegressor)
        assert selector.get_support()[:5].all()
        assert np.count_nonzero(selector.get_support()[5:]) <= 1
        found = selector.importances_
        assert np.array_equal(selector.get_support(), found.values > 2 * found.standard_error)
        assert np.array_equal(selector.threshold_, 2 * found.standard_error)


@pytest.mark.parametrize(
    ("threshold", "least"),
    [
        (None, lambda v: v.mean()),
        ("mean", lambda v: v.mean()),
        ("median", np.median),
        ("1.25*mean", lambda v: 1.25 * v.mean()),
        ("0.1 * median", lambda v: 0.1 * np.median(v)),
        (0.2, lambda _: 0.2),
        (-np.inf, lambda _: -np.inf),
    ],
)
@pytest.mark.parametrize("max_features", [None, 2, lambda X: X.shape[1] - 1])
def test_thresholds_mean_what_they_mean_in_scikit_learn(threshold, least, max_features):
    X, y = IRIS.data, IRIS.target
    ours = small(kind="impurity", threshold=threshold, max_features=max_features).fit(X, y)
    values = ours.importances_.values
    assert ours.threshold_ == pytest.approx(least(values))
    theirs = SelectFromModel(
        ours.estimator_, threshold=threshold, max_features=max_features, prefit=True
    ).fit(X, y)
    assert np.array_equal(ours.get_support(), theirs.get_support())
    assert np.array_equal(ours.get_support(indices=True), theirs.get_support(indices=True))


def test_standard_errors_can_be_asked_for_of_any_kind():
    selector = small(kind="impurity", threshold="3*standard_error").fit(IRIS.data, IRIS.target)
    found = selector.importances_
    assert np.array_equal(selector.support_, found.values > 3 * found.standard_error)


def test_of_correlated_features_one_is_kept_and_says_for_whom_it_stands():
    X, y = twins()
    selector = small(one_of_each=True).fit(X, y)
    kept = selector.get_feature_names_out().tolist()
    assert sum(name.startswith("a") for name in kept) == 1
    assert "b" in kept
    first = kept[0]
    assert selector.left_out_ == {name: first for name in X.columns[:4] if name != first}
    values = selector.importances_.values[:4]
    assert X.columns[np.argmax(values)] == first
    groups = selector.group_importances_
    assert groups.names.tolist()[:2] == ["a0 + a1 + a2 + a3", "b"]
    assert groups.values[0] > 2 * values.max()
    assert selector.importances_.correlated == (("a0", "a1", "a2", "a3"),)


def test_a_group_matters_where_none_of_its_features_seems_to():
    X, y = twins()
    copies = pd.DataFrame({f"a{k}": X["a0"] + 1e-9 * k for k in range(30)})
    table = pd.concat([copies, X[["b"]]], axis=1)
    forest = RandomForestClassifier(20, max_depth=3)
    alone = small(estimator=forest, threshold=0.05).fit(table, y)
    together = small(estimator=forest, threshold=0.05, one_of_each=True).fit(table, y)
    assert not alone.support_[:30].any()
    assert np.count_nonzero(together.support_[:30]) == 1
    assert len(together.left_out_) == 29


def test_how_strongly_features_must_be_correlated_can_be_said():
    selector = small(one_of_each=0.99).fit(IRIS.data, IRIS.target)
    assert selector.left_out_ == {}
    strict = small(one_of_each=0.5).fit(IRIS.data, IRIS.target)
    assert len(strict.left_out_) == 2
    plain = small().fit(IRIS.data, IRIS.target)
    assert plain.left_out_ == {}
    assert not hasattr(plain, "group_importances_")
    again = small(one_of_each=True).fit(IRIS.data, IRIS.target).set_params(one_of_each=False)
    assert not hasattr(again.fit(IRIS.data, IRIS.target), "group_importances_")


@pytest.mark.parametrize("kind", ["impurity", "occurrences", "node_average", "impurity_debiased"])
def test_one_of_each_works_by_every_kind(kind):
    X, y = twins()
    selector = small(kind=kind, one_of_each=True, max_features=2).fit(X, y)
    kept = selector.get_feature_names_out().tolist()
    assert len(kept) <= 2
    assert kept[0].startswith("a")
    assert set(selector.left_out_.values()) == {kept[0]}


def test_a_correlated_feature_whose_group_is_not_important_has_no_stand_in():
    X, y = twins()
    X = X.assign(m0=2 * X["n0"])
    selector = small(one_of_each=True, threshold=0.05).fit(X, y)
    assert "n0" not in selector.left_out_
    assert "m0" not in selector.left_out_
    assert ("n0", "m0") in selector.importances_.correlated


def test_nothing_kept_is_warned_of():
    selector = small(threshold=np.inf).fit(IRIS.data, IRIS.target)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(IRIS.data).shape == (150, 0)


# ------------------------------------------------------------------------------------- tables


def test_every_kind_of_table_comes_back_as_what_it_is():
    X, y = IRIS.data, IRIS.target
    selector = small(max_features=2, threshold=-np.inf).fit(X, y)
    kept = selector.get_feature_names_out().tolist()
    assert kept == X.columns[selector.support_].tolist()
    pd.testing.assert_frame_equal(selector.transform(X), X[kept])
    odd = X.set_index(X.index[::-1])
    pd.testing.assert_frame_equal(selector.transform(odd), odd[kept])
    frame = pl.from_pandas(X)
    assert selector.transform(frame).equals(frame[kept])
    table = pa.table(X)
    assert selector.transform(table).equals(table.select(kept))
    columns = {name: X[name].to_numpy() for name in X.columns}
    assert list(selector.transform(columns)) == kept


def test_arrays_keep_their_type_and_sparse_matrices_their_format():
    X, y = IRIS.data.to_numpy(), IRIS.target.to_numpy()
    selector = small(max_features=2, threshold=-np.inf).fit(X, y)
    expected = X[:, selector.support_]
    assert np.array_equal(selector.transform(X), expected)
    assert selector.transform(X.astype(np.float32)).dtype == np.float32
    assert np.array_equal(selector.transform(X.tolist()), expected)
    for kind, form in ((sp.csr_array, "csr"), (sp.csc_array, "csc"), (sp.coo_array, "csr")):
        found = small(max_features=2, threshold=-np.inf).fit(kind(X), y).transform(kind(X))
        assert found.format == form
        assert np.array_equal(found.toarray(), expected)
    back = selector.inverse_transform(expected)
    assert np.array_equal(back[:, selector.support_], expected)
    assert not back[:, ~selector.support_].any()


def test_categories_and_gaps_are_kept_as_they_are():
    random = np.random.default_rng(0)
    kind = np.array(["oak", "elm", "ash"])[random.integers(3, size=200)]
    height = np.where(random.random(200) < 0.2, np.nan, random.random(200))
    table = pd.DataFrame(
        {"noise": random.random(200), "kind": pd.Categorical(kind), "height": height}
    )
    selector = small().fit(table, (kind == "oak") ^ np.isnan(height))
    pd.testing.assert_frame_equal(selector.transform(table), table[["kind", "height"]])


def test_set_output_is_obeyed():
    X, y = IRIS.data, IRIS.target
    selector = small(max_features=2, threshold=-np.inf).fit(X, y)
    names = selector.get_feature_names_out().tolist()
    found = selector.set_output(transform="polars").transform(X)
    assert isinstance(found, pl.DataFrame)
    assert found.columns == names
    nameless = small(max_features=1, threshold=-np.inf).set_output(transform="pandas")
    found = nameless.fit_transform(X.to_numpy(), y)
    assert isinstance(found, pd.DataFrame)
    assert found.columns[0] in {"x2", "x3"}


def test_columns_that_are_not_those_of_fit_are_refused():
    selector = small().fit(IRIS.data, IRIS.target)
    with pytest.raises(DataError, match="3 features"):
        selector.transform(IRIS.data.to_numpy()[:, :3])
    with pytest.raises(DataError, match="another order"):
        selector.transform(IRIS.data[IRIS.data.columns[::-1]])
    with pytest.raises(NotFittedError):
        small().transform(IRIS.data)


def test_it_works_in_a_pipeline_before_a_machine():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(small(one_of_each=True), hedgerow.SVC(scale="standard"))
    assert model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.9
    assert model[0].support_.sum() < 25


# -------------------------------------------------------------------------------------- fitting


def test_a_forest_that_is_fitted_is_taken_as_it_is():
    X, y = IRIS.data, IRIS.target
    forest = RandomForestClassifier(40, random_state=0).fit(X, y)
    selector = SelectFromForest(forest, prefit=True, random_state=0).fit(X, y)
    assert selector.estimator_ is forest
    expected = forest.importances("permutation", X, y, random_state=0)
    assert np.array_equal(selector.importances_.values, expected.values)
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(NotFittedError, match="needs a fitted forest"):
        SelectFromForest(RandomForestClassifier(), prefit=True).fit(X, y)
    with pytest.raises(NotFittedError, match="needs a fitted forest"):
        SelectFromForest(prefit=True).fit(X, y)
    by_tree = SelectFromForest(forest, prefit=True, kind="impurity").fit(X[:20])
    assert np.array_equal(by_tree.importances_.values, forest.feature_importances_)


def test_a_seed_seeds_the_forest_and_the_shuffling():
    X, y = IRIS.data, IRIS.target
    first, second = small().fit(X, y), small().fit(X, y)
    assert np.array_equal(first.importances_.values, second.importances_.values)
    other = small(random_state=1).fit(X, y)
    assert not np.array_equal(first.importances_.values, other.importances_.values)
    assert first.estimator.random_state is None


def test_weights_and_groups_of_rows_go_to_the_forest():
    X, y = IRIS.data, IRIS.target
    weights, groups = np.linspace(1, 2, 150), np.arange(150) // 2
    selector = small().fit(X, y, weights, oob_group=groups)
    forest = clone(selector.estimator_).fit(X, y, weights, oob_group=groups)
    found = forest.importances("permutation", X, y, random_state=0, sample_weight=weights)
    assert np.array_equal(selector.importances_.values, found.values)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "gain"}, "kind='gain'"),
        ({"threshold": "mode"}, "threshold='mode'"),
        ({"threshold": "x*mean"}, "1.25"),
        ({"one_of_each": 2.0}, "one_of_each=2.0"),
        ({"max_features": 9}, "max_features is 9 but X has 4"),
        ({"max_features": lambda _: -1}, "max_features is -1"),
        ({"estimator": TheirForest()}, "a forest, such as"),
        ({"n_repeats": 0}, "n_repeats=0"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_what_it_must_be(parameters, message):
    with pytest.raises(ParameterError, match=message):
        small(**parameters).fit(IRIS.data, IRIS.target)


def test_a_forest_that_leaves_no_row_out_is_refused_and_y_must_be_given():
    with pytest.raises(UnavailableError, match="bootstrap=True"):
        small(estimator=ExtraTreesClassifier(5)).fit(IRIS.data, IRIS.target)
    with pytest.raises(DataError, match="requires y"):
        small().fit(IRIS.data)


# ----------------------------------------------------------------------------- stopping and files


def endless():
    """A selector whose fit does not end by itself, and rows for it."""
    random = np.random.default_rng(0)
    return (
        SelectFromForest(RandomForestClassifier(10**9), random_state=0, one_of_each=True),
        random.random((1000, 10)),
        random.integers(2, size=1000),
    )


def test_time_is_shared_out_between_the_forest_and_its_importances():
    selector, X, y = endless()
    began = time.monotonic()
    selector.set_params(max_time=2.0).fit(X, y)
    assert time.monotonic() - began < 3.1
    assert selector.status_ == "time_limit"
    assert selector.estimator_.status_ == "time_limit"
    assert selector.importances_.n_trees > 0
    assert selector.support_.shape == (10,)


def test_ctrl_c_leaves_a_selector_that_can_be_used():
    selector, X, y = endless()
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        selector.fit(X, y)
    assert time.monotonic() - pressed[0] < 1.0
    assert selector.status_ == "interrupted"
    assert selector.importances_.n_trees == 0
    assert "had to stop" in selector.importances_.note
    assert np.array_equal(selector.transform(X[:3]), X[:3])


def test_callbacks_hear_of_the_forest_and_of_its_importances():
    steps = []
    selector = small().set_callbacks(steps.append)
    selector.fit(IRIS.data, IRIS.target)
    tasks = {step.path for step in steps}
    assert ("SelectFromForest", "RandomForestClassifier") in tasks
    assert ("SelectFromForest",) in tasks


@pytest.mark.parametrize("one_of_each", [False, True])
def test_a_selector_is_the_same_after_its_file(tmp_path, one_of_each):
    selector = small(one_of_each=one_of_each, threshold="2*standard_error").fit(
        IRIS.data, IRIS.target
    )
    hedgerow.save(selector, tmp_path / "s.hedge")
    loaded = hedgerow.load(tmp_path / "s.hedge")
    pd.testing.assert_frame_equal(loaded.transform(IRIS.data), selector.transform(IRIS.data))
    assert repr(loaded.importances_) == repr(selector.importances_)
    assert loaded.left_out_ == selector.left_out_
    assert np.array_equal(loaded.threshold_, selector.threshold_)
    assert hasattr(loaded, "group_importances_") == one_of_each
