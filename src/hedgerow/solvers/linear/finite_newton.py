"""Newton's method to the last bit, for small problems with a smooth loss.

Problem: LinearProblem with a smooth loss, any intercept. Each round solves the quadratic model of the
objective exactly, a ridge regression with one weight per row (`ridge_system`), and moves to the minimum
of the objective along the way. The squared losses are quadratic on the rows that count: when these no
longer change, the point is the exact solution.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: some 5 to 15 rounds, each a factorisation of the ridge system over the rows that count.
Paper: Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear
SVMs, JMLR 2005; Mangasarian, A finite Newton method for classification, 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import Status, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.ridge_system import Direction, RidgeSystem, ridge_system

__all__ = ["finite_newton"]

Vector = NDArray[np.float64]

ROUNDING = 1e-14
"""A relative gap at which nothing is left to gain in float64."""
PATIENCE = 10
"""Rounds that may bring nothing before the solver counts as stalled."""
PIECES = 50
"""Most pieces of the slope that one line search visits."""


def finite_newton(run: LinearRun) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    problem, settings = run.problem, run.settings
    system = ridge_system(problem)
    exact = is_cheap(problem)
    curvature = np.zeros(problem.shape[0])
    length = 1.0
    left = run.resume()
    if left is not None:
        curvature, length = left["curvature"], left["length"]
        system.place(*left["point"])
    margins = system.margins()
    while run.n_iter < settings.max_iter and length > 0.0 and not run.has_stalled(PATIENCE):
        run.checkpoint(curvature=curvature, length=length, point=system.point)
        residual = problem.target - margins
        alpha = problem.loss.alpha_at(residual, problem.weight)
        run.offer_primal(system.w, system.intercept, problem.y * margins)
        run.offer_dual(alpha)
        solved, curvature_before = run.measure(), curvature
        curvature = problem.loss.second_derivative(residual, problem.weight)
        settled = np.array_equal(curvature_before, curvature)
        if run.relative_gap <= ROUNDING or (solved and (settled or not exact)):
            break
        system.factorise(curvature)
        step = system.direction(alpha, np.zeros_like(alpha))
        length = _best_length(problem, system, residual, step)
        system.move(step, length)
        margins = system.margins()
        if problem.loss.is_piecewise_quadratic:
            run.offer_dual(alpha + step.alpha)  # with few rows, free of the margins' rounding
        run.n_iter += 1
    return "stalled" if run.n_iter < settings.max_iter else None


def _best_length(
    problem: LinearProblem, system: RidgeSystem, residual: Vector, step: Direction
) -> float:
    """Return the length in [0, 1] at which the objective along the step is least.

    Its slope never falls. If it is not positive at 1 the full step is best; else Newton's method on
    the slope, kept between lengths of known sign, goes down to the zero.
    """
    linear, quadratic = system.penalty_along(step)
    moving = step.margin != 0.0
    weight, start, d_margin = problem.weight[moving], residual[moving], step.margin[moving]

    def slope_and_rise(length: float) -> tuple[float, float]:
        there = start - length * d_margin
        pull = inner(d_margin, problem.loss.alpha_at(there, weight))
        rise = inner(np.square(d_margin), problem.loss.second_derivative(there, weight))
        return linear + length * quadratic - pull, quadratic + rise

    low, high = 0.0, 1.0
    length = 1.0
    slope, rise = slope_and_rise(length)
    if slope <= 0.0:
        return length
    least = ROUNDING * abs(slope_and_rise(0.0)[0])
    for _ in range(PIECES):
        if abs(slope) <= least or high - low <= ROUNDING:
            break
        low, high = (length, high) if slope < 0.0 else (low, length)
        length = length - slope / rise if rise > 0.0 else low  # flat where curvatures underflow
        length = length if low < length < high else 0.5 * (low + high)
        slope, rise = slope_and_rise(length)
    return length
