"""Every problem, linear, with a kernel or with an oracle, obeys the laws that certificates rest on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from hedgerow import Settings, solve
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name, regression_loss
from hedgerow.penalties import PENALTIES
from hedgerow.problems.base import Solution
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.kernel import KernelSolution
from hedgerow.problems.kernel_crammer_singer import KernelCrammerSingerProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.base import GapRun
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from hedgerow.testing import check_problem
from tests.kernel_samples import gram_of
from tests.structured_sample import StructuredProblem, block_frank_wolfe

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=40) > 0, 1.0, -1.0)
Z = X[:, 1] + 0.1 * RNG.normal(size=40)
LABELS = np.digitize(X[:, 0], [-0.5, 0.5])
ONES = np.ones(40)
APART = X + 4.0 * Y[:, None]


def linear(loss, **rest):
    return LinearProblem(matrix_of(X), Y, ONES, loss, **rest)


LINEAR = {
    "hinge": lambda: linear(loss_by_name("hinge")),
    "squared hinge, penalised": lambda: linear(
        loss_by_name("squared_hinge"), intercept="penalized"
    ),
    "logistic, l1": lambda: linear(loss_by_name("logistic"), penalty=PENALTIES["l1"]),
    "tube": lambda: LinearProblem(
        matrix_of(X), ONES, ONES, regression_loss("epsilon_insensitive", 0.1), targets=Z
    ),
    "one class": lambda: LinearProblem(
        matrix_of(X + 3.0), ONES, ONES / 12.0, loss_by_name("hinge"), pull=1.0, targets=0.0 * ONES
    ),
    "hard margin": lambda: HardMarginProblem(matrix_of(APART), Y, ONES),
    "crammer singer": lambda: CrammerSingerProblem(
        matrix_of(X), LABELS.astype(float), ONES, n_classes=3
    ),
}

KERNEL = {
    "c_svc": lambda: CSvcProblem(gram_of(X), Y, ONES),
    "hard": lambda: CSvcProblem(gram_of(APART), Y, np.inf * ONES),
    "nu_svc": lambda: NuSvcProblem(gram_of(X), Y, ONES, 0.4),
    "svr": lambda: SvrProblem(gram_of(X), Z, ONES, 0.1),
    "nu_svr": lambda: NuSvrProblem(gram_of(X), Z, ONES, 0.3),
    "one class": lambda: OneClassProblem(gram_of(X), ONES, 0.3),
    "svdd": lambda: SvddProblem(gram_of(X), 0.1 * ONES),
    "crammer singer": lambda: KernelCrammerSingerProblem(gram_of(X), LABELS, ONES, 3),
}


def with_guesses(problem, solution):
    """Return a solution, worse ones near it, and some that are nothing but noise."""
    yield solution
    for scale in (1e-3, 0.1, 10.0):
        w, alpha = (
            each + scale * RNG.normal(size=each.shape) for each in (solution.w, solution.alpha)
        )
        yield Solution(w, solution.intercept + scale, alpha, "optimal", 1, "a guess")
    w, alpha = problem.origin
    yield Solution(w, 0.0, np.full_like(alpha, np.nan), "optimal", 1, "no guess")


@pytest.mark.parametrize("name", LINEAR)
def test_linear_problems(name):
    problem = LINEAR[name]()
    solution = solve(problem, Settings(tol=1e-8))
    check_problem(problem, with_guesses(problem, solution))


@pytest.mark.parametrize("name", KERNEL)
def test_kernel_problems(name):
    problem = KERNEL[name]()
    solution, _ = fit_kernel(problem, KernelSettings(tol=1e-6))
    guesses = [
        KernelSolution(beta, {}, "optimal", 1, "a guess")
        for scale in (1e-3, 0.1, 10.0, np.nan)
        for beta in [solution.beta + scale * RNG.normal(size=solution.beta.shape)]
    ]
    check_problem(problem, [solution, *guesses])


def test_a_structured_problem():
    problem = StructuredProblem(X, LABELS, 3, C=0.2)
    run = GapRun(problem, Settings(1e-3, 1000), "block_frank_wolfe", block_frank_wolfe)
    check_problem(problem, with_guesses(problem, run.solution()))


def test_a_problem_whose_dual_is_too_large_fails():
    @dataclass(frozen=True, eq=False)
    class Boastful(LinearProblem):
        def dual_objective(self, alpha, v=None):
            return super().dual_objective(alpha, v) + 1e-3

    problem = Boastful(matrix_of(X), Y, ONES, loss_by_name("hinge"))
    solution = solve(linear(loss_by_name("hinge")), Settings(tol=1e-8))
    with pytest.raises(AssertionError, match="no dual value exceeds a primal one"):
        check_problem(problem, [solution])


def test_a_problem_that_does_not_make_its_dual_points_feasible_fails():
    class Careless(StructuredProblem):
        def feasible(self, alpha):
            return alpha

    good, too_large = (
        GapRun(
            StructuredProblem(X, LABELS, 3, C=C),
            Settings(1e-2, 1000),
            "block_frank_wolfe",
            block_frank_wolfe,
        ).solution()
        for C in (0.2, 2.0)
    )
    with pytest.raises(AssertionError, match="no dual value exceeds a primal one"):
        check_problem(Careless(X, LABELS, 3, C=0.2), [good, too_large])
