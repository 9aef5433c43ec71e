"""The exact finish for the hinge loss: once the right rows are known, the rest is linear algebra.

At the optimum the rows fall into three groups: alpha = 0, alpha = c, and rows exactly on the margin.
Given a good guess, the margin rows' alpha and (w, b) solve

    margin_i = 1 on the rows between    w = sum_i alpha_i y_i x_i    (sum_i alpha_i y_i = 0 if b is free)

which the method of multipliers on the ridge system solves to the last bits in a few steps. Rows that
then break their group's condition change group, and it starts again. Used on small problems, where it
costs next to nothing and turns a solution good to the tolerance into the exact one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems import LinearProblem
from hedgerow.solvers.ridge_system import RidgeSystem, ridge_system
from hedgerow.solvers.settings import Progress

__all__ = ["finish_exactly", "is_cheap"]

Vector = NDArray[np.float64]

CHEAP = 2e7
"""Multiplications a factorisation may cost for the exact finish to be made."""
REGROUPINGS = 10
REFINEMENTS = 4
STIFF = 1e7
"""Weight of the margin rows in units of 1/|x|^2: large, yet far from the end of float64."""


def is_cheap(problem: LinearProblem) -> bool:
    """Say whether a factorisation for this problem takes no noticeable time."""
    n_samples, n_features = problem.shape
    small = min(n_samples, n_features + 1)
    return n_samples * small**2 <= CHEAP


def finish_exactly(progress: Progress, alpha: Vector) -> None:
    """Try to replace the points of a nearly solved problem by exact ones."""
    problem = progress.problem
    if not is_cheap(problem) or progress.relative_gap > 1e-2:
        return
    norms = _core.row_sq_norms(problem.matrix, problem.n_threads) + problem.rho
    stiffness = STIFF / max(float(np.mean(norms)), 1e-100)
    system = ridge_system(problem)
    on_upper = alpha >= problem.upper
    between = (alpha > 0) & ~on_upper
    for _ in range(REGROUPINGS):
        alpha = np.where(on_upper, problem.upper, np.where(between, alpha, 0.0))
        alpha, margins = _solve_group(system, alpha, between, stiffness)
        progress.offer_primal(system.w, _intercept(problem, system, margins))
        progress.offer_dual(alpha)
        rounding = 1e-9 * (1.0 + np.abs(margins))
        too_low, too_high = between & (alpha < 0), between & (alpha > problem.upper)
        released = ~between & (problem.weight > 0)
        released &= np.where(on_upper, margins > 1.0 + rounding, margins < 1.0 - rounding)
        if not (too_low.any() or too_high.any() or released.any()):
            return
        between = (between & ~too_low & ~too_high) | released
        on_upper = (on_upper | too_high) & ~released


def _solve_group(
    system: RidgeSystem, alpha: Vector, between: NDArray[np.bool_], stiffness: float
) -> tuple[Vector, Vector]:
    """Bring the margin rows to margin 1; return alpha and all margins."""
    system.factorise(np.where(between, stiffness, 0.0))
    margins = system.margins()
    for _ in range(REFINEMENTS):
        step = system.direction(alpha, np.where(between, 1.0 - margins, 0.0))
        system.move(step, 1.0)
        alpha = alpha + step.alpha
        margins = system.margins()
    return alpha, margins


def _intercept(problem: LinearProblem, system: RidgeSystem, margins: Vector) -> float:
    """Return the best intercept for the system's w."""
    if problem.intercept != "free":
        return system.intercept
    return problem.best_intercept(problem.y * margins - system.intercept)
