"""OneClassSVM and SVDD: one machine under RBF, nu's two bounds, and what is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from hedgerow import (
    RBF,
    SVDD,
    Linear,
    LinearOneClassSVM,
    OneClassSVM,
    Precomputed,
    load,
    save,
)
from hedgerow.errors import ParameterError, ScaleWarning, UnavailableError
from hedgerow.theory import enclosing_ball
from tests.kernel_samples import blobs

TOL = 1e-8
NEAR = 1e-6
"""Scores of two machines that both violate no condition by more than 1e-8 are this near."""
X, _ = blobs(150)
NEW = np.random.default_rng(5).normal(size=(200, 2)) * 3
MACHINES = [OneClassSVM(nu=0.2, gamma=0.5, tol=TOL), SVDD(nu=0.2, gamma=0.5, tol=TOL)]


def by_name(model):
    return type(model).__name__


def function_of_two_blocks(rows, others):
    return RBF(gamma=0.5)(rows, others)


def made(model, **parameters):
    return type(model)(**model.get_params() | parameters)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_shapes_signs_and_scores_are_scikit_learns(kernel):
    ours = OneClassSVM(nu=0.2, kernel=kernel, gamma=0.5, coef0=1.0, tol=TOL).fit(X)
    theirs = sklearn.svm.OneClassSVM(nu=0.2, kernel=kernel, gamma=0.5, coef0=1.0, tol=TOL).fit(X)
    scale = np.abs(theirs.offset_[0])
    for method in ("decision_function", "score_samples"):
        found, expected = getattr(ours, method)(NEW), getattr(theirs, method)(NEW)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * scale)
    for name in ("offset_", "intercept_", "n_support_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    assert ours.dual_coef_.sum() == pytest.approx(0.2 * len(X))


@pytest.mark.parametrize("nu", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_ball_is_the_plane_if_every_row_is_as_long(nu, gamma):
    plane = OneClassSVM(nu=nu, gamma=gamma, tol=TOL).fit(X)
    ball = SVDD(nu=nu, gamma=gamma, tol=TOL).fit(X)
    total = nu * len(X)
    np.testing.assert_allclose(total * ball.dual_coef_, plane.dual_coef_, atol=NEAR * total)
    np.testing.assert_allclose(
        0.5 * total * ball.decision_function(NEW), plane.decision_function(NEW), atol=NEAR * total
    )
    clear = np.abs(plane.decision_function(NEW)) > 10 * NEAR * total
    assert ball.predict(NEW)[clear].tolist() == plane.predict(NEW)[clear].tolist()


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
@pytest.mark.parametrize("nu", [0.05, 0.3, 0.9])
def test_nu_lies_between_the_shares_of_outliers_and_of_support_vectors(model, nu):
    fitted = made(model, nu=nu).fit(X)
    assert np.mean(fitted.decision_function(X) < -NEAR * nu * len(X)) <= nu + 1e-9
    assert len(fitted.support_) / len(X) >= nu - 1e-9


def test_a_hard_ball_is_the_smallest_that_encloses_all():
    ball = SVDD(kernel="linear", tol=1e-9).fit(X)
    known = enclosing_ball(X)
    assert ball.radius_ == pytest.approx(known.radius, rel=1e-6)
    centre = ball.dual_coef_[0] @ X[ball.support_]
    np.testing.assert_allclose(centre, known.center, atol=1e-4)
    assert ball.sq_norm_ == pytest.approx(centre @ centre, rel=1e-6, abs=1e-9)
    assert (ball.predict(X) == 1).all()
    outside = np.linalg.norm(NEW - centre, axis=1) > ball.radius_
    assert ((ball.predict(NEW) == -1) == outside).all()


def test_the_linear_kernel_is_the_linear_machine():
    rows = X + 5.0
    ours = OneClassSVM(kernel=Linear(), nu=0.2, tol=TOL).fit(rows)
    plane = LinearOneClassSVM(nu=0.2, tol=1e-12).fit(rows)
    scale = 0.2 * len(rows)  # the linear machine divides the losses by nu n
    np.testing.assert_allclose(ours.coef_ / scale, plane.coef_, atol=NEAR)
    np.testing.assert_allclose(ours.offset_ / scale, plane.offset_, atol=NEAR)


def test_what_cannot_be_is_refused_with_what_can():
    with pytest.raises(ParameterError, match=r"nu=1\.5"):
        OneClassSVM(nu=1.5).fit(X)
    with pytest.raises(ParameterError, match="give one of them"):
        SVDD(nu=0.5, C=2.0).fit(X)
    with pytest.raises(ParameterError, match=r"use C of at least 0\.00666667"):
        SVDD(C=0.001).fit(X)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_sparse_rows_and_functions_give_the_same_scores(model):
    plain = made(model, kernel=RBF(gamma=0.5)).fit(X)
    sparse = model.fit(sp.csr_array(X))
    function = made(model, kernel=function_of_two_blocks).fit(X)
    for other in (sparse, function):
        np.testing.assert_allclose(
            other.decision_function(NEW), plain.decision_function(NEW), atol=NEAR * 30
        )


def test_a_table_is_enough_for_a_plane_but_not_for_a_ball_of_new_rows():
    kernel = RBF(gamma=0.5)
    plane = OneClassSVM(kernel="precomputed", nu=0.2, tol=TOL).fit(kernel(X))
    named = OneClassSVM(kernel=kernel, nu=0.2, tol=TOL).fit(X)
    np.testing.assert_allclose(
        plane.decision_function(kernel(NEW, X)), named.decision_function(NEW), atol=NEAR * 30
    )
    ball = SVDD(kernel="precomputed", nu=0.2, tol=TOL).fit(kernel(X))
    assert ball.radius_ == pytest.approx(SVDD(kernel=kernel, nu=0.2, tol=TOL).fit(X).radius_)
    double = SVDD(kernel=2 * Precomputed(), nu=0.2, tol=TOL).fit(kernel(X))
    for each in (ball, double):
        with pytest.raises(UnavailableError, match="take OneClassSVM"):
            each.predict(kernel(X))


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_a_scale_is_that_of_a_pipeline(model):
    uneven = X * [1.0, 1e4]
    ours = made(model, scale="minmax").fit(uneven)
    line = make_pipeline(MinMaxScaler(), made(model)).fit(uneven)
    np.testing.assert_allclose(
        ours.decision_function(uneven), line.decision_function(uneven), atol=NEAR * 30
    )
    with pytest.warns(ScaleWarning, match="feature 1 ranges"):
        made(model, tol=1e-3).fit(uneven)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_a_fit_begun_at_the_one_before_takes_fewer_steps(model):
    rows, _ = blobs(1500, seed=2)
    warm = made(model, warm_start=True, tol=1e-3).fit(rows)
    first = warm.n_iter_
    assert warm.fit(rows).n_iter_ < 0.1 * first
    assert warm.fit(rows[:300]).certificate_.is_certified


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_weights_are_rows_given_more_than_once(model):
    times = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = made(model).fit(X, sample_weight=times)
    repeated = made(model).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(
        weighted.decision_function(NEW), repeated.decision_function(NEW), atol=NEAR * 60
    )


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
@pytest.mark.parametrize("rows", [X, sp.csr_array(X), X.astype(np.float32)])
def test_a_saved_or_pickled_model_is_the_same_to_the_bit(model, rows, tmp_path):
    fitted = made(model, tol=1e-3).fit(rows)
    save(fitted, tmp_path / "m.hedge")
    for again in (load(tmp_path / "m.hedge"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.decision_function(rows), fitted.decision_function(rows))
        assert again.certificate_ == fitted.certificate_
