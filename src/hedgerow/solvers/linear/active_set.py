"""The exact finish for losses of straight pieces: once the right rows are known, the rest is algebra.

At the optimum a row's alpha is 0, on a bound, or between, and then its residual is exactly on a kink
of the loss: 0, or plus or minus epsilon. Given a good guess of the groups, the alphas between and
(w, b) solve

    residual_i = kink_i on the rows between    w = sum_i alpha_i y_i x_i    (sum_i alpha_i y_i = q if b is free)

which the method of multipliers on the ridge system solves to the last bits in a few steps. Rows that
then break their group's condition change group, and it starts again. Used on small problems, where it
costs next to nothing and turns a solution good to the tolerance into the exact one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.ridge_system import RidgeSystem, ridge_system

__all__ = ["finish_exactly", "is_cheap"]

Vector = NDArray[np.float64]

CHEAP = 2e7
"""Multiplications a factorisation may cost for the exact finish to be made."""
FEW_ROWS = 10_000
"""Rows beyond which even a pass over them is noticed."""
REGROUPINGS = 10
REFINEMENTS = 4
STIFF = 1e7
"""Weight of the rows between in units of 1/|x|^2: large, yet far from the end of float64."""


def is_cheap(problem: LinearProblem) -> bool:
    """Say whether a factorisation for this problem takes no noticeable time."""
    n_samples, n_features = problem.shape
    small = min(n_samples, n_features + 1)
    return n_samples <= FEW_ROWS and n_samples * small**2 <= CHEAP


def finish_exactly(run: LinearRun, alpha: Vector) -> None:
    """Try to replace the points of a nearly solved problem by exact ones."""
    problem = run.problem
    if is_cheap(problem):
        _cancel_out(run)
    if not is_cheap(problem) or run.relative_gap > 1e-2:
        return
    norms = _core.data.row_sq_norms(problem.matrix, problem.n_threads) + problem.rho
    stiffness = STIFF / max(float(np.mean(norms)), 1e-100)
    system = ridge_system(problem)
    groups = _Groups(problem, alpha)
    for _ in range(REGROUPINGS):
        alpha, residuals = _solve_group(system, groups, stiffness)
        margins = problem.target - residuals
        run.offer_primal(system.w, _intercept(problem, system, margins))
        run.offer_dual(alpha)
        if not groups.regroup(alpha, residuals):
            return


def _cancel_out(run: LinearRun) -> None:
    """Where rows surround the origin, bring the w of a pull to 0: by least squares in the free alphas.

    Then the optimum is 0, any alphas that cancel out are the best ones, and none of them is singled
    out by the rows between: the exact finish has nothing to hold on to.
    """
    problem, alpha = run.problem, run.alpha
    n_samples, n_features = problem.shape
    is_free = problem.pull != 0.0 and problem.intercept == "free" and n_features < n_samples
    if not is_free or run.is_solved:
        return
    between = (alpha > problem.lower) & (alpha < problem.upper)
    threads = problem.n_threads
    w = _core.data.weighted_row_sum(problem.matrix, problem.y * alpha, threads)
    gram = _core.data.gram(problem.matrix, between.astype(np.float64), 1.0, threads)
    back, *_ = np.linalg.lstsq(gram, np.append(w, 0.0), rcond=None)
    scores = _core.data.scores(problem.matrix, back[None, :-1].copy(), back[-1:].copy(), threads)[
        :, 0
    ]
    run.offer_dual(alpha - np.where(between, problem.y * scores, 0.0))


class _Groups:
    """Which rows are between, on which kink, and the alpha of all others."""

    def __init__(self, problem: LinearProblem, alpha: Vector) -> None:
        self.problem = problem
        self.alpha = alpha
        self.between = (alpha > problem.lower) & (alpha < problem.upper) & (alpha != 0.0)
        self.kink = np.copysign(problem.loss.epsilon, alpha)

    def regroup(self, alpha: Vector, residuals: Vector) -> bool:
        """Move the rows that break their group's condition; return whether there were any."""
        problem, epsilon = self.problem, self.problem.loss.epsilon
        lower, upper = problem.lower, problem.upper
        rounding = 1e-9 * (1.0 + np.abs(residuals) + np.abs(problem.target))
        rising, one_sign = ~np.signbit(self.kink), epsilon > 0.0 or not problem.loss.is_two_sided
        low = np.where(rising & one_sign, 0.0, lower)
        high = np.where(~rising & one_sign, 0.0, upper)
        left = self.between & ((alpha < low) | (alpha > high))
        held = ~self.between & (problem.weight > 0)
        # A held row's alpha wants to rise above a residual, and to fall below another.
        rise = np.where(self.alpha >= upper, np.inf, np.where(self.alpha < 0.0, -epsilon, epsilon))
        fall = np.where(self.alpha <= lower, -np.inf, np.where(self.alpha > 0.0, epsilon, -epsilon))
        wants_up, wants_down = (
            held & (residuals > rise + rounding),
            held & (residuals < fall - rounding),
        )
        self.alpha = np.where(
            left, np.clip(alpha, low, high), np.where(self.between, alpha, self.alpha)
        )
        self.kink = np.where(wants_up, rise, np.where(wants_down, fall, self.kink))
        self.between = (self.between & ~left) | wants_up | wants_down
        return bool(left.any() or wants_up.any() or wants_down.any())


def _solve_group(system: RidgeSystem, groups: _Groups, stiffness: float) -> tuple[Vector, Vector]:
    """Bring the rows between onto their kinks; return alpha and all residuals."""
    problem, alpha = groups.problem, groups.alpha
    system.factorise(np.where(groups.between, stiffness, 0.0))
    residuals = problem.target - system.margins()
    for _ in range(REFINEMENTS):
        step = system.direction(alpha, np.where(groups.between, residuals - groups.kink, 0.0))
        system.move(step, 1.0)
        alpha = alpha + step.alpha
        residuals = problem.target - system.margins()
    return alpha, residuals


def _intercept(problem: LinearProblem, system: RidgeSystem, margins: Vector) -> float:
    """Return the best intercept for the system's w."""
    if problem.intercept != "free":
        return system.intercept
    return problem.best_intercept(problem.y * margins - system.intercept)
