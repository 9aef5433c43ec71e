"""Newton's method for the squared hinge loss.

Problem: LinearProblem with the squared hinge loss, any intercept. The objective is convex and piecewise
quadratic: on rows with margin below 1 it is a ridge regression, the others do not count. Each round
solves that regression exactly (`ridge_system`) and moves to the minimum of the objective along the
way. When the rows that count no longer change, the point is the exact solution.

Given: the problem. Offered: w, b and alpha_i = 2 c_i max(0, 1 - margin_i).
Cost: some 5 to 15 rounds, each a factorisation of the ridge system over the rows that count.
Paper: Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear
SVMs, JMLR 2005; Mangasarian, A finite Newton method for classification, 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems import LinearProblem, Status
from hedgerow.solvers.active_set import is_cheap
from hedgerow.solvers.ridge_system import Direction, RidgeSystem, ridge_system
from hedgerow.solvers.settings import Progress

__all__ = ["newton"]

Vector = NDArray[np.float64]

ROUNDING = 1e-14
"""A relative gap at which nothing is left to gain in float64."""
PIECES = 50
"""Most pieces of the slope that one line search visits."""


def newton(progress: Progress) -> Status | None:
    """Solve a squared-hinge problem to the tolerance of the settings."""
    problem, settings = progress.problem, progress.settings
    system = ridge_system(problem)
    exact = is_cheap(problem)
    counted = np.zeros(problem.shape[0], dtype=bool)
    length = 1.0
    left = progress.resume()
    if left is not None:
        counted, length = left["counted"], left["length"]
        system.place(*left["point"])
    margins = system.margins()
    while progress.n_iter < settings.max_iter and length > 0.0 and not _has_stalled(progress):
        progress.checkpoint(counted=counted, length=length, point=system.point)
        alpha = problem.loss.alpha_at(margins, problem.weight)
        progress.offer_primal(system.w, system.intercept, problem.y * margins)
        progress.offer_dual(alpha)
        solved = progress.measure()
        settled = np.array_equal(counted, margins < 1.0)
        if progress.relative_gap <= ROUNDING or (solved and (settled or not exact)):
            break
        counted = margins < 1.0
        system.factorise(np.where(counted, 2.0 * problem.weight, 0.0))
        step = system.direction(alpha, np.zeros_like(alpha))
        length = _best_length(problem, system, margins, step)
        system.move(step, length)
        margins = system.margins()
        progress.offer_dual(alpha + step.alpha)  # with few rows, free of the margins' rounding
        progress.n_iter += 1
    return "stalled" if progress.n_iter < settings.max_iter else None


def _has_stalled(progress: Progress) -> bool:
    """Say whether the last ten rounds brought nothing that float64 can show."""
    if len(progress.history) < 10:
        return False
    (_, primal_then, dual_then), (_, primal, dual) = progress.history[-10], progress.history[-1]
    return (primal_then - primal) + (dual - dual_then) <= ROUNDING * abs(primal)


def _best_length(
    problem: LinearProblem, system: RidgeSystem, margins: Vector, step: Direction
) -> float:
    """Return the length in [0, 1] at which the objective along the step is least.

    Its slope never falls and is made of straight pieces. If it is not positive at 1 the full step is
    best; else Newton's method on the slope goes from piece to piece down to the zero.
    """
    linear, quadratic = system.penalty_along(step)
    moving = step.margin != 0.0
    weight, margin, d_margin = problem.weight[moving], margins[moving], step.margin[moving]

    def slope_and_rise(length: float) -> tuple[float, float]:
        missing = 1.0 - margin - length * d_margin
        pull = np.where(missing > 0.0, 2.0 * weight * d_margin, 0.0)
        slope = linear + length * quadratic - float(np.sum(pull * missing))
        return slope, quadratic + float(np.sum(pull * d_margin))

    length = 1.0
    slope, rise = slope_and_rise(length)
    least = ROUNDING * abs(slope_and_rise(0.0)[0])
    for _ in range(PIECES):
        if slope <= least:
            break
        length = max(0.0, length - slope / rise)
        slope, rise = slope_and_rise(length)
    return length
