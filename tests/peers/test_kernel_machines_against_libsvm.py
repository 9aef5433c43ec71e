"""Kernel machines beside scikit-learn's, which are LIBSVM: the same objective or better, the same scores.

Objectives are compared, never sets of support vectors: where points coincide those differ among optima.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from hedgerow import _core
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves

TOL = 1e-6
"""Asked of both; scores then differ by a few violations, at most."""
NEAR = 2e-5
GAMMA = 0.7
KERNEL = {"kernel": "rbf", "gamma": GAMMA, "tol": TOL}


def fitted(problem):
    solution, certificate = fit_kernel(problem, KernelSettings(tol=TOL, n_threads=2))
    assert certificate.is_certified, certificate
    point = problem.point(solution.beta)
    return solution, point.products + solution.figures["intercept"]


def test_two_classes_with_weights():
    X, y = blobs(700, seed=1)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, len(y))
    peer = SVC(C=3.0, **KERNEL).fit(X, y, weight)
    problem = CSvcProblem(gram_of(X), y, 3.0 * weight)
    solution, scores = fitted(problem)
    np.testing.assert_allclose(scores, peer.decision_function(X), atol=NEAR)
    theirs = np.zeros(len(y))
    theirs[peer.support_] = peer.dual_coef_[0]
    dual = problem.dual(problem.point(solution.beta))
    assert dual >= problem.dual(problem.point(theirs)) - 1e-9 * dual


@pytest.mark.parametrize(
    ("core", "peer"),
    [
        (_core.kernel.Kernel.linear(), {"kernel": "linear"}),
        (
            _core.kernel.Kernel.polynomial(0.5, 1.0, 3),
            {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
        ),
    ],
)
def test_other_kernels(core, peer):
    X, y = blobs(300, seed=2)
    model = SVC(C=1.0, tol=TOL, **peer).fit(X, y)
    _, scores = fitted(CSvcProblem(gram_of(X, core), y, np.ones(len(y))))
    np.testing.assert_allclose(scores, model.decision_function(X), atol=NEAR)


def test_two_classes_by_nu_after_division_by_rho():
    X, y = blobs(500, seed=3)
    peer = NuSVC(nu=0.7, **KERNEL).fit(X, y)
    solution, scores = fitted(NuSvcProblem(gram_of(X), y, np.ones(len(y)), 0.7))
    rho = solution.figures["rho"]
    np.testing.assert_allclose(scores / rho, peer.decision_function(X), atol=NEAR / rho)


def test_a_tube():
    X, z = waves(600)
    peer = SVR(C=2.0, epsilon=0.1, **KERNEL).fit(X, z)
    _, scores = fitted(SvrProblem(gram_of(X), z, np.full(len(z), 2.0), 0.1))
    np.testing.assert_allclose(scores, peer.predict(X), atol=NEAR)


def test_a_tube_by_nu():
    X, z = waves(400, seed=1)
    peer = NuSVR(C=2.0, nu=0.4, **KERNEL).fit(X, z)
    _, scores = fitted(NuSvrProblem(gram_of(X), z, np.full(len(z), 2.0), 0.4))
    np.testing.assert_allclose(scores, peer.predict(X), atol=NEAR)


def test_one_class():
    X, _ = blobs(500, seed=4)
    peer = OneClassSVM(nu=0.2, **KERNEL).fit(X)
    _, scores = fitted(OneClassProblem(gram_of(X), np.ones(len(X)), 0.2))
    np.testing.assert_allclose(scores, peer.decision_function(X), atol=NEAR)
