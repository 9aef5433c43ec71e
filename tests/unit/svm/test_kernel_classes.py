"""All classes at once with a kernel: the problem, its proof, and the solver's obedience."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hedgerow import ParameterError
from hedgerow.kernels.gram import FunctionGram
from hedgerow.problems.certificates import certify
from hedgerow.problems.kernel import KernelSolution
from hedgerow.problems.kernel_crammer_singer import best_intercepts
from hedgerow.solvers.all_classes.decomposition import decompose_classes
from hedgerow.solvers.dual_qp import run as kernel_run
from hedgerow.solvers.dual_qp.fit import fit_kernel
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.class_samples import clouds, problem_of

LOOSE = KernelSettings(tol=1e-3)


def constraints_hold(problem, beta):
    """Whether a beta is one that the dual allows, but for rounding of sums of values up to c."""
    own = np.arange(len(problem.y)), problem.y
    bound = np.zeros_like(beta)
    bound[own] = problem.weight
    rounding = 1e-14 * problem.weight.sum()
    balanced = np.abs(beta.sum(axis=0)).max() <= rounding or not problem.has_intercept
    return bool(np.all(beta <= bound)) and np.abs(beta.sum(axis=1)).max() <= rounding and balanced


@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_the_best_intercepts_are_those_of_a_linear_program(seed, n_classes):
    excess = np.random.default_rng(seed).normal(size=(n_classes, n_classes))
    np.fill_diagonal(excess, -np.inf)
    b = best_intercepts(excess)
    rows, rights = [], []
    for k, other in zip(*np.nonzero(np.isfinite(excess)), strict=True):
        row = np.append(np.eye(n_classes)[k] - np.eye(n_classes)[other], -1.0)
        rows.append(row)
        rights.append(-excess[k, other])
    cost = np.append(np.zeros(n_classes), 1.0)
    least = linprog(cost, np.array(rows), np.array(rights), bounds=(None, None)).fun
    assert np.max(excess + b[:, None] - b[None, :]) == pytest.approx(least, abs=1e-9)
    assert b.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_solver_returns_the_proof_brackets_the_optimum(seed, has_intercept):
    X, y = clouds(40, 3, seed=seed)
    problem = problem_of(X, y, np.full(40, 2.0), has_intercept=has_intercept)
    random = np.random.default_rng(seed)
    forged = KernelSolution(
        beta=random.normal(size=(40, 3)) * 10.0 ** random.uniform(-3, 3),
        figures={},
        status="optimal",
        n_iter=0,
        solver="forged",
    )
    certificate = certify(problem, forged, 1e-3)
    _, best = fit_kernel(problem, KernelSettings(tol=1e-8))
    assert constraints_hold(problem, problem.point(forged.beta).beta)
    assert not certificate.is_certified
    assert certificate.dual <= best.primal
    assert certificate.primal >= best.dual


@pytest.mark.parametrize("has_intercept", [True, False])
def test_the_dual_point_meets_every_constraint(has_intercept):
    X, y = clouds(200, 5)
    problem = problem_of(X, y, np.full(200, 5.0), has_intercept=has_intercept)
    solution, certificate = fit_kernel(problem, LOOSE)
    assert certificate.is_certified
    assert constraints_hold(problem, solution.beta)


def test_the_figures_are_those_of_the_formulas():
    X, y = clouds(30, 3)
    problem = problem_of(X, y, np.full(30, 1.5))
    point = problem.point(np.random.default_rng(0).normal(size=(30, 3)))
    K = problem.gram.block(np.arange(30), np.arange(30))
    scores = K @ point.beta + point.intercept
    losses = [
        max(0.0, 1.0 + np.delete(row, label).max() - row[label])
        for row, label in zip(scores, y, strict=True)
    ]
    cost = 0.5 * np.sum(point.beta * (K @ point.beta))
    assert problem.primal(point) == pytest.approx(cost + 1.5 * np.sum(losses), rel=1e-12)
    gain = point.beta[np.arange(30), y].sum()
    assert problem.dual(point) == pytest.approx(gain - cost, rel=1e-12)


def test_more_points_than_a_working_set_are_solved_for():
    X, y = clouds(700, 5)
    problem = problem_of(X, y, np.full(700, 3.0))
    _, whole = fit_kernel(problem, KernelSettings(tol=1e-6))
    _, parts = fit_kernel(problem, KernelSettings(tol=1e-6, working_set=64))
    assert parts.is_certified
    assert parts.primal == pytest.approx(whole.primal, rel=1e-5)


def test_a_small_budget_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(kernel_run, "SMALL", 0)
    X, y = clouds(1500, 4)
    few = KernelSettings(working_set=128, cache_bytes=8 * 128 * 128 + 4 * 1024 * 50)
    found = [
        decompose_classes(problem_of(X, y, np.full(1500, 3.0)), settings)
        for settings in (few, replace(few, cache_bytes=1 << 28))
    ]
    assert found[0].status == "optimal"
    np.testing.assert_array_equal(found[0].beta, found[1].beta)


def test_a_budget_below_a_working_set_is_refused():
    X, y = clouds()
    with pytest.raises(
        ParameterError, match="too few for the kernel values of a working set of 60"
    ):
        decompose_classes(problem_of(X, y, np.ones(60)), KernelSettings(cache_bytes=1000))


@pytest.mark.parametrize("small", [0, 1000])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, small):
    monkeypatch.setattr(kernel_run, "SMALL", small)
    X, y = clouds(900, 4)
    betas = [
        decompose_classes(
            problem_of(X, y, np.full(900, 3.0), n_threads=n),
            KernelSettings(n_threads=n, working_set=256),
        ).beta
        for n in (1, 2, 3)
    ]
    np.testing.assert_array_equal(betas[0], betas[1])
    np.testing.assert_array_equal(betas[0], betas[2])


def test_steps_are_limited():
    X, y = clouds(300, 4)
    problem = problem_of(X, y, np.full(300, 10.0))
    solution, certificate = fit_kernel(problem, KernelSettings(max_iter=100))
    assert solution.status == "max_iter"
    assert solution.n_iter == 100
    assert not certificate.is_certified
    assert certificate.dual <= certificate.primal


def test_a_start_at_the_solution_takes_few_steps():
    X, y = clouds(300, 4)
    problem = problem_of(X, y, np.full(300, 10.0))
    first = decompose_classes(problem, LOOSE)
    again = decompose_classes(problem, LOOSE, first.beta)
    assert again.status == "optimal"
    assert again.n_iter < 0.05 * first.n_iter


def test_a_kernel_of_python_is_that_of_the_core():
    X, y = clouds(80, 3)
    problem = problem_of(X, y, np.ones(80))
    gram = FunctionGram(problem.gram.block, 80)
    ours, by_function = (
        fit_kernel(replace(problem, gram=g), KernelSettings(tol=1e-9))[1]
        for g in (problem.gram, gram)
    )
    assert by_function.is_certified
    assert by_function.primal == pytest.approx(ours.primal, rel=1e-8)


def test_a_kernel_that_is_not_convex_ends_without_a_proof():
    X, y = clouds(100, 3)
    problem = replace(problem_of(X, y, np.ones(100), "sigmoid"), is_convex=False)
    solution, certificate = fit_kernel(problem, KernelSettings(max_iter=20_000))
    assert solution.status in {"optimal", "stalled", "max_iter"}
    assert certificate.dual == -np.inf
    assert not certificate.is_certified


def test_a_class_without_points_has_no_part():
    X, y = clouds(60, 3)
    problem = problem_of(X, np.where(y == 1, 3, y), np.ones(60), n_classes=4)
    solution, certificate = fit_kernel(problem, KernelSettings(tol=1e-8))
    _, without = fit_kernel(problem_of(X, y, np.ones(60)), KernelSettings(tol=1e-8))
    assert certificate.is_certified
    assert not solution.beta[:, 1].any()
    assert certificate.primal == pytest.approx(without.primal, rel=1e-6)
