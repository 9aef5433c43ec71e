"""Hard margins in kernel space: the largest margin, or a proof that there is none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris

from hedgerow import SVC, LinearSVC, NotCertifiedWarning, NotSeparableError

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_linear_kernel_gives_the_plane_of_the_linear_machine(fit_intercept):
    ours = SVC(C=np.inf, kernel="linear", tol=1e-8, fit_intercept=fit_intercept).fit(X, y == 0)
    plane = LinearSVC(C=np.inf, loss="hinge", tol=1e-10, fit_intercept=fit_intercept)
    plane.fit(X, y == 0)
    assert ours.certificate_.is_certified
    assert_allclose(ours.coef_, plane.coef_, rtol=1e-5)
    assert_allclose(ours.intercept_, plane.intercept_, rtol=1e-5, atol=1e-12)


def test_every_row_has_its_margin_and_support_vectors_have_exactly_that():
    rows, labels = load_breast_cancer(return_X_y=True)
    model = SVC(C=np.inf, scale="standard").fit(rows, labels)
    margins = np.where(labels == 1, 1.0, -1.0) * model.decision_function(rows)
    assert model.certificate_.is_certified
    assert margins.min() > 1.0 - 1e-3
    assert_allclose(margins[model.support_], 1.0, atol=1e-3)


def test_a_hull_whose_nearest_point_is_a_corner():
    model = SVC(C=np.inf, kernel="linear").fit([[0.0], [2.0], [3.0]], [0, 1, 1])
    assert_allclose(model.coef_, [[1.0]])
    assert_allclose(model.intercept_, [-1.0])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_where_classes_overlap_the_error_carries_a_proof(kernel):
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 2)), rng.integers(2, size=200)
    with pytest.raises(NotSeparableError, match="the classes 'a' and 'b'") as caught:
        SVC(C=np.inf, kernel=kernel, degree=2, coef0=1.0, gamma=1.0).fit(
            rows, np.array(["a", "b"])[labels]
        )
    proof = caught.value.proof
    assert proof.is_certified
    features = rows
    if kernel == "poly":  # (<x, z> + 1)^2 has these features
        a, b = rows.T
        features = np.stack([a**2, b**2, 2**0.5 * a * b, 2**0.5 * a, 2**0.5 * b], axis=1)
    of_first = labels[proof.rows] == 0
    points = [proof.weights[side] @ features[proof.rows[side]] for side in (of_first, ~of_first)]
    assert_allclose(proof.weights[of_first].sum(), 1.0)
    assert_allclose(points[0], points[1], atol=1e-6)


def test_equal_rows_of_two_classes_are_the_proof():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    rows[37] = rows[12]
    labels = np.arange(50) % 2
    with pytest.raises(NotSeparableError) as caught:
        SVC(C=np.inf).fit(rows, labels)
    assert set(caught.value.proof.rows) == {12, 37}


def test_rows_of_a_proof_are_numbered_as_in_the_data():
    rows = np.array([[5.0], [0.0], [1.0], [0.0], [7.0]])
    labels = np.array(["c", "a", "b", "b", "c"])
    with pytest.raises(NotSeparableError, match="'a' and 'b'") as caught:
        SVC(C=np.inf).fit(rows, labels)
    assert sorted(caught.value.proof.rows) == [1, 3]


def test_a_margin_too_small_to_be_found_ends_with_a_status():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(1500, 5)), rng.integers(2, size=1500)
    with pytest.warns(NotCertifiedWarning, match="stalled"):
        model = SVC(C=np.inf, max_time=60.0).fit(rows, labels)
    assert model.status_ == "stalled"


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_without_an_intercept_a_combination_that_is_zero_is_the_proof_and_found_at_once(kernel):
    rng = np.random.default_rng(3)
    rows, labels = rng.normal(size=(150, 3)), rng.integers(2, size=150)
    model = SVC(C=np.inf, kernel=kernel, degree=2, gamma=1.0, fit_intercept=False)
    began = time.monotonic()
    with pytest.raises(NotSeparableError) as caught:
        model.fit(rows, labels)
    assert time.monotonic() - began < 2.0  # it takes some hundredths; and took 15 by growing C
    proof = caught.value.proof
    assert proof.is_certified
    signed = np.where(labels[proof.rows] == 1, proof.weights, -proof.weights)
    assert_allclose(np.abs(signed).sum(), 1.0)
    assert_allclose(signed @ rows[proof.rows] if kernel == "linear" else 0.0, 0.0, atol=1e-6)


def test_a_hard_margin_without_an_intercept_keeps_every_row_at_a_score_of_one():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(300, 4))
    labels = np.where(rows[:, 0] * rows[:, 1] > 0, 1, -1)
    model = SVC(C=np.inf, gamma=1.0, fit_intercept=False, tol=1e-8).fit(rows, labels)
    margins = labels * model.decision_function(rows)
    assert model.certificate_.is_certified
    assert model.intercept_[0] == 0.0
    assert_allclose(margins[model.support_], 1.0, atol=1e-6)
    assert margins.min() > 1.0 - 1e-6
