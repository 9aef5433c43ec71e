"""The machine of Crammer and Singer with a kernel comes to the optimum that a conic program finds.

K = F F', so the rows of F may stand for the points, and the judge of the linear machine judges.
"""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.class_samples import clouds, problem_of
from tests.reference import crammer_singer as judge
from tests.reference import kernels
from tests.reference.kernel_machines import points_of

TIGHT = KernelSettings(tol=1e-8, n_threads=2)
AGREE = 1e-6
"""Of the objective; a violation of 1e-8 costs at most its size times all weight."""
WEIGHTS = {
    "equal": np.ones,
    "unequal": lambda n: np.random.default_rng(5).uniform(0.2, 3.0, n),
    "some zero": lambda n: np.where(np.arange(n) % 7 == 6, 0.0, 1.0),
}


def agrees(X, y, c, kernel="rbf", *, has_intercept=True, n_classes=None):
    """Solve and compare; the dual is below the optimum, the primal above, both near."""
    problem = problem_of(X, y, c, kernel, has_intercept=has_intercept, n_classes=n_classes)
    F = points_of(kernels.gram(kernel, X))
    best = judge.optimum(F, y, c, problem.n_classes, intercept="free" if has_intercept else "none")
    solution, certificate = fit_kernel(problem, TIGHT)
    assert certificate.is_certified, certificate
    assert solution.status == "optimal"
    assert abs(certificate.primal - best) <= AGREE * best, certificate
    assert abs(certificate.dual - best) <= AGREE * best, certificate


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial", "laplacian"])
def test_all_classes_at_once(kernel, has_intercept, weights):
    X, y = clouds()
    agrees(X, y, 2.0 * WEIGHTS[weights](len(y)), kernel, has_intercept=has_intercept)


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_from_small_C_to_large(C, has_intercept):
    X, y = clouds(50, 3, seed=2)
    agrees(X, y, np.full(len(y), C), has_intercept=has_intercept)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_few_classes_and_many(n_classes):
    X, y = clouds(50, n_classes, seed=3)
    agrees(X, y, np.ones(len(y)))


def test_classes_that_can_be_told_apart_without_an_error():
    X, y = clouds(40, 3, seed=4, apart=6.0)
    agrees(X, y, np.full(len(y), 100.0), "linear")
