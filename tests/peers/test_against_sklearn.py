"""scikit-learn (LIBLINEAR and LIBSVM inside) as judge: never a lower objective than ours."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    LogisticRegression,
    SGDClassifier,
    SGDOneClassSVM,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR
from tests.reference import linear_svm


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_penalised_intercept_is_liblinears(loss, C):
    X, y = breast_cancer()
    ours = LinearSVC(loss=loss, C=C, intercept="penalized", tol=1e-8).fit(X, y)
    is_hinge = loss == "hinge"  # LIBLINEAR has the hinge in the dual only
    peer = sklearn.svm.LinearSVC(loss=loss, C=C, tol=1e-8, max_iter=200_000, dual=is_hinge)
    peer.fit(X, y)
    c = np.full(len(y), C)
    value = linear_svm.primal(
        X, y, c, peer.coef_[0], peer.intercept_[0], loss=loss, intercept="penalized"
    )
    assert ours.certificate_.primal <= value * (1 + 1e-8)
    assert_allclose(ours.certificate_.primal, value, rtol=1e-4)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-2 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_free_intercept_is_libsvms(C):
    X, y = breast_cancer()
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    ours = LinearSVC(loss="hinge", C=C).fit(X, y, weight)
    peer = sklearn.svm.SVC(kernel="linear", C=C, tol=1e-6).fit(X, y, weight)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4 * np.abs(peer.coef_).max())
    assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_one_against_the_rest_agrees_with_scikit_learn(load):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    ours = LinearSVC(intercept="penalized", tol=1e-8).fit(X, y)
    peer = sklearn.svm.LinearSVC(dual=False, tol=1e-8).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    assert_array_equal(ours.predict(X), peer.predict(X))
    assert_allclose(ours.decision_function(X), peer.decision_function(X), atol=1e-3)
    assert len(ours.certificates_) == len(ours.classes_)
    assert all(certificate.is_certified for certificate in ours.certificates_)
    assert ours.certificate_.relative_gap == max(c.relative_gap for c in ours.certificates_)


def test_class_weights_are_scikit_learns():
    X, y = breast_cancer()
    for class_weight in ("balanced", {1.0: 3.0}, {-1.0: 0.5, 1.0: 2.0}):
        ours = LinearSVC(intercept="penalized", class_weight=class_weight, tol=1e-8).fit(X, y)
        peer = sklearn.svm.LinearSVC(dual=False, class_weight=class_weight, tol=1e-8).fit(X, y)
        assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_balanced_counts_weights_not_rows():
    X, y = breast_cancer()
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = LinearSVC(class_weight="balanced").fit(X, y, times)
    repeated = LinearSVC(class_weight="balanced").fit(X.repeat(times, axis=0), y.repeat(times))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(LinearSVC(), sklearn.svm.LinearSVC()), (LinearSVR(), sklearn.svm.LinearSVR())],
    ids=["LinearSVC", "LinearSVR"],
)
def test_the_defaults_are_scikit_learns(ours, theirs):
    ours, theirs = ours.get_params(), theirs.get_params()
    assert {name: ours[name] for name in theirs} == theirs


def test_where_scikit_learn_gives_up_ours_is_certified():
    X, y = load_breast_cancer(return_X_y=True)  # unscaled: columns differ by a factor of 10 000
    with pytest.warns(ConvergenceWarning):
        peer = sklearn.svm.LinearSVC(loss="hinge", C=1.0, random_state=0).fit(X, y)
    ours = LinearSVC(loss="hinge", C=1.0, intercept="penalized").fit(X, y)
    signs, c = np.where(y == 1, 1.0, -1.0), np.ones(len(y))
    value = linear_svm.primal(
        X, signs, c, peer.coef_[0], peer.intercept_[0], loss="hinge", intercept="penalized"
    )
    assert ours.certificate_.is_certified
    assert ours.certificate_.primal < value


def test_it_works_in_a_pipeline_and_a_grid_search():
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.01, 1.0]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.95


# ------------------------------------------- the table "Objectives of other libraries", docs/linear.md


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X), y / 50.0


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("scaling", [1.0, 5.0])
def test_the_penalised_regressor_is_liblinears(loss, scaling):
    X, y = diabetes()
    settings = {"loss": loss, "C": 0.3, "epsilon": 0.1, "intercept_scaling": scaling}
    ours = LinearSVR(intercept="penalized", tol=1e-8, **settings).fit(X, y)
    peer = sklearn.svm.LinearSVR(tol=1e-9, max_iter=10**6, random_state=0, **settings).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_free_regressor_is_libsvms(C):
    X, y = diabetes()
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    ours = LinearSVR(C=C, epsilon=0.3).fit(X, y, weight)
    peer = sklearn.svm.SVR(kernel="linear", C=C, epsilon=0.3, tol=1e-7).fit(X, y, weight)
    assert_allclose(ours.coef_, peer.coef_[0], atol=1e-4)
    assert_allclose(ours.intercept_, peer.intercept_, atol=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_logistic_loss_is_logistic_regressions(C):
    X, y = breast_cancer()
    free = LinearSVC(loss="logistic", C=C, tol=1e-10).fit(X, y)
    peer = LogisticRegression(C=C, tol=1e-9, solver="newton-cholesky").fit(X, y)
    assert_allclose(free.coef_, peer.coef_, atol=1e-6)
    assert_allclose(free.intercept_, peer.intercept_, atol=1e-6)
    settings = {"C": C, "intercept_scaling": 3.0}
    held = LinearSVC(loss="logistic", intercept="penalized", tol=1e-10, **settings).fit(X, y)
    peer = LogisticRegression(solver="liblinear", tol=1e-9, max_iter=10**4, **settings).fit(X, y)
    assert_allclose(held.coef_, peer.coef_, atol=1e-6)
    assert_allclose(held.intercept_, peer.intercept_, atol=1e-6)


SLOWLY = {
    "learning_rate": "constant",
    "eta0": 1e-3,
    "average": 10**5,
    "max_iter": 1000,
    "tol": None,
    "random_state": 0,
}
"""Stochastic descent that gets to within some percent of the optimum."""


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("hinge", "hinge"), ("squared_hinge", "squared_hinge"), ("logistic", "log_loss")],
)
def test_stochastic_descent_with_alpha_has_c_one_over_alpha_n(ours, theirs):
    X, y = breast_cancer()
    alpha = 0.01
    exact = LinearSVC(loss=ours, C=1 / (alpha * len(y)), tol=1e-8).fit(X, y)
    by_lambda = LinearSVC(loss=ours, reg_lambda=alpha / 2, tol=1e-8).fit(X, y)
    assert_allclose(by_lambda.coef_, exact.coef_, atol=1e-9)
    peer = SGDClassifier(loss=theirs, alpha=alpha, **SLOWLY).fit(X, y)
    assert_allclose(peer.coef_, exact.coef_, atol=0.05 * np.abs(exact.coef_).max())
    assert_allclose(peer.intercept_, exact.intercept_, atol=0.05)


def test_stochastic_regression_with_alpha_has_c_one_over_alpha_n():
    X, y = diabetes()
    alpha = 0.01
    exact = LinearSVR(C=1 / (alpha * len(y)), epsilon=0.1, tol=1e-8).fit(X, y)
    peer = SGDRegressor("epsilon_insensitive", alpha=alpha, epsilon=0.1, **SLOWLY).fit(X, y)
    assert_allclose(peer.coef_, exact.coef_, atol=0.1 * np.abs(exact.coef_).max())
    assert_allclose(peer.intercept_, exact.intercept_, atol=0.05)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_the_stochastic_one_class_machine_has_the_same_nu(nu):
    X = np.random.default_rng(0).normal(size=(300, 4)) + 2.0
    exact = LinearOneClassSVM(nu=nu, tol=1e-8).fit(X)
    peer = SGDOneClassSVM(nu=nu, **SLOWLY | {"max_iter": 5000}).fit(X)
    assert_allclose(peer.coef_, exact.coef_[0], rtol=0.05)
    assert_allclose(peer.offset_, exact.offset_, rtol=0.05)


def test_libsvms_one_class_machine_has_alphas_nu_n_times_as_large():
    X = np.random.default_rng(0).normal(size=(200, 4)) + 2.0
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    ours = LinearOneClassSVM(nu=0.2).fit(X, sample_weight=weight)
    peer = sklearn.svm.OneClassSVM(kernel="linear", nu=0.2, tol=1e-9).fit(X, sample_weight=weight)
    scale = peer.coef_[0] / ours.coef_[0]
    assert_allclose(scale, scale[0], rtol=1e-5)
    assert_allclose(peer.offset_ / ours.offset_, scale[0], rtol=1e-5)
    assert_array_equal(ours.predict(X)[~ours.at_bound_[0]], 1)
