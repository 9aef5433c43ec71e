"""What the features of a forest matter, in every way it is measured."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, r2_score

import hedgerow
from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    Importances,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.importance.debiased_impurity import decreases
from hedgerow.ensemble.importance.training_rows import TrainingRows
from hedgerow.errors import DataError, ParameterError, StoppedError, UnavailableError
from tests.reference.forest_importances import debiased_by_tree, permutation_by_tree

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(150, n_features=7, random_state=0)
OUT_OF_BAG = ("permutation", "impurity_debiased")
OFF_TREES = ("occurrences", "impurity", "node_average")


def small(cls, **parameters):
    """A forest of few trees."""
    return cls(**{"n_estimators": 8, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def iris():
    return RandomForestClassifier(30, random_state=0).fit(*IRIS)


# --------------------------------------------------------------------------- read off the trees


def test_impurity_is_feature_importances_to_the_last_bit(iris):
    found = iris.importances()
    assert found.kind == "impurity"
    assert np.array_equal(found.values, iris.feature_importances_)
    assert found.names.tolist() == ["x0", "x1", "x2", "x3"]
    assert found.n_trees == 30


@pytest.mark.parametrize("kind", OFF_TREES)
def test_values_and_spread_are_mean_and_deviation_over_trees(iris, kind):
    found = iris.importances(kind)
    by_tree = found.by_tree.toarray()
    assert by_tree.shape == (30, 4)
    assert np.allclose(found.values, by_tree.mean(axis=0), rtol=0, atol=1e-14)
    assert np.allclose(found.spread, by_tree.std(axis=0, ddof=1), rtol=0, atol=1e-14)
    assert np.allclose(found.standard_error, found.spread / np.sqrt(30))
    if kind != "occurrences":
        assert found.values.sum() == pytest.approx(1.0)


def test_trees_without_a_split_are_not_counted():
    X = np.zeros((20, 2))
    X[19, 1] = 1.0
    forest = small(RandomForestClassifier).fit(X, np.arange(20) >= 19)
    n_split = sum(tree.get_n_leaves() > 1 for tree in forest)
    assert 0 < n_split < 8
    found = forest.importances()
    assert found.n_trees == n_split
    assert found.values.tolist() == [0.0, 1.0]
    assert found.spread.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", [*OFF_TREES, "impurity_debiased"])
def test_the_importance_of_a_group_is_the_sum_of_its_features(iris, kind):
    alone = iris.importances(kind, *IRIS)
    grouped = iris.importances(kind, *IRIS, groups={"petal": ["x2", 3]})
    assert grouped.names.tolist() == ["petal", "x0", "x1"]
    expected = [alone.values[2] + alone.values[3], *alone.values[:2]]
    assert np.allclose(grouped.values, expected, rtol=0, atol=1e-14)
    sums = alone.by_tree.toarray()[:, 2:].sum(axis=1)
    assert grouped.spread[0] == pytest.approx(sums.std(ddof=1))


# ----------------------------------------------------------------------------------- permutation


@pytest.mark.parametrize(
    "forest",
    [
        small(RandomForestClassifier),
        small(RandomForestClassifier, max_depth=2, class_weight="balanced"),
        small(BalancedRandomForestClassifier),
    ],
)
@pytest.mark.parametrize("n_repeats", [1, 3])
def test_permutation_of_classes_is_what_predicting_row_by_row_gives(forest, n_repeats):
    X, y = IRIS
    forest.fit(X, y)
    found = forest.importances("permutation", X, y, random_state=7, n_repeats=n_repeats)
    blocks = [[0], [1], [2], [3]]
    expected = permutation_by_tree(forest, X, y, blocks, seed=7, n_repeats=n_repeats)
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-12
    assert np.abs(found.values - expected.mean(axis=0)).max() < 1e-12


def test_permutation_of_numbers_is_what_predicting_row_by_row_gives():
    X, y = FRIEDMAN
    X = X.copy()
    X[::7, 3] = np.nan
    X[:, 5] = X[:, 5] > 0.8
    forest = small(RandomForestRegressor).fit(X, y)
    groups = {"pair": [3, 1], "rest": [5, 6]}
    found = forest.importances("permutation", X, y, random_state=1, groups=groups)
    assert found.names.tolist() == ["pair", "rest", "x0", "x2", "x4"]
    expected = permutation_by_tree(forest, X, y, [[3, 1], [5, 6], [0], [2], [4]], seed=1)
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("cls", [RandomForestClassifier, RandomForestRegressor])
def test_permutation_of_several_outputs_is_the_mean_over_them(cls):
    X, y = IRIS
    both = np.c_[y, y == 1]
    forest = small(cls).fit(X, both)
    found = forest.importances("permutation", X, both, random_state=0)
    expected = permutation_by_tree(forest, X, both, [[0], [1], [2], [3]], seed=0)
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-12


def test_a_metric_falls_by_as_much_as_the_loss_rises_where_it_is_1_minus_it():
    X, y = IRIS
    forest = small(RandomForestClassifier, max_depth=3).fit(X, y)
    loss = forest.importances("permutation", X, y, random_state=0).by_tree.toarray()
    for metric in ("accuracy", accuracy_score):
        found = forest.importances("permutation", X, y, random_state=0, metric=metric)
        assert np.allclose(found.by_tree.toarray(), loss, rtol=0, atol=1e-12)


def test_a_metric_of_numbers_is_a_scorer_or_a_function():
    X, y = FRIEDMAN
    forest = small(RandomForestRegressor).fit(X, y)
    named = forest.importances("permutation", X, y, random_state=0, metric="r2")
    called = forest.importances("permutation", X, y, random_state=0, metric=r2_score)
    assert np.allclose(named.values, called.values)
    assert named.values[3] > 0.1
    with pytest.raises(ParameterError, match="cannot be computed"):
        forest.importances("permutation", X, y, metric="roc_auc")


def test_groups_of_rows_stay_out_together_in_what_is_measured():
    random = np.random.default_rng(0)
    X, y = np.repeat(random.random((60, 3)), 3, axis=0), np.repeat(random.integers(2, size=60), 3)
    forest = BalancedRandomForestClassifier(20, random_state=0)
    naive = forest.fit(X, y).importances("permutation", X, y, random_state=0)
    honest = forest.fit(X, y, oob_group="equal rows").importances(
        "permutation", X, y, random_state=0
    )
    assert naive.values.min() > 0.1
    assert np.abs(honest.values).max() < 0.08


def test_rows_of_weight_0_are_not_measured():
    X, y = IRIS
    weights = (np.arange(150) % 3 > 0).astype(float)
    forest = small(RandomForestClassifier).fit(X, y, sample_weight=weights)
    lies = np.where(weights > 0, y, (y + 1) % 3)
    for kind in OUT_OF_BAG:
        found = forest.importances(kind, X, y, sample_weight=weights, random_state=0)
        same = forest.importances(kind, X, lies, sample_weight=weights, random_state=0)
        assert np.array_equal(found.values, same.values)


def test_the_ranking_is_that_of_permutation_on_rows_held_out():
    X, y = make_friedman1(900, n_features=7, random_state=1)
    forest = RandomForestRegressor(60, random_state=0).fit(X[:500], y[:500])
    held_out = permutation_importance(forest, X[500:], y[500:], n_repeats=5, random_state=0)
    expected = np.argsort(-held_out.importances_mean)[:5]
    for kind in OUT_OF_BAG:
        found = forest.importances(kind, X[:500], y[:500], random_state=0)
        assert set(np.argsort(-found.values)[:5]) == set(range(5))
        order = np.argsort(-found.values)
        assert order[0] == expected[0]
        assert set(order[3:5]) == set(expected[3:5])


# -------------------------------------------------------------------------------------- debiased


def one_hot(*columns):
    """A 0 or 1 a class, of one output after the other."""
    return np.concatenate([np.unique(y)[None, :] == y[:, None] for y in columns], axis=1) * 1.0


@pytest.mark.parametrize("weighted", [False, True])
def test_debiased_of_classes_is_what_walking_every_path_gives(weighted):
    X, y = IRIS[0][::3], IRIS[1][::3]
    weights = np.linspace(1, 2, 50) if weighted else np.ones(50)
    forest = small(RandomForestClassifier, n_estimators=4).fit(X, y, sample_weight=weights)
    found = forest.importances("impurity_debiased", X, y, sample_weight=weights)
    expected = debiased_by_tree(forest, X, one_hot(y), weights)
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-10


def test_debiased_of_numbers_and_several_outputs_is_what_walking_every_path_gives():
    X, y = FRIEDMAN[0][:50], FRIEDMAN[1][:50]
    forest = small(RandomForestRegressor, n_estimators=3).fit(X, y)
    found = forest.importances("impurity_debiased", X, y)
    expected = debiased_by_tree(forest, X, y[:, None], np.ones(50))
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-10
    both = np.c_[y, -2 * y]
    forest.fit(X, both)
    found = forest.importances("impurity_debiased", X, both)
    expected = debiased_by_tree(forest, X, both, np.ones(50)) / 2
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-10
    classes = np.c_[y > 15, np.digitize(y, [10, 18])]
    forest = small(RandomForestClassifier, n_estimators=3).fit(X, classes)
    found = forest.importances("impurity_debiased", X, classes)
    expected = debiased_by_tree(forest, X, one_hot(*classes.T), np.ones(50)) / 2
    assert np.abs(found.by_tree.toarray() - expected).max() < 1e-10


@pytest.mark.parametrize(
    ("cls", "data"), [(RandomForestClassifier, IRIS), (RandomForestRegressor, FRIEDMAN)]
)
def test_told_by_the_rows_of_its_sample_the_debiased_decrease_of_a_tree_is_its_impurity_s(
    cls, data
):
    X, y = data
    forest = small(cls).fit(X, y)
    seen = TrainingRows.of(forest, "impurity_debiased", X, y, None)
    is_class = cls is RandomForestClassifier
    targets = (y[:, None] == forest.classes_) * 1.0 if is_class else y[:, None]
    for number, rows in enumerate(forest.estimators_samples_):
        tree, counts = seen.tree(number), seen.counts(number) * 1.0
        leaves = seen.leaves(tree)
        found = decreases(tree, leaves, seen.targets, counts, counts)
        in_leaf = targets[rows] - tree.value[leaves[rows], 0]
        in_root = targets[rows] - targets[rows].mean(axis=0)
        total = (in_root**2).sum(axis=1).mean() - (in_leaf**2).sum(axis=1).mean()
        shares = forest.tree_importances_.of_tree(number)
        assert np.allclose(found, shares * total, rtol=1e-9, atol=1e-12)


def test_impurity_prefers_noise_of_many_values_and_debiased_does_not():
    random = np.random.default_rng(0)
    X = np.c_[random.integers(2, size=400), random.random(400), random.integers(2, size=400)]
    y = np.where(random.random(400) < 0.7, X[:, 0], 1 - X[:, 0]).astype(int)
    forest = RandomForestClassifier(200, max_features=1, random_state=0).fit(X, y)
    biased = forest.importances("impurity").values
    assert biased[1] > 2 * biased[0]
    for kind in OUT_OF_BAG:
        found = forest.importances(kind, X, y, random_state=0).values
        assert found[0] > 0.02
        assert np.abs(found[1:]).max() < 0.2 * found[0]


# ------------------------------------------------------------------------ containers and threads


@pytest.mark.parametrize("kind", OUT_OF_BAG)
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array, pd.DataFrame, np.asfortranarray])
def test_every_container_gives_the_same_importances(kind, container):
    X, y = IRIS
    X = np.where(X > 3, X, 0.0)
    expected = small(RandomForestClassifier).fit(X, y).importances(kind, X, y, random_state=0)
    forest = small(RandomForestClassifier).fit(container(X), y)
    found = forest.importances(kind, container(X), y, random_state=0)
    assert np.array_equal(found.values, expected.values)


@pytest.mark.parametrize("kind", OUT_OF_BAG)
def test_categories_are_shuffled_as_they_are(kind):
    random = np.random.default_rng(0)
    place = np.array(["wood", "field", "road", "hedge"])[random.integers(4, size=300)]
    table = pd.DataFrame({"place": pd.Categorical(place), "noise": random.random(300)})
    y = np.isin(place, ["wood", "road"])
    forest = small(RandomForestClassifier, max_features=None).fit(table, y)
    found = forest.importances(kind, table, y, random_state=0)
    assert found.values[0] == pytest.approx(0.5, abs=0.1)
    assert found.values[1] == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("kind", OUT_OF_BAG)
def test_threads_change_no_bit(kind):
    X, y = load_breast_cancer(return_X_y=True)
    one, many = (
        small(RandomForestClassifier, n_jobs=n).fit(X, y).importances(kind, X, y, random_state=0)
        for n in (1, 4)
    )
    assert np.array_equal(one.values, many.values)
    assert np.array_equal(one.by_tree.toarray(), many.by_tree.toarray())


def test_repeats_and_other_groups_leave_the_shuffling_of_a_feature_as_it_is(iris):
    X, y = IRIS
    alone = iris.importances("permutation", X, y, random_state=3)
    grouped = iris.importances("permutation", X, y, random_state=3, groups=[[1, 3]])
    assert grouped.values[1:].tolist() == alone.values[[0, 2]].tolist()
    other = iris.importances("permutation", X, y, random_state=4)
    assert not np.array_equal(other.values, alone.values)


def test_weights_of_classes_by_sample_are_those_the_tree_learnt_by():
    X, y = IRIS[0][30:], IRIS[1][30:]
    forest = small(RandomForestClassifier, class_weight="balanced_subsample").fit(X, y)
    found = forest.importances("impurity_debiased", X, y)
    plain = small(RandomForestClassifier).fit(X, y).importances("impurity_debiased", X, y)
    assert not np.allclose(found.values, plain.values)
    # In a world of equal classes the impurity at the root is 2/3, and trees take nearly all of it off.
    assert found.values.sum() == pytest.approx(2 / 3, abs=0.1)


# ----------------------------------------------------------------------------- refusals and stops


@pytest.mark.parametrize("kind", OUT_OF_BAG)
def test_a_forest_whose_trees_have_seen_all_rows_says_what_to_do(kind):
    forest = small(ExtraTreesClassifier).fit(*IRIS)
    with pytest.raises(UnavailableError, match="bootstrap=True"):
        forest.importances(kind, *IRIS)


@pytest.mark.parametrize("kind", OUT_OF_BAG)
def test_rows_that_are_not_those_of_the_fit_are_refused(iris, kind):
    X, y = IRIS
    with pytest.raises(ParameterError, match="give both"):
        iris.importances(kind)
    with pytest.raises(DataError, match="149 rows and the forest was fitted to 150"):
        iris.importances(kind, X[:-1], y[:-1])
    with pytest.raises(DataError, match="not the y"):
        iris.importances(kind, X, y + 1)
    with pytest.raises(DataError, match="same order"):
        iris.importances(kind, X[::-1], y[::-1])
    judged = small(RandomForestRegressor, n_estimators=40, oob_score=True).fit(*FRIEDMAN)
    with pytest.raises(DataError, match="not the y"):
        judged.importances(kind, FRIEDMAN[0], FRIEDMAN[1] + 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "gain"}, "kind='gain'"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"metric": 3}, "name of a scorer"),
        ({"correlation": 1.5}, "correlation=1.5"),
        ({"groups": [["x9"]]}, "'x9', which is no feature"),
        ({"groups": {"a": [0], "b": [0, 1]}}, "'x0' twice"),
        ({"groups": {"a": []}}, "none of them empty"),
        ({"groups": "x0"}, "a list of lists"),
        ({"groups": {"x3": [0, 1]}}, "rename it"),
        ({"kind": "impurity", "n_repeats": 2}, "is for kind='permutation'"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(iris, options, message):
    with pytest.raises(ParameterError, match=message):
        iris.importances(**{"kind": "permutation", "X": IRIS[0], "y": IRIS[1]} | options)


def test_no_row_out_of_any_bag_is_said():
    X, y = np.arange(2.0)[:, None], np.arange(2.0)
    forest = small(RandomForestRegressor, n_estimators=1, max_samples=60).fit(X, y)
    assert len(set(forest.estimators_samples_[0])) == 2
    with pytest.raises(DataError, match="no row was left out"):
        forest.importances("permutation", X, y)


def long_work():
    """A forest, and rows, on which permutation takes many seconds."""
    random = np.random.default_rng(0)
    X, y = random.random((3000, 30)), random.integers(2, size=3000)
    return RandomForestClassifier(40, random_state=0).fit(X, y), X, y


def test_steps_are_told_ctrl_c_is_obeyed_and_time_runs_out():
    forest, X, y = long_work()
    steps = []
    with hedgerow.watch(steps.append):
        forest.importances("impurity_debiased", X, y)
    assert [step.done for step in steps if step.task == "importances"][-1] == 40
    pressed = []

    def press():
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        forest.importances("permutation", X, y, n_repeats=1000)
    assert time.monotonic() - pressed[0] < 1.0
    with pytest.raises(StoppedError, match="before the first tree"), hedgerow.watch(max_time=0.2):
        forest.importances("permutation", X, y, n_repeats=1000)


def test_what_is_stopped_keeps_the_first_trees():
    forest, X, y = long_work()
    forest.set_params(n_jobs=1)
    whole = forest.importances("permutation", X, y, random_state=0)

    def after_five(event):
        return event.task == "importances" and event.done >= 5

    with hedgerow.watch(after_five):
        part = forest.importances("permutation", X, y, random_state=0)
    assert part.n_trees == 5
    assert "the first 5 of 40 trees" in part.note
    assert np.array_equal(part.by_tree.toarray(), whole.by_tree.toarray()[:5])


# ----------------------------------------------------------------------------------- the record


def test_the_record_is_printed_by_importance_with_at_most_ten_lines():
    X, y = load_breast_cancer(return_X_y=True)
    found = small(RandomForestClassifier).fit(X, y).importances()
    assert isinstance(found, Importances)
    lines = repr(found).splitlines()
    assert lines[0].startswith("Importances: impurity (share of the impurity decrease), 8 trees")
    assert lines[1].split() == ["value", "standard", "error", "spread"]
    shown = [float(line.split()[1]) for line in lines[2:12]]
    assert shown == sorted(shown, reverse=True)
    assert lines[-1].strip() == "and 20 more"
