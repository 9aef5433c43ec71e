"""How far rounding puts the figures of a linear machine from their true values.

With g growing like the root of the number of terms and u half a unit in the last place, a score <w, x> + b is
off by at most g u (|w| |x| + |b|), and v = sum_i alpha_i y_i x_i by at most g u sum_i |alpha_i| |x_i|.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._rows import array_of, dense
from hedgerow.crammer_singer import CrammerSingerProblem
from hedgerow.problems import HardMarginProblem, LinearProblem, Solution, blocks, inner
from hedgerow.rounding import UNIT, Rounding, growth_of_rounding

__all__ = ["can_be_measured", "linear_rounding"]

Vector = NDArray[np.float64]


PRECISE_ENTRIES = 2**20
"""Entries of a table up to which errors are measured in extended precision."""


def linear_rounding(
    problem: LinearProblem,
    solution: Solution,
    scores: Vector,
    alpha: Vector,
    v: Vector,
    *,
    is_measured: bool = False,
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
    is_measured : bool
        Whether the errors of scores and v are measured in extended precision, instead of bounded; of one
        binary problem with a small table.
    """
    lengths = np.sqrt(_core.row_sq_norms(problem.matrix, problem.n_threads))
    if is_measured:
        errors, of_v = _measured(problem, solution, scores, alpha, v, lengths)
    else:
        errors = _errors_of_scores(problem, solution, scores, lengths)
        of_v = _error_of_v(alpha, lengths)
    size = float(np.sqrt(inner(v.ravel(), v.ravel())))
    return Rounding(
        violation=2.0 * float(np.max(errors, initial=0.0))
        + of_v * float(np.max(lengths, initial=0.0)),
        primal=_of_primal(problem, solution, scores, errors),
        dual=of_v * (size + of_v)
        + _of_gain(problem, solution, alpha, is_measured)
        + _of_bounds(problem, alpha, v, of_v),
    )


def can_be_measured(problem: LinearProblem) -> bool:
    """Say whether errors of the problem can be measured in extended precision."""
    n_samples, n_features = problem.shape
    is_binary = not isinstance(problem, CrammerSingerProblem)
    return is_binary and n_samples * n_features <= PRECISE_ENTRIES


def _measured(  # noqa: PLR0917 - what the figures were computed from
    problem: LinearProblem,
    solution: Solution,
    scores: Vector,
    alpha: Vector,
    v: Vector,
    lengths: Vector,
) -> tuple[Vector, float]:
    """Return how far the residual of each row and v are off, by what extended precision makes of them."""
    points = dense(array_of(problem.matrix)).astype(np.longdouble)
    share = float(np.finfo(np.longdouble).eps) / (2.0 * UNIT)  # what is left of the bounds
    exact = points @ solution.w.astype(np.longdouble) + np.longdouble(solution.intercept)
    errors = np.abs(exact - scores).astype(np.float64)
    errors += share * _errors_of_scores(problem, solution, scores, lengths)
    errors += 4.0 * UNIT * (np.abs(scores) + np.abs(problem.target))
    off = (points.T @ (alpha * problem.y).astype(np.longdouble) - v).astype(np.float64)
    size = float(
        np.max(np.abs(off), initial=0.0)
        if problem.penalty.bounds_dual
        else np.sqrt(inner(off, off))
    )
    return errors, size + share * _error_of_v(alpha, lengths)


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


def _of_gain(problem: LinearProblem, solution: Solution, alpha: Vector, is_measured: bool) -> float:
    """Return how far what the dual gains from its alphas may be off, and what it owes to a sum that is off."""
    share = growth_of_rounding(int(np.count_nonzero(alpha))) * UNIT
    total = float(np.sum(np.abs(alpha)))
    if is_measured:  # sums are then exact, and their terms right to the last place
        share = 4.0 * UNIT
    if isinstance(problem, CrammerSingerProblem):
        gain, offsets = total, np.abs(np.atleast_2d(solution.w)[:, -1])
        balance = float(np.sum(offsets * np.abs(np.sum(alpha, axis=0))))
        error = share * (gain + total * float(np.max(offsets)))
    else:
        gain = inner(np.abs(problem.target), np.abs(alpha))
        excess = math.fsum(problem.y * alpha) if is_measured else inner(problem.y, alpha)
        balance = abs(solution.intercept) * abs(excess - problem.pull)
        error = share * (gain + (0.0 if is_measured else total * abs(solution.intercept)))
    if problem.intercept == "free":
        error += balance
    return error


def _of_bounds(problem: LinearProblem, alpha: Vector, v: Vector, of_v: float) -> float:
    """Return what the dual loses by scaling alpha until v meets the bounds of the l1 penalty for certain."""
    if not problem.penalty.bounds_dual:
        return 0.0
    excess = max(0.0, float(np.max(np.abs(v), initial=0.0)) + of_v - 1.0)
    return excess * inner(np.abs(problem.target), np.abs(alpha))
