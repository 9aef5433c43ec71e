"""C = inf: the widest margin there is, or a proof that there is none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

import hedgerow
from hedgerow import Hyperplane, LinearSVC, NotCertifiedWarning, NotSeparableError, ParameterError
from hedgerow.data.rows import matrix_of
from hedgerow.problems.certificates import certify_overlap
from hedgerow.problems.hard_margin import HardMarginProblem, Overlap
from hedgerow.solvers import Settings, solve

EXACT = {"rtol": 0, "atol": 1e-12}

X = np.array([[1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [-1.0, 0.0]])
Y = np.array([1, 1, -1, -1])
CROSS = np.array([[0.0, 0.0], [2.0, 2.0], [0.0, 2.0], [2.0, 0.0]])
KINDS = [{}, {"intercept": "penalized"}, {"fit_intercept": False}]


def touching_lines(gap):
    """Two classes on parallel lines so far apart; the widest margin is half of it."""
    return np.array([[0, 0], [1, 0], [2, 0], [0.5, gap], [1.5, gap]]), [0, 0, 0, 1, 1]


def far_apart(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    points = rng.normal(size=(n, d))
    points[:, 0] += 4.5 * y
    return points, y


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_worked_example_comes_out_exactly(loss):
    model = LinearSVC(C=np.inf, loss=loss).fit(X, Y)
    assert_allclose(model.coef_, [[1, 1]], **EXACT)
    assert_allclose(model.intercept_, [-1], **EXACT)
    assert_allclose(model.alpha_, [[1, 0, 1, 0]], **EXACT)
    assert_allclose(Hyperplane.of(model).margin(X, Y), 1 / np.sqrt(2), **EXACT)
    assert_allclose(Hyperplane.of(model).width, np.sqrt(2), **EXACT)
    assert_array_equal(np.flatnonzero(model.alpha_[0] > 1e-9), [0, 2])
    assert model.solver_ == "hard_margin"
    assert model.certificate_.is_certified
    assert_allclose([model.certificate_.primal, model.certificate_.dual], 1.0, **EXACT)


def test_another_separating_plane_costs_more_in_the_same_problem():
    problem = HardMarginProblem(matrix_of(X), Y.astype(float), np.ones(4))
    assert_allclose(problem.objective(np.array([1.0, 1.0]), -1.0), 1.0, **EXACT)
    # The rival (1, 0), b = -1/2 is (2, 0), b = -1 when its closest rows have scores of 1.
    assert_allclose(problem.objective(np.array([1.0, 0.0]), -0.5), 2.0, **EXACT)
    assert problem.objective(np.array([-1.0, 0.0]), 0.0) == np.inf


def test_it_is_the_limit_of_soft_margins():
    points, y = far_apart()
    hard = LinearSVC(C=np.inf).fit(points, y)
    soft = LinearSVC(loss="hinge", C=1e6).fit(points, y)
    assert_allclose(hard.coef_, soft.coef_, rtol=1e-8)
    assert_allclose(hard.intercept_, soft.intercept_, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_dense_sparse_and_float32_are_the_same(kind):
    points, y = far_apart()
    points = np.round(points, 1).astype(np.float32)
    dense = LinearSVC(C=np.inf, **kind).fit(points, y)
    assert dense.certificate_.relative_gap < 1e-11
    for other in (points.astype(np.float64), sp.csr_array(points)):
        assert_allclose(LinearSVC(C=np.inf, **kind).fit(other, y).coef_, dense.coef_, rtol=1e-9)


def test_weights_do_not_count_but_rows_without_weight_are_not_there():
    weight = np.array([3.0, 1.0, 0.1, 1.0])
    weighted = LinearSVC(C=np.inf).fit(X, Y, weight)
    assert_allclose(weighted.coef_, [[1, 1]], **EXACT)
    without = LinearSVC(C=np.inf).fit(X, Y, [0, 1, 1, 1])
    assert_allclose(without.coef_, LinearSVC(C=np.inf).fit(X[1:], Y[1:]).coef_, **EXACT)
    inside_out = np.vstack([X, [[-9.0, 0.0]]])
    assert_allclose(
        LinearSVC(C=np.inf).fit(inside_out, [*Y, 1], [1, 1, 1, 1, 0]).coef_, [[1, 1]], **EXACT
    )


@pytest.mark.parametrize("gap", [1.0, 1e-3, 1e-6, 1e-8])
def test_thin_margins_are_found(gap):
    points, y = touching_lines(gap)
    model = LinearSVC(C=np.inf, tol=1e-9).fit(points, y)
    assert model.certificate_.is_certified
    assert_allclose(1 / np.linalg.norm(model.coef_), gap / 2, rtol=1e-9)


def test_a_large_offset_hides_no_gap():
    points, y = touching_lines(0.25)  # exact in float64 also beside 2**20
    model = LinearSVC(C=np.inf, tol=1e-6).fit(points + 2.0**20, y)
    assert model.certificate_.is_certified
    assert_allclose(1 / np.linalg.norm(model.coef_), 0.125, rtol=1e-6)


@pytest.mark.parametrize("make", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_classes_that_touch_are_not_separable(make):
    points, y = touching_lines(0.0)
    with pytest.raises(NotSeparableError):
        LinearSVC(C=np.inf).fit(make(points), y)


def test_the_error_carries_a_proof():
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=np.inf).fit(CROSS, ["in", "in", "out", "out"])
    proof = caught.value.proof
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, hedgerow.HedgerowError)
    assert proof.is_certified
    assert_array_equal(proof.rows, [0, 1, 2, 3])
    assert_allclose(proof.weights, 0.5, **EXACT)
    assert_allclose(proof.weights[:2] @ CROSS[:2], proof.weights[2:] @ CROSS[2:], **EXACT)
    assert str(caught.value) == (
        "C=inf asks for a plane between the classes 'in' and 'out', but convex combinations of 4 rows "
        "meet (distance 0.0e+00), so no plane separates them with a margin above 0.0e+00; use a finite C"
    )
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert_array_equal(again.proof.rows, proof.rows)


def test_without_an_intercept_the_origin_is_in_the_hull():
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=np.inf, fit_intercept=False).fit([[1.0], [3.0], [1.0]], [1, 1, -1])
    proof = caught.value.proof
    assert proof.is_certified
    assert_allclose(proof.weights.sum(), 1.0, **EXACT)
    signed = np.array([1.0, 3.0, -1.0])
    assert_allclose(proof.weights @ signed[proof.rows], 0.0, **EXACT)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_the_proof_has_few_rows(kind):
    rng = np.random.default_rng(0)
    points, y = rng.normal(size=(3000, 6)), rng.integers(0, 2, 3000)
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=np.inf, **kind).fit(points, y)
    assert caught.value.proof.is_certified
    assert len(caught.value.proof.rows) <= 6 + 2
    assert caught.value.proof.distance <= 1e-13


def test_with_several_classes_the_error_names_the_one():
    data, y = load_iris(return_X_y=True)
    with pytest.raises(NotSeparableError, match="between class 1 and the rest, but"):
        LinearSVC(C=np.inf).fit(data, y)
    apart = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    model = LinearSVC(C=np.inf).fit(apart, [0, 1, 2])
    assert_array_equal(model.predict(apart), [0, 1, 2])
    assert all(certificate.is_certified for certificate in model.certificates_)


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        ([0.5, 0.5, 0.5, 0.4], "weight_error"),
        ([1.5, -0.5, 0.5, 0.5], "weight_error"),
        ([1.0, 0.0, 0.5, 0.5], "distance"),
        ([np.nan, 0.5, 0.5, 0.5], "distance"),
    ],
)
def test_a_wrong_proof_is_not_certified(weights, fault):
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    problem = HardMarginProblem(matrix_of(CROSS), signs, np.ones(4))
    good = certify_overlap(problem, Overlap(np.arange(4), np.full(4, 0.5)))
    assert good.is_certified
    assert good.largest_margin == 0.0
    bad = certify_overlap(problem, Overlap(np.arange(4), np.array(weights)))
    assert not bad.is_certified
    assert not getattr(bad, fault) < 0.05
    assert "do not meet" in str(bad)


def test_rows_without_weight_prove_nothing():
    signs, weight = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 1.0, 1.0, 0.0])
    problem = HardMarginProblem(matrix_of(CROSS), signs, weight)
    assert not certify_overlap(problem, Overlap(np.arange(4), np.full(4, 0.5))).is_certified


def test_solve_raises_the_bare_overlap():
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    problem = HardMarginProblem(matrix_of(CROSS), signs, np.ones(4))
    with pytest.raises(NotSeparableError, match="combinations of 4 rows meet") as caught:
        solve(problem, Settings())
    assert certify_overlap(problem, caught.value.proof).is_certified


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"loss": "logistic"}, "C=inf asks for a hard margin, .* use loss='hinge' or 'squared_hi"),
        ({"penalty": "l1"}, "C=inf asks for a hard margin, .* use penalty='l2', or a finite C"),
        ({"solver": "newton"}, "solver='newton' cannot minimise .* can are 'hard_margin'"),
        ({"reg_lambda": 0.1}, "C=inf and reg_lambda=0.1 say the same thing twice"),
        ({"C": -np.inf}, "C=-inf is not allowed .* a finite number above 0, or infinity"),
        ({"C": np.nan}, "C=nan is not allowed"),
        ({"C": 1.0, "reg_lambda": 0.0}, "reg_lambda=0.0 is not allowed"),
        ({"C": 1.0, "solver": "hard_margin"}, "solver='hard_margin' cannot minimise loss='squared"),
    ],
)
def test_what_has_no_hard_margin_is_refused(settings, sentence):
    with pytest.raises(ParameterError, match=sentence):
        LinearSVC(**{"C": np.inf} | settings).fit(X, Y)


def test_an_infinite_C_is_cloned_shown_saved_and_loaded(tmp_path):
    model = clone(LinearSVC(C=np.inf)).fit(X, Y)
    assert "C=inf" in repr(model)
    hedgerow.save(model, tmp_path / "m.hedge")
    loaded = hedgerow.load(tmp_path / "m.hedge")
    assert np.isposinf(loaded.C)
    assert_array_equal(loaded.coef_, model.coef_)
    assert loaded.certificate_ == model.certificate_


def test_a_fit_that_may_not_end_says_so():
    rng = np.random.default_rng(1)
    points, y = (
        rng.normal(size=(60, 40)),
        np.arange(60) % 2,
    )  # with so many features it is separable
    with pytest.warns(NotCertifiedWarning, match="max_iter"):
        model = LinearSVC(C=np.inf, max_iter=1, tol=1e-12).fit(points, y)
    assert (model.n_iter_, model.status_) == (1, "max_iter")
    assert LinearSVC(C=np.inf, tol=1e-9).fit(points, y).certificate_.is_certified
