"""SVC(multi_class="crammer_singer"): its attributes, its relations to other machines, its obedience."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

from hedgerow import SVC, LinearSVC, ParameterError, load, save
from hedgerow.testing import check_interrupt, check_max_time
from tests.class_samples import clouds


def machine(**parameters):
    return SVC(multi_class="crammer_singer", **parameters)


def test_there_is_a_plane_a_class_and_one_certificate():
    X, y = load_iris(return_X_y=True)
    model = machine(C=5.0, gamma=0.5).fit(X, y)
    n_support = len(model.support_)
    assert model.dual_coef_.shape == (3, n_support)
    assert model.intercept_.shape == (3,)
    assert len(model.certificates_) == 1
    assert model.n_iter_.shape == (1,)
    assert model.certificate_.criterion == "kkt_violation"
    assert model.certificate_.is_certified
    assert model.status_ == "optimal"
    assert n_support == model.n_support_.sum() < len(y)
    scores = model.decision_function(X)
    assert scores.shape == (150, 3)
    np.testing.assert_array_equal(model.predict(X), np.argmax(scores, axis=1))
    assert model.score(X, y) > 0.97


def test_the_scores_are_those_of_the_formula():
    X, y = clouds(80, 4)
    model = machine(gamma=0.7, C=2.0).fit(X, y)
    distance = np.square(X[:, None, :] - model.support_vectors_[None, :, :]).sum(axis=2)
    expected = np.exp(-0.7 * distance) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_with_a_linear_kernel_it_is_the_linear_machine(fit_intercept, C):
    X, y = clouds(90, 4, d=3)
    ours = machine(kernel="linear", C=C, tol=1e-9, fit_intercept=fit_intercept).fit(X, y)
    linear = LinearSVC(
        multi_class="crammer_singer", C=C, tol=1e-10, fit_intercept=fit_intercept, random_state=0
    ).fit(X, y)
    # A relative gap of 1e-10 leaves w uncertain by the root of twice that, times the root of the objective.
    slack = np.sqrt(4e-10 * linear.certificate_.primal)
    np.testing.assert_allclose(ours.coef_, linear.coef_, atol=slack)
    np.testing.assert_allclose(
        ours.intercept_, linear.intercept_ - linear.intercept_.mean(), atol=10 * slack
    )
    assert ours.certificate_.primal == pytest.approx(linear.certificate_.primal, rel=1e-8)


def test_two_classes_are_the_hinge_with_twice_C():
    X, y = clouds(60, 2)
    ours = machine(C=1.5, tol=1e-8).fit(X, y)
    hinge = SVC(C=3.0, tol=1e-8).fit(X, y)
    assert ours.decision_function(X).shape == (60,)
    np.testing.assert_array_equal(ours.decision_function(X), hinge.decision_function(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_equal_repeated_rows(fit_intercept):
    X, y = clouds(70, 4)
    weight = np.random.default_rng(1).integers(0, 4, size=len(y))
    weight[:4] = 1
    weighted = machine(C=0.7, gamma=0.5, fit_intercept=fit_intercept).fit(X, y, weight)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = machine(C=0.7, gamma=0.5, fit_intercept=fit_intercept).fit(X[rows], y[rows])
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )


def test_sparse_rows_and_given_kernels_give_the_same_model():
    X, y = clouds(80, 3)
    dense = machine(gamma=0.5, tol=1e-8).fit(X, y)
    sparse = machine(gamma=0.5, tol=1e-8).fit(sp.csr_array(X), y)
    K = np.exp(-0.5 * np.square(X[:, None] - X[None]).sum(axis=2))
    given = machine(kernel="precomputed", tol=1e-8).fit(K, y)
    expected = dense.decision_function(X)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), expected, atol=1e-7)
    np.testing.assert_allclose(given.decision_function(K), expected, atol=1e-7)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loss": "squared_hinge"}, "does not go with multi_class='crammer_singer'"),
        ({"C": np.inf}, "C=inf asks for a hard margin"),
    ],
)
def test_what_it_has_not_is_refused(wrong, message):
    X, y = clouds()
    with pytest.raises(ParameterError, match=message):
        machine(**wrong).fit(X, y)


def test_probabilities_are_learnt_from_its_scores():
    X, y = clouds(150, 3)
    model = machine(calibrate="sigmoid", random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), np.argmax(shares, axis=1))


def test_a_warm_start_takes_few_steps():
    X, y = clouds(400, 4)
    model = machine(C=5.0, warm_start=True).fit(X, y)
    first = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < 0.05 * first


def test_a_saved_model_is_the_same_model(tmp_path):
    X, y = clouds(80, 3)
    model = machine(gamma=0.5).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.certificates_ == model.certificates_


def test_labels_may_be_words_and_classes_may_be_weighted():
    X, y = load_iris(return_X_y=True)
    words = np.array(["c", "a", "b"])[y]
    model = machine(class_weight="balanced", scale="standard").fit(X, words)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.score(X, words) > 0.95


def test_any_number_of_jobs_gives_the_same_bits():
    X, y = load_digits(return_X_y=True)
    scores = [
        machine(C=2.0, n_jobs=n).fit(X[:1100], y[:1100]).decision_function(X[1100:])
        for n in (1, 2, 3)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


@pytest.fixture(scope="module")
def hard():
    """Labels without a pattern, on which the margin must be bought row by row."""
    random = np.random.default_rng(0)
    return random.normal(size=(6000, 10)), random.integers(10, size=6000)


def test_ctrl_c_is_obeyed(hard):
    check_interrupt(machine(C=1e4, gamma=0.05, tol=1e-9), *hard)


def test_a_time_limit_is_kept(hard):
    check_max_time(machine(C=1e4, gamma=0.05, tol=1e-9), *hard, 1.0)
