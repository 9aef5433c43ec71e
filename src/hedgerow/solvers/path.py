"""One problem for many values of C: each solution is where the next one begins.

From C to C' the normal vector and the intercept stay. Of the alphas, those on a bound that moves with
C move with it, and the others stay: near the solution a row between its bounds is on the margin for
both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hedgerow.problems import LinearProblem, Solution
from hedgerow.solvers.choose import solve
from hedgerow.solvers.settings import Settings

__all__ = ["solve_path"]


def solve_path(
    problem: LinearProblem, Cs: Sequence[float], settings: Settings, solver: str = "auto"
) -> Iterator[tuple[LinearProblem, Solution]]:
    """Yield the problem with its weights times C, and its solution, for each C in turn.

    Parameters
    ----------
    problem : LinearProblem
        What to minimise for C = 1.
    Cs : sequence of float
        What the weights are multiplied with, ascending or descending.
    settings, solver
        As for ``solve``.
    """
    start: Solution | None = None
    before = 1.0
    for C in Cs:
        current = replace(problem, weight=C * problem.weight)
        if start is not None:
            start = _carried(start, replace(problem, weight=before * problem.weight), C / before)
        start = solve(current, settings, solver, start)
        before = C
        yield current, start


def _carried(solution: Solution, problem: LinearProblem, ratio: float) -> Solution:
    """Return the solution with the alphas on a bound moved as the bound moves."""
    if not np.isfinite(problem.upper).any():
        return solution
    at_bound = np.abs(solution.alpha) >= problem.upper
    return replace(solution, alpha=np.where(at_bound, ratio, 1.0) * solution.alpha)
