"""``estimators_`` of a forest is cut and joined as a list is, and the forest is then those trees."""

from __future__ import annotations

import copy
import pickle
from functools import reduce

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_iris, make_friedman1

from hedgerow import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.errors import DataError, DataTypeError, UnavailableError
from hedgerow.persist import load, save

X, Y = load_iris(return_X_y=True)
ROWS, TARGETS = make_friedman1(120, random_state=0)


def forest(n_trees=12, seed=0, **options):
    return RandomForestClassifier(n_trees, random_state=seed, **options).fit(X, Y)


def mean_of(trees, rows=X):
    """The mean of what trees predict, added in their order."""
    return reduce(np.add, [tree.predict_proba(rows) for tree in trees]) / len(trees)


def test_a_forest_can_be_cut():
    model = forest()
    trees = list(model.estimators_)
    model.estimators_ = model.estimators_[:5]
    model.n_estimators = 5
    assert len(model) == len(model.estimators_) == 5
    np.testing.assert_array_equal(model.predict_proba(X), mean_of(trees[:5]))


def test_forests_can_be_joined():
    first, second = forest(), forest(7, seed=1)
    trees = [*first.estimators_, *second.estimators_]
    first.estimators_ += second.estimators_
    first.n_estimators = len(first.estimators_)
    assert len(first.estimators_) == 19
    assert len(second.estimators_) == 7
    np.testing.assert_array_equal(first.predict_proba(X), mean_of(trees))
    expected = np.mean([tree.feature_importances_ for tree in trees], axis=0)
    np.testing.assert_allclose(first.feature_importances_, expected, atol=1e-12)


@pytest.mark.parametrize(
    "change",
    [
        lambda trees, others: trees.append(others[0]),
        lambda trees, others: trees.extend(others),
        lambda trees, others: trees.insert(2, others[1]),
        lambda trees, _: trees.pop(),
        lambda trees, _: trees.pop(3),
        lambda trees, _: trees.reverse(),
        lambda trees, others: trees.__setitem__(4, others[0]),
        lambda trees, others: trees.__setitem__(slice(1, 4), others),
        lambda trees, _: trees.__delitem__(0),
        lambda trees, _: trees.__delitem__(slice(None, None, 2)),
        lambda trees, others: trees.__iadd__(others),
    ],
)
def test_a_change_of_the_list_is_a_change_of_the_forest(change):
    model, others = forest(), forest(3, seed=1).estimators_
    expected = list(model.estimators_)
    change(model.estimators_, others)
    change(expected, others)
    assert len(model.estimators_) == len(expected)
    np.testing.assert_array_equal(model.predict_proba(X), mean_of(expected))


def test_lists_of_trees_add_up_on_either_side():
    model, other = forest(), forest(3, seed=1)
    assert len(model.estimators_ + other.estimators_) == 15
    assert len([other[0]] + model.estimators_) == 13  # noqa: RUF005 - the sum is what is tested
    assert len(sum([model.estimators_, other.estimators_], [])) == 15  # noqa: RUF017 - as users do
    assert len(model.estimators_) == 12


def test_a_tree_that_was_fitted_alone_may_join():
    model, tree = forest(), DecisionTreeClassifier(max_depth=2).fit(X, Y)
    trees = [*model.estimators_, tree]
    model.estimators_.append(tree)
    np.testing.assert_array_equal(model.predict_proba(X), mean_of(trees))
    np.testing.assert_allclose(
        model.estimators_[-1].feature_importances_, tree.feature_importances_
    )


def test_a_tree_of_extra_trees_may_join_and_votes_count_as_the_forest_counts():
    model = forest(5, voting="hard")
    other = ExtraTreesClassifier(4, random_state=0).fit(X, Y)
    trees = [*model.estimators_, *other.estimators_]
    model.estimators_ += other.estimators_
    votes = [tree.predict(X)[:, None] == model.classes_ for tree in trees]
    np.testing.assert_array_equal(model.predict_proba(X), np.sum(votes, axis=0) / 9)


def test_trees_with_categories_and_missing_values_are_joined():
    random = np.random.default_rng(0)
    names = np.array([f"c{i}" for i in range(90)])
    table = pd.DataFrame({"kind": random.choice(names, 600), "size": random.normal(size=600)})
    table.loc[::7, "size"] = np.nan
    y = np.where(table["kind"].str[1:].astype(int) % 3 == 0, "yes", "no")
    first = RandomForestClassifier(6, random_state=0).fit(table, y)
    second = RandomForestClassifier(6, random_state=1).fit(table, y)
    trees = [*first.estimators_, *second.estimators_]
    expected = mean_of(trees, table)
    first.estimators_ = trees
    np.testing.assert_array_equal(first.predict_proba(table), expected)
    size_before = sum(part.nbytes for part in second.trees_.parts.values())
    second.estimators_ = list(second.estimators_)
    assert sum(part.nbytes for part in second.trees_.parts.values()) <= size_before


def test_outputs_of_several_kinds_are_joined():
    y = np.stack([Y, Y % 2], axis=1)
    first, second = (RandomForestClassifier(4, random_state=i).fit(X, y) for i in (0, 1))
    trees = [*first.estimators_, *second.estimators_]
    first.estimators_ += second.estimators_
    for k, shares in enumerate(first.predict_proba(X)):
        each = [tree.predict_proba(X)[k] for tree in trees]
        np.testing.assert_array_equal(shares, reduce(np.add, each) / 8)


def test_single_and_double_precision_are_joined():
    first = RandomForestClassifier(4, random_state=0).fit(X.astype(np.float32), Y)
    second = forest(4, seed=1)
    trees = [*first.estimators_, *second.estimators_]
    first.estimators_ += second.estimators_
    np.testing.assert_array_equal(first.predict_proba(X), mean_of(trees))


# ------------------------------------------------------------------------ what stays known


def test_the_samples_of_a_forests_own_trees_stay_known():
    model = forest()
    samples = model.estimators_samples_
    seeds = [tree.random_state for tree in model.estimators_]
    model.estimators_ = [model.estimators_[i] for i in (7, 2, 9)]
    for found, i in zip(model.estimators_samples_, (7, 2, 9), strict=True):
        np.testing.assert_array_equal(found, samples[i])
    assert [tree.random_state for tree in model.estimators_] == [seeds[7], seeds[2], seeds[9]]
    del model.estimators_[0]
    np.testing.assert_array_equal(model.estimators_samples_[0], samples[2])


def test_a_forest_that_was_cut_at_its_end_grows_on_to_the_one_it_was():
    model = forest(warm_start=True)
    whole = model.predict_proba(X)
    model.estimators_ = model.estimators_[:4]
    np.testing.assert_array_equal(model.fit(X, Y).predict_proba(X), whole)


def test_permutation_importances_of_some_trees_are_those_of_a_forest_of_them():
    model = forest()
    model.estimators_ = model.estimators_[:4]
    first = forest(4)
    found = model.importances("permutation", X, Y, random_state=0)
    expected = first.importances("permutation", X, Y, random_state=0)
    np.testing.assert_array_equal(found.values, expected.values)


def test_out_of_bag_figures_are_forgotten():
    model = forest(60, oob_score=True)
    model.estimators_ = model.estimators_[:30]
    with pytest.raises(UnavailableError, match="estimators_ were changed since"):
        _ = model.oob_score_
    assert not hasattr(model, "oob_decision_function_")


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.estimators_samples_,
        lambda model: model.predict_variance(X),
        lambda model: model.proximity(X, oob=True),
        lambda model: model.importances("permutation", X, Y),
        lambda model: model.set_params(warm_start=True, n_estimators=40).fit(X, Y),
    ],
)
def test_the_samples_of_trees_from_elsewhere_are_not_known(ask):
    model = forest(oob_score=False)
    model.estimators_ += forest(3, seed=1).estimators_
    with pytest.raises(UnavailableError, match="estimators_ was replaced"):
        ask(model)


def test_quantiles_come_from_the_targets_of_all_leaves():
    options = {"min_samples_leaf": 5, "keep_targets": True}
    first = RandomForestRegressor(6, random_state=0, **options).fit(ROWS, TARGETS)
    second = RandomForestRegressor(4, random_state=1, **options).fit(ROWS[:90], TARGETS[:90] + 0.5)
    alone = first.predict_quantiles(ROWS)
    joined = copy.copy(first)
    joined.estimators_ = first.estimators_ + second.estimators_
    known = np.concatenate([TARGETS, TARGETS[:90] + 0.5])
    assert np.isin(joined.predict_quantiles(ROWS), known).all()
    joined.estimators_ = joined.estimators_[:6]
    np.testing.assert_array_equal(joined.predict_quantiles(ROWS), alone)
    np.testing.assert_array_equal(first.predict_quantiles(ROWS), alone)
    joined.estimators_.append(DecisionTreeRegressor().fit(ROWS, TARGETS))
    with pytest.raises(UnavailableError, match="estimators_ hold trees without them"):
        joined.predict_quantiles(ROWS)


@pytest.mark.parametrize("joins", [False, True])
def test_a_changed_forest_is_saved_and_pickled(tmp_path, joins):
    model = forest()
    model.estimators_ = model.estimators_[1::3]
    if joins:
        model.estimators_ += forest(3, seed=1).estimators_
    save(model, tmp_path / "forest.hedge")
    for again in (load(tmp_path / "forest.hedge"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)
        assert hasattr(again, "estimators_samples_") is not joins


def test_trees_that_were_pickled_join_as_well():
    model, other = forest(), forest(3, seed=1)
    trees = pickle.loads(pickle.dumps(list(other.estimators_)))
    model.estimators_ = trees
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(model.feature_importances_, other.feature_importances_)


# -------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("trees", "error", "message"),
    [
        (list, DataError, "cannot be empty"),
        (lambda: [object()], DataTypeError, r"estimators_\[0\] is a builtins object"),
        (
            lambda: [sklearn.tree.DecisionTreeClassifier().fit(X, Y)],
            DataTypeError,
            "is a sklearn DecisionTreeClassifier",
        ),
        (
            lambda: [DecisionTreeRegressor().fit(X, Y)],
            DataTypeError,
            "hedgerow DecisionTreeRegressor",
        ),
        (
            lambda: RandomForestClassifier(2).fit(X[:, :3], Y).estimators_,
            DataError,
            "fitted to 3 features and the forest to 4",
        ),
        (
            lambda: RandomForestClassifier(2).fit(X[:100], Y[:100]).estimators_,
            DataError,
            "fitted to the classes 0, 1 and the forest to 0, 1, 2",
        ),
        (
            lambda: RandomForestClassifier(2).fit(X, np.stack([Y, Y], axis=1)).estimators_,
            DataError,
            "fitted to 2 outputs and the forest to 1",
        ),
    ],
)
def test_trees_that_do_not_belong_are_refused_and_nothing_is_changed(trees, error, message):
    model = forest(oob_score=False)
    before = model.predict_proba(X)
    with pytest.raises(error, match=message):
        model.estimators_ = [*model.estimators_[:0], *trees()]
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert len(model.estimators_samples_) == 12


def test_a_forest_is_not_emptied():
    model = forest()
    with pytest.raises(DataError, match="cannot be empty"):
        model.estimators_.clear()
    assert len(model.estimators_.copy()) == 12


def test_other_columns_are_refused_by_their_names():
    first = RandomForestClassifier(2).fit(pd.DataFrame(X, columns=list("abcd")), Y)
    second = RandomForestClassifier(2).fit(pd.DataFrame(X, columns=list("abdc")), Y)
    with pytest.raises(DataError, match="the columns 'a', 'b', 'd', 'c' and the forest to"):
        first.estimators_ += second.estimators_


def test_a_core_that_is_given_no_tree_says_so():
    core = forest().trees_.core
    arrays = list(core.tree(0))
    routes = [arrays[i] for i in (0, 1, 2, 3, 4)]
    rest = [arrays[7], arrays[8], arrays[10], arrays[11]]
    routes[2] = np.zeros_like(routes[2])
    with pytest.raises(ValueError, match="does not come after its parent"):
        core.add_arrays(*routes, *rest)
    assert core.n_trees == 12


# ------------------------------------------------------------------------------ estimator_


def test_the_template_is_a_tree_with_the_parameters_of_the_trees():
    template = forest(max_depth=3).estimator_
    assert type(template) is DecisionTreeClassifier
    assert template.max_depth == 3
    assert template.max_features == "sqrt"
    assert not hasattr(template, "tree_")
    regressor = RandomForestRegressor(2, criterion="poisson").fit(ROWS, TARGETS)
    assert type(regressor.estimator_) is DecisionTreeRegressor
    assert regressor.estimator_.criterion == "poisson"
    assert not hasattr(RandomForestClassifier(), "estimator_")
