"""What a certificate of a kernel machine says, whoever made the solution."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from hedgerow import RBF, SVC, OneClassSVM, Precomputed
from hedgerow.errors import NotCertifiedWarning
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.certificates import certify
from hedgerow.problems.kernel import KernelSolution
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp import run as kernel_run
from hedgerow.solvers.dual_qp.decomposition import decompose
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.free_set import free_set_steps
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves
from tests.reference import kernels

MACHINES = ["hinge", "squared hinge", "no intercept", "nu", "tube", "nu tube", "one class", "ball"]


def machine(name, n=60):
    X, z = waves(n)
    one, gram = np.ones(n), gram_of(X)
    y = np.where(np.sin(3 * X[:, 0]) > 0, 1.0, -1.0)
    return {
        "hinge": lambda: CSvcProblem(gram, y, one),
        "squared hinge": lambda: CSvcProblem(gram, y, one, loss="squared_hinge"),
        "no intercept": lambda: CSvcProblem(gram, y, one, has_intercept=False),
        "nu": lambda: NuSvcProblem(gram, y, one, 0.4),
        "tube": lambda: SvrProblem(gram, z, one, 0.1),
        "nu tube": lambda: NuSvrProblem(gram, z, one, 0.3),
        "one class": lambda: OneClassProblem(gram, one, 0.3),
        "ball": lambda: SvddProblem(gram, 0.1 * one),
    }[name]()


def claimed(beta):
    return KernelSolution(beta, {"intercept": 0.0}, "optimal", 1, "a guess")


@pytest.mark.parametrize("name", MACHINES)
def test_no_dual_of_a_guess_exceeds_the_optimum_and_no_primal_is_below(name):
    problem = machine(name)
    _, best = fit_kernel(problem, KernelSettings(tol=1e-9))
    scale = max(abs(best.primal), 1e-3)
    rng = np.random.default_rng(0)
    for _ in range(20):
        guess = claimed(rng.normal(size=len(problem.program.linear)) * 10 ** rng.uniform(-3, 1))
        certificate = certify(problem, guess, 1e-3)
        assert certificate.dual <= best.primal + 1e-6 * scale
        assert certificate.primal >= best.dual - 1e-6 * scale
        assert not certificate.is_certified


@pytest.mark.parametrize("name", MACHINES)
def test_a_beta_is_made_to_meet_every_constraint(name):
    program = machine(name).program
    rng = np.random.default_rng(1)
    for _ in range(20):
        beta = program.feasible(rng.normal(size=len(program.linear)))
        assert np.all((beta >= program.lower) & (beta <= program.upper))
        for g, total in enumerate(program.sums):
            here = beta[program.group == g]
            assert here.sum() == pytest.approx(total, abs=1e-12 * (np.abs(here).sum() + abs(total)))
        np.testing.assert_array_equal(program.feasible(beta), beta)


def test_products_are_computed_from_the_data_in_float64():
    X, y = blobs(80)
    problem = CSvcProblem(gram_of(X.astype(np.float32)), y, np.ones(80))
    beta = problem.program.feasible(np.random.default_rng(2).normal(size=80))
    expected = kernels.gram("rbf", X.astype(np.float32)) @ beta
    np.testing.assert_allclose(problem.point(beta).products, expected, rtol=1e-11, atol=1e-12)


def test_a_spoilt_beta_is_not_certified():
    problem = machine("hinge")
    solution, certificate = fit_kernel(problem, KernelSettings())
    assert certificate.is_certified
    spoilt = solution.beta.copy()
    spoilt[np.flatnonzero(spoilt)[:5]] *= 0.5
    assert not certify(problem, replace(solution, beta=spoilt), 1e-3).is_certified


def test_the_gap_can_be_the_criterion():
    problem = machine("tube")
    solution, _ = fit_kernel(problem, KernelSettings(tol=1e-6))
    certificate = certify(problem, solution, 1e-4, "relative_gap")
    assert certificate.is_certified
    assert certificate.criterion == "relative_gap"


def test_what_is_not_convex_has_no_bound():
    problem = replace(machine("hinge"), is_convex=False)
    solution, certificate = fit_kernel(problem, KernelSettings())
    assert solution.status == "optimal"
    assert certificate.dual == -np.inf
    assert not certificate.is_certified


@pytest.mark.parametrize(
    "name", ["hinge", "squared hinge", "no intercept", "nu", "tube", "nu tube", "one class"]
)
def test_the_free_set_finishes_to_the_last_digits(name, monkeypatch):
    monkeypatch.setattr(kernel_run, "SMALL", 0)  # or it would have done so already
    problem = machine(name)
    solution, _ = fit_kernel(problem, KernelSettings(tol=1e-4))
    rough = problem.point(solution.beta)
    assert rough.violation > 1e-11
    *_, found = free_set_steps(problem, rough, 1e-11, 1)
    assert found.violation <= 1e-11


def test_few_features_and_closed_tubes_are_finished_in_few_steps():
    """Where only the sums of the groups tell free variables apart, or both of a point are free."""
    X, y = blobs(900, d=10)
    rows, z = waves(900)
    few = CSvcProblem(gram_of(X, "linear"), y, np.ones(900))
    closed = NuSvrProblem(gram_of(rows), np.round(z), np.ones(900), 0.9)
    for problem in (few, closed):
        rough = problem.point(decompose(problem, KernelSettings(tol=1e-3, n_threads=2)).beta)
        *steps, found = free_set_steps(problem, rough, 1e-11, 1)
        assert found.violation <= 1e-11
        assert len(steps) <= 10


@pytest.mark.parametrize("machine", [SVC, OneClassSVM])
@pytest.mark.parametrize("kernel", ["precomputed", 2 * Precomputed()], ids=["table", "multiple"])
def test_a_given_table_with_a_negative_eigenvalue_has_no_certificate(machine, kernel):
    model = machine(kernel=kernel)
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.sign(X[:, 0])
    assert model.fit(X @ X.T, y).certificate_.is_certified
    model.fit(np.tanh(X @ X.T - 1.0), y)
    assert not model.certificate_.is_certified
    assert "not positive semi-definite" in str(model.certificate_)


def test_a_table_that_is_semidefinite_for_sums_of_0_is_enough_for_a_free_intercept():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.sign(X[:, 0])
    distances = -np.sum((X[:, None] - X) ** 2, axis=2)
    assert SVC(kernel="precomputed").fit(distances, y).certificate_.is_certified
    without = SVC(kernel="precomputed", fit_intercept=False).fit(distances, y)
    assert not without.certificate_.is_certified


@pytest.mark.parametrize("dip", [0.0, 1e-3])
@pytest.mark.parametrize("n", [900, 1400])
def test_a_table_of_kernel_values_is_certified_only_if_no_eigenvalue_is_negative(n, dip):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3))
    y = np.where(rows[:, 0] > 0, 1, -1)
    table = RBF(gamma=0.5)(rows)
    down = rng.normal(size=n)
    down -= np.mean(down)
    table -= dip * n * np.outer(down, down) / (down @ down)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model = SVC(kernel="precomputed").fit(table, y)
    assert model.certificate_.is_certified == (dip == 0.0)
    assert (model.certificate_.dual == -np.inf) == (dip > 0.0)
