"""The certificate of rows that come in blocks."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import inner
from hedgerow.problems.certificates import Certificate
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.linear_rounding import LinearRounding

__all__ = ["StreamedCertificate"]

Vector = NDArray[np.float64]


class StreamedCertificate:
    """The certificate of a solution whose rows come in blocks, each a problem of its own.

    The blocks have all but their rows in common. What is added up is what :func:`certify` computes,
    but for two bounds. Of the violation an upper one is given: the w that alpha makes is known after
    the last block, and no score can be farther from that of the solution's w than their distance
    times the longest row. Of the dual a lower one: for a free intercept the heavier of the two sides
    of alpha is scaled down, which is known after the last block too.

    Parameters
    ----------
    w, b : ndarray, float
        The primal point.

    Attributes
    ----------
    sides : ndarray of shape (2, 2, n_features)
        What alpha makes of the blocks so far: rows on a bound and rows between, alpha_i y_i above 0
        and below apart.
    balances : ndarray of shape (2, 2)
        The sums of these alpha_i y_i.
    """

    def __init__(self, w: Vector, b: float) -> None:
        self.w, self.b = w, b
        self.sides: Vector = np.zeros((2, 2, len(w)))
        self.balances: Vector = np.zeros((2, 2))
        self._gains: Vector = np.zeros((2, 2))
        self._losses = 0.0
        self._highest, self._lowest = -np.inf, np.inf
        self._longest = 0.0
        self._any: LinearProblem | None = None
        self._errors: LinearRounding | None = None

    def add(self, problem: LinearProblem, alpha: Vector) -> Vector:
        """Take in a block of rows and their alphas; return these, cut to their bounds."""
        alpha = problem.boxed(alpha)
        self._add_sides(problem, alpha)
        scores = problem.scores(self.w, self.b)
        self._losses += problem.losses(scores)
        highest, lowest = problem.slacks(alpha, scores)
        self._highest, self._lowest = max(self._highest, highest), min(self._lowest, lowest)
        self._longest = max(self._longest, float(np.max(problem.sq_norms, initial=0.0)))
        self._any = problem
        self._errors = self._errors or problem.rounding_sums(self.w, self.b)
        self._errors.add(problem, scores, alpha)
        return alpha

    def _add_sides(self, problem: LinearProblem, alpha: Vector) -> None:
        """Add up what alpha makes; only a free intercept needs its parts."""
        between = (alpha > problem.lower) & (alpha < problem.upper)
        above = problem.y * alpha > 0.0
        for kind, side in product((0, 1), (0, 1)):
            rows = (between == bool(kind)) & (above == (side == 0))
            if problem.intercept != "free":
                rows = np.full(len(alpha), kind + side == 0)
            if not rows.any():
                continue
            part = np.where(rows, alpha, 0.0)
            self.sides[kind, side] += problem.combine(part)
            self.balances[kind, side] += inner(problem.y, part)
            self._gains[kind, side] += problem.gain(part)

    @property
    def v(self) -> Vector:
        """What alpha makes: sum_i alpha_i y_i x_i."""
        v: Vector = np.sum(self.sides, axis=(0, 1))
        return v

    @property
    def balance(self) -> float:
        """sum_i alpha_i y_i."""
        return float(np.sum(self.balances))

    def finish(self, status: str, tolerance: float) -> Certificate:
        """Return the certificate, after the last block."""
        assert self._any is not None
        assert self._errors is not None
        rounding = self._errors.of_figures(self.v)
        return Certificate(
            primal=self._any.cost_of(self.w, self.b) + self._losses,
            dual=self._any.bound_by_sides(self._gains, self.sides, self.balances),
            kkt_violation=self._any.violation_of(
                self._highest + self._off, self._lowest - self._off
            ),
            criterion="relative_gap",
            tolerance=tolerance,
            status=status,
            gap_error=rounding.gap,
            violation_error=rounding.violation,
        )

    @property
    def _off(self) -> float:
        """How far, at most, a score of the solution is from that of what alpha makes."""
        assert self._any is not None
        between = self.w - self.v
        off = float(np.sqrt(self._longest * inner(between, between)))
        if self._any.intercept == "penalized":
            off += abs(self.b - self._any.rho * self.balance)
        return off
