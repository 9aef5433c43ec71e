"""Every kernel machine comes to the optimum that a general solver finds for its primal.

Asked for a violation of 1e-8, the objectives of ours agree with the judge's to 1e-6 of their size.
"""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves
from tests.reference import kernel_machines as judge
from tests.reference import kernels

TIGHT = KernelSettings(tol=1e-8, n_threads=2)
FINER = KernelSettings(tol=1e-10, n_threads=2)
"""For machines whose objective is the size of a squared margin: a violation costs its size times all weight."""
AGREE = 1e-6
WEIGHTS = {
    "equal": np.ones,
    "unequal": lambda n: np.random.default_rng(5).uniform(0.2, 3.0, n),
    "some zero": lambda n: np.where(np.arange(n) % 7 == 0, 0.0, 1.0),
}


def agrees(problem, optimum, settings=TIGHT):
    """Solve and compare; the dual is below the optimum, the primal above, both near."""
    solution, certificate = fit_kernel(problem, settings)
    scale = max(abs(optimum.objective), 1e-3)
    assert certificate.is_certified, certificate
    assert abs(certificate.primal - optimum.objective) <= AGREE * scale, certificate
    assert abs(certificate.dual - optimum.objective) <= AGREE * scale, certificate
    return solution


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", "laplacian", "wavelet"])
def test_two_classes(kernel, loss, intercept, weights):
    X, y = blobs(50)
    c = 2.0 * WEIGHTS[weights](len(y))
    K = kernels.gram(kernel, X)
    problem = CSvcProblem(gram_of(X, kernel), y, c, loss=loss, has_intercept=intercept)
    agrees(problem, judge.classes(K, y, c, squared=loss == "squared_hinge", intercept=intercept))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_two_classes_from_small_C_to_large(C):
    X, y = blobs(60, seed=2)
    c = np.full(len(y), C)
    agrees(CSvcProblem(gram_of(X), y, c), judge.classes(kernels.gram("rbf", X), y, c))


@pytest.mark.parametrize("intercept", [True, False])
def test_a_hard_margin(intercept):
    X, y = blobs(30, seed=1)
    hard = np.full(len(y), np.inf)
    problem = CSvcProblem(gram_of(X), y, hard, has_intercept=intercept)
    optimum = judge.classes(kernels.gram("rbf", X), y, hard, intercept=intercept)
    agrees(problem, optimum)


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_two_classes_by_nu(nu, weights):
    X, y = blobs(50, seed=3)
    c = WEIGHTS[weights](len(y))
    heaviest = 2.0 * min(c[y > 0].sum(), c[y < 0].sum()) / c.sum()
    problem = NuSvcProblem(gram_of(X), y, c, nu * heaviest)
    agrees(problem, judge.nu_classes(kernels.gram("rbf", X), y, c, nu * heaviest), FINER)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_a_tube(epsilon, intercept, weights):
    X, z = waves(50)
    c = 3.0 * WEIGHTS[weights](len(z))
    problem = SvrProblem(gram_of(X), z, c, epsilon, has_intercept=intercept)
    agrees(problem, judge.tube(kernels.gram("rbf", X), z, c, epsilon, intercept=intercept))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("nu", [0.2, 0.6])
def test_a_tube_by_nu(nu, weights):
    X, z = waves(50, seed=4)
    c = 3.0 * WEIGHTS[weights](len(z))
    solution = agrees(
        NuSvrProblem(gram_of(X), z, c, nu), judge.nu_tube(kernels.gram("rbf", X), z, c, nu)
    )
    assert solution.figures["epsilon"] >= 0.0


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("nu", [0.05, 0.5, 1.0])
def test_one_class(nu, weights):
    X, _ = blobs(50, seed=6)
    c = WEIGHTS[weights](len(X))
    agrees(
        OneClassProblem(gram_of(X), c, nu), judge.one_class(kernels.gram("rbf", X), c, nu), FINER
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("C", [0.05, 0.3, 2.0])
def test_a_ball(C, kernel):
    X, _ = blobs(50, seed=7)
    c = np.full(len(X), C)
    optimum = judge.ball(kernels.gram(kernel, X), c)
    solution = agrees(SvddProblem(gram_of(X, kernel), c), optimum)
    assert solution.figures["sq_radius"] > 0.0
