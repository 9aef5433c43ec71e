"""The kernel perceptron: its reference, its kinship with the linear one, kernels, blocks, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from hedgerow import _core
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import DataError, ParameterError
from hedgerow.linear import KernelPerceptron, Perceptron
from hedgerow.perceptron import kernel as kernel_perceptron
from tests.reference import perceptron as reference
from tests.unit.perceptron.perceptron_data import fit_quietly, overlapping

XOR_X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_Y = np.array([0, 0, 1, 1])

# Scores are sums of a few hundred kernel values of size 1, computed in another order.
SUMMATION = {"rtol": 1e-10, "atol": 1e-10}


def orders(n_samples, n_passes):
    """Return the orders of the first passes with random_state=0."""
    return [
        _core.system.random_permutation(0, 1 + k * n_samples, n_samples) for k in range(n_passes)
    ]


# --------------------------------------------------------------------------------- the reference


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine"])
def test_it_makes_the_moves_of_the_slow_kernel_perceptron(kernel, weighted, fit_intercept):
    X, y = overlapping()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = KernelPerceptron(
        kernel=kernel,
        gamma=0.1,
        coef0=1.0,
        max_iter=6,
        tol=None,
        eta0=0.3,
        fit_intercept=fit_intercept,
    )
    fit_quietly(model, X, y, sample_weight=weight)
    gram = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=0.1, degree=3, coef0=1.0)
    a, b0, mistakes = reference.kernel_perceptron(
        gram,
        np.where(y == 1, 1, -1),
        orders(60, 6),
        step=0.3,
        weight=weight,
        fit_intercept=fit_intercept,
    )
    assert model.n_mistakes_ == sum(mistakes)
    assert_array_equal(model.support_, np.flatnonzero(a))
    assert_allclose(model.dual_coef_[0], a[a != 0], **SUMMATION)
    assert_allclose(model.intercept_[0], b0, **SUMMATION)
    assert_allclose(model.decision_function(X), gram @ a + b0, **SUMMATION)


def test_each_class_of_several_has_its_plane():
    X, y = overlapping(90, n_classes=3)
    model = fit_quietly(KernelPerceptron(gamma=0.1, max_iter=4, tol=None, shuffle=False), X, y)
    gram = rbf_kernel(X, gamma=0.1)
    for k in range(3):
        a, b0, _ = reference.kernel_perceptron(gram, np.where(y == k, 1, -1), [range(90)] * 4)
        assert_allclose(model.decision_function(X)[:, k], gram @ a + b0, **SUMMATION)
    assert_array_equal(model.support_vectors_, X[model.support_])


# ------------------------------------------------------------------ kinship with the linear one


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_with_the_linear_kernel_it_is_the_perceptron(seed, fit_intercept):
    # On integers all sums are exact, so both err on the very same rows. The intercept needs no
    # translation: it is the coefficient of the constant 1 that a mistake adds to the kernel.
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, (30, 3)).astype(float)
    y = np.r_[0, 1, rng.integers(0, 2, 28)]
    parameters = {"max_iter": 5, "tol": None, "fit_intercept": fit_intercept}
    kernel = fit_quietly(KernelPerceptron(kernel="linear", **parameters), X, y)
    plain = fit_quietly(Perceptron(**parameters), X, y)
    assert kernel.n_mistakes_ == plain.n_mistakes_
    assert kernel.status_ == plain.status_
    assert_array_equal(kernel.dual_coef_ @ kernel.support_vectors_, plain.coef_)
    assert_array_equal(kernel.intercept_, plain.intercept_)
    assert_array_equal(kernel.error_history_, plain.error_history_)


def test_the_exclusive_or_is_separated_by_a_polynomial():
    model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(XOR_X, XOR_Y)
    assert model.status_ == "separated"
    assert_array_equal(model.predict(XOR_X), XOR_Y)


def test_circles_are_separated_by_the_gaussian_kernel():
    X, y = make_circles(300, factor=0.4, noise=0.05, random_state=0)
    model = KernelPerceptron().fit(X, y)
    assert model.status_ == "separated"
    assert model.score(X, y) == 1.0
    assert len(model.support_) < 60  # the mistakes of a wide margin are few


# --------------------------------------------------------------------------------------- kernels


def test_gamma_means_what_it_means_in_scikit_learn():
    X, y = overlapping()
    for gamma in ("scale", "auto", 0.7):
        ours = fit_quietly(KernelPerceptron(gamma=gamma), X, y)
        theirs = SVC(gamma=gamma).fit(X, y)
        assert_allclose(ours.gamma_, theirs._gamma, rtol=1e-14)
    sparse = fit_quietly(KernelPerceptron(), sp.csr_array(X), y)
    assert_allclose(sparse.gamma_, SVC().fit(X, y)._gamma, rtol=1e-12)


def test_rows_without_variance_have_a_gamma_of_one():
    assert fit_quietly(KernelPerceptron(max_iter=1), np.ones((2, 2)), [0, 1]).gamma_ == 1.0


def test_a_function_of_two_blocks_is_a_kernel():
    X, y = overlapping()
    by_name = fit_quietly(KernelPerceptron(gamma=0.5), X, y)
    by_function = fit_quietly(KernelPerceptron(kernel=lambda A, B: rbf_kernel(A, B, 0.5)), X, y)
    assert_array_equal(by_function.decision_function(X), by_name.decision_function(X))


def test_the_kernel_is_asked_for_blocks_never_for_the_whole_matrix():
    X, y = overlapping(1000)
    largest = 0

    def spy(A, B):
        nonlocal largest
        largest = max(largest, len(A) * len(B))
        return rbf_kernel(A, B, 0.1)

    fit_quietly(KernelPerceptron(kernel=spy, max_iter=2), X, y)
    assert largest <= 1000 * 256


def test_smaller_blocks_change_nothing_but_rounding(monkeypatch):
    X, y = overlapping()
    model = KernelPerceptron(gamma=0.1, max_iter=5, tol=None)
    at_once = fit_quietly(model, X, y).decision_function(X)
    monkeypatch.setattr(kernel_perceptron, "_VISITS", 7)
    monkeypatch.setattr(kernel_perceptron, "_BLOCK", 100)
    assert_allclose(fit_quietly(model, X, y).decision_function(X), at_once, **SUMMATION)


def test_a_pass_without_mistakes_asks_for_no_kernel_value():
    asked = []

    def spy(A, B):
        asked.append(len(A) * len(B))
        return (A @ B.T + 1) ** 2

    KernelPerceptron(kernel=spy, shuffle=False).fit([[1.0], [-1.0]], [1, 0])
    assert asked == [4, 4]  # the first pass: the block's own matrix, and its mistakes with all rows


# ------------------------------------------------------------------------------ formats, weights


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine"])
def test_dense_and_sparse_rows_give_the_same_scores(kernel):
    X, y = overlapping()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    model = KernelPerceptron(kernel=kernel, gamma=0.1, max_iter=5, tol=None)
    dense = fit_quietly(model, X, y).decision_function(X)
    sparse = fit_quietly(model, sp.csr_matrix(X), y)
    assert sp.issparse(sparse.support_vectors_)
    assert_allclose(sparse.decision_function(sp.csr_array(X)), dense, **SUMMATION)


def test_rows_of_weight_zero_are_as_if_not_there():
    X, y = overlapping()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    there = weight > 0
    model = fit_quietly(KernelPerceptron(), X, y, sample_weight=weight)
    without = fit_quietly(KernelPerceptron(), X[there], y[there], sample_weight=weight[there])
    assert_allclose(model.decision_function(X), without.decision_function(X), **SUMMATION)


def test_single_precision_is_near_double_precision():
    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    double = KernelPerceptron().fit(X, y)
    single = KernelPerceptron().fit(X.astype(np.float32), y)
    assert_array_equal(single.predict(X), double.predict(X))


# ------------------------------------------------------------------------------- words, refusals


def test_it_warns_with_advice_on_kernels():
    X = np.zeros((4, 1))
    with pytest.warns(ConvergenceWarning, match="choose another kernel or a larger gamma"):
        KernelPerceptron(max_iter=2).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "gauss"},
        {"kernel": "precomputed"},
        {"gamma": -1.0},
        {"gamma": "wide"},
        {"degree": 0},
        {"degree": 2.5},
        {"coef0": np.inf},
        {"coef0": "one"},
        {"max_iter": 0},
    ],
)
def test_a_parameter_out_of_bounds_is_refused_by_name(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        KernelPerceptron(**parameters).fit(XOR_X, XOR_Y)


def test_a_negative_coef0_is_a_number_like_any_other():
    fit_quietly(KernelPerceptron(kernel="sigmoid", coef0=-1.0, max_iter=3), XOR_X, XOR_Y)


def test_a_kernel_that_cannot_take_the_rows_is_refused():
    with pytest.raises(DataError, match="kernel='chi2' fails on X"):
        KernelPerceptron(kernel="chi2").fit(-XOR_X, XOR_Y)


def test_a_function_that_returns_no_kernel_matrix_is_refused():
    with pytest.raises(DataError, match=r"returned shape \(4,\) for blocks of 4 and 4 rows"):
        KernelPerceptron(kernel=lambda A, _: np.ones(len(A))).fit(XOR_X, XOR_Y)


def test_a_fitted_kernel_perceptron_survives_as_a_state():
    model = KernelPerceptron(kernel="poly", degree=2, coef0=1.0).fit(XOR_X, XOR_Y)
    again = load_state(*dump_state(model))
    assert_array_equal(again.decision_function(XOR_X), model.decision_function(XOR_X))
