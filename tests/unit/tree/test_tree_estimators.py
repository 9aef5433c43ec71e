"""Single trees as estimators: parameters, targets, weights."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import tree as theirs
from sklearn.base import clone

from hedgerow import (
    DataError,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ParameterError,
)
from hedgerow._base.state import dump_state, load_state
from tests.fitted_trees import DIABETES, IRIS, PROGRESS, SPECIES, TREES, assert_same, table

# ----------------------------------------------------------------------------- against scikit-learn


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy"},
        {"criterion": "log_loss", "max_depth": 3},
        {"max_leaf_nodes": 6},
        {"min_samples_leaf": 5},
        {"min_samples_leaf": 0.04},
        {"min_samples_split": 0.2},
        {"min_weight_fraction_leaf": 0.1},
        {"min_impurity_decrease": 0.02},
        {"ccp_alpha": 0.01},
        {"class_weight": {0: 3.0}},
    ],
    ids=str,
)
def test_a_tree_for_classes_is_as_large_and_as_good_as_scikit_learns(parameters):
    ours = DecisionTreeClassifier(**parameters).fit(IRIS, SPECIES)
    peer = theirs.DecisionTreeClassifier(random_state=0, **parameters).fit(IRIS, SPECIES)
    assert ours.score(IRIS, SPECIES) == peer.score(IRIS, SPECIES)
    assert ours.get_n_leaves() == peer.get_n_leaves()
    assert ours.status_ == "grown"
    assert_allclose(ours.tree_.impurity[0], peer.tree_.impurity[0], rtol=1e-12)
    assert ours.tree_.weighted_n_node_samples[0] == peer.tree_.weighted_n_node_samples[0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 4},
        {"criterion": "variance", "max_depth": 4},
        {"criterion": "absolute_error", "max_depth": 4},
        {"criterion": "poisson", "max_depth": 4},
        {"max_leaf_nodes": 12},
        {"min_samples_leaf": 20},
        {"min_impurity_decrease": 30.0},
        {"ccp_alpha": 20.0},
    ],
    ids=str,
)
def test_a_tree_for_values_is_as_large_and_as_good_as_scikit_learns(parameters):
    ours = DecisionTreeRegressor(**parameters).fit(DIABETES, PROGRESS)
    known = parameters | ({"criterion": "squared_error"} if "variance" in str(parameters) else {})
    peer = theirs.DecisionTreeRegressor(random_state=0, **known).fit(DIABETES, PROGRESS)
    assert_allclose(ours.predict(DIABETES), peer.predict(DIABETES), rtol=1e-10)
    assert (ours.get_n_leaves(), ours.get_depth()) == (peer.get_n_leaves(), peer.get_depth())
    assert_allclose(ours.feature_importances_.sum(), 1.0)


def test_names_and_defaults_of_parameters_are_scikit_learns():
    for ours, peer in (
        (DecisionTreeClassifier(), theirs.DecisionTreeClassifier()),
        (DecisionTreeRegressor(), theirs.DecisionTreeRegressor()),
    ):
        known, own = peer.get_params(), ours.get_params()
        assert {name: own[name] for name in known} == known
        assert set(own) - set(known) == {"categorical_features", "n_jobs", "max_time"}


# ------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        ("criterion", "gain", "one of 'gini', 'entropy', 'log_loss', 'misclassification'"),
        ("splitter", "worst", "one of 'best', 'random', 'mean', 'median'"),
        ("max_depth", 0, "None or an integer of at least 1"),
        ("min_samples_split", 1, "an integer of at least 2 or a float above 0 and up to 1"),
        ("min_samples_leaf", 1.0, "an integer of at least 1 or a float above 0 and below 1"),
        ("min_weight_fraction_leaf", 0.6, "at most 0.5"),
        ("max_features", "auto", "'sqrt', 'log2'"),
        ("max_features", 0.0, "a float above 0"),
        ("max_leaf_nodes", 1, "an integer of at least 2"),
        ("min_impurity_decrease", -1.0, "of at least 0"),
        ("ccp_alpha", np.inf, "a finite number"),
        ("class_weight", "even", "'balanced', a dictionary"),
        ("monotonic_cst", [2, 0, 0, 0], "-1, 0 or 1"),
        ("categorical_features", "all", "'from_dtype'"),
        ("categorical_features", [0.5], "a list of column names"),
        ("categorical_features", [0, "a"], "a list of column names"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_what_can(parameter, value, expected):
    with pytest.raises(ParameterError) as caught:
        DecisionTreeClassifier(**{parameter: value}).fit(IRIS, SPECIES)
    assert f"{parameter}={value!r} is not allowed in DecisionTreeClassifier" in str(caught.value)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("max_features", "meant"),
    [(None, 4), ("sqrt", 2), ("log2", 2), (3, 3), (9, 4), (0.3, 1), (1.0, 4)],
)
def test_max_features_means_a_number_of_features(max_features, meant):
    model = DecisionTreeClassifier(max_features=max_features, random_state=0).fit(IRIS, SPECIES)
    assert model.max_features_ == meant


def test_without_drawing_features_nothing_is_random():
    for model in (DecisionTreeClassifier(), DecisionTreeClassifier(splitter="median")):
        trees = [clone(model).set_params(random_state=s).fit(IRIS, SPECIES) for s in (0, 1)]
        assert_same(trees[0].tree_, trees[1].tree_)


def test_the_seed_decides_what_is_drawn():
    for drawn in ({"max_features": 1}, {"splitter": "random"}):
        trees = [
            DecisionTreeClassifier(random_state=seed, **drawn).fit(IRIS, SPECIES).tree_
            for seed in (7, 7, 8)
        ]
        assert_same(trees[0], trees[1])
        assert trees[0].node_count != trees[2].node_count or np.any(
            trees[0].threshold != trees[2].threshold
        )


@pytest.mark.parametrize("splitter", ["mean", "median"])
def test_simple_rules_split_where_they_say(splitter):
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    model = DecisionTreeRegressor(splitter=splitter, max_depth=1).fit(X, [0, 0, 1, 1, 1])
    goes_left = model.apply(X) == 1
    middle = X.mean() if splitter == "mean" else np.median(X)
    assert_array_equal(goes_left, X[:, 0] <= middle)


def test_monotonic_constraints_are_obeyed_and_refused_where_they_mean_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = X[:, 0] + 0.5 * random.normal(size=300)
    grid = np.column_stack([np.linspace(-3, 3, 60), np.zeros(60)])
    for sign in (1, -1):
        values = DecisionTreeRegressor(monotonic_cst=[sign, 0]).fit(X, sign * y).predict(grid)
        classes = DecisionTreeClassifier(monotonic_cst=[sign, 0]).fit(X, sign * y > 0)
        for curve in (values, classes.predict_proba(grid)[:, 1]):
            assert (sign * np.diff(curve) >= 0).all()
            assert np.ptp(curve) > 0
    free = DecisionTreeRegressor().fit(X, y).predict(grid)
    assert (np.diff(free) < 0).any()
    with pytest.raises(
        ParameterError, match="monotonic_cst has shape 3 but the input data X has 2"
    ):
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0]).fit(X, y)
    with pytest.raises(DataError, match="not supported with multiple outputs"):
        DecisionTreeRegressor(monotonic_cst=[1, 0]).fit(X, np.column_stack([y, y]))
    with pytest.raises(DataError, match="not supported with multiclass classification"):
        DecisionTreeClassifier(monotonic_cst=[1, 0, 0, 0]).fit(IRIS, SPECIES)
    frame, kinds = table()
    with pytest.raises(ParameterError, match="constrains column 1, whose categories have no order"):
        DecisionTreeClassifier(monotonic_cst=[0, 1]).fit(frame, kinds)


# ----------------------------------------------------------------------------- targets and weights


@pytest.mark.parametrize("cls", TREES)
def test_a_weight_of_two_is_a_row_given_twice_and_one_of_zero_none(cls):
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(120, 3)), random.integers(0, 3, size=120)
    y = random.normal(size=120) if cls is DecisionTreeRegressor else random.integers(3, size=120)
    weighted = cls(max_depth=6).fit(X, y, sample_weight=weights)
    repeated = cls(max_depth=6).fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
    assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert_array_equal(weighted.tree_.threshold, repeated.tree_.threshold)
    assert weighted.tree_.n_node_samples[0] == np.count_nonzero(weights)


def test_shares_of_rows_are_of_those_with_weight():
    X = np.arange(40.0)[:, None]
    y, weights = np.arange(40) % 2, np.arange(40) < 20
    few = DecisionTreeClassifier(min_samples_leaf=0.5).fit(X, y, sample_weight=weights)
    assert few.tree_.n_node_samples[few.tree_.is_leaf].min() >= 10
    alone = DecisionTreeClassifier(min_samples_leaf=0.5).fit(X[:20], y[:20])
    assert_array_equal(few.tree_.threshold, alone.tree_.threshold)


def test_balanced_classes_weigh_the_same():
    y = SPECIES > 1
    model = DecisionTreeClassifier(class_weight="balanced", max_depth=1).fit(IRIS, y)
    assert_allclose(model.tree_.value[0, 0], [0.5, 0.5])
    assert_allclose(model.tree_.weighted_n_node_samples[0], len(y))
    given = DecisionTreeClassifier(class_weight={False: 0.75, True: 1.5}, max_depth=1).fit(IRIS, y)
    assert_allclose(given.tree_.value, model.tree_.value)


def test_several_outputs_of_classes_have_their_own_classes():
    Y = np.column_stack([SPECIES, np.where(SPECIES == 2, 7, 3)])
    model = DecisionTreeClassifier().fit(IRIS, Y)
    assert [classes.tolist() for classes in model.classes_] == [[0, 1, 2], [3, 7]]
    assert model.n_classes_.tolist() == [3, 2]
    assert model.n_outputs_ == 2
    assert_array_equal(model.predict(IRIS), Y)
    assert [shares.shape for shares in model.predict_proba(IRIS)] == [(150, 3), (150, 2)]
    assert [logs.max() for logs in model.predict_log_proba(IRIS)] == [0.0, 0.0]
    again = load_state(*dump_state(model))
    assert_array_equal(again.predict(IRIS), Y)


def test_labels_of_several_outputs_may_be_text_of_different_lengths():
    Y = [["a", "long words"], ["b", "no"], ["a", "no"]]
    model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], Y)
    assert model.predict([[0.0], [1.0], [2.0]]).tolist() == Y
    frame = pl.DataFrame({"one": [0, 1, 1], "two": [5, 5, 6]})
    assert DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], frame).n_classes_.tolist() == [2, 2]


def test_class_weights_of_several_outputs_are_multiplied():
    Y = np.column_stack([SPECIES > 0, SPECIES > 1])
    listed = [{False: 2.0, True: 1.0}, {False: 1.0, True: 3.0}]
    model = DecisionTreeClassifier(class_weight=listed, max_depth=1).fit(IRIS, Y)
    assert model.tree_.weighted_n_node_samples[0] == 50 * 2 + 50 * 1 + 50 * 3
    with pytest.raises(DataError, match="one dictionary for 2 outputs"):
        DecisionTreeClassifier(class_weight=listed[0]).fit(IRIS, Y)
    with pytest.raises(DataError, match="has 2 dictionaries for 1 outputs"):
        DecisionTreeClassifier(class_weight=listed).fit(IRIS, SPECIES > 0)


def test_several_outputs_of_values_are_split_together():
    Y = np.column_stack([PROGRESS, DIABETES[:, 2]])
    model = DecisionTreeRegressor().fit(DIABETES, Y)
    assert_allclose(model.predict(DIABETES), Y)
    one = DecisionTreeRegressor().fit(DIABETES, PROGRESS[:, None])
    assert one.predict(DIABETES).shape == PROGRESS.shape


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (DecisionTreeClassifier(), np.linspace(0, 1, 3), "use DecisionTreeRegressor"),
        (DecisionStump(), np.linspace(0, 1, 3), r"use DecisionTreeRegressor\(max_depth=1\)"),
        (DecisionTreeClassifier(), [0, 1], "X has 3 rows but y has 2 labels"),
        (DecisionTreeClassifier(), [[0, 1], [1, 0]], "X has 3 rows but y has 2"),
        (DecisionTreeClassifier(), None, "requires y to be passed"),
        (DecisionTreeClassifier(), [0, None, 1], "y contains None at row 1"),
        (DecisionTreeRegressor(), [0.0, np.nan, 1.0], "y is nan at row 1"),
        (DecisionTreeRegressor(), ["a", "b", "c"], "y holds 'a' at row 0"),
        (DecisionTreeRegressor(criterion="poisson"), [1, -1, 2], "negative.*row 1 has -1"),
        (DecisionTreeRegressor(criterion="poisson"), [0, 0, 0], "Sum of y is not positive"),
        (DecisionTreeClassifier(class_weight={0: 0.0}), [0, 0, 0], "leaves no row any weight"),
    ],
)
def test_targets_that_cannot_be_used_are_refused(estimator, y, message):
    with pytest.raises(DataError, match=message):
        estimator.fit([[0.0], [1.0], [2.0]], y)


def test_a_fit_that_is_refused_leaves_the_model_as_it_was():
    model = DecisionTreeClassifier().fit(IRIS, SPECIES)
    before = model.tree_
    with pytest.raises(DataError):
        model.fit(IRIS[:, :2], SPECIES[:-1])
    with pytest.raises(ParameterError):
        model.set_params(monotonic_cst=[0]).fit(IRIS[:, :2], SPECIES > 1)
    assert model.tree_ is before
    assert model.n_features_in_ == 4
    new = DecisionTreeClassifier(monotonic_cst=[0])
    with pytest.raises(ParameterError):
        new.fit(IRIS, SPECIES > 1)
    assert not hasattr(new, "n_features_in_")


def test_one_class_is_one_leaf():
    model = DecisionTreeClassifier().fit(IRIS, np.full(150, "oak"))
    assert model.get_n_leaves() == 1
    assert model.predict(IRIS[:1]).tolist() == ["oak"]
    assert model.feature_importances_.tolist() == [0.0] * 4
