"""What forests predict, and what is known of them."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_friedman1

import hedgerow.ensemble
from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.errors import DataError, ParameterError, UnavailableError, UnseenCategoryWarning
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(200, random_state=0)
CLASSIFIERS = (RandomForestClassifier, ExtraTreesClassifier, BalancedRandomForestClassifier)
REGRESSORS = (RandomForestRegressor, ExtraTreesRegressor)


def small(cls, **parameters):
    """A forest of few trees."""
    return cls(**{"n_estimators": 12, "random_state": 0} | parameters)


# ------------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "name",
    [
        "RandomForestClassifier",
        "RandomForestRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
    ],
)
def test_parameters_and_defaults_are_those_of_scikit_learn_and_some_more_at_the_end(name):
    theirs = inspect.signature(getattr(sklearn.ensemble, name)).parameters
    ours = inspect.signature(getattr(hedgerow.ensemble, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert {key: ours[key].default for key in theirs} == {
        key: value.default for key, value in theirs.items()
    }
    assert list(ours)[-1] == "max_time"


def test_the_balanced_forest_has_the_parameters_of_imbalanced_learn():
    parameters = inspect.signature(BalancedRandomForestClassifier).parameters
    places = [
        list(parameters).index(name) for name in ("bootstrap", "oob_score", "sampling_strategy")
    ]
    assert places == [places[0], places[0] + 1, places[0] + 2]
    defaults = {
        name: parameters[name].default for name in ("bootstrap", "sampling_strategy", "replacement")
    }
    assert defaults == {"bootstrap": False, "sampling_strategy": "all", "replacement": True}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"splitter": "worst"}, "splitter='worst'"),
        ({"voting": "loud"}, "'soft', 'hard'"),
        ({"oob_score": 1.5}, "the name of a scorer"),
        ({"oob_score": "acuracy"}, "get_scorer_names"),
        ({"stop_when_flat": {"window": 3}}, "'n_trees'"),
        ({"stop_when_flat": -1.0}, "a positive number"),
        ({"max_samples": 0}, "max_samples=0"),
        ({"class_weight": "equal"}, "'balanced_subsample'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_what_it_must_be(parameters, message):
    with pytest.raises(ParameterError, match=message):
        RandomForestClassifier(**parameters).fit(*IRIS)


# -------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_shares_are_the_mean_of_the_trees_and_the_largest_is_predicted(cls):
    X, y = IRIS
    forest = small(cls).fit(X, y)
    of_trees = [tree.predict_proba(X) for tree in forest.estimators_]
    assert np.allclose(forest.predict_proba(X), np.mean(of_trees, axis=0), rtol=0, atol=1e-14)
    assert np.array_equal(forest.predict(X), forest.predict_proba(X).argmax(axis=1))
    assert forest.score(X, y) > 0.95


@pytest.mark.parametrize("cls", CLASSIFIERS)
def test_with_hard_voting_every_tree_has_one_vote(cls):
    X, y = IRIS
    forest = small(cls, voting="hard", max_depth=2).fit(X, y)
    votes = np.array([tree.predict(X) for tree in forest.estimators_])
    shares = np.stack([np.mean(votes == k, axis=0) for k in range(3)], axis=1)
    assert np.allclose(forest.predict_proba(X), shares, rtol=0, atol=1e-14)
    assert np.array_equal(forest.predict(X), shares.argmax(axis=1))
    soft = forest.set_params(voting="soft")
    assert not np.allclose(soft.predict_proba(X), shares)


@pytest.mark.parametrize("cls", REGRESSORS)
def test_a_number_is_the_mean_of_the_trees(cls):
    X, y = FRIEDMAN
    forest = small(cls).fit(X, y)
    assert np.allclose(forest.predict(X), np.mean([tree.predict(X) for tree in forest], axis=0))
    assert forest.score(X, y) > 0.9


def test_several_outputs_are_answered_one_by_one():
    X, y = IRIS
    forest = small(RandomForestClassifier, n_estimators=20).fit(X, np.c_[y, y == 1])
    assert forest.n_outputs_ == 2
    assert forest.n_classes_.tolist() == [3, 2]
    assert [shares.shape for shares in forest.predict_proba(X)] == [(150, 3), (150, 2)]
    assert [logs.shape for logs in forest.predict_log_proba(X)] == [(150, 3), (150, 2)]
    assert np.mean(forest.predict(X) == np.c_[y, y == 1]) > 0.97
    X, y = FRIEDMAN
    both = small(RandomForestRegressor).fit(X, np.c_[y, -y]).predict(X)
    assert np.allclose(both[:, 0], -both[:, 1])


def test_labels_come_back_as_they_were_given():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = small(RandomForestClassifier).fit(X, names)
    assert forest.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert np.mean(forest.predict(X) == names) > 0.97


@pytest.mark.parametrize(
    "kind", [np.asfortranarray, sp.csr_array, sp.csc_array, np.ndarray.tolist, pd.DataFrame]
)
def test_every_container_gives_the_same_forest(kind):
    X, y = IRIS
    expected = small(RandomForestClassifier).fit(X, y).predict_proba(X)
    assert np.array_equal(
        small(RandomForestClassifier).fit(kind(X), y).predict_proba(kind(X)), expected
    )


def test_categories_and_missing_values_are_learnt_and_unseen_categories_told_of():
    random = np.random.default_rng(0)
    kinds = np.array(["oak", "elm", "ash", "yew"])[random.integers(4, size=300)]
    height = np.where(random.random(300) < 0.2, np.nan, random.random(300))
    table = pd.DataFrame({"kind": pd.Categorical(kinds), "height": height})
    y = np.isin(kinds, ["oak", "ash"]) ^ np.isnan(height)
    forest = small(RandomForestClassifier, max_features=None).fit(table, y)
    assert forest.score(table, y) == 1.0
    assert forest.categories_[0].tolist() == ["ash", "elm", "oak", "yew"]
    assert forest.estimators_[0].score(table, y) > 0.9
    with pytest.warns(UnseenCategoryWarning, match="'fir'"):
        forest.predict(pd.DataFrame({"kind": ["fir"], "height": [0.5]}))


def test_leaves_and_paths_are_those_of_the_trees():
    X, y = IRIS
    forest = small(RandomForestClassifier).fit(X, y)
    leaves = forest.apply(X)
    assert np.array_equal(leaves, np.stack([tree.apply(X) for tree in forest], axis=1))
    passes, starts = forest.decision_path(X)
    assert passes.shape == (150, starts[-1])
    for number, tree in enumerate(forest):
        own = passes[:, starts[number] : starts[number + 1]]
        assert np.array_equal(own.toarray(), tree.decision_path(X).toarray())
        assert np.all(own[np.arange(150), leaves[:, number]] == 1)


def test_a_row_is_answered_alone_as_among_others():
    X, y = load_digits(return_X_y=True)
    forest = small(RandomForestClassifier).fit(X, y)
    together = forest.predict_proba(X)
    assert all(
        np.array_equal(forest.predict_proba(X[i : i + 1])[0], together[i]) for i in range(20)
    )


# -------------------------------------------------------------------------------------- members


@pytest.mark.parametrize(
    ("cls", "member", "data"),
    [
        (RandomForestClassifier, DecisionTreeClassifier, IRIS),
        (RandomForestRegressor, DecisionTreeRegressor, FRIEDMAN),
    ],
)
def test_trees_are_a_sequence_of_fitted_estimators(cls, member, data):
    forest = small(cls, max_depth=3).fit(*data)
    trees = forest.estimators_
    assert len(trees) == len(forest) == 12
    assert all(isinstance(tree, member) for tree in trees[2:5])
    assert np.array_equal(trees[-1].predict(data[0]), trees[11].predict(data[0]))
    assert trees[0].get_depth() <= 3
    assert trees[0].max_depth == 3
    assert trees[0].n_features_in_ == data[0].shape[1]
    with pytest.raises(IndexError):
        trees[12]


def test_a_tree_of_a_forest_can_be_grown_again_from_its_sample_and_seed():
    X, y = IRIS
    forest = small(RandomForestClassifier).fit(X, y)
    rows, tree = forest.estimators_samples_[3], forest.estimators_[3]
    again = clone(tree).fit(X[rows], y[rows])
    assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))


def test_a_tree_of_a_forest_knows_its_importances_and_refuses_to_be_pruned():
    X, y = IRIS
    forest = small(RandomForestClassifier).fit(X, y)
    rows, tree = forest.estimators_samples_[3], forest.estimators_[3]
    again = clone(tree).fit(X[rows], y[rows])
    assert np.allclose(tree.feature_importances_, again.feature_importances_)
    with pytest.raises(UnavailableError, match="no record of its growth"):
        tree.prune("significance")
    assert again.prune("cost_complexity", alpha=np.inf).get_n_leaves() == 1


def test_importances_are_the_mean_of_the_trees_and_sum_to_1():
    X, y = IRIS
    forest = small(RandomForestClassifier).fit(X, y)
    expected = np.mean([tree.feature_importances_ for tree in forest], axis=0)
    assert np.allclose(forest.feature_importances_, expected / expected.sum())
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    assert forest.feature_importances_[2:].sum() > 0.8


def test_trees_that_only_have_a_root_are_left_out_of_importances():
    X = np.zeros((20, 2))
    forest = small(RandomForestClassifier).fit(X, np.tile([0, 1], 10))
    assert forest.feature_importances_.tolist() == [0.0, 0.0]
    X[10:, 1] = 1.0
    forest.fit(X, np.arange(20) >= 10)
    assert forest.feature_importances_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("kind", ["occurrences", "impurity", "node_average"])
def test_what_features_matter_is_kept_tree_by_tree(kind):
    forest = small(RandomForestClassifier).fit(*IRIS)
    by_tree = forest.tree_importances_.by_tree(kind).toarray()
    assert by_tree.shape == (12, 4)
    assert np.allclose(forest.tree_importances_.mean(kind), by_tree.mean(axis=0))
    assert np.array_equal(forest.tree_importances_.of_tree(5, kind), by_tree[5])
    if kind == "occurrences":
        n_inner = [np.sum(tree.tree_.children_left >= 0) for tree in forest]
        assert np.array_equal(by_tree.sum(axis=1), n_inner)


# ----------------------------------------------------------------------------- weights and limits


def test_class_weights_of_each_sample_make_its_classes_equal():
    X = np.zeros((110, 1))
    y = np.repeat([0, 1], [100, 10])
    even = small(RandomForestClassifier, class_weight="balanced_subsample").fit(X, y)
    assert np.allclose([tree.tree_.value[0, 0] for tree in even], 0.5)
    fixed = small(RandomForestClassifier, class_weight="balanced").fit(X, y)
    shares = np.array([tree.tree_.value[0, 0] for tree in fixed])
    assert not np.allclose(shares, 0.5)
    assert np.allclose(shares.mean(axis=0), 0.5, atol=0.1)


def test_a_row_of_weight_0_is_as_if_absent():
    X, y = IRIS
    weights = (np.arange(150) % 3 > 0).astype(float)
    with_zeros = small(ExtraTreesClassifier).fit(X, y, sample_weight=weights)
    without = small(ExtraTreesClassifier).fit(X[weights > 0], y[weights > 0])
    assert np.array_equal(with_zeros.predict_proba(X), without.predict_proba(X))


def test_weights_in_a_bootstrap_equal_repetitions_on_average():
    X = np.zeros((30, 1))
    y, weights = np.repeat([0.0, 1.0], 15), np.repeat([1.0, 3.0], 15)
    weighted = RandomForestRegressor(2000, random_state=0).fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(30), weights.astype(int))
    repeated = RandomForestRegressor(2000, random_state=0).fit(X[rows], y[rows])
    assert weighted.predict(X[:1]) == pytest.approx(repeated.predict(X[:1]), abs=0.02)


def test_the_least_weight_of_a_leaf_is_a_share_of_the_weight_of_each_sample():
    X, y = FRIEDMAN
    parameters = {"min_weight_fraction_leaf": 0.1, "max_samples": 0.3}
    forest = small(RandomForestRegressor, **parameters).fit(
        X, y, sample_weight=np.linspace(1, 2, 200)
    )
    for tree in forest:
        weights = tree.tree_.weighted_n_node_samples
        assert weights[tree.tree_.is_leaf].min() >= 0.1 * weights[0] * (1 - 1e-12)
        assert tree.get_n_leaves() > 2


@pytest.mark.parametrize("cls", [RandomForestRegressor, ExtraTreesRegressor])
def test_of_equally_good_features_each_tree_takes_any(cls):
    X, y = FRIEDMAN
    forest = small(cls, n_estimators=60, max_depth=1).fit(X[:, [3, 3, 3]], y)
    assert forest.feature_importances_.min() > 0.15


def test_trees_are_pruned_where_leaves_cost():
    X, y = FRIEDMAN
    whole, pruned = (small(RandomForestRegressor, ccp_alpha=a).fit(X, y) for a in (0.0, 0.1))
    assert max(t.get_n_leaves() for t in pruned) < min(t.get_n_leaves() for t in whole)
    rows, tree = pruned.estimators_samples_[0], pruned.estimators_[0]
    again = clone(tree).fit(X[rows], y[rows])
    assert np.allclose(again.predict(X), tree.predict(X))
    oob = small(RandomForestRegressor, ccp_alpha=0.1, oob_score=True, n_estimators=30).fit(X, y)
    assert 0.5 < oob.oob_score_ < 1.0


def test_predictions_rise_with_a_feature_that_must_not_make_them_fall():
    X, y = FRIEDMAN
    forest = small(RandomForestRegressor, monotonic_cst=[0, 0, 0, 1, 0, 0, 0, 0, 0, 0]).fit(X, y)
    rows = np.repeat(X[:1], 50, axis=0)
    rows[:, 3] = np.linspace(0, 1, 50)
    assert np.all(np.diff(forest.predict(rows)) >= 0)


@pytest.mark.parametrize("splitter", ["best", "random", "mean", "median"])
def test_every_splitter_learns(splitter):
    X, y = FRIEDMAN
    assert small(RandomForestRegressor, splitter=splitter).fit(X, y).score(X, y) > 0.8


def test_a_forest_that_is_not_fitted_says_so():
    forest = RandomForestClassifier()
    with pytest.raises(AttributeError):
        forest.oob_score_  # noqa: B018
    with pytest.raises(ValueError, match="not fitted yet"):
        forest.predict([[0.0]])
    with pytest.raises(ValueError, match="not fitted yet"):
        forest.feature_importances_  # noqa: B018


def test_a_table_of_another_width_is_refused():
    forest = small(RandomForestClassifier).fit(*IRIS)
    with pytest.raises(DataError, match="3 features"):
        forest.predict(np.zeros((2, 3)))
