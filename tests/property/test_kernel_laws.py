"""Laws that kernel machines obey, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import _core
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves

TIGHT = KernelSettings(tol=1e-8)
CLOSE = 1e-6
"""A violation of 1e-8 costs that times the sum of weights, a hundred or two here."""


def objective(problem, wanted=TIGHT):
    _, certificate = fit_kernel(problem, wanted)
    assert certificate.is_certified, certificate
    return certificate.dual


@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=15, deadline=None)
def test_weights_equal_repeated_rows(seed, C):
    X, y = blobs(24, seed)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[:2] = 1
    once = CSvcProblem(gram_of(X), y, C * times.astype(float))
    repeated = CSvcProblem(
        gram_of(np.repeat(X, times, axis=0)), np.repeat(y, times), np.full(times.sum(), C)
    )
    assert objective(once) == pytest.approx(objective(repeated), rel=CLOSE)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_the_order_of_rows_does_not_matter(seed):
    X, y = blobs(40, seed)
    order = np.random.default_rng(seed).permutation(len(y))
    c = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    a = objective(CSvcProblem(gram_of(X), y, c))
    assert objective(CSvcProblem(gram_of(X[order]), y[order], c[order])) == pytest.approx(
        a, rel=CLOSE
    )


@given(seed=st.integers(0, 10_000), factor=st.sampled_from([0.25, 4.0]))
@settings(max_examples=15, deadline=None)
def test_a_kernel_times_a_number_is_C_divided_by_it(seed, factor):
    X, y = blobs(40, seed)
    scaled = gram_of(X, _core.kernel.Kernel.rbf(0.7).scaled(factor))
    a = objective(CSvcProblem(gram_of(X), y, np.full(len(y), 2.0)))
    b = objective(CSvcProblem(scaled, y, np.full(len(y), 2.0 / factor)))
    assert factor * b == pytest.approx(a, rel=CLOSE)


def test_adding_a_number_to_the_kernel_changes_nothing_where_the_sum_is_kept():
    X, y = blobs(60)
    c = np.ones(len(y))
    one = _core.kernel.Kernel.polynomial(0.0, 1.0, 1)
    raised = gram_of(X, _core.kernel.Kernel.rbf(0.7) + one)
    assert objective(CSvcProblem(raised, y, c)) == pytest.approx(
        objective(CSvcProblem(gram_of(X), y, c)), rel=CLOSE
    )
    without = [CSvcProblem(g, y, c, has_intercept=False) for g in (raised, gram_of(X))]
    assert abs(objective(without[0]) - objective(without[1])) > 1e-3


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
def test_nu_is_between_the_shares_of_margin_errors_and_of_support_vectors(nu):
    X, y = blobs(200, seed=5)
    problem = NuSvcProblem(gram_of(X), y, np.ones(len(y)), nu)
    solution, _ = fit_kernel(problem, TIGHT)
    point, found = problem.point(solution.beta), solution.figures
    margins = y * (point.products + found["intercept"])
    assert np.mean(margins < found["rho"] - 1e-6) <= nu <= np.mean(point.beta != 0.0)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_nu_is_between_the_shares_outside_the_tube_and_of_support_vectors(nu):
    X, z = waves(150, seed=5)
    problem = NuSvrProblem(gram_of(X), z, np.ones(len(z)), nu)
    solution, _ = fit_kernel(problem, TIGHT)
    point, found = problem.point(solution.beta), solution.figures
    off = np.abs(z - point.products - found["intercept"])
    own = point.beta[: len(z)] + point.beta[len(z) :]
    assert np.mean(off > found["epsilon"] + 1e-6) <= nu <= np.mean(own != 0.0)


def test_the_tube_that_nu_finds_is_the_tube_of_its_epsilon():
    X, z = waves(100, seed=6)
    c = np.full(len(z), 2.0)
    by_nu = NuSvrProblem(gram_of(X), z, c, 0.3)
    found, certificate = fit_kernel(by_nu, TIGHT)
    epsilon = found.figures["epsilon"]
    price = 0.3 * c.sum() * epsilon
    assert objective(SvrProblem(gram_of(X), z, c, epsilon)) == pytest.approx(
        certificate.dual - price, rel=CLOSE
    )


@pytest.mark.parametrize("nu", [0.05, 0.4])
def test_the_ball_is_the_one_class_machine_where_all_points_are_as_long(nu):
    X, _ = blobs(80, seed=8)
    n = len(X)
    plane, _ = fit_kernel(OneClassProblem(gram_of(X), np.ones(n), nu), KernelSettings(tol=1e-9))
    ball, _ = fit_kernel(
        SvddProblem(gram_of(X), np.full(n, 1.0 / (nu * n))), KernelSettings(tol=1e-10)
    )
    np.testing.assert_allclose(ball.beta * nu * n, plane.beta, atol=1e-5)


def test_a_ball_that_leaves_nothing_out_touches_its_farthest_points():
    X, _ = blobs(60, seed=9)
    problem = SvddProblem(gram_of(X, "linear"), np.full(len(X), np.inf))
    solution, certificate = fit_kernel(problem, TIGHT)
    centre = solution.beta @ X
    farthest = np.linalg.norm(X - centre, axis=1).max()
    assert np.sqrt(certificate.primal) == pytest.approx(farthest, rel=1e-6)
    assert np.sqrt(solution.figures["sq_radius"]) == pytest.approx(farthest, rel=1e-6)
