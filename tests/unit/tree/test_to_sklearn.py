"""``to_sklearn`` gives scikit-learn's own objects, which predict the same."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_friedman1,
)
from sklearn.inspection import permutation_importance
from sklearn.utils.validation import check_is_fitted

from hedgerow import (
    BalancedRandomForestClassifier,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.errors import UnavailableError
from hedgerow.tree import shap_trees

IRIS, KINDS = load_iris(return_X_y=True)
ROWS, TARGETS = make_friedman1(200, noise=1.0, random_state=0)
TARGETS = np.abs(TARGETS)

CLASSIFIERS = [
    (DecisionTreeClassifier(), "DecisionTreeClassifier"),
    (
        DecisionTreeClassifier(criterion="misclassification", splitter="median"),
        "DecisionTreeClassifier",
    ),
    (DecisionStump(), "DecisionTreeClassifier"),
    (RandomForestClassifier(15, random_state=0), "RandomForestClassifier"),
    (RandomForestClassifier(15, voting="hard", random_state=0), "RandomForestClassifier"),
    (RandomForestClassifier(15, criterion="log_loss", random_state=0), "RandomForestClassifier"),
    (ExtraTreesClassifier(15, random_state=0), "ExtraTreesClassifier"),
    (BalancedRandomForestClassifier(15, random_state=0), "RandomForestClassifier"),
]
REGRESSORS = [
    (DecisionTreeRegressor(min_samples_leaf=3), "DecisionTreeRegressor"),
    (DecisionTreeRegressor(criterion="variance", splitter="random"), "DecisionTreeRegressor"),
    (RandomForestRegressor(15, random_state=0), "RandomForestRegressor"),
    (RandomForestRegressor(15, min_samples_leaf=9, random_state=0), "RandomForestRegressor"),
    (RandomForestRegressor(9, criterion="poisson", random_state=0), "RandomForestRegressor"),
    (RandomForestRegressor(9, criterion="absolute_error", random_state=0), "RandomForestRegressor"),
    (ExtraTreesRegressor(15, random_state=0), "ExtraTreesRegressor"),
]


def theirs_of(name):
    return getattr(sklearn.ensemble, name, None) or getattr(sklearn.tree, name)


@pytest.mark.parametrize(("model", "name"), CLASSIFIERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_classifier_predicts_the_same_bits_also_where_values_are_missing(model, name, dtype):
    rows = IRIS.astype(dtype)
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    model.fit(rows, np.array(["setosa", "versicolor", "virginica"])[KINDS])
    made = model.to_sklearn()
    assert type(made) is theirs_of(name)
    check_is_fitted(made)
    np.testing.assert_array_equal(made.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(made.predict(rows), model.predict(rows))
    np.testing.assert_allclose(made.feature_importances_, model.feature_importances_, atol=1e-12)
    np.testing.assert_array_equal(made.classes_, model.classes_)


@pytest.mark.parametrize(("model", "name"), REGRESSORS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_regressor_predicts_the_same_bits(model, name, dtype):
    rows = ROWS.astype(dtype)
    made = model.fit(rows, TARGETS).to_sklearn()
    assert type(made) is theirs_of(name)
    np.testing.assert_array_equal(made.predict(rows), model.predict(rows))
    np.testing.assert_allclose(made.feature_importances_, model.feature_importances_, atol=1e-12)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(5)], ids=str)
def test_classes_of_several_outputs_are_the_same(model):
    y = np.stack([KINDS, KINDS % 2], axis=1)
    made = model.fit(IRIS, y).to_sklearn()
    for found, expected in zip(made.predict_proba(IRIS), model.predict_proba(IRIS), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(made.predict(IRIS), model.predict(IRIS))
    assert list(made.n_classes_) == [3, 2]


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(5)], ids=str)
def test_numbers_of_several_outputs_are_the_same(model):
    y = np.stack([TARGETS, -TARGETS], axis=1)
    made = model.fit(ROWS, y).to_sklearn()
    np.testing.assert_array_equal(made.predict(ROWS), model.predict(ROWS))
    assert made.n_outputs_ == 2


def test_parameters_and_column_names_come_along():
    table = pd.DataFrame(IRIS, columns=list("abcd"))
    forest = RandomForestClassifier(7, max_depth=3, class_weight="balanced", random_state=4)
    made = forest.fit(table, KINDS).to_sklearn()
    assert made.get_params()["max_depth"] == 3
    assert made.get_params()["class_weight"] == "balanced"
    assert made.feature_names_in_.tolist() == list("abcd")
    assert made.estimators_[0].get_params()["max_depth"] == 3
    assert len(made.estimators_) == made.n_estimators == 7


def test_what_is_known_out_of_bag_comes_along():
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(IRIS, KINDS)
    made = forest.to_sklearn()
    assert made.oob_score_ == forest.oob_score_
    np.testing.assert_array_equal(made.oob_decision_function_, forest.oob_decision_function_)


def test_tools_that_check_the_class_take_the_object():
    tree = DecisionTreeClassifier(max_depth=3).fit(IRIS, KINDS).to_sklearn()
    assert sklearn.tree.export_text(tree).startswith("|--- feature_2 <= 2.45")
    forest = RandomForestRegressor(5, random_state=0).fit(ROWS, TARGETS).to_sklearn()
    found = permutation_importance(forest, ROWS, TARGETS, n_repeats=2, random_state=0)
    assert found.importances_mean[:5].min() > found.importances_mean[5:].max()
    again = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(again.predict(ROWS), forest.predict(ROWS))


@pytest.mark.parametrize("load_data", [load_iris, load_wine, load_breast_cancer])
def test_rows_of_short_decimals_take_the_same_ways(load_data):
    rows, y = load_data(return_X_y=True)
    forest = RandomForestClassifier(30, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(
        forest.to_sklearn().predict_proba(rows), forest.predict_proba(rows)
    )


@pytest.mark.parametrize("digits", [0, 1, 2, 5])
@pytest.mark.parametrize("splitter", ["best", "random", "mean", "median"])
def test_decimals_of_any_size_take_the_same_ways(digits, splitter):
    random = np.random.default_rng(digits)
    rows = np.round(random.normal(size=(400, 4)) * [0.1, 1.0, 10.0, 1000.0], digits)
    y = rows[:, 1] + random.normal(size=400) > 0
    for model in (DecisionTreeClassifier(splitter=splitter), RandomForestClassifier(5)):
        model.set_params(random_state=0).fit(rows[::2], y[::2])
        np.testing.assert_array_equal(
            model.to_sklearn().predict_proba(rows), model.predict_proba(rows)
        )


def test_neighbours_in_single_precision_are_parted_as_before():
    start = np.float32(0.7)
    column = [start]
    for _ in range(40):
        column.append(np.nextafter(column[-1], np.float32(1.0)))
    rows = np.array(column, dtype=np.float32)[:, None]
    y = np.arange(41) % 2
    for kind in (np.float32, np.float64):
        model = DecisionTreeClassifier().fit(rows.astype(kind), y)
        assert np.array_equal(model.to_sklearn().predict(rows), y)


def test_given_the_rows_of_the_fit_these_take_the_same_ways_whatever_they_are():
    rows, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(30, random_state=0).fit(rows, y)
    np.testing.assert_array_equal(forest.to_sklearn(rows).predict(rows), forest.predict(rows))
    assert (forest.to_sklearn().predict(rows) != forest.predict(rows)).any()  # so they are needed


def test_numbers_beyond_single_precision_are_the_same_to_scikit_learn():
    rows = np.array([[1.0], [1.0 + 1e-12]])
    model = DecisionTreeClassifier().fit(rows, [0, 1])
    assert model.predict(rows).tolist() == [0, 1]
    assert len(set(model.to_sklearn(rows).predict(rows))) == 1


@pytest.mark.parametrize("model", [DecisionTreeClassifier(), RandomForestClassifier(3)], ids=str)
@pytest.mark.parametrize("convert", [lambda model: model.to_sklearn(), shap_trees])
def test_a_model_with_categories_says_so(model, convert):
    table = pd.DataFrame({"size": IRIS[:, 0], "kind": np.where(IRIS[:, 1] > 3, "wide", "narrow")})
    model.fit(table, KINDS)
    with pytest.raises(
        UnavailableError, match="fitted to the columns 'kind', which hold categories"
    ):
        convert(model)
