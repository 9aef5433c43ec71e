"""scikit-learn (LIBLINEAR and LIBSVM inside) as judge: never a lower objective than ours."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import LinearSVC
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


def test_the_defaults_are_scikit_learns():
    ours, theirs = LinearSVC().get_params(), sklearn.svm.LinearSVC().get_params()
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
