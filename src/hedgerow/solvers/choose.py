"""Which solver for which problem, and the one call that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from hedgerow import _core
from hedgerow._fingerprint import fingerprint
from hedgerow.errors import ParameterError
from hedgerow.monitor import current
from hedgerow.problems import LinearProblem, Solution, Status
from hedgerow.solvers.dual_coordinate_descent import dual_coordinate_descent
from hedgerow.solvers.interior_point import interior_point
from hedgerow.solvers.newton import newton
from hedgerow.solvers.settings import Progress, Settings

__all__ = ["SOLVERS", "solve"]

Solver: TypeAlias = Callable[[Progress], Status | None]
"""Offers points to the progress until it is solved or no more can be done; may say why it stopped."""

SOLVERS: dict[str, Solver] = {
    "dual_coordinate_descent": dual_coordinate_descent,
    "interior_point": interior_point,
    "newton": newton,
}
LOSSES_OF = {
    "dual_coordinate_descent": ("hinge", "squared_hinge"),
    "interior_point": ("hinge",),
    "newton": ("squared_hinge",),
}

DIRECT_WORK = 2e9
"""Multiplications a factorisation may cost for a second-order solver to be the first choice."""
DIRECT_UNKNOWNS = 6000
"""Unknowns (8 n^2 bytes, twice) for a second-order solver to be the second choice."""
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
    solver : {"auto", "dual_coordinate_descent", "interior_point", "newton"}
        "auto" takes the second-order solver of the loss where its linear system is cheap; else it
        starts with coordinate descent, and hands over if that is slow and the system fits.
        ``Solution.solver`` says what ran.
    """
    if solver != "auto":
        _refuse_wrong_loss(solver, problem.loss.name)
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
    progress = Progress(problem, settings, solver, monitor, key)
    status: Status | None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        try:
            with progress.monitor.guard():
                status = SOLVERS[solver](progress)
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
    numbers = (problem.matrix, problem.y, problem.weight, problem.intercept_scaling)
    return fingerprint(solver, *numbers, problem.loss.name, problem.intercept, settings)


def _automatic(problem: LinearProblem, settings: Settings) -> Solution:
    """Pick by the cost of the second-order solver's linear system."""
    second_order = "interior_point" if problem.loss.name == "hinge" else "newton"
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


def _refuse_wrong_loss(solver: str, loss: str) -> None:
    """Raise if the solver does not exist or cannot take the loss, naming those that can."""
    if solver not in SOLVERS:
        msg = f"solver={solver!r} is not known; choose 'auto' or one of {', '.join(map(repr, SOLVERS))}"
        raise ParameterError(msg)
    if loss not in LOSSES_OF[solver]:
        able = ", ".join(repr(name) for name, losses in LOSSES_OF.items() if loss in losses)
        msg = f"solver={solver!r} cannot minimise loss={loss!r}; solvers that can are {able}"
        raise ParameterError(msg)


def _has_one_sign(problem: LinearProblem) -> bool:
    """Say whether a free intercept alone makes every loss zero."""
    signs = problem.y[problem.weight > 0]
    return problem.intercept == "free" and bool(np.all(signs == signs[0]))


def _constant_solution(problem: LinearProblem) -> Solution:
    """Return w = 0 and an intercept of the only sign: objective 0, and alpha = 0 proves it."""
    sign: Any = problem.y[problem.weight > 0][0]
    n_samples, n_features = problem.shape
    return Solution(
        w=np.zeros(n_features),
        intercept=float(sign),
        alpha=np.zeros(n_samples),
        status="optimal",
        n_iter=1,
        solver="constant",
    )
