"""LinearSVR: exact small answers, its dual, its shapes, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import DataConversionWarning

from hedgerow import DataError, LinearSVR, NotCertifiedWarning, ParameterError

LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive"]
INTERCEPTS = [{"intercept": "free"}, {"intercept": "penalized"}, {"fit_intercept": False}]
EXACT = {"rtol": 0, "atol": 1e-12}


def noisy_plane(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + 3.0 + rng.normal(size=n)


def test_the_flattest_line_through_a_tube_of_half_width_one_half():
    model = LinearSVR(epsilon=0.5, C=10.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    # The ends touch the tube: 2 w >= 2 - 2 epsilon, so w = 1/2; alpha = w / 2 at both.
    assert_allclose(model.coef_, [0.5], **EXACT)
    assert_allclose(model.intercept_, [0.5], **EXACT)
    assert_allclose(model.alpha_, [-0.25, 0.0, 0.25], **EXACT)
    assert_allclose(model.predict([[4.0]]), [2.5], **EXACT)


def test_without_a_tube_and_with_little_weight_every_alpha_is_at_its_bound():
    model = LinearSVR(C=0.1).fit([[-1.0], [1.0]], [-1.0, 1.0])
    assert_allclose(model.alpha_, [-0.1, 0.1], **EXACT)
    assert_allclose(model.coef_, [0.2], **EXACT)
    assert_allclose(model.intercept_, [0.0], **EXACT)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_shapes_are_scikit_learns(loss):
    model = LinearSVR(loss=loss).fit(*noisy_plane())
    assert model.coef_.shape == (4,)
    assert model.intercept_.shape == (1,)
    assert model.alpha_.shape == (60,)
    assert model.predict(noisy_plane()[0]).shape == (60,)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("settings", INTERCEPTS, ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_alpha_has_the_sign_of_the_residual_and_makes_w(loss, settings, epsilon):
    X, y = noisy_plane()
    model = LinearSVR(loss=loss, epsilon=epsilon, C=0.3, **settings).fit(X, y)
    residual = y - model.predict(X)
    assert model.certificate_.is_certified
    assert_allclose(model.alpha_ @ X, model.coef_, atol=1e-9)
    beyond = np.abs(residual) > epsilon + 1e-9
    assert_array_equal(np.sign(model.alpha_[beyond]), np.sign(residual[beyond]))
    assert_array_equal(model.alpha_[np.abs(residual) < epsilon - 1e-9], 0.0)
    if settings.get("intercept") == "free":
        assert_allclose(model.alpha_.sum(), 0.0, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("settings", INTERCEPTS, ids=str)
def test_a_weight_is_a_number_of_repetitions(loss, settings):
    X, y = noisy_plane()
    times = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = LinearSVR(loss=loss, epsilon=0.2, **settings).fit(X, y, times)
    repeated = LinearSVR(loss=loss, epsilon=0.2, **settings)
    repeated.fit(X.repeat(times, axis=0), y.repeat(times))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)


def test_reg_lambda_is_the_other_parametrisation():
    X, y = noisy_plane()
    weight = np.linspace(0.5, 2.0, len(y))
    by_C = LinearSVR(C=0.4, epsilon=0.1).fit(X, y, weight)
    by_lambda = LinearSVR(reg_lambda=1 / (2 * weight.sum() * 0.4), epsilon=0.1).fit(X, y, weight)
    assert_allclose(by_lambda.coef_, by_C.coef_, atol=1e-9)
    with pytest.raises(ParameterError, match="say the same thing twice"):
        LinearSVR(C=2.0, reg_lambda=0.1).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("value", [0.0, 3.7, -1e9])
def test_targets_that_are_all_the_same_are_met_exactly(loss, value):
    X, _ = noisy_plane()
    model = LinearSVR(loss=loss).fit(X, np.full(len(X), value))
    assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == [value]
    assert model.certificate_.is_certified
    assert model.status_ == "optimal"


@pytest.mark.parametrize("loss", LOSSES)
def test_targets_that_fit_into_the_tube_cost_nothing(loss):
    X, _ = noisy_plane()
    y = np.linspace(4.0, 4.9, len(X))
    model = LinearSVR(loss=loss, epsilon=0.5).fit(X, y)
    assert_array_equal(model.coef_, 0.0)
    assert model.certificate_.primal == 0.0
    assert model.certificate_.is_certified


def test_a_penalised_intercept_is_the_weight_of_a_constant_feature():
    X, y = noisy_plane()
    scaled = LinearSVR(intercept="penalized", intercept_scaling=5.0).fit(X, y)
    augmented = LinearSVR(fit_intercept=False).fit(np.c_[X, np.full(len(X), 5.0)], y)
    assert_allclose(scaled.coef_, augmented.coef_[:-1], atol=1e-9)
    assert_allclose(scaled.intercept_, 5.0 * augmented.coef_[-1:], atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, object])
def test_any_numbers_may_be_targets(dtype):
    X, y = noisy_plane()
    y = (y > 3).astype(dtype)
    plain = LinearSVR().fit(X, y.astype(float))
    assert_array_equal(LinearSVR().fit(X, y).coef_, plain.coef_)


def test_targets_may_be_a_series_or_a_column():
    X, y = noisy_plane()
    plain = LinearSVR().fit(X, y).coef_
    assert_array_equal(LinearSVR().fit(X, pd.Series(y)).coef_, plain)
    assert_array_equal(LinearSVR().fit(X, pl.Series(y)).coef_, plain)
    with pytest.warns(DataConversionWarning):
        assert_array_equal(LinearSVR().fit(X, y[:, None]).coef_, plain)


BAD_TARGETS = {
    "missing": ([1.0, np.nan, 2.0], "y is nan at row 1"),
    "infinite": ([1.0, 2.0, np.inf], "y is inf at row 2"),
    "text": (["1", "2", "3"], "y holds '1' at row 0"),
    "labels": (np.array([1.0, "high", 2.0], dtype=object), "y holds 'high' at row 1"),
    "none": ([1.0, None, 2.0], "y holds None at row 1"),
    "complex": ([1j, 2.0, 3.0], "Complex data not supported"),
    "several": (np.ones((3, 2)), "y cannot be used as the values of a regression"),
    "fewer": ([1.0, 2.0], "X has 3 rows but y has 2 values"),
    "nothing": (None, "requires y to be passed"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_bad_targets_are_refused_in_one_sentence(case):
    y, says = BAD_TARGETS[case]
    with pytest.raises(DataError, match=says) as caught:
        LinearSVR().fit([[0.0], [1.0], [2.0]], y)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -0.1}, {"loss": "hinge"}, {"C": 0.0}, {"solver": "simplex"}], ids=str
)
def test_a_bad_parameter_is_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        LinearSVR(**wrong).fit(*noisy_plane())


def test_a_solver_that_cannot_take_the_loss_names_those_that_can():
    with pytest.raises(ParameterError, match=r"cannot minimise loss=.*can are .*'interior_point'"):
        LinearSVR(solver="newton").fit(*noisy_plane())


def test_a_fit_cut_short_says_so_and_predicts():
    X, y = noisy_plane()
    with pytest.warns(NotCertifiedWarning, match="raise max_iter or tol, lower C"):
        model = LinearSVR(max_iter=1).fit(X, y)
    assert model.status_ == "max_iter"
    assert np.isfinite(model.predict(X)).all()


def test_the_score_is_the_share_of_variance_explained():
    X, y = noisy_plane()
    model = LinearSVR().fit(X, y)
    residual = y - model.predict(X)
    assert_allclose(model.score(X, y), 1 - np.sum(residual**2) / np.sum((y - y.mean()) ** 2))
