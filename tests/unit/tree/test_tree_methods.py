"""``tree_`` answers as scikit-learn's Tree does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_friedman1
from sklearn.inspection import partial_dependence

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.errors import DataError
from hedgerow.persist import load, save

ARRAYS = (
    "children_left",
    "children_right",
    "feature",
    "threshold",
    "value",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "n_classes",
)
SIZES = (
    "node_count",
    "capacity",
    "max_depth",
    "n_leaves",
    "n_features",
    "n_outputs",
    "max_n_classes",
)
X, Y = (each.astype(np.float32) for each in load_iris(return_X_y=True))
FRIEDMAN, TARGETS = (each.astype(np.float32) for each in make_friedman1(150, random_state=0))


def models():
    """One tree of each kind: classes, several outputs of them, numbers, and several of these."""
    two = np.stack([Y, Y % 2], axis=1)
    return {
        "classes": (DecisionTreeClassifier(max_depth=4).fit(X, Y), X),
        "two outputs of classes": (DecisionTreeClassifier(max_depth=4).fit(X, two), X),
        "numbers": (DecisionTreeRegressor(max_depth=5).fit(FRIEDMAN, TARGETS), FRIEDMAN),
        "two outputs of numbers": (
            DecisionTreeRegressor(max_depth=5).fit(FRIEDMAN, np.stack([TARGETS, -TARGETS], axis=1)),
            FRIEDMAN,
        ),
    }


@pytest.fixture(params=models().values(), ids=models())
def fitted(request):
    model, rows = request.param
    return model.tree_, model.to_sklearn().tree_, rows


def test_arrays_and_sizes_are_those_of_scikit_learn(fitted):
    ours, theirs, _ = fitted
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    for name in SIZES:
        assert getattr(ours, name) == getattr(theirs, name), name


def test_answers_are_those_of_scikit_learn(fitted):
    ours, theirs, rows = fitted
    for name in ("apply", "predict"):
        found, expected = getattr(ours, name)(rows), getattr(theirs, name)(rows)
        np.testing.assert_array_equal(found, expected)
        assert found.shape == expected.shape
    path, expected = ours.decision_path(rows), theirs.decision_path(rows)
    assert path.shape == expected.shape
    assert (path != expected).nnz == 0
    np.testing.assert_array_equal(ours.compute_node_depths(), theirs.compute_node_depths())


@pytest.mark.parametrize("normalize", [True, False])
def test_importances_are_those_of_scikit_learn(fitted, normalize):
    ours, theirs, _ = fitted
    expected = theirs.compute_feature_importances(normalize)
    np.testing.assert_allclose(ours.compute_feature_importances(normalize), expected, rtol=1e-12)


def test_partial_dependence_is_added_as_in_scikit_learn():
    model, rows = models()["numbers"]
    target = np.array([1, 3])
    points = np.ascontiguousarray(rows[:40, target])
    found, expected = np.ones(40), np.ones(40)
    model.tree_.compute_partial_dependence(points, target, found)
    model.to_sklearn().tree_.compute_partial_dependence(points, target, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rows_may_be_of_any_type_and_sparse():
    tree = DecisionTreeClassifier(max_depth=3).fit(X, Y).tree_
    expected = tree.apply(X)
    for rows in (X.astype(np.float64), sp.csr_matrix(X), X.tolist(), np.asfortranarray(X)):
        assert np.array_equal(tree.apply(rows), expected)


def test_rows_of_another_width_are_refused():
    tree = DecisionTreeClassifier(max_depth=3).fit(X, Y).tree_
    with pytest.raises(DataError, match=r"X has shape \(150, 3\) and the tree 4 features"):
        tree.predict(X[:, :3])


def test_the_numbers_of_classes_are_saved(tmp_path):
    model = DecisionTreeClassifier().fit(X, np.stack([Y, Y % 2], axis=1))
    save(model, tmp_path / "tree.hedge")
    assert load(tmp_path / "tree.hedge").tree_.n_classes.tolist() == [3, 2]
    assert model.prune("equal_leaves").tree_.n_classes.tolist() == [3, 2]


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss", "misclassification"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_tree_of_a_forest_has_the_impurities_of_the_same_tree_alone(criterion, n_outputs):
    y = np.stack([Y, Y % 2], axis=1)[:, :n_outputs]
    forest = RandomForestClassifier(
        2, criterion=criterion, bootstrap=False, max_depth=4, random_state=0
    )
    member = forest.fit(X, y).estimators_[1]
    alone = type(member)(**member.get_params()).fit(X, y)
    _assert_same_figures(member.tree_, alone.tree_, X)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_tree_of_a_regression_forest_has_them_too_if_targets_were_kept(criterion, n_outputs):
    y = np.stack([TARGETS, TARGETS[::-1]], axis=1)[:, :n_outputs]
    forest = RandomForestRegressor(
        2, criterion=criterion, bootstrap=False, min_samples_leaf=4, keep_targets=True
    )
    member = forest.set_params(random_state=0).fit(FRIEDMAN, y).estimators_[1]
    alone = type(member)(**member.get_params()).fit(FRIEDMAN, y)
    _assert_same_figures(member.tree_, alone.tree_, FRIEDMAN)


def _assert_same_figures(packed, alone, rows):
    """Compare trees whose nodes are numbered otherwise, by the paths of the rows."""
    ours, theirs = packed.decision_path(rows), alone.decision_path(rows)
    assert ours.shape == theirs.shape
    place = {column.tobytes(): i for i, column in enumerate(theirs.T.toarray())}
    order = [place[column.tobytes()] for column in ours.T.toarray()]
    np.testing.assert_allclose(packed.impurity, alone.impurity[order], atol=1e-12)
    np.testing.assert_array_equal(packed.n_node_samples, alone.n_node_samples[order])
    np.testing.assert_array_equal(packed.n_classes, alone.n_classes)


def test_without_targets_a_regression_forest_knows_what_its_splits_took_off():
    forest = RandomForestRegressor(5, min_samples_leaf=10, keep_targets=False, random_state=0)
    member = forest.fit(FRIEDMAN, TARGETS).estimators_[0]
    assert not member.tree_.impurity[member.tree_.is_leaf].any()
    found = member.tree_.compute_feature_importances()
    np.testing.assert_allclose(found, member.feature_importances_, atol=1e-12)


# ----------------------------------------------------------------------- partial dependence


@pytest.mark.parametrize("features", [[0], [(1, 3)]])
def test_scikit_learns_partial_dependence_takes_the_recursion_of_a_forest(features):
    forest = RandomForestRegressor(10, random_state=0).fit(FRIEDMAN, TARGETS)
    options = {"method": "recursion", "grid_resolution": 15}
    found = partial_dependence(forest, FRIEDMAN, features, **options)
    expected = partial_dependence(forest.to_sklearn(), FRIEDMAN, features, **options)
    np.testing.assert_allclose(found.average, expected.average, rtol=1e-12)


def test_recursion_takes_missing_values_and_categories():
    random = np.random.default_rng(0)
    kind = random.choice(["a", "b", "c"], 300)
    height = np.where(random.random(300) < 0.2, np.nan, random.normal(size=300))
    table = pd.DataFrame({"kind": kind, "height": height})
    y = (kind == "b") * 2.0 + np.isnan(height)
    forest = RandomForestRegressor(20, max_features=None, random_state=0).fit(table, y)
    by_kind = partial_dependence(
        forest, table, ["kind"], categorical_features=["kind"], method="recursion"
    )
    a, b, c = by_kind.average[0]
    assert b - a == pytest.approx(2.0, abs=0.1)
    assert c - a == pytest.approx(0.0, abs=0.1)
    gap, there = forest._compute_partial_dependence_recursion(np.array([[np.nan], [0.0]]), [1])
    assert gap - there == pytest.approx(1.0, abs=0.1)


def test_recursion_on_all_features_of_a_tree_predicts():
    model = DecisionTreeRegressor().fit(FRIEDMAN, TARGETS)
    found = model._compute_partial_dependence_recursion(FRIEDMAN, np.arange(10))
    np.testing.assert_array_equal(found, model.predict(FRIEDMAN))


def test_recursion_on_an_unused_feature_gives_the_mean():
    random = np.random.default_rng(0)
    rows = np.column_stack([random.normal(size=100), np.zeros(100)])
    model = DecisionTreeRegressor().fit(rows, rows[:, 0])
    found = model._compute_partial_dependence_recursion(np.array([[0.0], [5.0]]), [1])
    np.testing.assert_allclose(found, rows[:, 0].mean(), atol=1e-12)
