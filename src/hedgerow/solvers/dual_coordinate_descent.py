"""Dual coordinate descent, for wide, sparse or very large data.

Problem: LinearProblem with the hinge or squared hinge loss, any intercept. The core sweeps over the
rows in random order and solves for one alpha_i at a time, keeping w = sum_i alpha_i y_i x_i; rows that
stay on a bound are left out for a while (shrinking). A free intercept is the multiplier of the
constraint sum_i alpha_i y_i = 0: after each sweep it moves by rho times the sum (method of multipliers).

Given: the problem. Offered: w, b and alpha, measured on all rows between bursts of sweeps.
Cost: one pass over the rows' non-zeros a sweep; few sweeps for small C, many for large C.
Paper: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale
linear SVM, ICML 2008.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems import LinearProblem
from hedgerow.solvers.settings import Progress

__all__ = ["dual_coordinate_descent"]

Vector = NDArray[np.float64]

LONGEST_BURST = 20
"""Sweeps between two measurements of the gap, at most."""


def dual_coordinate_descent(progress: Progress) -> None:
    """Solve to the tolerance of the settings, or as far as max_iter sweeps go."""
    settings = progress.settings
    core = _core_solver(progress.problem, settings.seed)
    progress.when_stopped = lambda: _offer(progress, core.alpha, core.intercept)
    burst = 1
    left = progress.resume()
    if left is not None:
        burst = left["burst"]
        core.restore(*left["core"])
    while progress.n_iter < settings.max_iter:
        progress.checkpoint(burst=burst, core=core.state)
        burst = min(burst, settings.max_iter - progress.n_iter)
        sweeps, _ = core.run(burst, 0.0)
        progress.n_iter += sweeps
        _offer(progress, core.alpha, core.intercept)
        if progress.measure():
            break
        burst = min(2 * burst, LONGEST_BURST)


def _core_solver(problem: LinearProblem, seed: int) -> _core.DualCoordinateDescent:
    """Return the core's solver for this problem."""
    curvature = np.where(problem.weight > 0, problem.loss.curvature(problem.weight), 0.0)
    is_free = problem.intercept == "free"
    rho = problem.rho
    if is_free:
        # The multiplier settles fastest if it weighs as much as a row's own norm, and no less than
        # the curvature that the dual has along the balance of the two classes.
        norms = _core.row_sq_norms(problem.matrix, problem.n_threads)
        rho = float(np.mean(norms) + np.mean(curvature) / len(curvature)) or 1.0
    return _core.DualCoordinateDescent(
        problem.matrix,
        problem.y,
        np.ones_like(problem.y),
        problem.weight,
        loss=problem.loss.name,
        rho=rho,
        free_intercept=is_free,
        seed=seed,
    )


def _offer(progress: Progress, alpha: Vector, intercept: float) -> None:
    """Offer w = combine(alpha) with the best intercept that is at hand, and alpha."""
    problem = progress.problem
    w = problem.combine(alpha)
    scores = problem.scores(w, intercept)
    if problem.intercept == "free" and problem.loss.name == "hinge":
        best = problem.best_intercept(scores - intercept)
        scores, intercept = scores + (best - intercept), best
    progress.offer_primal(w, intercept, scores)
    progress.offer_dual(alpha)
