"""Out-of-bag figures: of the right rows and trees, honest, and with their uncertainty."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.metrics import accuracy_score, explained_variance_score, roc_auc_score

from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    tune_by_oob,
)
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.tree import DecisionTreeClassifier

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(150, random_state=0)


def judged_again(forest, X, y, is_class):
    """Return predictions and both errors, row by row and tree by tree, from the trees themselves."""
    trees, samples = list(forest.estimators_), forest.estimators_samples_
    values = [tree.predict_proba(X) if is_class else tree.predict(X)[:, None] for tree in trees]
    prediction = np.full((len(X), values[0].shape[1]), np.nan)
    vote_loss, tree_loss = [], []
    for i in range(len(X)):
        without = [k for k, rows in enumerate(samples) if i not in rows]
        if not without:
            continue
        prediction[i] = np.mean([values[k][i] for k in without], axis=0)
        if is_class:
            vote_loss.append(np.argmax(prediction[i]) != y[i])
            tree_loss.append(np.mean([np.argmax(values[k][i]) != y[i] for k in without]))
        else:
            vote_loss.append((prediction[i, 0] - y[i]) ** 2)
            tree_loss.append(np.mean([(values[k][i, 0] - y[i]) ** 2 for k in without]))
    return prediction, np.mean(vote_loss), np.mean(tree_loss)


# ------------------------------------------------------------------------------- the right figures


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("cls", [RandomForestClassifier, BalancedRandomForestClassifier])
@pytest.mark.parametrize("n_trees", [4, 40])
def test_classes_are_judged_by_the_trees_whose_samples_lack_the_row(cls, n_trees):
    X, y = IRIS
    forest = cls(n_trees, oob_score=True, random_state=0, max_depth=2).fit(X, y)
    prediction, vote_error, tree_error = judged_again(forest, X, y, is_class=True)
    assert np.allclose(forest.oob_decision_function_, prediction, equal_nan=True)
    assert forest.oob_.vote_error == pytest.approx(vote_error)
    assert forest.oob_.tree_error == pytest.approx(tree_error)
    assert forest.oob_score_ == pytest.approx(1 - vote_error)
    assert forest.oob_.curve[-1] == pytest.approx(vote_error)


def test_numbers_are_judged_by_the_trees_whose_samples_lack_the_row():
    X, y = FRIEDMAN
    forest = RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, y)
    prediction, vote_error, tree_error = judged_again(forest, X, y, is_class=False)
    assert np.allclose(forest.oob_prediction_, prediction[:, 0])
    assert forest.oob_.vote_error == pytest.approx(vote_error)
    assert forest.oob_.tree_error == pytest.approx(tree_error)
    assert forest.oob_score_ == pytest.approx(1 - vote_error / np.var(y))


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_the_curve_is_the_error_of_every_beginning_of_the_forest():
    X, y = IRIS
    curve = RandomForestClassifier(12, oob_score=True, random_state=0).fit(X, y).oob_.curve
    for n in (1, 2, 5, 12):
        beginning = RandomForestClassifier(n, oob_score=True, random_state=0).fit(X, y)
        assert beginning.oob_.vote_error == curve[n - 1]


def test_with_hard_voting_the_trees_whose_samples_lack_the_row_vote():
    X, y = IRIS
    forest = RandomForestClassifier(
        40, oob_score=True, random_state=0, max_depth=2, voting="hard"
    ).fit(X, y)
    votes = [tree.predict(X) for tree in forest.estimators_]
    samples = forest.estimators_samples_
    without = [k for k, rows in enumerate(samples) if 70 not in rows]
    shares = np.bincount([votes[k][70] for k in without], minlength=3) / len(without)
    assert np.allclose(forest.oob_decision_function_[70], shares)


def test_several_outputs_are_right_together_or_not_at_all():
    X, y = IRIS
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, np.c_[y, y % 2])
    shares = forest.oob_decision_function_
    assert shares.shape == (150, 3, 2)
    wrong = (shares[:, :, 0].argmax(axis=1) != y) | (shares[:, :2, 1].argmax(axis=1) != y % 2)
    assert forest.oob_.vote_error == pytest.approx(np.mean(wrong))
    assert forest.oob_score_ == pytest.approx(1 - np.mean(wrong))
    both = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, np.c_[y, -y])
    assert both.oob_prediction_.shape == (150, 2)


def test_rows_that_are_in_every_sample_are_nan_and_not_counted():
    X, y = IRIS
    with pytest.warns(UserWarning, match="rows are in the samples of all 2 trees"):
        forest = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    in_all = np.isin(np.arange(150), np.intersect1d(*forest.estimators_samples_))
    assert 0 < in_all.sum() == forest.oob_.n_never_out
    assert np.array_equal(np.isnan(forest.oob_decision_function_).all(axis=1), in_all)
    right = forest.oob_decision_function_[~in_all].argmax(axis=1) == y[~in_all]
    assert forest.oob_score_ == np.mean(right)
    assert f"{in_all.sum()} rows are in every sample" in repr(forest.oob_)


def test_rows_without_weight_are_answered_and_not_judged():
    X, y = IRIS
    weights = (np.arange(150) % 3 > 0).astype(float)
    forest = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y, weights)
    assert np.all(forest.oob_.n_trees_of_row[::3] == 40)
    assert forest.oob_.rows.tolist() == np.flatnonzero(weights).tolist()
    assert forest.oob_.measure().n == 100


# --------------------------------------------------------------------------------------- honesty


def coin_flips(n_rows=600, share=0.5, seed=0):
    """Rows whose labels have nothing to do with them."""
    random = np.random.default_rng(seed)
    return random.standard_normal((n_rows, 5)), (random.random(n_rows) < share).astype(int)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(60),
        RandomForestClassifier(60, class_weight="balanced_subsample"),
        RandomForestClassifier(60, max_samples=0.3, voting="hard"),
        ExtraTreesClassifier(60, bootstrap=True),
        BalancedRandomForestClassifier(60),
        BalancedRandomForestClassifier(60, bootstrap=True, sampling_strategy="not minority"),
    ],
)
def test_coin_flips_score_chance(forest):
    scores = [
        forest.set_params(oob_score=True, random_state=seed).fit(*coin_flips(seed=seed)).oob_score_
        for seed in range(8)
    ]
    # Of 8 x 600 flips the share that is guessed right has a standard deviation below 0.01.
    assert np.mean(scores) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("weight", [None, 25.0])
def test_labels_of_rare_classes_that_mean_nothing_are_told_apart_by_chance(weight, replacement):
    aucs = []
    for seed in range(8):
        X, y = coin_flips(1000, share=0.04, seed=seed)
        given = None if weight is None else np.where(y == 1, weight, 1.0)
        forest = BalancedRandomForestClassifier(
            60, oob_score="roc_auc", replacement=replacement, random_state=seed
        )
        aucs.append(forest.fit(X, y, sample_weight=given).oob_score_)
    assert np.mean(aucs) == pytest.approx(0.5, abs=0.05)


def test_weighted_coin_flips_score_chance():
    scores = []
    for seed in range(8):
        X, y = coin_flips(seed=seed)
        weights = np.random.default_rng(seed + 100).exponential(size=len(y))
        forest = RandomForestClassifier(60, oob_score=True, random_state=seed)
        scores.append(forest.fit(X, y, sample_weight=weights).oob_score_)
    assert np.mean(scores) == pytest.approx(0.5, abs=0.03)


# -------------------------------------------------------------------------------- rows that are one


def test_repeated_coin_flips_leak_unless_equal_rows_are_one():
    X, y = coin_flips(200)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    naive = RandomForestClassifier(80, oob_score=True, random_state=0).fit(X, y)
    assert naive.oob_score_ > 0.9
    honest = RandomForestClassifier(80, oob_score=True, random_state=0)
    assert honest.fit(X, y, oob_group="equal rows").oob_score_ == pytest.approx(0.5, abs=0.12)
    by_labels = RandomForestClassifier(80, oob_score=True, random_state=0)
    by_labels.fit(X, y, oob_group=np.repeat([f"row {i:03d}" for i in range(200)], 3))
    assert by_labels.oob_score_ == pytest.approx(0.5, abs=0.12)


def test_rows_of_a_group_are_left_out_of_the_same_trees():
    X, y = IRIS
    groups = np.random.default_rng(0).permutation(np.arange(150) % 40)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y, oob_group=groups)
    for group in range(40):
        assert len(set(forest.oob_.n_trees_of_row[groups == group])) == 1
    for rows in forest.estimators_samples_[:5]:
        assert not set(groups[rows]) & set(np.delete(groups, np.unique(rows)))


def test_equal_rows_of_different_classes_do_not_leak_in_a_balanced_forest():
    X = np.repeat(np.random.default_rng(0).standard_normal((150, 4)), 2, axis=0)
    y = np.tile([0, 1], 150)
    forest = BalancedRandomForestClassifier(80, oob_score=True, random_state=0)
    forest.fit(X, y, oob_group="equal rows")
    assert np.array_equal(forest.oob_.n_trees_of_row[::2], forest.oob_.n_trees_of_row[1::2])
    # A row whose twin of the other class is in the sample would be judged wrong by design.
    assert forest.oob_score_ == pytest.approx(0.5, abs=0.1)


def test_missing_values_and_categories_can_be_equal():
    X = np.array([["a", None], ["a", None], ["b", 1.0], ["b", 2.0], ["b", 1.0]] * 4, dtype=object)
    y = np.tile([0, 0, 1, 1, 1], 4)
    forest = RandomForestClassifier(80, oob_score=True, random_state=0)
    forest.fit(X, y, oob_group="equal rows")
    n = forest.oob_.n_trees_of_row.reshape(4, 5)
    assert np.all(n == n[0])
    assert n[0, 0] == n[0, 1]
    assert n[0, 2] == n[0, 4]
    assert len({n[0, 0], n[0, 2], n[0, 3]}) == 3


@pytest.mark.parametrize(
    ("group", "error", "message"),
    [
        ("same rows", ParameterError, "'equal rows'"),
        (np.zeros(3), DataError, "has shape \\(3,\\) and X has 150 rows"),
    ],
)
def test_groups_that_are_none_are_refused(group, error, message):
    with pytest.raises(error, match=message):
        RandomForestClassifier(3).fit(*IRIS, oob_group=group)


# ------------------------------------------------------------------------------ metrics, intervals


def test_any_scorer_or_function_can_be_the_score():
    X, y = make_classification(300, random_state=0)
    named = RandomForestClassifier(60, oob_score="roc_auc", random_state=0).fit(X, y)
    assert named.oob_score_ == roc_auc_score(y, named.oob_decision_function_[:, 1])
    assert named.oob_.metric == "roc_auc"
    texts = np.array(["no", "yes"])[y]
    called = RandomForestClassifier(60, oob_score=accuracy_score, random_state=0).fit(X, texts)
    assert called.oob_score_ == pytest.approx(1 - called.oob_.vote_error)
    X, y = FRIEDMAN
    numbers = RandomForestRegressor(60, oob_score=explained_variance_score, random_state=0).fit(
        X, y
    )
    assert numbers.oob_score_ == explained_variance_score(y, numbers.oob_prediction_)


def test_a_scorer_that_does_not_fit_is_refused_with_a_reason():
    forest = RandomForestClassifier(60, oob_score="roc_auc", random_state=0)
    with pytest.raises(ParameterError, match="metric 'roc_auc' cannot be computed here"):
        forest.fit(*IRIS)


@pytest.mark.parametrize(
    "metric", [None, "vote_error", "tree_error", "balanced_accuracy", "neg_log_loss"]
)
def test_a_metric_has_an_interval_around_it(metric):
    X, y = make_classification(300, random_state=0)
    oob = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y).oob_
    found = oob.measure(metric, n_resamples=200)
    assert found.low < found.estimate < found.high
    assert found.n == 300
    narrow = oob.measure(metric, n_resamples=200, confidence_level=0.5)
    assert found.low < narrow.low < narrow.high < found.high


def test_the_interval_of_the_error_is_as_wide_as_the_binomial_law_says():
    X, y = make_classification(400, flip_y=0.3, random_state=0)
    oob = RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y).oob_
    found = oob.measure("vote_error")
    deviation = np.sqrt(found.estimate * (1 - found.estimate) / 400)
    assert found.high - found.low == pytest.approx(2 * 1.96 * deviation, rel=0.1)
    assert found.estimate == oob.vote_error


def test_the_interval_of_grouped_rows_knows_that_they_are_fewer():
    X, y = make_classification(150, flip_y=0.3, random_state=0)
    X, y, groups = np.repeat(X, 4, axis=0), np.repeat(y, 4), np.repeat(np.arange(150), 4)
    oob = (
        RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, y, oob_group=groups).oob_
    )
    found = oob.measure("vote_error")
    deviation = np.sqrt(found.estimate * (1 - found.estimate) / 150)
    assert found.high - found.low == pytest.approx(2 * 1.96 * deviation, rel=0.15)


def test_numbers_have_intervals_too():
    oob = RandomForestRegressor(60, oob_score=True, random_state=0).fit(*FRIEDMAN).oob_
    r2, error = oob.measure(n_resamples=300), oob.measure("vote_error", n_resamples=300)
    assert r2.estimate == oob.score
    assert r2.low < oob.score < r2.high
    assert error.low < oob.vote_error < error.high
    assert "mean squared error" in repr(oob)


def test_what_was_not_asked_for_is_not_there():
    forest = RandomForestClassifier(5, random_state=0).fit(*IRIS)
    assert not hasattr(forest, "oob_")
    assert not hasattr(forest, "oob_score_")
    with pytest.raises(UnavailableError, match="fitted with oob_score=False"):
        forest.oob_decision_function_  # noqa: B018
    with pytest.raises(ParameterError, match="only available if bootstrap=True"):
        ExtraTreesClassifier(oob_score=True).fit(*IRIS)


def test_an_old_score_is_gone_after_a_fit_without_one():
    forest = RandomForestClassifier(60, oob_score=True, random_state=0).fit(*IRIS)
    forest.set_params(oob_score=False).fit(*IRIS)
    assert not hasattr(forest, "oob_")


def test_nothing_can_be_measured_where_no_row_was_left_out():
    X, y = coin_flips(6)
    weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    y[:2] = 0, 1
    forest = BalancedRandomForestClassifier(
        3, sampling_strategy="not minority", replacement=False, oob_score=True, random_state=0
    )
    with pytest.warns(UserWarning, match="2 rows are in the samples"):
        forest.fit(X, y, sample_weight=weights)
    assert np.isnan(forest.oob_score_)
    with pytest.raises(DataError, match="no row was left out"):
        forest.oob_.measure()


# ----------------------------------------------------------------------------------------- tuning


def test_settings_are_chosen_by_the_out_of_bag_error():
    X, y = make_classification(400, n_informative=6, random_state=0)
    forest = RandomForestClassifier(60, random_state=0)
    found = tune_by_oob(forest, {"max_depth": [1, 3, None], "max_features": [1, 5]}, X, y)
    assert len(found.tried) == 6
    assert found.chosen.figure == min(each.vote_error for each in found.tried)
    assert found.chosen.low <= found.chosen.figure <= found.chosen.high
    alone = RandomForestClassifier(60, random_state=0, oob_score=True, **found.parameters).fit(X, y)
    assert alone.oob_.vote_error == found.chosen.figure
    assert np.array_equal(found.forest.predict_proba(X), alone.predict_proba(X))
    assert not hasattr(forest, "trees_")
    lines = repr(found).splitlines()
    assert len(lines) == 7
    assert [line.startswith(">") for line in lines].count(True) == 1


def test_a_score_is_chosen_for_being_large():
    X, y = make_classification(300, random_state=0)
    grid = [{"max_depth": [1, 4]}, {"class_weight": ["balanced"]}]
    found = tune_by_oob(
        RandomForestClassifier(60, random_state=0), grid, X, y, metric="roc_auc", n_resamples=50
    )
    assert found.metric == "roc_auc"
    assert found.chosen.figure == max(each.figure for each in found.tried)


def test_forests_for_numbers_and_groups_of_rows_can_be_tuned():
    X, y = np.repeat(FRIEDMAN[0], 2, axis=0), np.repeat(FRIEDMAN[1], 2)
    grid = {"min_samples_leaf": [1, 40]}
    forest = RandomForestRegressor(60, random_state=0)
    found = tune_by_oob(forest, grid, X, y, oob_group="equal rows", n_resamples=100)
    assert found.parameters == {"min_samples_leaf": 1}
    leaky = tune_by_oob(forest, grid, X, y, n_resamples=100)
    assert leaky.chosen.figure < 0.5 * found.chosen.figure


def test_only_forests_can_be_tuned_out_of_bag():
    with pytest.raises(ParameterError, match="needs a forest"):
        tune_by_oob(DecisionTreeClassifier(), {}, *IRIS)


def test_what_cannot_be_tried_any_more_is_left_out():
    import hedgerow

    random = np.random.default_rng(0)
    X, y = random.standard_normal((2000, 10)), random.integers(2, size=2000)
    grid = {"max_depth": [2, 3, None]}
    with hedgerow.watch(lambda event: event.task == "RandomForestClassifier" and event.done == 40):
        found = tune_by_oob(RandomForestClassifier(10**6, random_state=0), grid, X, y)
    assert len(found.tried) == 1
    assert found.chosen.status == "stopped"
    assert found.chosen.n_trees == 40
