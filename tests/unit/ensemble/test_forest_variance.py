"""The infinitesimal jackknife: how sure a forest's answers are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_friedman1

from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.forest import jackknife as _variance
from hedgerow.errors import UnavailableError
from tests.reference.forest_answers import jackknife_variance

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(50, random_state=0)


def counts_of(forest, first_rows=None):
    """How often each unit is in each sample, from the rows that were drawn."""
    n_rows = forest.sampler_.n_rows
    counts = [np.bincount(rows, minlength=n_rows) for rows in forest.estimators_samples_]
    return counts if first_rows is None else [each[first_rows] for each in counts]


def check(forest, X, answers, counts, count_variance):
    """Hold all variances against the double loop; answers are of shape (trees, rows, width)."""
    found = [forest.predict_variance(X, corrected=c) for c in (False, True)]
    for j in range(answers.shape[1]):
        for k in range(answers.shape[2]):
            expected = jackknife_variance(counts, answers[:, j, k], count_variance)
            mine = [np.reshape(each, answers.shape[1:])[j, k] for each in found]
            assert mine == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.any(found[1] > 0)


# ------------------------------------------------------------------------------- the double loop


@pytest.mark.parametrize("n_rows", [3, 50])  # fewer answers than trees, and more
@pytest.mark.parametrize("max_samples", [None, 20, 0.7])
def test_numbers_have_the_variance_of_the_double_loop(n_rows, max_samples):
    X, y = FRIEDMAN
    forest = RandomForestRegressor(30, random_state=0, max_samples=max_samples).fit(X, y)
    answers = np.array([tree.predict(X[:n_rows]) for tree in forest])[:, :, None]
    n_draws = {None: 50, 20: 20, 0.7: 35}[max_samples]
    check(forest, X[:n_rows], answers, counts_of(forest), n_draws * (1 - 1 / 50))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_the_share_of_each_class_has_a_variance(voting):
    X, y = IRIS[0][50::3], IRIS[1][50::3]
    forest = RandomForestClassifier(25, random_state=0, voting=voting, max_depth=2).fit(X, y)
    shares = np.array([tree.predict_proba(X) for tree in forest])
    if voting == "hard":
        shares = np.eye(shares.shape[2])[shares.argmax(axis=2)]
    check(forest, X, shares, counts_of(forest), len(X) - 1)


def test_a_balanced_sample_is_drawn_from_a_pool_for_each_class():
    X, y = IRIS[0][40:90], IRIS[1][40:90]
    forest = BalancedRandomForestClassifier(40, random_state=0, max_depth=2).fit(X, y)
    shares = np.array([tree.predict_proba(X[:8]) for tree in forest])
    check(forest, X[:8], shares, counts_of(forest), 10 * (1 - 1 / 10) + 10 * (1 - 1 / 40))


def test_a_group_is_one_unit():
    X, y = FRIEDMAN
    groups = np.arange(50) // 5
    forest = RandomForestRegressor(30, random_state=0).fit(X, y, oob_group=groups)
    answers = np.array([tree.predict(X) for tree in forest])[:, :, None]
    check(forest, X, answers, counts_of(forest, np.arange(0, 50, 5)), 10 - 1)


def test_rows_without_weight_are_no_units():
    X, y = FRIEDMAN
    weights = (np.arange(50) % 5 > 0) * np.linspace(1, 2, 50)
    forest = RandomForestRegressor(30, random_state=0).fit(X, y, sample_weight=weights)
    answers = np.array([tree.predict(X) for tree in forest])[:, :, None]
    check(forest, X, answers, counts_of(forest), 40 - 1)


def test_several_outputs_have_variances_in_the_shape_of_their_answers():
    X, y = FRIEDMAN
    numbers = RandomForestRegressor(40, random_state=0).fit(X, np.c_[y, y**2])
    found = numbers.predict_variance(X)
    assert found.shape == numbers.predict(X).shape == (50, 2)
    each = np.array([tree.predict(X) for tree in numbers])
    check(numbers, X[:2], each[:, :2], counts_of(numbers), 49)
    labels = np.c_[y > 14, np.digitize(y, [10, 18])]
    classes = RandomForestClassifier(40, random_state=0).fit(X, labels)
    shapes = [shares.shape for shares in classes.predict_variance(X)]
    assert shapes == [shares.shape for shares in classes.predict_proba(X)] == [(50, 2), (50, 3)]


# --------------------------------------------------------------------------------- what it estimates


def test_a_bagged_mean_has_the_variance_of_the_mean():
    y = np.random.default_rng(0).standard_normal(80) * 3.0
    X = np.zeros((80, 1))
    forest = RandomForestRegressor(4000, random_state=0).fit(X, y)
    assert forest.predict_variance(X[:1])[0] == pytest.approx(y.var() / 80, rel=0.15)
    small = RandomForestRegressor(4000, random_state=0, max_samples=0.25).fit(X, y)
    assert small.predict_variance(X[:1])[0] == pytest.approx(y.var() / 80, rel=0.3)


def test_the_correction_takes_off_what_few_trees_add_on_average():
    random = np.random.default_rng(1)
    y, X = random.standard_normal(60), np.zeros((60, 1))
    ratios = []
    for seed in range(60):
        forest = RandomForestRegressor(60, random_state=seed).fit(X, y)
        figures = [forest.predict_variance(X[:1], corrected=c)[0] for c in (False, True)]
        ratios.append(np.array(figures) / (y.var() / 60))
    plain, corrected = np.mean(ratios, axis=0)
    assert plain == pytest.approx(2.0, abs=0.2)
    assert corrected == pytest.approx(1.0, abs=0.2)


def test_a_balanced_sample_knows_the_shares_of_its_own_world_without_doubt():
    X, y = np.zeros((60, 1)), np.repeat([0, 1], [50, 10])
    forest = BalancedRandomForestClassifier(200, random_state=0).fit(X, y)
    assert np.allclose(forest.predict_variance(X[:1]), 0.0)


@pytest.mark.parametrize(("n_rows", "truth"), [(50, 2.46), (800, 1.0)])
def test_the_variance_is_that_of_answers_of_forests_of_other_rows(n_rows, truth):
    answers, variances = [], []
    for seed in range(12):
        X, y = make_friedman1(n_rows, noise=1.0, random_state=seed)
        forest = RandomForestRegressor(400, random_state=seed, max_depth=2).fit(X, y)
        answers.append(forest.predict(FRIEDMAN[0]))
        variances.append(forest.predict_variance(FRIEDMAN[0]))
    assert np.var(answers, axis=0, ddof=1).mean() == pytest.approx(truth, rel=0.25)
    assert np.mean(variances) == pytest.approx(truth, rel=0.25)
    distance = np.abs(np.array(answers) - np.mean(answers, axis=0))
    assert 0.85 < (distance <= 1.96 * np.sqrt(variances)).mean() < 0.99


# --------------------------------------------------------------------------------------- manners


def test_blocks_and_threads_change_nothing(monkeypatch):
    X, y = FRIEDMAN
    forest = RandomForestRegressor(20, random_state=0, n_jobs=1).fit(X, y)
    whole = forest.predict_variance(X)
    forest.n_jobs = 3
    assert np.array_equal(forest.predict_variance(X), whole)
    monkeypatch.setattr(_variance, "_COUNTS_AT_ONCE", 60)
    monkeypatch.setattr(_variance, "_ANSWERS_AT_ONCE", 100)
    assert np.allclose(forest.predict_variance(X), whole, rtol=1e-12)
    monkeypatch.setattr(_variance, "_MANY_TREES", 10)
    assert np.allclose(forest.predict_variance(X), whole, rtol=1e-12)


def test_what_is_corrected_is_smaller_and_never_below_0():
    X, y = FRIEDMAN
    forest = RandomForestRegressor(8, random_state=0).fit(X, y)
    corrected, plain = forest.predict_variance(X), forest.predict_variance(X, corrected=False)
    assert np.all((corrected >= 0) & (corrected < plain))
    assert (corrected == 0).any()


def test_one_tree_tells_nothing():
    forest = RandomForestRegressor(1, random_state=0).fit(*FRIEDMAN)
    assert np.all(forest.predict_variance(FRIEDMAN[0]) == 0)


@pytest.mark.parametrize(
    ("forest", "why"),
    [
        (ExtraTreesRegressor(3), "each has seen all rows"),
        (ExtraTreesClassifier(3), "each has seen all rows"),
        (BalancedRandomForestClassifier(3, replacement=False), "with replacement"),
        (BalancedRandomForestClassifier(3, bootstrap=True), "drawn once"),
        (BalancedRandomForestClassifier(3, sampling_strategy="auto"), "sampling_strategy"),
    ],
)
def test_forests_whose_samples_the_formula_does_not_hold_for_are_refused(forest, why):
    X, y = IRIS[0][30:], IRIS[1][30:]
    with pytest.raises(UnavailableError, match=why):
        forest.fit(X, y).predict_variance(X)


def test_a_forest_that_is_not_fitted_says_so():
    with pytest.raises(ValueError, match="not fitted yet"):
        RandomForestRegressor().predict_variance(FRIEDMAN[0])
