"""One problem for many values of C: each solution is where the next one begins.

The plane stays. Each alpha goes on as it went, on the scale of logarithms, but no faster than C, with
which its bound moves: rows on their bound stay there, rows on the margin keep what they have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hedgerow.problems.base import Solution
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import Settings
from hedgerow.solvers.together import solve_together

__all__ = ["solve_path", "solve_paths"]


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
    for current in solve_paths([problem], Cs, settings, solver):
        yield current[0]


def solve_paths(
    problems: Sequence[LinearProblem], Cs: Sequence[float], settings: Settings, solver: str = "auto"
) -> Iterator[list[tuple[LinearProblem, Solution]]]:
    """Yield the same for several problems, best over the same rows, at once."""
    known: list[tuple[float, list[Solution]]] = []
    for C in Cs:
        current = [replace(problem, weight=C * problem.weight) for problem in problems]
        starts = None
        if known:
            (before, first), (at, last) = known[0], known[-1]
            pairs = zip(first, last, strict=True)
            starts = [_extrapolated([(before, old), (at, new)], C) for old, new in pairs]
        solutions = solve_together(current, settings, solver, starts)
        known = [*known[-1:], (C, solutions)]
        yield list(zip(current, solutions, strict=True))


def _extrapolated(known: list[tuple[float, Solution]], C: float) -> Solution:
    """Return about where the solution for C is, by the last two, or the last one given twice."""
    (before, first), (at, last) = known
    ratio = C / at
    if at == before or last.solver == "newton":  # which begins at the plane
        return replace(last, alpha=ratio * last.alpha)
    time = np.log(ratio) / np.log(at / before)
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.nan_to_num(last.alpha / first.alpha, nan=1.0, posinf=1.0)
        factor = np.clip(growth, 1e-3, 1e3) ** time
    return replace(last, alpha=np.clip(factor, min(ratio, 1e-3), max(ratio, 1.0)) * last.alpha)
