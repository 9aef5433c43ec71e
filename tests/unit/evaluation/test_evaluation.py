"""Metrics with intervals, and models compared."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, matthews_corrcoef
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow import LinearSVC, LinearSVR, TableClassifier
from hedgerow.errors import DataError, ParameterError
from hedgerow.evaluation import compare, evaluate
from hedgerow.evaluation.metrics import Answers, joint_metrics
from hedgerow.resampling.plan import make_plan
from hedgerow.resampling.samples import drawn_rows


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :3]
    model = LinearSVC().fit(X[::2], y[::2])
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
    return model, tree, X[1::2], y[1::2]


def resampled_scores(name, model, X, y):
    """Return a scorer on 30 resamples: by our way, and by scikit-learn on the drawn rows."""
    plan = make_plan(len(y))
    counts = plan.draw(3, range(30))
    ours = joint_metrics({name: name}, Answers(model, X, len(y)), y)(counts)[:, 0]
    scorer = get_scorer(name)
    theirs = [scorer(model, X[rows], y[rows]) for rows in map(drawn_rows, counts)]
    return ours, theirs


@pytest.mark.parametrize(
    "name",
    ["accuracy", "balanced_accuracy", "precision", "recall", "f1", "roc_auc", "average_precision"],
)
def test_classification_scores_are_scikit_learns_on_every_resample(name, cancer):
    model, tree, X, y = cancer
    for judged in (model, tree):
        np.testing.assert_allclose(*resampled_scores(name, judged, X, y), rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["accuracy", "balanced_accuracy", "f1_macro", "neg_log_loss", "roc_auc_ovr"]
)
def test_scores_of_many_classes_are_scikit_learns(name):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X[::2, :1], y[::2])
    np.testing.assert_allclose(*resampled_scores(name, model, X[1::2, :1], y[1::2]), rtol=1e-12)


@pytest.mark.parametrize(
    "name", ["r2", "neg_mean_absolute_error", "neg_mean_squared_error", "neg_median_absolute_error"]
)
def test_regression_scores_are_scikit_learns(name):
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[::2], y[::2])
    np.testing.assert_allclose(*resampled_scores(name, model, X[1::2], y[1::2]), rtol=1e-11)


def test_text_labels_are_fine(cancer):
    _, _, X, y = cancer
    words = np.array(["ill", "well"])[y]
    model = LogisticRegression(max_iter=5000).fit(X, words)
    for name in ("accuracy", "balanced_accuracy", "roc_auc"):
        np.testing.assert_allclose(*resampled_scores(name, model, X, words), rtol=1e-12)


def test_an_evaluation_has_an_interval_a_metric(cancer):
    model, _, X, y = cancer
    found = evaluate(
        model,
        X,
        y,
        metrics={"accuracy": "accuracy", "phi": matthews_corrcoef},
        n_resamples=300,
        random_state=0,
    )
    for measured in found.measurements:
        assert measured.low < measured.estimate < measured.high
    accuracy = found["accuracy"]
    assert accuracy.estimate == pytest.approx(model.score(X, y))
    expected = np.sqrt(accuracy.estimate * (1 - accuracy.estimate) / len(y))
    # A standard deviation over 300 resamples has a relative error of 4 %; four of them.
    assert accuracy.standard_error == pytest.approx(expected, rel=0.17)
    assert found["phi"].estimate == pytest.approx(matthews_corrcoef(y, model.predict(X)))
    lines = str(found).splitlines()
    assert lines[0].split() == ["metric", "value", "low", "high", "std.", "error"]
    assert lines[-1] == "95 % intervals from 300 resamples of 284 rows"


def test_models_predict_once(cancer):
    class Counting(DecisionTreeClassifier):
        calls = 0

        def predict(self, X):
            Counting.calls += 1
            return super().predict(X)

    _, _, X, y = cancer
    model = Counting(max_depth=1).fit(X, y)
    evaluate(model, X, y, metrics=["accuracy", "f1_macro"], n_resamples=50, random_state=0)
    assert Counting.calls == 1


def test_a_faultless_model_gets_the_exact_interval(cancer):
    _, _, X, y = cancer
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = evaluate(model, X, y, metrics=["accuracy", "f1"], n_resamples=100, random_state=0)
    assert found["accuracy"].high == 1
    # Clopper and Pearson.
    assert found["accuracy"].low == pytest.approx(0.025 ** (1 / len(y)))
    assert "uncertainty is unknown" in str(found)


@pytest.mark.parametrize("method", ["percentile", "BCa", "basic"])
def test_threads_do_not_change_an_evaluation(cancer, method):
    model, _, X, y = cancer
    metrics = ["accuracy", "balanced_accuracy", "roc_auc"]
    one, two = (
        evaluate(model, X, y, metrics=metrics, method=method, random_state=0, n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert one == two


def test_a_comparison_is_of_the_same_resamples(cancer):
    model, tree, X, y = cancer
    found = compare(model, tree, X, y, random_state=0)
    apart = [evaluate(m, X, y, random_state=0)["accuracy"] for m in (model, tree)]
    accuracy = found["accuracy"]
    assert accuracy.estimate == pytest.approx(apart[0].estimate - apart[1].estimate)
    independent = np.hypot(apart[0].standard_error, apart[1].standard_error)
    right = [m.predict(X) == y for m in (model, tree)]
    paired = (right[0].astype(float) - right[1]).std() / np.sqrt(len(y))
    # 2000 resamples: a relative error of 1.6 %; four of them.
    assert accuracy.standard_error == pytest.approx(paired, rel=0.07)
    assert accuracy.standard_error < independent


def test_a_comparison_says_what_it_found(cancer):
    model, _, X, y = cancer
    poor = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    assert (
        "the first is higher by" in compare(model, poor, X, y, random_state=0)["accuracy"].sentence
    )
    assert (
        "the first is lower by" in compare(poor, model, X, y, random_state=0)["accuracy"].sentence
    )
    same = compare(model, model, X, y, random_state=0)
    assert same["accuracy"].sentence == "accuracy: both models are equal on every resample."
    assert not same["accuracy"].is_clear
    few = slice(0, 12)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    close = compare(model, tree, X[few], y[few], metrics="accuracy", random_state=4)
    assert "accuracy:" in str(close)


def test_regressors_have_metrics_of_their_own():
    X, y = load_diabetes(return_X_y=True)
    line = LinearRegression().fit(X[::2], y[::2])
    tree = DecisionTreeRegressor(random_state=0).fit(X[::2], y[::2])
    found = compare(line, tree, X[1::2], y[1::2], random_state=0)
    assert [d.metric for d in found.differences] == [
        "r2",
        "neg_mean_absolute_error",
        "neg_mean_squared_error",
    ]
    assert all(d.is_clear and d.estimate > 0 for d in found.differences)


def test_what_cannot_be_judged_is_said_in_a_sentence(cancer):
    model, _, X, y = cancer
    with pytest.raises(ParameterError, match="'acuracy' is not one of scikit-learn's"):
        evaluate(model, X, y, metrics="acuracy")
    with pytest.raises(ParameterError, match="method='studentized' is not allowed"):
        evaluate(model, X, y, method="studentized")
    with pytest.raises(DataError, match=r"y has shape \(284, 1\)"):
        evaluate(model, X, y[:, None])
    with pytest.raises(DataError, match=r"X has 5 rows but y has 284 targets"):
        evaluate(model, X[:5], y)
    with pytest.raises(DataError, match=r"X has 284 rows but y has 9 targets"):
        compare(model, model, X, y[:9])
    rare = np.flatnonzero(y == 0)[:1].tolist() + np.flatnonzero(y == 1)[:20].tolist()
    with pytest.raises(DataError, match="keep class sizes with strata="):
        evaluate(model, X[rare], y[rare], metrics="roc_auc", random_state=0)
    with pytest.raises(ParameterError, match="'f1' was not computed; there are 'accuracy'"):
        evaluate(model, X, y, metrics="accuracy", random_state=0)["f1"]


@pytest.mark.parametrize("metric", ["roc_auc", "neg_log_loss"])
def test_a_metric_of_scores_is_refused_where_there_are_none(cancer, metric):
    _, tree, X, y = cancer
    model = TableClassifier(tree).fit(X, y)
    with pytest.raises(ParameterError, match=f"'{metric}' cannot be computed for this model"):
        evaluate(model, X, y, metrics=metric)


def test_a_metric_of_two_classes_is_refused_for_three():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=r"'f1' cannot be computed .* use another"):
        evaluate(LinearSVC().fit(X, y), X, y, metrics="f1")


@pytest.mark.parametrize("wrong", ["a", None, np.nan, np.inf])
def test_targets_that_no_regressor_could_answer_are_refused_in_one_sentence(wrong):
    X = np.arange(20.0)[:, None]
    model = LinearSVR().fit(X, X[:, 0])
    y = X[:, 0].tolist()
    y[3] = wrong
    with pytest.raises(DataError, match="at row 3, where a regressor needs a"):
        evaluate(model, X, np.array(y, dtype=object))
    with pytest.raises(DataError, match="at row 3, where a regressor needs a"):
        compare(model, model, X, np.array(y, dtype=object))
