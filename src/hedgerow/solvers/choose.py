"""Which solver for which problem, and the one call that runs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow._base.fingerprint import fingerprint
from hedgerow.errors import ParameterError
from hedgerow.monitor import current
from hedgerow.problems.base import Solution
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.all_classes.interior_point import CLASS_INTERIOR_POINT
from hedgerow.solvers.all_classes.sequential_dual import SEQUENTIAL_DUAL
from hedgerow.solvers.base import GapRun, LinearRun, Settings
from hedgerow.solvers.first_order.conjugate_gradient import CONJUGATE_GRADIENT
from hedgerow.solvers.first_order.gradient_descent import GRADIENT_DESCENT
from hedgerow.solvers.first_order.iterative_scaling import ITERATIVE_SCALING
from hedgerow.solvers.first_order.lbfgs import LBFGS
from hedgerow.solvers.first_order.pegasos import PEGASOS
from hedgerow.solvers.first_order.sgd import SGD
from hedgerow.solvers.linear.augmented_lagrangian import AUGMENTED_LAGRANGIAN
from hedgerow.solvers.linear.dual_coordinate_descent import DUAL_COORDINATE_DESCENT
from hedgerow.solvers.linear.hard_margin import hard_margin
from hedgerow.solvers.linear.interior_point import INTERIOR_POINT
from hedgerow.solvers.linear.newton import NEWTON
from hedgerow.solvers.linear.proximal_newton import PROXIMAL_NEWTON
from hedgerow.solvers.solver import LinearSolver
from hedgerow.solvers.workload import Workload

__all__ = ["SOLVERS", "begin", "first_try", "plan", "solve"]

HARD_MARGIN = LinearSolver(
    name="hard_margin",
    run=lambda run: hard_margin(run, solve),  # for its soft margins any solver will do
    needs=("loss.is_constraint", "soft", "least_margin"),
    effort=lambda _: 1.0,
)

SOLVERS: dict[str, LinearSolver] = {
    solver.name: solver
    for solver in (
        INTERIOR_POINT,
        AUGMENTED_LAGRANGIAN,
        DUAL_COORDINATE_DESCENT,
        NEWTON,
        LBFGS,
        CONJUGATE_GRADIENT,
        GRADIENT_DESCENT,
        ITERATIVE_SCALING,
        PROXIMAL_NEWTON,
        HARD_MARGIN,
        CLASS_INTERIOR_POINT,
        SEQUENTIAL_DUAL,
        PEGASOS,
        SGD,
    )
}

FAR = 1000.0
"""A margin at which float64 takes the logistic loss, and others like it, for 0."""
FIRST_TRY = 100
"""Iterations that "auto" gives a solver before the next one takes over."""


def solve(
    problem: LinearProblem,
    settings: Settings,
    solver: str = "auto",
    start: Solution | None = None,
    begun: LinearRun | None = None,
) -> Solution:
    """Solve a problem by the named solver.

    Parameters
    ----------
    problem : LinearProblem
        The problem to solve.
    settings : Settings
        The stopping criteria.
    solver : str
        A name of ``SOLVERS``, or "auto", which chooses the one that is likely to be fastest from
        the size of the data, C and the loss (`plan`), and switches to the next if it is slow.
        ``Solution.solver`` names the solver that was used.
    start : Solution or None
        An initial point, such as the solution for another C, for solvers that support it; its
        alpha need not be feasible.
    begun : LinearRun or None
        Where `solve_together` left the solver that comes first.

    Returns
    -------
    Solution
        The solution, with its status.
    """
    _refuse_what_it_lacks(solver, problem)
    if solver == "auto" and settings.options:
        msg = f"solver='auto' has no options, got {dict(settings.options)}; name the solver they are for"
        raise ParameterError(msg)
    constant = _sufficient_intercept(problem)
    if constant is not None:
        return _constant_solution(problem, constant)
    if solver == "auto":
        return _automatic(problem, settings, start, begun)
    return (begun or begin(solver, problem, settings, start)).solution()


def begin(
    solver: str, problem: LinearProblem, settings: Settings, start: Solution | None
) -> LinearRun:
    """Return a run at its beginning."""
    monitor, declared = current(), SOLVERS[solver]
    key = None if monitor.store is None else _key(solver, problem, settings, start)
    settings = replace(settings, options=declared.settle(settings.options))
    return GapRun(problem, settings, solver, declared.run, monitor=monitor, key=key, start=start)


def _key(solver: str, problem: LinearProblem, settings: Settings, start: Solution | None) -> str:
    """Name all that the solution depends on."""
    numbers = (problem.matrix, problem.y, problem.target, problem.weight)
    rules = (problem.intercept, problem.intercept_scaling, problem.pull)
    known = () if start is None else (start.w, start.intercept, start.alpha)
    return fingerprint(
        solver, *numbers, *rules, repr(problem.loss), repr(problem.penalty), settings, *known
    )


def plan(problem: LinearProblem) -> list[str]:
    """Return the names of the solvers to try, the likely fastest first."""
    work, time = Workload(problem), {}
    for solver in SOLVERS.values():
        if solver.effort is not None and solver.what_it_lacks(problem) is None:
            effort = solver.effort(work)
            if effort is not None:
                time[solver.name] = effort
    return sorted(time, key=lambda name: time[name])


def first_try(problem: LinearProblem, settings: Settings) -> tuple[str, Settings]:
    """Return the solver that "auto" begins with, and how far it may go."""
    first, *others = plan(problem)
    share = min(FIRST_TRY, settings.max_iter) if others else settings.max_iter
    return first, replace(settings, max_iter=share)


def _automatic(
    problem: LinearProblem, settings: Settings, start: Solution | None, begun: LinearRun | None
) -> Solution:
    """Run the solvers of the plan until one gets there; return what came nearest."""
    *first, last = plan(problem)
    tried: list[Solution] = []
    left = settings.max_iter
    for solver in [*first, last]:
        share = left if solver == last else min(FIRST_TRY, left)
        run = begun or begin(solver, problem, replace(settings, max_iter=share), start)
        tried.append(run.solution())
        begun = None
        best = start = min(tried, key=_gap_left)
        left -= tried[-1].n_iter
        if tried[-1].status not in ("max_iter", "stalled") or left <= 0:
            break
    return replace(
        best,
        n_iter=sum(solution.n_iter for solution in tried),
        solver="+".join(solution.solver for solution in tried),
        status=tried[-1].status,
        history=tuple(point for solution in tried for point in solution.history),
    )


def _gap_left(solution: Solution) -> float:
    """Return the gap at the last check; a solver that was stopped before its first has not moved."""
    if not solution.history:
        return np.inf
    _, primal, dual = solution.history[-1]
    return primal - dual


def _refuse_what_it_lacks(solver: str, problem: LinearProblem) -> None:
    """Raise if the solver does not exist or cannot take the problem, naming those that can."""
    if solver == "auto":
        _refuse_what_nobody_can(problem)
        return
    if solver not in SOLVERS:
        msg = f"solver={solver!r} is not known; choose 'auto' or one of {', '.join(map(repr, SOLVERS))}"
        raise ParameterError(msg)
    lacks = SOLVERS[solver].what_it_lacks(problem)
    if lacks is not None:
        _refuse_what_nobody_can(problem)
        able = [name for name, other in SOLVERS.items() if other.what_it_lacks(problem) is None]
        msg = f"solver={solver!r} cannot {lacks}; solvers that can are {', '.join(map(repr, able))}"
        raise ParameterError(msg)


def _refuse_what_nobody_can(problem: LinearProblem) -> None:
    """Raise if no solver can take the problem, naming the losses that its penalty goes with."""
    if all(solver.what_it_lacks(problem) is not None for solver in SOLVERS.values()):
        name = problem.penalty.name
        able = {loss: None for s in SOLVERS.values() if name in s.penalties for loss in s.losses}
        msg = (
            f"no solver can take penalty={name!r} with loss={problem.loss.name!r}; "
            f"it goes with {', '.join(map(repr, able))}"
        )
        raise ParameterError(msg)


def _sufficient_intercept(problem: LinearProblem) -> float | None:
    """Return an intercept that alone makes every loss zero, if there is one and it costs nothing."""
    if not np.any(problem.weight):
        return 0.0
    if problem.intercept != "free" or problem.pull or problem.loss.compares_classes:
        return None
    used = problem.weight > 0
    y, target = problem.y[used], problem.target[used]
    if problem.loss.is_two_sided:
        middle = 0.5 * float(np.min(target)) + 0.5 * float(np.max(target))
        return None if np.any(problem.loss.value(target - middle)) else middle
    far = 1.0 if problem.loss.vanishes else FAR
    is_enough = np.all(y == y[0]) and not np.any(problem.loss.value(target - far))
    return far * float(y[0]) if is_enough else None


def _constant_solution(problem: LinearProblem, intercept: float) -> Solution:
    """Return w = 0 and the intercept: objective 0, and alpha = 0 proves it."""
    w, alpha = problem.origin
    return Solution(
        w=w,
        intercept=intercept,
        alpha=alpha,
        status="optimal",
        n_iter=1,
        solver="constant",
    )
