"""Linear machines: one problem for classification, regression and one-class machines.

A problem is frozen: the minimization is its docstring, and `objective` is its only code. It knows its
data, its scaling and its dual; it does not know how it is solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow._base.rounding import Rounding
from hedgerow.data.rows import array_of
from hedgerow.losses import Loss
from hedgerow.penalties import QUADRATIC, Penalty
from hedgerow.problems.base import (
    Hyperplanes,
    Intercept,
    Measurement,
    PrimalDualProblem,
    Solution,
    Vector,
    blocks,
    extended,
    inner,
)
from hedgerow.problems.linear_intercept import best_intercept
from hedgerow.problems.linear_rounding import LinearRounding, can_be_precise, quick_rounding

__all__ = ["CARRIES", "FAINT", "LinearProblem"]

AT_BOUND = 1e-12
"""An alpha this near to a bound, relative to the box, counts as on it: rounding, no more."""

CARRIES = 2.0
"""Alphas between their bounds are scaled down alone if they sum to this many times the excess."""
FAINT = 1e-6
"""A w this short, relative to the longest row, counts as 0 for a one-class machine."""


@dataclass(frozen=True, eq=False)
class LinearProblem(PrimalDualProblem):
    """A linear machine: rows x_i with sign y_i = +1 or -1, target p_i and weight c_i >= 0.

    ::

        primal   minimise   penalty(w) + penalty(b / s) + q b
                            + sum_i c_i loss(p_i - y_i (<w, x_i> + b))
                 over w, b

        dual     maximise   sum_i p_i alpha_i - conjugate_i(alpha_i)
                            - 1/2 |v|^2 - 1/2 s^2 (sum_i alpha_i y_i - q)^2
                 over       lower_i <= alpha_i <= upper_i,  with  v = sum_i alpha_i y_i x_i

    The terms with s are those of a penalised intercept with scaling s, the last feature of the
    augmented rows (x_i, s). A free intercept has neither, and the dual the constraint
    sum_i alpha_i y_i = q. Without an intercept b = 0. This is the dual for penalty(w) = 1/2 |w|^2;
    at the optimum w = v. For penalty(w) = |w|_1 the squares give way to the constraints
    |v_j| <= 1 and s |sum_i alpha_i y_i - q| <= 1.

    Attributes
    ----------
    matrix : _core.data.Matrix
        The rows x_i.
    y : ndarray
        +1 or -1 for each row; +1 for all in regression.
    weight : ndarray
        c_i: C times the weight of the row.
    loss : Loss
        The loss of the residual.
    intercept : {"free", "penalized", "none"}
        What is done with b.
    intercept_scaling : float
        s, for a penalised intercept.
    n_threads : int
        Threads for passes over the data; no result depends on it.
    targets : ndarray or None
        p_i of every row; None for the loss's target for classes.
    pull : float
        q, the price of the intercept; 0 but for one-class machines.
    penalty : Penalty
        On w, and on a penalised intercept.
    is_precise : bool
        Whether sums over features and over rows are taken in extended precision, which is slow.
    """

    matrix: _core.data.Matrix
    y: Vector
    weight: Vector
    loss: Loss
    intercept: Intercept = "free"
    intercept_scaling: float = 1.0
    n_threads: int = 1
    targets: Vector | None = None
    pull: float = 0.0
    penalty: Penalty = QUADRATIC
    is_precise: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.matrix.shape

    @property
    def origin(self) -> tuple[Vector, Vector]:
        """The points w = 0 and alpha = 0."""
        n_samples, n_features = self.shape
        return np.zeros(n_features), np.zeros(n_samples)

    @cached_property
    def target(self) -> Vector:
        """p_i of every row."""
        return np.full(len(self.y), self.loss.target) if self.targets is None else self.targets

    @cached_property
    def lower(self) -> Vector:
        """The least alpha of each row."""
        return self.loss.lower(self.weight)

    @cached_property
    def upper(self) -> Vector:
        """The largest alpha of each row."""
        return self.loss.upper(self.weight)

    @property
    def rho(self) -> float:
        """s^2 for a penalised intercept, else 0."""
        return self.intercept_scaling**2 if self.intercept == "penalized" else 0.0

    @cached_property
    def sq_norms(self) -> Vector:
        """|x_i|^2 of every row."""
        return _core.data.row_sq_norms(self.matrix, self.n_threads)

    @cached_property
    def unit(self) -> float:
        """The typical size of scores and residuals: 1, the spread of the targets, or |w| times that of a row."""
        if self.pull:
            return abs(self.pull) * float(np.mean(self.sq_norms)) or 1.0
        if not self.loss.is_two_sided:
            return 1.0
        target = self.target[self.weight > 0]
        away = np.std(target) if self.intercept == "free" else np.mean(np.abs(target))
        return float(away) or 1.0

    @cached_property
    def least_scale(self) -> float:
        """The least size of the objective that gaps are measured by.

        With a pull the optimum may be 0 while no solver gets there but for rounding: w = 0 if the
        rows surround the origin. Rows that all point the same way have the optimum
        -1/2 q^2 |x|^2; what would be that of a `FAINT` w is the scale then. Without a pull it is 0.
        """
        if self.pull == 0.0:
            return 0.0
        longest = float(np.max(self.sq_norms, initial=0.0))
        return 0.5 * (FAINT * self.pull) ** 2 * longest

    def scores(self, w: Vector, b: float) -> Vector:
        """Return <w, x_i> + b for every row."""
        return self.scores_of(w[None, :], np.array([b]))[:, 0]

    def scores_of(self, planes: Vector, intercepts: Vector) -> Vector:
        """Return <w, x_i> + b for every row and several w, b: a column each."""
        if self.is_precise:
            scores: Vector = self._extended_rows @ extended(planes).T + intercepts
            return scores
        return _core.data.scores(self.matrix, planes, intercepts, self.n_threads)

    def weighted_sum(self, coef: Vector) -> Vector:
        """Return sum_i coef_i x_i."""
        if self.is_precise:
            total: Vector = self._extended_rows.T @ extended(coef)
            return total
        return _core.data.weighted_row_sum(self.matrix, coef, self.n_threads)

    @cached_property
    def _extended_rows(self) -> Any:
        """The rows in extended precision, an array or a CSR array."""
        return extended(array_of(self.matrix))

    def residuals(self, scores: Vector) -> Vector:
        """Return p_i - y_i score_i."""
        return self.target - self.y * scores

    def objective(self, w: Vector, b: float, scores: Vector | None = None) -> float:
        """Return the primal objective; `scores`, if at hand, saves a pass over the data."""
        scores = self.scores(w, b) if scores is None else scores
        return self.cost_of(w, b) + self.losses(scores)

    def losses(self, scores: Vector) -> float:
        """Return sum_i c_i loss(r_i): what the rows add to the primal objective."""
        losses = 0.0
        for rows in blocks(len(scores)):
            residuals = self.target[rows] - self.y[rows] * scores[rows]
            losses += inner(self.weight[rows], self.loss.value(residuals))
        return losses

    @property
    def objective_at_zero(self) -> float:
        """The primal objective at w = 0, b = 0, where every residual is its target."""
        if self.targets is None:
            return float(np.sum(self.weight) * self.loss.value(np.array([self.loss.target]))[0])
        return inner(self.weight, self.loss.value(self.targets))

    @property
    def dual_objective_at_zero(self) -> float | None:
        """The dual objective at alpha = 0, where no row pays and v is 0; with a pull it is not feasible."""
        return None if self.pull else 0.0

    def cost_of(self, w: Vector, b: float) -> float:
        """Return the objective without the losses."""
        cost = self.penalty.value(w) + self.pull * b
        if self.intercept == "penalized":
            cost += self.penalty.value(np.array([b / self.intercept_scaling]))
        return cost

    def dual_objective(self, alpha: Vector, v: Vector | None = None) -> float:
        """Return the dual objective at a feasible alpha; `v` is its combine(alpha), if at hand."""
        v = self.combine(alpha) if v is None else v
        return self.gain(alpha) - self.price_of(v, inner(self.y, alpha))

    def gain(self, alpha: Vector) -> float:
        """Return sum_i p_i alpha_i - conjugate_i(alpha_i): what the rows add to the dual objective."""
        gain = 0.0
        for rows in blocks(len(alpha)):
            price = self.loss.conjugate(alpha[rows], self.weight[rows])
            gain += float(np.sum(self.target[rows] * alpha[rows] - price))
        return gain

    def price_of(self, v: Vector, balance: float) -> float:
        """Return what the dual pays for v and for a penalised intercept's sum_i alpha_i y_i."""
        price = self.penalty.conjugate(v)
        if self.intercept == "penalized":
            price += self.penalty.conjugate(self.augmentation(balance))
        return price

    def bound_by_sides(self, gain: Vector, v: Vector, balance: Vector) -> float:
        """Return what the dual is at least, from sums over alpha_i y_i above 0 and over those below.

        These are the last but one axis of ``v``, the last of the others; the first tells kinds of
        rows. For a free intercept the side that weighs more is scaled down to the other: its rows of
        the last kind alone, if they can carry it. As a conjugate is convex and 0 at 0, its price
        falls at least as much.
        """
        share = np.ones_like(balance)
        excess = float(np.sum(balance))
        if self.intercept == "free" and excess != 0.0:
            side = int(excess < 0.0)
            sizes = np.abs(balance[:, side])
            scaled = slice(-1, None) if sizes[-1] > CARRIES * abs(excess) else slice(None)
            share[scaled, side] = max(0.0, 1.0 - abs(excess) / float(np.sum(sizes[scaled])))
        price = self.price_of(np.sum(share[..., None] * v, axis=(0, 1)), inner(share, balance))
        return inner(share, gain) - price

    def augmentation(self, balance: float) -> Vector:
        """Return the entry of v that belongs to the constant feature of a penalised intercept."""
        return np.array([self.intercept_scaling * (balance - self.pull)])

    def combine(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_i y_i x_i."""
        return self.weighted_sum(alpha * self.y)

    def boxed(self, alpha: Vector) -> Vector:
        """Return alpha cut to its bounds; what is not finite becomes 0."""
        if not np.isfinite(alpha).all():
            alpha = np.nan_to_num(alpha, posinf=0.0, neginf=0.0)
        inside: Vector = np.maximum(alpha, self.lower)
        return np.minimum(inside, self.upper, out=inside)

    def feasible(self, alpha: Vector) -> Vector:
        """Return an alpha near the given one that meets every constraint of the dual.

        Values are cut to their bounds; for a free intercept they are balanced; for a penalty that
        bounds v all are scaled down until it is met.
        """
        inside = self.boxed(alpha)
        if self.intercept == "free":
            self._balance(inside)
        if not self.penalty.bounds_dual:
            return inside
        v = self.combine(inside)
        if self.intercept == "penalized":
            v = np.append(v, self.augmentation(inner(self.y, inside)))
        return inside * self.penalty.share_allowed(v)

    def _balance(self, alpha: Vector) -> None:
        """Make sum_i alpha_i y_i = q, in place.

        The side that weighs too much is scaled down: its values between the bounds alone if they can
        carry it, so that rows on a bound stay there, else all of them. Where too little is
        there for q, every row rises by the same share of its room.
        """
        signed = self.y * alpha
        excess = np.sum(signed) - self.pull
        heavier = signed * excess > 0
        between = heavier & (alpha < self.upper) & (alpha > self.lower)
        carried = np.sum(np.abs(signed[between]))
        scaled = between if carried > CARRIES * abs(excess) else heavier
        total = np.sum(np.abs(signed[scaled]))
        if total > 0:
            alpha[scaled] *= max(0.0, 1.0 - abs(excess) / total)
        elif excess != 0.0:
            room = np.where(self.y * excess < 0, self.upper, self.lower) - alpha
            share = abs(excess) / max(np.sum(np.abs(room)), abs(excess))
            alpha += room * share

    def best_intercept(self, scores_without: Vector) -> float:
        """Return the b that is best for a w whose scores without intercept are given."""
        return best_intercept(self, scores_without)

    def on_bounds(self, alpha: Vector) -> Vector:
        """Return alpha with values that are on a bound but for rounding put onto it."""
        if not self.loss.reaches_bounds:
            return alpha
        lower, upper = self.lower, self.upper
        largest = float(np.max(np.abs(alpha), initial=0.0))
        rounding = AT_BOUND * np.where(np.isfinite(upper), upper, largest)
        alpha = np.where(alpha >= upper - rounding, upper, alpha)
        alpha = np.where(alpha <= lower + rounding, lower, alpha)
        return np.where(np.abs(alpha) <= rounding, 0.0, alpha)

    def hyperplanes(self, solution: Solution) -> Hyperplanes:
        """Return the hyperplane of a solution, and its alphas with those on a bound put onto it."""
        alpha = self.on_bounds(solution.alpha)[None, :]
        at_bound = (alpha != 0.0) & (np.abs(alpha) >= self.upper)
        return Hyperplanes(solution.w[None, :], np.array([solution.intercept]), alpha, at_bound)

    def slacks(self, alpha: Vector, scores: Vector) -> tuple[float, float]:
        """Return the largest lower and the least upper end of the intervals that must contain 0, one per row."""
        on_bound = self.on_bounds(alpha)
        highest, lowest = -np.inf, np.inf
        for rows in blocks(len(alpha)):
            weight, y = self.weight[rows], self.y[rows]
            left, right = self.loss.conjugate_slopes(on_bound[rows], weight)
            residual = self.target[rows] - y * scores[rows]
            least, most = residual - right, residual - left  # 0 is to lie between them
            if self.intercept == "free":
                least, most = np.where(y > 0, least, -most), np.where(y > 0, most, -least)
            highest = max(highest, float(np.max(least, initial=-np.inf, where=weight > 0)))
            lowest = min(lowest, float(np.min(most, initial=np.inf, where=weight > 0)))
        return highest, lowest

    def violation_of(self, highest: float, lowest: float) -> float:
        """Return the violation that the slacks of all rows make; a free intercept is the best one for that."""
        if self.intercept == "free":
            return max(0.0, highest - lowest)
        return max(highest, -lowest, 0.0)

    def measurements(self, solution: Solution) -> Iterator[Measurement]:
        """Yield what a solution is worth: with rounding bounded quickly, row by row, in extended precision."""
        alpha = self.feasible(solution.alpha)
        v = self.combine(alpha)
        scores, violation = self._scores_and_violation(solution, alpha, v)
        primal = self.objective(solution.w, solution.intercept, scores)
        dual = self.dual_objective(alpha, v)
        figures = (primal, dual, violation)
        point = (solution, scores, alpha, v)
        quick = None if self.is_precise else self._quick_rounding(*point, objectives=(primal, dual))
        if quick is not None:
            yield Measurement(*figures, quick, self.least_scale)
        yield Measurement(*figures, self.rounding(*point), self.least_scale)
        if not self.is_precise and can_be_precise(self):
            w, alpha = extended(solution.w), extended(solution.alpha)
            precise = replace(self, is_precise=True)
            yield from precise.measurements(replace(solution, w=w, alpha=alpha))

    def rounding(self, solution: Solution, scores: Vector, alpha: Vector, v: Vector) -> Rounding:
        """Return how far, at most, rounding has put the figures of a solution from their true values.

        Parameters
        ----------
        solution : Solution
            Whose w and intercept the scores are of.
        scores : ndarray
            The scores of all rows.
        alpha : ndarray
            A feasible dual point.
        v : ndarray
            What it combines to.
        """
        errors = self.rounding_sums(solution.w, solution.intercept)
        errors.add(self, scores, alpha)
        return errors.of_figures(v)

    def rounding_sums(self, w: Vector, b: float) -> LinearRounding:
        """Return what adds up the rounding of rows at a primal point."""
        return LinearRounding(self, w, b)

    def _quick_rounding(
        self,
        solution: Solution,
        scores: Vector,
        alpha: Vector,
        v: Vector,
        objectives: tuple[float, float],
    ) -> Rounding | None:
        """Return bounds from a few sums over the rows; None if each row has to be looked at."""
        return quick_rounding(self, solution, scores, alpha, v, objectives=objectives)

    def _scores_and_violation(
        self, solution: Solution, alpha: Vector, v: Vector
    ) -> tuple[Vector, float]:
        """Return the scores of the solution, and the largest violation of the optimality conditions at alpha.

        With a quadratic penalty the latter is at the scores of w = v, for which there is one pass over
        the data; another penalty has no w of its own for alpha, and takes the solution's.
        """
        balance = inner(self.y, alpha)
        if self.penalty.bounds_dual:
            scores = self.scores(solution.w, solution.intercept)
            of_rows = self.violation_of(*self.slacks(alpha, scores))
            return scores, max(of_rows, self._violation_of_bounds(solution, v, balance))
        planes = np.array([solution.w, v])
        intercepts = np.array([solution.intercept, self.rho * (balance - self.pull)])
        scores = self.scores_of(planes, intercepts)
        return scores[:, 0], self.violation_of(*self.slacks(alpha, scores[:, 1]))

    def _violation_of_bounds(self, solution: Solution, v: Vector, balance: float) -> float:
        """Return how far v is from |v_j| <= 1 and from the sign of w_j where w_j is not 0 (l1)."""
        w = solution.w
        if self.intercept == "penalized":
            w, v = np.append(w, solution.intercept), np.append(v, self.augmentation(balance))
        beyond = np.where(w == 0.0, np.maximum(np.abs(v) - 1.0, 0.0), np.abs(v - np.sign(w)))
        return float(np.max(beyond, initial=0.0))
