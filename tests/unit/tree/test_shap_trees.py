"""``shap_trees`` describes a model in shap's form, and shap's values add up to what it predicts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    LinearSVC,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.errors import ParameterError
from hedgerow.tree import shap_trees

IRIS, KINDS = load_iris(return_X_y=True)
IRIS[np.random.default_rng(0).random(IRIS.shape) < 0.1] = np.nan
ROWS, TARGETS = make_friedman1(120, random_state=0)
CASES = [
    (DecisionTreeClassifier(), IRIS, KINDS),
    (RandomForestClassifier(8, random_state=0), IRIS, KINDS),
    (RandomForestClassifier(8, voting="hard", random_state=0), IRIS, KINDS),
    (ExtraTreesClassifier(8, random_state=0), IRIS, KINDS > 0),
    (DecisionTreeRegressor(max_depth=4), ROWS, TARGETS),
    (RandomForestRegressor(8, random_state=0), ROWS, TARGETS),
    (RandomForestRegressor(8, random_state=0), ROWS, np.stack([TARGETS, -TARGETS], axis=1)),
]


def predictions(model, rows):
    found = model.predict_proba(rows) if hasattr(model, "classes_") else model.predict(rows)
    return found.reshape(len(rows), -1)


def walk(tree, row):
    """The values of the leaf that a row falls into."""
    node = 0
    while tree["children_left"][node] >= 0:
        value = row[tree["features"][node]]
        side = "children_left" if value <= tree["thresholds"][node] else "children_right"
        node = tree["children_default" if np.isnan(value) else side][node]
    return tree["values"][node]


@pytest.mark.parametrize(("model", "rows", "y"), CASES, ids=lambda each: type(each).__name__)
def test_the_leaves_of_a_row_add_up_to_its_prediction(model, rows, y):
    form = shap_trees(model.fit(rows, y))
    found = [sum(walk(tree, row) for tree in form["trees"]) for row in rows[:60]]
    np.testing.assert_allclose(found, predictions(model, rows[:60]), atol=1e-12)


@pytest.mark.parametrize(("model", "rows", "y"), CASES, ids=lambda each: type(each).__name__)
def test_the_weight_of_a_node_is_that_of_its_children(model, rows, y):
    for tree in shap_trees(model.fit(rows, y))["trees"]:
        inner = np.flatnonzero(tree["children_left"] >= 0)
        weight = tree["node_sample_weight"]
        below = weight[tree["children_left"][inner]] + weight[tree["children_right"][inner]]
        np.testing.assert_allclose(below, weight[inner], rtol=1e-12)


def test_shap_may_write_into_the_arrays():
    form = shap_trees(DecisionTreeRegressor().fit(ROWS, TARGETS))
    assert all(array.flags.writeable for array in form["trees"][0].values())


def test_other_models_are_refused():
    model = LinearSVC().fit(ROWS, TARGETS > 14)
    with pytest.raises(
        ParameterError, match="takes a fitted tree or forest of Hedgerow, not a LinearSVC"
    ):
        shap_trees(model)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("adapter", [shap_trees, lambda model: model.to_sklearn()])
@pytest.mark.parametrize(("model", "rows", "y"), CASES, ids=lambda each: type(each).__name__)
def test_shap_values_and_the_expected_value_add_up_to_the_prediction(model, rows, y, adapter):
    shap = pytest.importorskip("shap")
    explainer = shap.TreeExplainer(adapter(model.fit(rows, y)))
    values = np.asarray(explainer.shap_values(rows)).reshape(*rows.shape, -1)
    found = values.sum(axis=1) + np.asarray(explainer.expected_value)
    np.testing.assert_allclose(found, predictions(model, rows), atol=1e-10)
