"""Which solver for which problem, and the one call that runs it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow._fingerprint import fingerprint
from hedgerow.errors import ParameterError
from hedgerow.monitor import current
from hedgerow.problems import HardMarginProblem, LinearProblem, Solution, Status
from hedgerow.solvers.dual_coordinate_descent import DUAL_COORDINATE_DESCENT
from hedgerow.solvers.hard_margin import hard_margin
from hedgerow.solvers.interior_point import INTERIOR_POINT
from hedgerow.solvers.newton import NEWTON
from hedgerow.solvers.proximal_newton import PROXIMAL_NEWTON
from hedgerow.solvers.settings import Progress, Settings
from hedgerow.solvers.solver import Solver

__all__ = ["SOLVERS", "solve"]

HARD_MARGIN = Solver(
    name="hard_margin",
    run=lambda progress: hard_margin(progress, solve),  # for its soft margins any solver will do
    losses=("hard_margin",),
)

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (INTERIOR_POINT, DUAL_COORDINATE_DESCENT, NEWTON, PROXIMAL_NEWTON, HARD_MARGIN)
}

DIRECT_WORK = 2e9
"""Multiplications a factorisation may cost for a second-order solver to be the first choice."""
DIRECT_UNKNOWNS = 6000
"""Unknowns (8 n^2 bytes, twice) for a second-order solver to be the second choice."""
FAR = 1000.0
"""A margin at which float64 takes the logistic loss for 0."""
FIRST_TRY = 100
"""Sweeps coordinate descent gets before a second-order solver takes over."""


def solve(problem: LinearProblem, settings: Settings, solver: str = "auto") -> Solution:
    """Solve a problem by the named solver.

    Parameters
    ----------
    problem : LinearProblem
        What to minimise.
    settings : Settings
        When to stop.
    solver : str
        The name of one of ``SOLVERS``, or "auto". That takes the second-order solver of the loss
        where its linear system is cheap; else it starts with coordinate descent, and hands over if
        that is slow and the system fits. ``Solution.solver`` says what ran.
    """
    _refuse_what_it_lacks(solver, problem)
    if solver == "auto" and settings.options:
        msg = f"solver='auto' has no options, got {dict(settings.options)}; name the solver they are for"
        raise ParameterError(msg)
    if _has_one_sign(problem):
        return _constant_solution(problem)
    return _automatic(problem, settings) if solver == "auto" else _run(solver, problem, settings)


def _run(solver: str, problem: LinearProblem, settings: Settings) -> Solution:
    """Run one solver, or go on with it; where numbers overflow the gap stays open."""
    monitor = current()
    key = None if monitor.store is None else _key(solver, problem, settings)
    known = None if key is None else monitor.recall(f"{key}/solution")
    if known is not None:
        return known  # type: ignore[no-any-return]
    options = SOLVERS[solver].settle(settings.options)
    progress = Progress(problem, replace(settings, options=options), solver, monitor, key)
    status: Status | None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        try:
            with progress.monitor.guard():
                status = SOLVERS[solver].run(progress)
        except FloatingPointError:
            status = "stalled"
        except _core.Stopped:
            status = progress.monitor.reason
            if progress.when_stopped is not None:
                progress.when_stopped()
    solution = progress.solution(status)
    if key is not None and monitor.reason is None:
        monitor.keep(f"{key}/solution", solution, instead_of=[key])
    return solution


def _key(solver: str, problem: LinearProblem, settings: Settings) -> str:
    """Name all that the solution depends on."""
    numbers = (problem.matrix, problem.y, problem.target, problem.weight)
    rules = (problem.intercept, problem.intercept_scaling, problem.pull)
    return fingerprint(
        solver, *numbers, *rules, repr(problem.loss), repr(problem.penalty), settings
    )


def _automatic(problem: LinearProblem, settings: Settings) -> Solution:
    """Pick by the kind of problem, and by the cost of the second-order solver's linear system."""
    if problem.penalty.name == "l1":
        return _run("proximal_newton", problem, settings)
    if isinstance(problem, HardMarginProblem):
        return _run("hard_margin", problem, settings)
    second_order = "newton" if problem.loss.is_smooth else "interior_point"
    n_samples, n_features = problem.shape
    unknowns = min(n_samples, n_features + 1)
    if n_samples * unknowns**2 <= DIRECT_WORK:
        return _run(second_order, problem, settings)
    if unknowns > DIRECT_UNKNOWNS:
        return _run("dual_coordinate_descent", problem, settings)
    return _first_then(second_order, problem, settings)


def _first_then(second_order: str, problem: LinearProblem, settings: Settings) -> Solution:
    """Give coordinate descent a while, then hand over; return what came nearer to the optimum."""
    short = replace(settings, max_iter=min(FIRST_TRY, settings.max_iter))
    first = _run("dual_coordinate_descent", problem, short)
    if first.status not in ("max_iter", "stalled") or settings.max_iter <= first.n_iter:
        return first
    rest = replace(settings, max_iter=settings.max_iter - first.n_iter)
    second = _run(second_order, problem, rest)
    better = min(first, second, key=lambda s: s.history[-1][1] - s.history[-1][2])
    return replace(
        better,
        n_iter=first.n_iter + second.n_iter,
        solver=f"{first.solver}+{second.solver}",
        status=second.status,
        history=first.history + second.history,
    )


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


def _has_one_sign(problem: LinearProblem) -> bool:
    """Say whether a free intercept alone makes every loss of a classifier zero."""
    if problem.loss.is_two_sided or problem.pull:
        return False
    signs = problem.y[problem.weight > 0]
    return problem.intercept == "free" and bool(np.all(signs == signs[0]))


def _constant_solution(problem: LinearProblem) -> Solution:
    """Return w = 0 and an intercept of the only sign: objective 0, and alpha = 0 proves it."""
    sign: Any = problem.y[problem.weight > 0][0]
    n_samples, n_features = problem.shape
    return Solution(
        w=np.zeros(n_features),
        intercept=float(sign) * (FAR if problem.loss.name == "logistic" else 1.0),
        alpha=np.zeros(n_samples),
        status="optimal",
        n_iter=1,
        solver="constant",
    )
