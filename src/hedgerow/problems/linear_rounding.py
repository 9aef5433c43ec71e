"""How far rounding puts the figures of a linear machine from their true values.

With u half a unit in the last place, and g growing like the root of the number of terms, a score <w, x> + b is
off by at most g u (|w| |x| + |b|), and v = sum_i alpha_i y_i x_i by at most g u sum_i |alpha_i| |x_i|.

:func:`quick_rounding` takes the longest row for all of them, and a few sums; :class:`LinearRounding` takes each
row as it is, which is needed only where that is too coarse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import EXTENDED_UNIT, UNIT, Rounding, growth_of_rounding
from hedgerow.problems.base import Solution, blocks, inner

if TYPE_CHECKING:
    from hedgerow.problems.linear import LinearProblem

__all__ = ["LAST_PLACES", "LinearRounding", "can_be_precise", "quick_rounding"]

Vector = NDArray[np.float64]

PRECISE_ENTRIES = 2**22
"""Entries of a table up to which figures are computed in extended precision, where they have to be."""
LAST_PLACES = 4.0
"""Rounding of a few operations on one number, relative to its size and in units of the last place."""


def can_be_precise(problem: LinearProblem) -> bool:
    """Say whether sums of a problem can be taken in extended precision without taking long."""
    values, *_ = problem.matrix.parts
    return values.size <= PRECISE_ENTRIES


def quick_rounding(
    problem: LinearProblem,
    solution: Solution,
    scores: Vector,
    alpha: Vector,
    v: Vector,
    *,
    objectives: tuple[float, float],
) -> Rounding | None:
    """Return bounds from a few sums over the rows; None for losses that have to be looked at row by row.

    Parameters
    ----------
    problem : LinearProblem
        What was to be minimised.
    solution, scores, alpha, v
        As for :meth:`LinearProblem.rounding`.
    objectives : tuple of two floats
        The primal and the dual objective, in float64.
    """
    if problem.penalty.bounds_dual or not len(scores):
        return None
    w, b = solution.w, solution.intercept
    of_features = growth_of_rounding(problem.shape[1]) * UNIT
    of_rows = growth_of_rounding(problem.shape[0]) * UNIT
    last = LAST_PLACES * UNIT
    longest = float(np.sqrt(np.max(problem.sq_norms) + problem.rho))
    largest = float(np.max(np.abs(scores))) + float(np.max(np.abs(problem.target)))
    error = of_features * (float(np.sqrt(inner(w, w))) * longest + abs(b)) + last * largest

    cost, weight = problem.cost_of(w, b), float(np.sum(problem.weight))
    losses = max(0.0, objectives[0] - cost)
    of_losses = problem.loss.error_of_sum(error, weight, losses)
    if of_losses is None:
        return None
    of_cost = (of_features + last) * (abs(cost) + 2.0 * abs(problem.pull * b))

    sizes = np.abs(alpha)
    total = float(np.sum(sizes))
    price = problem.price_of(v, inner(problem.y, alpha))
    # The conjugates of all rows have the same sign: the sum of their sizes is the size of their sum.
    gain = 2.0 * inner(np.abs(problem.target), sizes) + abs(objectives[1] + price)
    gain += problem.loss.conjugate_terms * weight
    of_v = of_rows * total * longest
    size_of_v = float(np.sqrt(inner(v, v)))
    of_dual = (of_rows + last) * gain + of_v * (size_of_v + of_v)
    of_dual += (of_features + last) * abs(price)
    if problem.intercept == "free":
        of_dual += 2.0 * abs(b) * of_rows * total
    return Rounding(
        violation=2.0 * error + of_v * longest,
        primal=of_cost + of_losses + (of_rows + last) * losses,
        dual=of_dual,
    )


class LinearRounding:
    """The errors of the figures of a solution, added up over blocks of rows.

    Parameters
    ----------
    problem : LinearProblem
        Whose parameters count, not its rows.
    w, b : ndarray, float
        The primal point.
    """

    def __init__(self, problem: LinearProblem, w: Vector, b: float) -> None:
        self._problem = problem
        self._unit = EXTENDED_UNIT if problem.is_precise else UNIT
        planes = np.atleast_2d(w)
        self._cost = abs(problem.cost_of(w, b))
        self._longest_w = float(np.sqrt(np.max(np.sum(planes * planes, axis=1), initial=0.0)))
        self._intercept = abs(b)
        self._worst_score = self._longest = 0.0
        self._losses = self._of_losses = 0.0
        self._gain = self._net_gain = self._gain_of_blocks = 0.0
        self._sum = self._sum_of_lengths = 0.0
        self._n_rows = 0

    def add(self, problem: LinearProblem, scores: Vector, alpha: Vector) -> None:
        """Take in rows, their scores and their alphas."""
        lengths = np.sqrt(problem.sq_norms + problem.rho)
        self._n_rows += len(lengths)
        self._longest = max(self._longest, float(np.max(lengths, initial=0.0)))
        for rows in blocks(len(lengths)):
            self._add_scores(problem, rows, scores[rows], lengths[rows])
            self._add_alphas(problem, rows, alpha[rows], lengths[rows])

    def _add_scores(
        self, problem: LinearProblem, rows: slice, scores: Vector, lengths: Vector
    ) -> None:
        target = problem.target[rows]
        sizes = np.abs(scores) if scores.ndim == 1 else np.max(np.abs(scores), axis=1)
        of_products = growth_of_rounding(problem.shape[1]) * self._unit
        errors = of_products * (self._longest_w * lengths + self._intercept)
        errors += LAST_PLACES * self._unit * (sizes + np.abs(target))
        self._worst_score = max(self._worst_score, float(np.max(errors, initial=0.0)))
        self._add_losses(problem, rows, scores, errors)

    def _add_losses(
        self, problem: LinearProblem, rows: slice, scores: Vector, errors: Vector
    ) -> None:
        """Add the losses of some rows, and how far they may be off if their scores are off by so much."""
        weight, loss = problem.weight[rows], problem.loss
        residuals = problem.target[rows] - problem.y[rows] * scores
        losses = loss.value(residuals)
        self._losses += inner(weight, losses)
        self._of_losses += inner(weight, loss.largest_within(residuals, errors) - losses)

    def _add_alphas(
        self, problem: LinearProblem, rows: slice, alpha: Vector, lengths: Vector
    ) -> None:
        sizes = self._add_gain(problem, rows, alpha)
        self._sum += float(np.sum(sizes))
        self._sum_of_lengths += inner(sizes, lengths)

    def _add_gain(self, problem: LinearProblem, rows: slice, alpha: Vector) -> Vector:
        """Add what the alphas of some rows gain in the dual; return how large those of each row are."""
        weight, sizes, target = problem.weight[rows], np.abs(alpha), problem.target[rows]
        price = problem.loss.conjugate(alpha, weight)
        net_gain = float(np.sum(target * alpha - price))
        self._net_gain += net_gain
        self._gain_of_blocks += abs(net_gain)
        self._gain += float(np.sum(np.abs(target) * sizes + np.abs(price)))
        self._gain += problem.loss.conjugate_terms * float(np.sum(weight))
        return sizes

    def of_figures(self, v: Vector) -> Rounding:
        """Return what all errors come to, with v what the alphas combine to."""
        of_v = self._of_sums * self._sum_of_lengths
        return Rounding(
            violation=2.0 * self._worst_score + of_v * self._longest,
            primal=self._of_primal(),
            dual=self._of_dual(v, of_v),
        )

    @property
    def _of_sums(self) -> float:
        """How far a sum over rows may be off, relative to that of the sizes of its terms."""
        return growth_of_rounding(self._n_rows) * self._unit

    @property
    def _of_cost(self) -> float:
        """How far the objective without the losses may be off, relative to its size."""
        return growth_of_rounding(self._problem.shape[1]) * self._unit + LAST_PLACES * UNIT

    def _of_primal(self) -> float:
        """Return how far the primal objective may be off."""
        of_losses = self._of_losses + (self._of_sums + LAST_PLACES * UNIT) * self._losses
        return self._of_cost * self._cost + of_losses

    def _of_dual(self, v: Vector, of_v: float) -> float:
        error = (self._of_sums + LAST_PLACES * self._unit) * self._gain
        if self._problem.is_precise:  # sums over blocks of rows end in float64
            error += LAST_PLACES * UNIT * self._gain_of_blocks
        if self._problem.intercept == "free":  # the alphas of the two sides may not quite balance
            error += 2.0 * self._intercept * self._of_sums * self._sum
        if self._problem.penalty.bounds_dual:
            # Smaller alphas would be sure to meet the bounds. As prices are convex, they gain as much less.
            excess = float(np.max(np.abs(v), initial=0.0)) + of_v - 1.0
            return error + max(0.0, excess) * abs(self._net_gain)
        size = float(np.sqrt(np.sum(v * v)))
        of_price = growth_of_rounding(v.size) * self._unit + LAST_PLACES * UNIT
        return error + of_v * (size + of_v) + of_price * size * size
