"""The error of a learner: out-of-bag, .632 and .632+."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hedgerow import LinearSVC, engine, watch
from hedgerow.errors import DataError, ParameterError, StoppedError
from hedgerow.resampling.learner_error import bootstrap_error


@pytest.fixture(scope="module")
def noise():
    """Return features that know nothing of two equally frequent classes."""
    return np.random.default_rng(0).normal(size=(100, 4)), np.repeat([0, 1], 50)


def test_a_learner_that_memorises_noise_is_found_out(noise):
    nearest = KNeighborsClassifier(1)
    plus = bootstrap_error(nearest, *noise, random_state=0)
    plain = bootstrap_error(nearest, *noise, method=".632", random_state=0)
    assert plus.training_error == 0
    assert plus.no_information_error == pytest.approx(0.5)
    # The true error is 0.5; .632 gives 0.632 times that, .632+ nearly all of it.
    assert plain.error == pytest.approx(0.632 * plain.out_of_bag_error, rel=1e-3)
    assert plain.error < 0.37
    assert 0.42 < plus.error < 0.5 + 1e-9


def test_the_three_errors_are_the_formulas_of_efron_and_tibshirani(noise):
    X, y = noise
    X = X + 0.7 * y[:, None]
    found = {
        method: bootstrap_error(
            DecisionTreeClassifier(max_depth=3, random_state=0), X, y, method=method, random_state=1
        )
        for method in (".632+", ".632", "out_of_bag")
    }
    training = found[".632"].training_error
    out_of_bag = found["out_of_bag"].error
    share = 1 - np.exp(-1)
    assert found[".632"].error == pytest.approx((1 - share) * training + share * out_of_bag)
    rate = (out_of_bag - training) / (found[".632+"].no_information_error - training)
    weight = share / (1 - (1 - share) * rate)
    assert found[".632+"].error == pytest.approx((1 - weight) * training + weight * out_of_bag)
    assert training < found[".632"].error < found[".632+"].error < out_of_bag


def test_the_no_information_error_pairs_every_target_with_every_prediction():
    y = np.array([0.0, 1.0, 2.0, 7.0] * 5)
    X = np.arange(20.0)[:, None]
    found = bootstrap_error(LinearRegression(), X, y, random_state=0)
    prediction = LinearRegression().fit(X, y).predict(X)
    assert found.no_information_error == pytest.approx(
        ((y[:, None] - prediction[None, :]) ** 2).mean()
    )


def test_the_error_of_a_constant_prediction_is_the_variance():
    y = np.random.default_rng(3).normal(size=400)
    found = bootstrap_error(
        DummyRegressor(), np.zeros((400, 1)), y, method="out_of_bag", random_state=0
    )
    # The mean of a resample is off by var / n, a quarter of a percent of the variance.
    assert found.error == pytest.approx(y.var(), rel=0.01)
    assert found.confidence_interval.low < 1 < found.confidence_interval.high


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_any_number_of_threads_gives_the_same_result(noise, n_jobs):
    learner = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1))
    one, many = (
        bootstrap_error(learner, *noise, n_resamples=40, random_state=5, n_jobs=jobs)
        for jobs in (1, n_jobs)
    )
    assert one == many


def test_every_container_gives_the_same_error():
    X, y = load_iris(return_X_y=True)
    errors = [
        bootstrap_error(LinearSVC(), data, y, n_resamples=25, random_state=0).error
        for data in (X, pd.DataFrame(X), sp.csr_array(X), X.tolist())
    ]
    # Sparse rows sum in another order; a prediction may not flip for that.
    assert errors == pytest.approx([errors[0]] * 4)


def test_groups_are_never_split_between_fit_and_judgement(noise):
    X = np.repeat(noise[0][::5], 5, axis=0)
    y = np.repeat(np.arange(20) % 2, 5)
    leaky = bootstrap_error(KNeighborsClassifier(1), X, y, random_state=0)
    honest = bootstrap_error(
        KNeighborsClassifier(1), X, y, groups=np.repeat(np.arange(20), 5), random_state=0
    )
    # Copies of a row in the fit tell its class; whole groups do not.
    assert leaky.error < 0.05
    assert honest.error > 0.3


def test_a_perfect_learner_has_no_interval_and_says_so():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    found = bootstrap_error(KNeighborsClassifier(1), X, X[:, 0] > 0, random_state=0)
    assert found.error == 0
    assert found.confidence_interval is None
    assert "there is no interval" in str(found)


def test_what_cannot_be_estimated_is_said_in_a_sentence(noise):
    X, y = noise
    nearest = KNeighborsClassifier(1)
    with pytest.raises(DataError, match="keep class sizes with strata=y"):
        bootstrap_error(nearest, X, np.arange(100) == 3, random_state=0)
    with pytest.raises(DataError, match="is in all 2 resamples"):
        bootstrap_error(nearest, X, y, n_resamples=2, random_state=0)
    with pytest.raises(DataError, match=r"y has shape \(99,\)"):
        bootstrap_error(nearest, X, y[:99])
    with pytest.raises(ParameterError, match=r"method='\.623' is not allowed"):
        bootstrap_error(nearest, X, y, method=".623")
    with pytest.raises(ParameterError, match="metric='accuracy' is not allowed"):
        bootstrap_error(nearest, X, y, metric="accuracy")
    with pytest.raises(ParameterError, match="return one loss per row"):
        bootstrap_error(nearest, X, y, metric=lambda y, p: np.mean(y != p), n_resamples=30)


def test_every_fit_is_reported():
    X, y = load_iris(return_X_y=True)
    events = []
    with watch(events.append):
        bootstrap_error(KNeighborsClassifier(1), X, y, n_resamples=30, random_state=0)
    own = [event for event in events if event.path == ("bootstrap_error",)]
    assert [event.done for event in own] == list(range(1, 31))
    assert {event.total for event in own} == {30}


def test_half_an_estimate_is_refused():
    X, y = load_iris(return_X_y=True)
    with (
        watch(lambda event: event.task == "bootstrap_error" and event.done == 3),
        pytest.raises(StoppedError, match=r"was stopped \(stopped\) after 3 of 30 fits"),
    ):
        bootstrap_error(KNeighborsClassifier(1), X, y, n_resamples=30, random_state=0)


@pytest.mark.parametrize("metric", ["misclassification", "squared_error", "absolute_error"])
def test_where_the_fits_run_changes_nothing(metric):
    X, y = load_iris(return_X_y=True)
    settings = {"n_resamples": 20, "random_state": 0, "metric": metric}
    expected = bootstrap_error(KNeighborsClassifier(1), X, y, **settings)
    for where in (None, "threading", "loky"):
        with engine(where):
            assert bootstrap_error(KNeighborsClassifier(1), X, y, **settings) == expected
