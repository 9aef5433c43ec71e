"""How far rounding puts the figures of a linear machine from their true values.

With g growing like the root of the number of terms and u half a unit in the last place, a score <w, x> + b is
off by at most g u (|w| |x| + |b|), and v = sum_i alpha_i y_i x_i by at most g u sum_i |alpha_i| |x_i|.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.crammer_singer import CrammerSingerProblem
from hedgerow.problems import HardMarginProblem, LinearProblem, Solution, blocks, inner
from hedgerow.rounding import UNIT, Rounding, growth_of_rounding

__all__ = ["linear_rounding"]

Vector = NDArray[np.float64]


def linear_rounding(
    problem: LinearProblem, solution: Solution, scores: Vector, alpha: Vector, v: Vector
) -> Rounding:
    """Return how far, at most, rounding has put the figures of a solution from their true values.

    Parameters
    ----------
    problem : LinearProblem
        What was to be minimised.
    solution : Solution
        Whose w and intercept the scores are of.
    scores : ndarray
        The scores of all rows; a column for each class of a CrammerSingerProblem.
    alpha : ndarray
        A feasible dual point.
    v : ndarray
        What it combines to.
    """
    lengths = np.sqrt(_core.row_sq_norms(problem.matrix, problem.n_threads))
    errors = _errors_of_scores(problem, solution, scores, lengths)
    of_v = _error_of_v(alpha, lengths)
    size = float(np.sqrt(inner(v.ravel(), v.ravel())))
    return Rounding(
        violation=2.0 * float(np.max(errors, initial=0.0))
        + of_v * float(np.max(lengths, initial=0.0)),
        primal=_of_primal(problem, solution, scores, errors),
        dual=of_v * (size + of_v) + _of_gain(problem, solution, alpha, of_v),
    )


def _errors_of_scores(
    problem: LinearProblem, solution: Solution, scores: Vector, lengths: Vector
) -> Vector:
    """Return how far the residual of each row may be off."""
    w = np.atleast_2d(solution.w)
    longest = float(np.sqrt(np.max(np.sum(np.square(w), axis=1))))
    share = growth_of_rounding(problem.shape[1]) * UNIT
    sizes = np.abs(scores) if scores.ndim == 1 else np.max(np.abs(scores), axis=1)
    last_place = 4.0 * UNIT * (sizes + np.abs(problem.target))
    errors: Vector = share * (longest * lengths + abs(solution.intercept)) + last_place
    return errors


def _error_of_v(alpha: Vector, lengths: Vector) -> float:
    """Return how far v may be off."""
    sizes = np.abs(alpha) if alpha.ndim == 1 else np.sum(np.abs(alpha), axis=1)
    return growth_of_rounding(int(np.count_nonzero(sizes))) * UNIT * inner(sizes, lengths)


def _of_primal(problem: LinearProblem, solution: Solution, scores: Vector, errors: Vector) -> float:
    """Return how far the primal objective may be off."""
    if isinstance(problem, CrammerSingerProblem):
        return 2.0 * inner(problem.weight, errors)
    cost = abs(problem.cost_of(solution.w, solution.intercept))
    last_place = growth_of_rounding(problem.shape[1]) * UNIT * cost
    if isinstance(problem, HardMarginProblem):
        least = problem.least_margin(scores)
        surely = problem.least_margin(scores - problem.y * errors)
        if surely <= 0.0:
            return np.inf
        return cost / surely**2 - cost / least**2 + last_place / surely**2
    for rows in blocks(len(scores)):
        residuals = problem.target[rows] - problem.y[rows] * scores[rows]
        value, off = problem.loss.value, errors[rows]
        worse = np.maximum(value(residuals + off), value(residuals - off)) - value(residuals)
        last_place += inner(problem.weight[rows], worse)
    return last_place


def _of_gain(problem: LinearProblem, solution: Solution, alpha: Vector, of_v: float) -> float:
    """Return how far what the dual gains from its alphas may be off, and what it owes to a sum that is off."""
    share = growth_of_rounding(int(np.count_nonzero(alpha))) * UNIT
    total = float(np.sum(np.abs(alpha)))
    if isinstance(problem, CrammerSingerProblem):
        gain, offsets = total, np.abs(np.atleast_2d(solution.w)[:, -1])
        balance = float(np.sum(offsets * np.abs(np.sum(alpha, axis=0))))
        error = share * (gain + total * float(np.max(offsets)))
    else:
        gain = inner(np.abs(problem.target), np.abs(alpha))
        balance = abs(solution.intercept) * abs(inner(problem.y, alpha) - problem.pull)
        error = share * (gain + total * abs(solution.intercept))
    if problem.intercept == "free":
        error += balance
    return error + (of_v * gain if problem.penalty.bounds_dual else 0.0)
