"""LIBLINEAR (through scikit-learn) as judge of the l1 penalty: never a lower objective than ours."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.svm
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from hedgerow import LinearSVC
from hedgerow.solvers import Settings, solve
from tests.unit.solvers.test_l1 import few_of_many, problem_of


def breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), np.where(y == 1, 1.0, -1.0)


def peer_of(loss, C):
    """LIBLINEAR's -s 5 or -s 6."""
    rest = {"penalty": "l1", "C": C, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}
    if loss == "squared_hinge":
        return sklearn.svm.LinearSVC(dual=False, **rest)
    return sklearn.linear_model.LogisticRegression(solver="liblinear", **rest)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # penalty= of LogisticRegression
@pytest.mark.filterwarnings("ignore:Inconsistent values:UserWarning")  # the same
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("data", [breast_cancer, few_of_many])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.01, 1.0, 10.0])
def test_the_objective_is_liblinears_or_lower(data, loss, C):
    X, y = data()
    ours = LinearSVC(penalty="l1", loss=loss, C=C, intercept="penalized", tol=1e-9).fit(X, y)
    peer = peer_of(loss, C).fit(X, y)
    problem = problem_of(X, y, C, loss=loss, intercept="penalized")
    value = problem.objective(peer.coef_[0].copy(), float(peer.intercept_[0]))
    assert ours.certificate_.is_certified
    assert ours.certificate_.primal <= value * (1 + 1e-9)
    # LIBLINEAR stops by its gradient; for the largest C it is 1e-5 above the optimum.
    assert_allclose(ours.certificate_.primal, value, rtol=1e-4)


@pytest.mark.parametrize("loss", ["squared_hinge", "log"])
def test_the_least_C_is_scikit_learns(loss):
    X, y = few_of_many()
    least = sklearn.svm.l1_min_c(X, y, loss=loss, fit_intercept=True, intercept_scaling=1.0)
    name = {"log": "logistic"}.get(loss, loss)
    for C, is_zero in ((0.999 * least, True), (1.01 * least, False)):
        problem = problem_of(X, y, C, loss=name, intercept="penalized")
        solution = solve(problem, Settings())
        used = np.any(solution.w) or solution.intercept != 0.0
        assert used is not is_zero
