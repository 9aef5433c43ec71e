"""partial_fit of the linear machines: rows that come once, and a bound that holds for them all."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow
from hedgerow import LinearSVC, LinearSVR
from hedgerow.errors import ParameterError, UnavailableError


def stream(n_rows=600, n_features=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features))
    return X, X @ np.arange(1.0, n_features + 1) + 0.5 * random.normal(size=n_rows)


INTERCEPTS = [{"fit_intercept": False}, {"intercept": "penalized"}, {"intercept": "free"}]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_bound_holds_for_all_rows_given_so_far(loss, intercept, n_classes):
    X, score = stream()
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = LinearSVC(loss=loss, C=0.1, random_state=0, **intercept)
    for rows in np.array_split(np.arange(len(y)), 6):
        model.partial_fit(X[rows], y[rows], classes=np.arange(n_classes))
    whole = LinearSVC(loss=loss, C=0.1, **intercept).fit(X, y)
    for ours, theirs in zip(model.certificates_, whole.certificates_, strict=True):
        assert 0.5 * theirs.primal < ours.dual <= theirs.primal * (1 + 1e-12)
        assert not ours.is_certified
    assert model.status_ == "approximate"
    assert "was not measured" in str(model.certificate_)
    assert model.score(X, y) > whole.score(X, y) - 0.05
    assert model.alpha_.shape == (1 if n_classes == 2 else 3, 100)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_the_bound_holds_for_values_too(loss, intercept):
    X, values = stream()
    model = LinearSVR(loss=loss, C=0.1, epsilon=0.1, random_state=0, **intercept)
    for rows in np.array_split(np.arange(len(values)), 6):
        model.partial_fit(X[rows], values[rows])
    whole = LinearSVR(loss=loss, C=0.1, epsilon=0.1, **intercept).fit(X, values)
    assert 0.5 * whole.certificate_.primal < model.certificate_.dual
    assert model.certificate_.dual <= whole.certificate_.primal * (1 + 1e-12)
    assert model.score(X, values) > whole.score(X, values) - 0.05


def test_one_row_at_a_time_is_enough():
    X, score = stream(200)
    y = np.where(score > 0, "up", "down")
    model = LinearSVC(C=0.1, random_state=0)
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None, :], [label], classes=["down", "up"])
    assert model.score(X, y) > 0.9
    assert np.isfinite(model.certificate_.dual)


def test_a_model_goes_on_after_it_was_saved(tmp_path):
    X, score = stream()
    y = np.where(score > 0, 1, 0)
    model = LinearSVC(random_state=0).partial_fit(X[:300], y[:300], classes=[0, 1])
    hedgerow.save(model, tmp_path / "model.hedgerow")
    loaded = hedgerow.load(tmp_path / "model.hedgerow")
    for each in (model, loaded):
        each.partial_fit(X[300:], y[300:])
    assert np.array_equal(model.coef_, loaded.coef_)
    assert model.certificate_ == loaded.certificate_


def test_a_fit_in_between_makes_earlier_rows_void():
    X, score = stream()
    y = np.where(score > 0, 1, 0)
    fresh = LinearSVC(random_state=0).partial_fit(X[300:], y[300:], classes=[0, 1])
    used = LinearSVC(random_state=0).partial_fit(X[:300], y[:300], classes=[0, 1])
    used.fit(X[:300], y[:300]).partial_fit(X[300:], y[300:])
    assert np.array_equal(fresh.coef_, used.coef_)


def test_probabilities_of_a_fit_before_are_forgotten():
    X, y = np.repeat(np.eye(2), 10, axis=0), np.repeat([0, 1], 10)
    model = LinearSVC(calibrate="sigmoid", random_state=0).fit(X, y)
    model.set_params(calibrate=None).partial_fit(-X, y)
    assert not hasattr(model, "probability_maps_")
    assert np.array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


@pytest.mark.parametrize(
    "parameters",
    [
        {"penalty": "l1"},
        {"C": np.inf},
        {"reg_lambda": 0.1},
        {"class_weight": "balanced"},
        {"multi_class": "crammer_singer"},
        {"calibrate": "sigmoid"},
    ],
)
def test_what_needs_all_rows_has_no_partial_fit(parameters):
    model = LinearSVC(**parameters)
    assert not hasattr(model, "partial_fit")
    with pytest.raises((UnavailableError, AttributeError), match="partial_fit"):
        model.partial_fit([[1.0]], [0], classes=[0, 1])


def test_classes_are_named_in_the_first_call():
    with pytest.raises(ParameterError, match="first call"):
        LinearSVC().partial_fit([[1.0]], [0])
