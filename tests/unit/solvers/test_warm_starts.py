"""A solver that begins near the solution ends at the same one, sooner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hedgerow import LinearProblem, Settings, certify, solve
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name
from hedgerow.problems.base import Solution
from hedgerow.solvers.path import solve_path

RNG = np.random.default_rng(3)
X = RNG.normal(size=(2000, 40))
Y = np.where(X[:, 0] + 0.7 * X[:, 1] + RNG.normal(size=2000) > 0.3, 1.0, -1.0)
WARM = [
    ("squared_hinge", "newton"),
    ("logistic", "newton"),
    ("hinge", "augmented_lagrangian"),
    ("hinge", "dual_coordinate_descent"),
    ("squared_hinge", "dual_coordinate_descent"),
    ("logistic", "dual_coordinate_descent"),
]
TIGHT = Settings(tol=1e-8, max_iter=20_000)


def make(loss, intercept, C=0.1):
    return LinearProblem(
        matrix_of(X), Y, np.full(len(Y), C), loss_by_name(loss), intercept=intercept
    )


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize(("loss", "solver"), WARM)
def test_the_solution_is_where_a_second_run_begins_and_ends(loss, solver, intercept):
    problem = make(loss, intercept)
    options = {"system": "direct"} if solver == "newton" else {}
    settings = replace(TIGHT, options=options)
    cold = solve(problem, settings, solver)
    warm = solve(problem, settings, solver, start=cold)
    assert certify(problem, warm, 1e-8).is_certified
    assert warm.n_iter <= max(2, cold.n_iter // 2)


@pytest.mark.parametrize("intercept", ["free", "penalized"])
@pytest.mark.parametrize(("loss", "solver"), WARM)
def test_any_start_leads_to_the_optimum(loss, solver, intercept):
    problem = make(loss, intercept)
    wild = Solution(RNG.normal(size=40), 3.0, 5.0 * RNG.normal(size=2000), "optimal", 1, "none")
    solution = solve(problem, TIGHT, solver, start=wild)
    assert certify(problem, solution, 1e-8).is_certified


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_points_of_a_path_are_those_of_cold_fits(loss, intercept):
    Cs = np.geomspace(1e-3, 10.0, 9)
    problem = make(loss, intercept, C=1.0)
    settings = Settings(tol=1e-7)
    for C, (current, warm) in zip(Cs, solve_path(problem, Cs, settings), strict=True):
        assert np.all(current.weight == C)
        assert certify(current, warm, 1e-7).is_certified
        cold = solve(current, settings)
        # Both are within 1e-7 of the optimum, which is strongly convex in w.
        reached = current.objective(warm.w, warm.intercept)
        assert reached == pytest.approx(current.objective(cold.w, cold.intercept), rel=2e-7)
        far = np.sqrt(4e-7 * reached)
        assert np.linalg.norm(warm.w - cold.w) <= 2 * far


@pytest.mark.parametrize(
    ("loss", "solver", "most"),
    [("hinge", "augmented_lagrangian", 100.0), ("squared_hinge", "dual_coordinate_descent", 1.0)],
)
def test_a_path_costs_less_than_its_points(loss, solver, most):
    Cs = np.geomspace(1e-2, most, 13)
    problem, settings = make(loss, "penalized", C=1.0), Settings(tol=1e-3)
    warm = sum(solution.n_iter for _, solution in solve_path(problem, Cs, settings, solver))
    each = (replace(problem, weight=C * problem.weight) for C in Cs)
    cold = sum(solve(point, settings, solver).n_iter for point in each)
    assert warm < 0.85 * cold
