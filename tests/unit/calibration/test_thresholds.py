"""Decision thresholds: against brute force over every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

import hedgerow
from hedgerow import LinearSVC, ThresholdModel, tune_threshold
from hedgerow.calibration.thresholds.metrics import cost_curve, metric_curve
from hedgerow.errors import DataError, ParameterError

JUDGES = {
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": metrics.f1_score,
    "jaccard": metrics.jaccard_score,
    "matthews_corrcoef": metrics.matthews_corrcoef,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
}
PLAIN = {"zero_division": 0.0}
BY_DIVISION = ("f1", "jaccard", "precision", "recall")


def judged(name, y, prediction, weight=None):
    more = PLAIN if name in BY_DIVISION else {}
    return JUDGES[name](y, prediction, sample_weight=weight, **more)


def overlapping(n=400, seed=0, share=0.3):
    random = np.random.default_rng(seed)
    y = (random.random(n) < share).astype(int)
    return random.normal(size=(n, 3)) + y[:, None], y


@pytest.mark.parametrize("name", JUDGES)
@given(
    rows=st.lists(
        st.tuples(st.integers(-5, 5), st.booleans(), st.integers(1, 3)), min_size=2, max_size=25
    ),
    is_weighted=st.booleans(),
)
def test_every_value_of_a_curve_is_scikit_learns_and_none_is_better(name, rows, is_weighted):
    scores, y, weight = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    y[:2] = 0.0, 1.0
    weight = weight if is_weighted else None
    curve = metric_curve(name, scores, y == 1, weight, np.array([0, 1]))
    assert len(curve.values) == len(np.unique(scores)) + 1
    for threshold, value in zip(curve.thresholds, curve.values, strict=True):
        expected = judged(name, y, (scores > threshold).astype(float), weight)
        assert value == pytest.approx(expected, abs=1e-12)
    threshold, value = curve.best()
    assert value == pytest.approx(curve.values.max(), abs=1e-11)
    assert judged(name, y, (scores > threshold).astype(float), weight) == pytest.approx(value)


@given(
    rows=st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=2, max_size=25),
    costs=st.lists(st.floats(0, 10), min_size=4, max_size=4),
)
def test_no_threshold_costs_less(rows, costs):
    scores, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    matrix, codes = np.array(costs).reshape(2, 2), y.astype(int)
    curve = cost_curve(matrix, scores, y == 1, np.ones(len(y)))
    threshold, value = curve.best()
    every = [-9.0, *(scores - 0.0), 9.0]
    brute = [matrix[codes, (scores > t).astype(int)].mean() for t in every]
    assert value == pytest.approx(min(brute), abs=1e-11)
    assert matrix[codes, (scores > threshold).astype(int)].mean() == pytest.approx(value, abs=1e-11)


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    scores = np.array([low, np.nextafter(low, 2), np.nextafter(np.nextafter(low, 2), 2)])
    for k in (1, 2):
        curve = metric_curve("accuracy", scores, np.arange(3) >= k, None, np.array([0, 1]))
        threshold, value = curve.best()
        assert value == 1.0
        assert (scores > threshold).tolist() == (np.arange(3) >= k).tolist()


def test_of_equally_good_thresholds_the_middle_is_taken():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    model = LinearSVC().fit(X, y)
    scores = model.decision_function(X)
    tuned = tune_threshold(model, X, y, metric="accuracy")
    assert tuned.threshold_ == pytest.approx((scores[1] + scores[2]) / 2, rel=1e-14)
    assert tuned.value_ == 1.0


def test_neighbouring_intervals_of_the_best_value_are_one():
    scores, y = np.array([0.0, 1.0, 2.0, 3.0, 9.0]), np.array([0, 1, 0, 1, 1])
    curve = metric_curve("accuracy", scores, y == 1, None, np.array([0, 1]))
    # 4 of 5 are right between 0 and 1 and between 2 and 3: two intervals of the same width.
    assert curve.best() == (0.5, 0.8)
    curve = metric_curve("recall", scores, y == 1, None, np.array([0, 1]))
    # Every threshold below 1 finds all; the scores lie 9 apart, so the first gap begins at -9.
    assert curve.best() == (-4.0, 1.0)


def test_the_precision_is_best_among_thresholds_of_enough_recall():
    X, y = overlapping()
    model = LinearSVC().fit(X[:200], y[:200])
    tuned = tune_threshold(model, X[200:], y[200:], metric=("precision_at_recall", 0.9))
    scores, truth = model.decision_function(X[200:]), y[200:]
    precision, recall, _ = metrics.precision_recall_curve(truth, scores)
    assert tuned.value_ == pytest.approx(precision[recall >= 0.9].max(), rel=1e-12)
    assert metrics.recall_score(truth, tuned.predict(X[200:])) >= 0.9


@pytest.mark.parametrize("metric", ["f1_macro", metrics.f1_score, "neg_mean_absolute_error"])
def test_a_metric_without_a_formula_is_evaluated(metric):
    X, y = overlapping()
    tuned = tune_threshold(LinearSVC(), X, y, metric=metric, cv=5, random_state=0)
    assert len(tuned.curve_.values) <= 200 < len(X)
    assert tuned.value_ == tuned.curve_.values.max()
    if metric is metrics.f1_score:
        exact = tune_threshold(LinearSVC(), X, y, metric="f1", cv=5, random_state=0)
        # 400 rows at 200 thresholds: every second one is left out.
        assert exact.value_ - 0.01 < tuned.value_ <= exact.value_


def test_on_few_rows_evaluation_is_exact():
    X, y = overlapping(100)
    by_formula, by_value = (
        tune_threshold(LinearSVC(), X, y, metric=metric, cv=5, random_state=0)
        for metric in ("accuracy", metrics.accuracy_score)
    )
    assert by_formula.threshold_ == by_value.threshold_
    np.testing.assert_allclose(by_formula.curve_.values, by_value.curve_.values, rtol=1e-13)


def test_a_tuned_threshold_beats_the_models_own_on_new_rows():
    X, y = overlapping(6000, share=0.1)
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    tuned = tune_threshold(LinearSVC(), X, y, metric="f1", cv=5, random_state=0)
    before = metrics.f1_score(y_new, tuned.learner_.predict(X_new))
    assert metrics.f1_score(y_new, tuned.predict(X_new)) > before + 0.05
    costs = [[0, 1], [20, 0]]
    cheap = tune_threshold(LinearSVC(), X, y, costs=costs, cv=5, random_state=0)
    cost = np.array(costs)
    assert cost[y_new, cheap.predict(X_new)].sum() < 0.8 * cost[y_new, tuned.predict(X_new)].sum()


def test_labels_may_be_text():
    X, y = overlapping()
    tuned = tune_threshold(LinearSVC(), X, np.array(["no", "yes"])[y], cv=3, random_state=0)
    numbers = tune_threshold(LinearSVC(), X, y, cv=3, random_state=0)
    assert tuned.threshold_ == numbers.threshold_
    assert tuned.predict(X).tolist() == np.array(["no", "yes"])[numbers.predict(X)].tolist()


def test_the_class_of_least_expected_cost_is_predicted():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [5.0, 25.0, 0.0]])
    learner = LinearSVC(calibrate="sigmoid", random_state=0)
    tuned = tune_threshold(learner, X, y, costs=costs, cv=3, random_state=0)
    shares = tuned.learner_.predict_proba(X)
    brute = [min(range(3), key=lambda k: sum(p * costs[:, k])) for p in shares]
    assert tuned.predict(X).tolist() == brute
    assert tuned.threshold_ is None
    plain = costs[y, tuned.learner_.predict(X)].mean()
    assert costs[y, tuned.predict(X)].mean() < plain
    np.testing.assert_allclose(-tuned.decision_function(X), shares @ costs, rtol=1e-12)
    fitted = tune_threshold(tuned.learner_, X, y, costs=costs)
    assert fitted.value_ == pytest.approx(costs[y, fitted.predict(X)].mean())


def test_weights_count_as_rows():
    X, y = overlapping()
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    model = LinearSVC().fit(X, y)
    for what in ({"metric": "f1"}, {"metric": "f1_macro"}, {"costs": [[0, 1], [3, 0]]}):
        weighted = tune_threshold(model, X[:100], y[:100], sample_weight=weight[:100], **what)
        repeated = tune_threshold(model, X[rows[rows < 100]], y[rows[rows < 100]], **what)
        assert weighted.value_ == pytest.approx(repeated.value_, rel=1e-12)
        if what != {"metric": "f1_macro"}:
            assert weighted.threshold_ == pytest.approx(repeated.threshold_, rel=1e-12)


@pytest.mark.parametrize("several", [False, True])
def test_a_saved_model_decides_the_same(several, tmp_path):
    load = load_iris if several else load_breast_cancer
    X, y = load(return_X_y=True)
    learner = LinearSVC(calibrate="sigmoid", random_state=0)
    costs = 1.0 - np.eye(3) if several else [[0, 5], [1, 0]]
    model = ThresholdModel(learner, costs=costs, cv=3, random_state=0).fit(scale(X), y)
    hedgerow.save(model, tmp_path / "m.hedge")
    loaded = hedgerow.load(tmp_path / "m.hedge")
    assert loaded.predict(scale(X)).tolist() == model.predict(scale(X)).tolist()
    assert loaded.value_ == model.value_
    if not several:
        assert loaded.curve_.thresholds.tolist() == model.curve_.thresholds.tolist()


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({"metric": "f1", "costs": [[0, 1], [1, 0]]}, "give only one of them"),
        ({"metric": "f2"}, "try 'f1'"),
        ({"metric": "roc_auc"}, "cannot be computed from labels"),
        ({"metric": 3}, "metric=3"),
        ({"metric": ("precision_at_recall", 2.0)}, "precision_at_recall"),
        ({"costs": [[0, 1]]}, "square matrix"),
        ({"costs": np.ones((3, 3))}, "3 rows and columns but there are 2"),
        ({"metric": lambda *_: np.nan}, "the metric is nan"),
    ],
)
def test_what_says_nothing_about_a_threshold_is_refused(what, says):
    X, y = overlapping()
    learner = LinearSVC(calibrate="sigmoid").fit(X, y)
    with pytest.raises(hedgerow.HedgerowError, match=says):
        tune_threshold(learner, X, y, **what)


def test_more_classes_than_a_threshold_tells_apart_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="give costs for all classes"):
        tune_threshold(LinearSVC(), X, y, cv=3)
    with pytest.raises(ParameterError, match="LinearSVC has no probabilities"):
        tune_threshold(LinearSVC(), X, y, costs=1 - np.eye(3), cv=3)
    two = LinearSVC().fit(X[:100], y[:100])
    with pytest.raises(DataError, match="all of one class"):
        tune_threshold(two, X[:50], y[:50])


# ----------------------------------------------------------------------------- sample weights

EVERY_METRIC = [*JUDGES, ("precision_at_recall", 0.5), "f1_macro", metrics.cohen_kappa_score]


def name_of(metric):
    """Return a name that is the same in every process."""
    return getattr(metric, "__name__", str(metric))


def repeated(X, y, weights, folds, seed=0):
    """Return the rows as often as their weights say, in any order, and the folds they are in."""
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(y)), weights))
    return X[rows], y[rows], folds[rows]


def splits_by(folds):
    return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]


@pytest.mark.parametrize("how", [*EVERY_METRIC, "costs"], ids=name_of)
def test_a_weight_is_the_same_as_copies_in_the_same_fold(how):
    X, y = overlapping(300)
    random = np.random.default_rng(1)
    weights, folds = random.integers(0, 4, 300), np.arange(300) % 3
    aim = {"costs": [[0, 1], [5, 0]]} if how == "costs" else {"metric": how}
    weighted = ThresholdModel(**aim, cv=splits_by(folds)).fit(X, y, weights)
    X_again, y_again, folds_again = repeated(X, y, weights, folds)
    copied = ThresholdModel(**aim, cv=splits_by(folds_again)).fit(X_again, y_again)
    assert weighted.threshold_ == pytest.approx(copied.threshold_, abs=1e-6)
    assert weighted.value_ == pytest.approx(copied.value_, rel=1e-9)


@pytest.mark.parametrize("how", EVERY_METRIC, ids=name_of)
def test_a_fitted_learner_is_tuned_alike_by_weights_and_by_copies(how):
    X, y = overlapping(700)
    model, weights = LinearSVC().fit(X[:100], y[:100]), np.arange(600) % 4
    X, y = X[100:], y[100:]
    weighted = tune_threshold(model, X, y, metric=how, sample_weight=weights)
    X_again, y_again, _ = repeated(X, y, weights, y)
    copied = tune_threshold(model, X_again, y_again, metric=how)
    assert weighted.threshold_ == copied.threshold_
    np.testing.assert_array_equal(weighted.curve_.low, copied.curve_.low)
    np.testing.assert_allclose(weighted.curve_.values, copied.curve_.values, rtol=1e-12)


def test_where_a_metric_is_evaluated_does_not_depend_on_the_unit_of_the_weights():
    X, y = overlapping(500)
    model, weights = LinearSVC().fit(X, y), 1.0 + np.arange(500) % 3
    one, other = (
        tune_threshold(model, X, y, metric="f1_macro", sample_weight=unit * weights).curve_.low
        for unit in (1.0, 2.0**-12)
    )
    np.testing.assert_array_equal(one, other)


def test_two_by_two_costs_are_for_two_classes():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="Only binary classification is supported"):
        ThresholdModel(costs=[[0, 1], [4, 0]]).fit(X, y)
