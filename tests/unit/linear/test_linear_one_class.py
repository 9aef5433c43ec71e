"""LinearOneClassSVM: exact small answers, the two bounds of nu, and optima that are zero."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import OneClassSVM

from hedgerow import LinearOneClassSVM, NotCertifiedWarning, ParameterError

EXACT = {"rtol": 0, "atol": 1e-12}
SOLVERS = ["interior_point", "dual_coordinate_descent"]


def cloud(n=80, d=3, seed=0, shift=2.0):
    return np.random.default_rng(seed).normal(size=(n, d)) + shift


def objective(model, X, nu, weight=None):
    """Return Schoelkopf's objective."""
    weight = np.ones(len(X)) if weight is None else weight
    w, rho = model.coef_[0], model.offset_[0]
    losses = weight @ np.maximum(0.0, rho - X @ w)
    return 0.5 * w @ w - rho + losses / (nu * weight.sum())


def test_the_plane_farthest_from_the_origin_passes_through_the_nearest_points():
    # (1, 1) is the point of the hull nearest to the origin, halfway between the first two rows.
    model = LinearOneClassSVM(nu=0.25).fit([[2, 0], [0, 2], [3, 3], [4, 3]])
    assert_allclose(model.coef_, [[1, 1]], **EXACT)
    assert_allclose(model.offset_, [2], **EXACT)
    assert_allclose(model.alpha_, [[0.5, 0.5, 0, 0]], **EXACT)
    assert_array_equal(model.support_, [0, 1])
    assert_allclose(model.certificate_.primal, -1.0, **EXACT)
    assert_array_equal(model.predict([[2, 0], [0, 2], [1.5, 1.5], [0.5, 0.5]]), [1, 1, 1, -1])


def test_with_nu_one_the_normal_is_the_mean():
    X = cloud()
    model = LinearOneClassSVM(nu=1.0).fit(X)
    assert_allclose(model.coef_[0], X.mean(axis=0), **EXACT)
    assert_allclose(model.alpha_, 1 / len(X), rtol=1e-12)
    assert model.certificate_.is_certified


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("nu", [0.03, 0.1, 0.37, 0.5, 0.9])
@pytest.mark.parametrize("shift", [1.0, 3.0])
def test_nu_bounds_outliers_from_above_and_support_vectors_from_below(solver, nu, shift):
    X = cloud(n=150, shift=shift)
    model = LinearOneClassSVM(nu=nu, solver=solver, tol=1e-10, random_state=0).fit(X)
    slack = 1e-6 * abs(model.offset_[0])  # what a gap of 1e-10 may leave
    assert np.mean(model.decision_function(X) < -slack) <= nu
    assert len(model.support_) / len(X) >= nu - 1e-12
    assert_allclose(model.alpha_.sum(), 1.0, atol=1e-10)  # each put on a bound from 1e-12 off
    assert model.alpha_.max() <= 1 / (nu * len(X)) * (1 + 1e-12)


@pytest.mark.parametrize("nu", [0.05, 0.33, 0.871])
def test_rows_on_the_margin_count_as_inside_whatever_their_last_bits(nu):
    X = cloud(n=150)
    model = LinearOneClassSVM(nu=nu).fit(X)
    between = model.point_groups().between
    assert len(between)
    for container in (X, sp.csr_array(X), np.asfortranarray(X)):
        assert_array_equal(model.predict(container)[between], 1)
        assert_array_equal(model.decision_function(container)[between], 0.0)


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
def test_the_plane_is_libsvms_with_alphas_that_sum_to_one(nu):
    X = cloud(n=120)
    ours = LinearOneClassSVM(nu=nu).fit(X)
    peer = OneClassSVM(kernel="linear", nu=nu, tol=1e-8).fit(X)
    scale = nu * len(X)
    assert_allclose(ours.coef_, peer.coef_ / scale, rtol=1e-5)
    assert_allclose(ours.offset_, peer.offset_ / scale, rtol=1e-5)
    assert_allclose(
        ours.decision_function(X),
        peer.decision_function(X) / scale,
        atol=1e-5 * abs(ours.offset_[0]),
    )


def test_the_certificate_is_of_schoelkopfs_objective():
    X, weight = cloud(), np.linspace(0.0, 2.0, 80)
    model = LinearOneClassSVM(nu=0.2).fit(X, sample_weight=weight)
    assert_allclose(model.certificate_.primal, objective(model, X, 0.2, weight), rtol=1e-12)
    assert_allclose(model.certificate_.dual, -0.5 * model.coef_[0] @ model.coef_[0], rtol=1e-9)


@pytest.mark.parametrize(
    "settings", [{}, {"intercept": "penalized"}, {"fit_intercept": False}], ids=str
)
def test_a_weight_is_a_number_of_repetitions(settings):
    X, times = cloud(), np.random.default_rng(1).integers(0, 3, 80)
    weighted = LinearOneClassSVM(nu=0.3, **settings).fit(X, sample_weight=times)
    repeated = LinearOneClassSVM(nu=0.3, **settings).fit(X.repeat(times, axis=0))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert_allclose(weighted.offset_, repeated.offset_, atol=1e-9)


def test_a_penalised_intercept_pays_for_rho():
    X = cloud()
    model = LinearOneClassSVM(nu=0.2, intercept="penalized", intercept_scaling=2.0).fit(X)
    paid = objective(model, X, 0.2) + 0.5 * (model.offset_[0] / 2.0) ** 2
    assert_allclose(model.certificate_.primal, paid, rtol=1e-12)
    assert_allclose(model.offset_, -(2.0**2) * (model.alpha_.sum() - 1.0), rtol=1e-9)


def test_without_an_intercept_rho_is_one():
    X = cloud()
    model = LinearOneClassSVM(nu=0.2, fit_intercept=False).fit(X)
    assert model.offset_ == [1.0]
    assert model.intercept_ == [-1.0]
    assert_allclose(model.alpha_[0] @ X, model.coef_[0], atol=1e-9)
    assert_allclose(objective(model, X, 0.2), model.certificate_.primal - 1.0, rtol=1e-12)


def test_score_samples_and_the_decision_differ_by_the_offset():
    X = cloud()
    model = LinearOneClassSVM(nu=0.2).fit(X)
    assert_allclose(model.score_samples(X), X @ model.coef_[0], rtol=1e-12)
    assert_array_equal(model.decision_function(X), model.score_samples(X) - model.offset_)
    assert_array_equal(model.intercept_, -model.offset_)
    assert_array_equal(model.fit_predict(X), np.where(model.decision_function(X) >= 0, 1, -1))


def test_rows_around_the_origin_have_the_optimum_zero_and_a_certificate():
    X = cloud(shift=0.0)
    for rows in (X, X - X.mean(axis=0), (X - X.mean(axis=0)).astype(np.float32)):
        for solver in SOLVERS:
            model = LinearOneClassSVM(nu=0.3, solver=solver, random_state=0).fit(rows)
            assert model.status_ == "optimal"
            assert model.certificate_.is_certified
            assert_array_equal(model.coef_, 0.0)
            assert_array_equal(model.predict(rows), 1)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1e3, 1e6])
def test_scaling_the_rows_scales_the_normal(solver, scale):
    X = cloud()
    model = LinearOneClassSVM(nu=0.2, solver=solver, tol=1e-9, random_state=0)
    unscaled = model.fit(X).coef_
    scaled = model.fit(scale * X)
    assert scaled.certificate_.is_certified
    assert_allclose(scaled.coef_, scale * unscaled, rtol=1e-4)


@pytest.mark.parametrize("nu", [0.0, -0.1, 1.5, "half", None])
def test_nu_is_above_zero_and_at_most_one(nu):
    with pytest.raises(ParameterError, match="nu="):
        LinearOneClassSVM(nu=nu).fit(cloud())


def test_a_solver_that_cannot_fit_rho_names_those_that_can():
    with pytest.raises(ParameterError, match=r"cannot fit the intercept .*'interior_point'"):
        LinearOneClassSVM(solver="augmented_lagrangian").fit(cloud())


def test_a_fit_cut_short_says_so():
    with pytest.warns(NotCertifiedWarning, match="raise max_iter or tol, or scale the features"):
        model = LinearOneClassSVM(nu=0.1, max_iter=1).fit(cloud())
    assert model.status_ == "max_iter"
    assert set(model.predict(cloud())) <= {-1, 1}


def test_rows_that_surround_the_origin_are_certified_as_far_as_numbers_go():
    # The central path ends in overflow here; alphas that cancel out are found by least squares.
    X = [
        [1, 0, 2],
        [-1, -1, -1],
        [0, 0, 0],
        [1, 0, 1],
        [0, 0, 0],
        [0, 0, 1],
        [-2, 1, -2],
        [0, 0, 0],
    ]
    weight = np.array([1, 1, 2, 3, 2, 1, 3, 1]) * 0.17350848
    model = LinearOneClassSVM(nu=1.0 / weight.sum(), tol=1e-9)
    model.fit(np.array(X, dtype=float), sample_weight=weight)
    assert model.certificate_.is_certified
    np.testing.assert_array_equal(model.coef_, 0.0)
