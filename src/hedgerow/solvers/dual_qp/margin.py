"""Machines with nu, to a tolerance in units of the margin rho that solving finds.

Problem: NuSvcProblem. The machine is divided by rho, so that a violation counts as much more as rho is smaller:
the program is solved again to a tighter tolerance, from where it stands, until that is met.

Given: the problem, a tolerance for the largest violation. Returned: beta; where rho is 0, the status "no_margin"
and the machine that stands in.
Cost: that of decomposition, one to six times.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.kernel import KernelSolution
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.solvers.dual_qp.decomposition import SharedRows, decompose
from hedgerow.solvers.dual_qp.hard_margin import size_of
from hedgerow.solvers.dual_qp.run import KernelSettings

__all__ = ["solve_by_margin"]

TIGHTENINGS = 6
LEAST_TOLERANCE = 1e-13
"""A violation, relative to the largest K(x, x), below which there is nothing but rounding."""
NO_MARGIN = 1e-13
"""A margin rho, relative to the largest K(x, x) and the betas of a class, that is nothing but rounding."""


def solve_by_margin(
    problem: NuSvcProblem,
    settings: KernelSettings,
    start: NDArray[np.float64] | None,
    shared: SharedRows | None = None,
) -> KernelSolution:
    """Solve a problem to a tolerance in units of its margin rho, by which the machine is divided.

    Where rho is so small that this cannot be had, the last solution is kept. Where it is 0 the status is
    "no_margin".
    """
    shared = shared or SharedRows()
    solution, n_iter = decompose(problem, settings, start, shared), 0
    for _ in range(TIGHTENINGS):
        rho, n_iter = float(solution.figures["rho"]), n_iter + solution.n_iter
        wanted = settings.tol * min(1.0, rho)
        if solution.status != "optimal" or problem.point(solution.beta).violation <= wanted:
            break
        if wanted <= LEAST_TOLERANCE * float(np.max(problem.gram.diagonal)):
            break
        tighter = replace(settings, tol=0.5 * wanted)
        better = decompose(problem, tighter, solution.beta, shared)
        if better.status not in ("optimal", "interrupted", "time_limit", "stopped"):
            break
        solution = better
    solution = replace(solution, n_iter=n_iter)
    if solution.status == "optimal" and _has_no_margin(problem, solution):
        return _without_margin(problem, solution, settings, shared)
    return solution


def _has_no_margin(problem: NuSvcProblem, solution: KernelSolution) -> bool:
    """Say whether rho is 0 but for rounding, or cannot be told from 0."""
    least = NO_MARGIN * size_of(problem.gram) * problem.program.sums[0]
    return float(solution.figures["rho"]) <= max(least, problem.point(solution.beta).violation)


def _without_margin(
    problem: NuSvcProblem, solution: KernelSolution, settings: KernelSettings, shared: SharedRows
) -> KernelSolution:
    """Return a solution without a margin, beside the machine that stands in for it.

    Such a solution has w = 0, and nothing to divide by. As nu falls to the least that leaves a margin, the
    machine is that of CSvcProblem whose C rises without bound. So C is 1 / tol, in units of the points' mean squared
    distance from their mean.
    """
    n = problem.gram.n_points
    means = problem.gram.sums(np.full(n, 1.0 / n))
    spread = float(np.mean(problem.gram.diagonal) - np.mean(means))
    weight = problem.weight / (settings.tol * spread) if spread > 0.0 else problem.weight
    classes = CSvcProblem(problem.gram, problem.y, weight, is_convex=problem.is_convex)
    found = decompose(classes, settings, None, shared)
    has_ended = found.status in ("optimal", "max_iter", "stalled")
    return replace(
        solution,
        figures={**solution.figures, **found.figures, "stand_in": found.beta},
        status="no_margin" if has_ended else found.status,
        n_iter=solution.n_iter + found.n_iter,
    )
