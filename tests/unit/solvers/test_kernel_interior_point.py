"""The interior point of small kernel machines: its linear systems, its path, and when it takes over."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import _core
from hedgerow.data.rows import matrix_of
from hedgerow.kernels.gram import FunctionGram, MatrixGram
from hedgerow.monitor import monitored
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.problems.svdd import SvddProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.solvers.dual_qp import decomposition
from hedgerow.solvers.dual_qp.decomposition import decompose
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.interior_point import interior_point_steps
from hedgerow.solvers.dual_qp.linear_system import (
    FullSystem,
    IndefiniteError,
    LowRankSystem,
    centred,
    kernel_system,
    pivoted_cholesky,
)
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.kernel_samples import blobs, gram_of, waves
from tests.reference import kernel_machines as judge

CUBIC = _core.kernel.Kernel.polynomial(1.0, 1.0, 3)
EXACT = 1e-9
"""The violation of a solution, relative to the largest product."""


def low_rank(n, rank, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, rank))
    return rows @ rows.T


# --------------------------------------------------------------------------- linear systems


@pytest.mark.parametrize("rank", [0, 1, 7])
def test_a_pivoted_factor_has_the_rank_of_the_matrix(rank):
    values = low_rank(30, rank)
    factor = pivoted_cholesky(values, max(np.abs(values).max(), 1.0), 20)
    assert factor.shape == (30, rank)
    np.testing.assert_allclose(factor @ factor.T, values, atol=1e-12)


def test_a_rank_above_the_limit_has_no_factor_and_negative_eigenvalues_are_refused():
    values = low_rank(30, 12)
    assert pivoted_cholesky(values, 50.0, 11) is None
    with pytest.raises(IndefiniteError):
        kernel_system(values - 30.0 * np.eye(30), 50.0, 1)
    mostly_positive = low_rank(150, 150)
    mostly_positive -= 1e-3 * np.ptp(mostly_positive) * np.eye(150)
    with pytest.raises(IndefiniteError):
        kernel_system(mostly_positive, np.abs(mostly_positive).max(), 1)


def test_centred_values_are_those_of_points_seen_from_their_mean():
    rows = np.random.default_rng(1).normal(size=(20, 3)) + 5.0
    values, offset = centred(rows @ rows.T)
    seen = rows - rows.mean(axis=0)
    np.testing.assert_allclose(values, seen @ seen.T, atol=1e-12)
    np.testing.assert_allclose(values + offset[:, None] + offset, rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize("kind", [LowRankSystem, FullSystem])
@pytest.mark.parametrize("n_sums", [0, 1, 2])
def test_a_step_solves_the_system(kind, n_sums):
    n, rng = 12, np.random.default_rng(3)
    rows = rng.normal(size=(n, 4))
    values = rows @ rows.T
    system = kind(rows if kind is LowRankSystem else values, 1)
    parts = rng.uniform(0.1, 2.0, size=(2, n))
    v = parts[0] + parts[1]
    sides = {0: parts[:0], 1: v[None, :], 2: parts}[n_sums]
    target, excess = rng.normal(size=n), rng.normal(size=n_sums)
    system.factorise(v, sides)
    own, levels = system.step(target, excess)
    np.testing.assert_allclose(own + v * (values @ own) + levels @ sides, v * target, atol=1e-10)
    apart = np.zeros(n_sums)
    if n_sums == 2:
        shared = np.sum(parts[0] * parts[1] / v) * (levels[0] - levels[1])
        apart = np.array([shared, -shared])
    np.testing.assert_allclose((sides / v) @ own + excess, apart, atol=1e-10)


def test_a_singular_matrix_is_solved_with_where_nothing_but_the_weights_tells_points_apart():
    """1 / V is 1e-13 of K on more points than the rank: the sum of both is singular to rounding."""
    rows = np.random.default_rng(4).normal(size=(40, 3))
    system, v = LowRankSystem(rows, 1), np.full(40, 1e13)
    system.factorise(v, np.zeros((0, 40)))
    own, _ = system.step(rows @ np.array([1.0, -2.0, 0.5]), np.zeros(0))
    np.testing.assert_allclose(rows.T @ own, [1.0, -2.0, 0.5], rtol=1e-9)


# --------------------------------------------------------------------------- the path


def problems():
    X, y = blobs(60, seed=1, d=3)
    Z, z = waves(60, seed=2)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, 60)
    weight[::9] = 0.0
    flat, wave = gram_of(X, CUBIC), gram_of(Z, CUBIC)
    F, W = (g.block(np.arange(60), np.arange(60)) for g in (flat, wave))
    nu = 0.8 * min(weight[y > 0].sum(), weight[y < 0].sum()) / weight.sum()
    return {
        "classes": (CSvcProblem(flat, y, 50 * weight), judge.classes(F, y, 50 * weight)),
        "squared": (
            CSvcProblem(flat, y, 50 * weight, loss="squared_hinge"),
            judge.classes(F, y, 50 * weight, squared=True),
        ),
        "no intercept": (
            CSvcProblem(flat, y, 50 * weight, has_intercept=False),
            judge.classes(F, y, 50 * weight, intercept=False),
        ),
        "nu classes": (NuSvcProblem(flat, y, weight, nu), judge.nu_classes(F, y, weight, nu)),
        "tube": (SvrProblem(wave, z, 50 * weight, 0.1), judge.tube(W, z, 50 * weight, 0.1)),
        "tube of width 0": (
            SvrProblem(wave, z, 50 * weight, 0.0),
            judge.tube(W, z, 50 * weight, 0.0),
        ),
        "nu tube": (NuSvrProblem(wave, z, 5 * weight, 0.4), judge.nu_tube(W, z, 5 * weight, 0.4)),
        "one class": (OneClassProblem(flat, weight, 0.3), judge.one_class(F, weight, 0.3)),
        "all outliers": (OneClassProblem(flat, weight, 1.0), judge.one_class(F, weight, 1.0)),
        "ball": (SvddProblem(wave, 0.1 * weight), judge.ball(W, 0.1 * weight)),
    }


@pytest.mark.parametrize("name", list(problems()))
def test_every_machine_comes_to_the_optimum_that_a_general_solver_finds(name):
    problem, optimum = problems()[name]
    *_, point = interior_point_steps(problem, 1)
    assert point.violation <= EXACT * (1.0 + np.abs(point.products).max())
    assert problem.primal(point) == pytest.approx(optimum.objective, rel=1e-6)
    assert problem.dual(point) == pytest.approx(optimum.objective, rel=1e-6)
    np.testing.assert_array_equal(problem.program.feasible(point.beta), point.beta)


def test_points_at_one_place_share_their_betas():
    X, z = waves(30, seed=5)
    X, z = np.repeat(X, 3, axis=0), np.repeat(z, 3)
    problem = SvrProblem(gram_of(X, CUBIC), z, np.full(90, 10.0), 0.05)
    *_, point = interior_point_steps(problem, 1)
    assert point.violation <= EXACT * (1.0 + np.abs(point.products).max())
    assert problem.primal(point) == pytest.approx(problem.dual(point), rel=1e-9)


def test_a_full_rank_is_no_harder():
    X, y = blobs(150, seed=6)
    problem = CSvcProblem(gram_of(X), y, np.full(150, 1e4))
    *_, point = interior_point_steps(problem, 1)
    assert point.violation <= 1e-8
    assert problem.primal(point) == pytest.approx(problem.dual(point), rel=1e-9)


# --------------------------------------------------------------------------- when it takes over


def hard_tube(n=40, n_threads=1):
    """A problem that pairs take millions of steps for."""
    X, z = waves(n, seed=7)
    return SvrProblem(gram_of(X, CUBIC, n_threads), z, np.full(n, 100.0), 0.1)


def test_it_takes_over_after_a_number_of_steps_and_solves_exactly():
    problem = hard_tube()
    solution, certificate = fit_kernel(problem, KernelSettings())
    assert certificate.is_certified
    assert certificate.kkt_violation <= 1e-8
    assert abs(certificate.relative_gap) <= 1e-9
    pairs = decomposition.STEPS_PER_VARIABLE * 80
    assert pairs < solution.n_iter < pairs + 250


def test_ordinary_problems_never_meet_it(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(decomposition, "interior_point_steps", refuse)
    X, y = blobs(400)
    _, certificate = fit_kernel(CSvcProblem(gram_of(X), y, np.full(400, 10.0)), KernelSettings())
    assert certificate.is_certified


def test_threads_do_not_change_a_bit():
    betas = [fit_kernel(hard_tube(300, n), KernelSettings(n_threads=n))[0].beta for n in (1, 2)]
    np.testing.assert_array_equal(*betas)
    full = []
    for n in (1, 2):
        X, y = blobs(300, seed=8, d=8)
        *_, point = interior_point_steps(
            CSvcProblem(gram_of(X, n_threads=n), y, np.full(300, 1e3)), n
        )
        full.append(point.beta)
    np.testing.assert_array_equal(*full)


def test_few_steps_are_all_that_is_made_if_no_more_are_allowed():
    solution = decompose(hard_tube(), KernelSettings(max_iter=1000))
    assert solution.status == "max_iter"
    assert solution.n_iter == 1000


def test_a_stop_keeps_the_best_point():
    def stop_inside(event, *, is_own, attributes):
        return event.done > decomposition.STEPS_PER_VARIABLE * 80 + 2

    with monitored("fit", listeners=(stop_inside,)):
        solution = decompose(hard_tube(), KernelSettings())
    assert solution.status == "stopped"
    assert np.isfinite(solution.beta).all()


def test_a_small_budget_leaves_it_out(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(decomposition, "interior_point_steps", refuse)
    settings = KernelSettings(max_iter=20_000, cache_bytes=1 << 16, working_set=16)
    assert decompose(hard_tube(60), settings).status == "max_iter"


def test_values_that_turn_out_to_be_indefinite_are_left_to_pairs(monkeypatch):
    """A table that is said to be of a kernel, and is none: what an interior point finds would mean nothing."""
    table = low_rank(60, 3) - np.diag(np.random.default_rng(9).uniform(0.0, 0.5, 60))
    _, y = blobs(60)
    gram = MatrixGram(_core.kernel.Kernel.precomputed(), matrix_of(table))
    problem = CSvcProblem(gram, y, np.full(60, 1e4))
    with pytest.raises(IndefiniteError):
        list(interior_point_steps(problem, 1))
    monkeypatch.setattr(decomposition, "STEPS_PER_VARIABLE", 1)
    solution = decompose(problem, KernelSettings())
    assert solution.status == "optimal"
    assert solution.n_iter > 60


def test_a_kernel_of_pythons_is_solved_too():
    X, z = waves(40, seed=7)
    gram = FunctionGram(lambda a, b: (X[a] @ X[b].T + 1.0) ** 3, 40)
    _, certificate = fit_kernel(SvrProblem(gram, z, np.full(40, 100.0), 0.1), KernelSettings())
    _, core = fit_kernel(hard_tube(), KernelSettings())
    assert certificate.is_certified
    assert certificate.primal == pytest.approx(core.primal, rel=1e-9)
