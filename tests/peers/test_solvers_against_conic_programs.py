"""Every exact solver comes to the optimum that a general conic solver finds.

The relative gap bounds how far an objective is from the optimum, so that a solver asked for 1e-6 owes
1e-6; what lies below the optimum is wrong, but for the judge's own accuracy and rounding.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from hedgerow.problems.certificates import certify
from hedgerow.solvers import SOLVERS, Settings, solve
from tests.machines import INTERCEPTS, PAIRS, problem_of
from tests.reference import conic, linear_svm
from tests.reference.small_tables import FORMATS, SCALING, TABLES

TOL = 1e-6
MAX_ITER = 100_000
BELOW = 1e-9
"""The judge's accuracy."""


@cache
def optimum(table, loss, intercept, penalty):
    return conic.solve(TABLES[table].machine(loss, intercept, penalty))


@cache
def one_class_optimum(table, nu, intercept, shift):
    return conic.solve(TABLES[table].one_class(nu, intercept, shift))


def check(solver, machine, best, rows, what):
    """Solve, and hold objective and bound against the optimum."""
    problem = problem_of(machine, rows)
    solution = solve(problem, Settings(tol=TOL, max_iter=MAX_ITER), solver)
    certificate = certify(problem, solution, TOL)
    value = machine.objective(solution.w, solution.intercept)
    scale = machine.scale(best.objective)
    assert certificate.is_certified, f"{what}: {certificate}"
    assert abs(value - certificate.primal) <= BELOW * scale, f"{what}: not its objective"
    assert value <= best.objective + TOL * scale, f"{what}: {value} is above {best.objective}"
    assert value >= best.bound - BELOW * scale, f"{what}: {value} is below {best.bound}"
    assert certificate.dual <= best.objective + BELOW * scale, f"{what}: no bound"


def takes(solver, machine):
    return SOLVERS[solver].what_it_lacks(problem_of(machine)) is None


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("solver", "loss", "penalty"), PAIRS)
def test_every_exact_solver_finds_the_optimum_of_every_table(solver, loss, penalty, intercept):
    for name, table in TABLES.items():
        machine = table.machine(loss, intercept, penalty)
        if takes(solver, machine):
            check(solver, machine, optimum(name, loss, intercept, penalty), table.X, name)


@pytest.mark.parametrize("held", [name for name in FORMATS if name != "dense float64"])
@pytest.mark.parametrize(("solver", "loss", "penalty"), PAIRS)
def test_every_exact_solver_finds_the_optimum_in_every_format(solver, loss, penalty, held):
    name = "sparse, one row empty"
    rows = FORMATS[held](TABLES[name].X)
    for intercept in INTERCEPTS:
        machine = TABLES[name].machine(loss, intercept, penalty)
        if takes(solver, machine):
            best = optimum(name, loss, intercept, penalty)
            check(solver, machine, best, rows, intercept)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    ("solver", "loss"), [(name, loss) for name, loss, penalty in PAIRS if penalty == "l2"]
)
def test_every_exact_solver_finds_the_best_point_where_it_is_the_only_one(solver, loss, intercept):
    """1/2 |w|^2 makes w the only one.

    |w - w*|^2 / 2 is at most the gap: 1e-13 puts w within 1e-6 of its size if the judge is exact, as
    it is where straight pieces and parabolas meet. For the logistic loss its gap is some 1e-13 too.
    """
    near = 5e-6 if loss == "logistic" else 1e-6
    for name, table in TABLES.items():
        machine = table.machine(loss, intercept)
        if not takes(solver, machine):
            continue
        best = optimum(name, loss, intercept, "l2")
        settings = Settings(tol=1e-13, max_iter=MAX_ITER)
        found = solve(problem_of(machine), settings, solver)
        size = max(1.0, np.linalg.norm(best.w), abs(best.b))
        assert np.abs(found.w - best.w).max() <= near * size, (name, found.status)
        if has_one_intercept(machine, best):
            assert abs(found.intercept - best.b) <= near * size, (name, found.status)


def has_one_intercept(machine, best):
    """Whether the objective rises to both sides of the best intercept."""
    beside = [machine.objective(best.w, best.b + step) for step in (-1e-3, 1e-3)]
    return min(beside) > best.objective * (1 + 1e-8)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    "solver", [name for name, loss, penalty in PAIRS if (loss, penalty) == ("hinge", "l2")]
)
def test_every_solver_of_the_hinge_finds_the_optimum_of_one_class(solver, intercept):
    """With rows all around the origin, where w = 0 is best for large nu, and with rows beside it."""
    for (name, table), nu, shift in product(TABLES.items(), (0.1, 0.6), (0.0, 2.0)):
        machine = table.one_class(nu, intercept, shift)
        if takes(solver, machine):
            best = one_class_optimum(name, nu, intercept, shift)
            check(solver, machine, best, machine.X, f"{name}, nu {nu}, shift {shift}")


def test_the_judge_knows_the_worked_example():
    X = np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
    y, ones = np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4)
    best = conic.solve(conic.Machine(X, y, 5 / 16 * ones, "hinge", ones))
    np.testing.assert_allclose([*best.w, best.b], [0.375, -0.5, 0.375], atol=1e-6)


def test_the_judge_agrees_with_projected_gradients():
    """To 1e-4: those are slow, and no more is needed to see a wrong formula."""
    table = TABLES["three rows against the rest"]
    for loss, intercept in product(("hinge", "squared_hinge"), INTERCEPTS):
        how = {"loss": loss, "intercept": intercept, "scaling": SCALING}
        _, alpha = linear_svm.solve(table.X, table.signs, table.weight, n_iter=300, **how)
        bound = linear_svm.dual(table.X, table.signs, table.weight, alpha, **how)
        best = optimum("three rows against the rest", loss, intercept, "l2")
        assert abs(best.objective / bound - 1) < 1e-4
