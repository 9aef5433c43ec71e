"""Interior point for the hinge loss.

Problem: LinearProblem with the hinge loss, any intercept. With slacks xi_i >= 0 and surpluses
s_i = margin_i - 1 + xi_i >= 0, the optimality conditions are

    w = sum_i alpha_i y_i x_i    alpha_i s_i = 0    (c_i - alpha_i) xi_i = 0    0 <= alpha_i <= c_i

The method follows the path on which both products equal mu as mu falls to 0, by Mehrotra's predictor
and corrector. Eliminating s and xi leaves a weighted ridge regression (`ridge_system`), factorised
once a round and solved twice.

Given: problem, settings. Returned: a Solution whose alpha is on its bounds where it belongs there.
Cost: 15 to 40 rounds, almost whatever C is; each a factorisation of the ridge system.
Paper: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Opt. 1992;
Ferris and Munson, Interior-point methods for massive support vector machines, SIAM J. Opt. 2002.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems import LinearProblem, Solution
from hedgerow.solvers.active_set import finish_exactly, is_cheap
from hedgerow.solvers.ridge_system import Direction, RidgeSystem, ridge_system
from hedgerow.solvers.settings import Progress, Settings

__all__ = ["interior_point"]

Vector = NDArray[np.float64]

PATIENCE = 15
"""Rounds in which mu does not halve after which rounding has won."""
DEEP = 1e-9
"""Relative gap to reach on small problems, where the exact finish needs a good guess."""


def interior_point(problem: LinearProblem, settings: Settings) -> Solution:
    """Solve a hinge-loss problem to the tolerance of the settings."""
    progress = Progress(problem, settings, "interior_point")
    path = _Path(problem, ridge_system(problem))
    enough = min(settings.tol, DEEP) if is_cheap(problem) else settings.tol
    lowest, since = path.mu, 0
    while path.gap(progress) > enough and progress.n_iter < settings.max_iter and since < PATIENCE:
        path.advance()
        progress.n_iter += 1
        lowest, since = (path.mu, 0) if path.mu < 0.5 * lowest else (lowest, since + 1)
    finish_exactly(progress, path.alpha_on_bounds())
    return progress.solution("stalled" if since >= PATIENCE else None)


@dataclass(eq=False)
class _Path:
    """The point on (or near) the central path, rows without weight left out.

    `room` is c - alpha, kept as a variable of its own: near the bound the difference of the two
    would be all rounding.
    """

    problem: LinearProblem
    system: RidgeSystem

    def __post_init__(self) -> None:
        self.used = self.problem.weight > 0
        self.upper = self.problem.weight[self.used]
        self.alpha = 0.5 * self.upper
        self.room = 0.5 * self.upper
        self.surplus = np.ones_like(self.alpha)
        self.slack = 2.0 * np.ones_like(self.alpha)
        self.margins = self.system.margins()
        self.mu = self._mean_product(0.0, *3 * [np.zeros_like(self.alpha)])
        self.kept = np.ones((4, len(self.alpha)))

    def gap(self, progress: Progress) -> float:
        """Offer this point, and return the relative gap reached so far."""
        w, b, scores = self.system.w, self.system.intercept, self.problem.y * self.margins
        if self.problem.intercept == "free":
            best = self.problem.best_intercept(scores - b)
            scores, b = scores + (best - b), best
        progress.offer_primal(w, b, scores)
        progress.offer_dual(self.alpha_on_bounds())
        if not progress.is_solved:
            progress.offer_dual(self._spread(self.alpha))
        progress.measure()
        return progress.relative_gap

    def alpha_on_bounds(self) -> Vector:
        """Return alpha with the values that are heading for a bound put onto it.

        Near the solution a round leaves alpha about as it was and shrinks the surplus, or the other
        way round; which of the two kept less of its size tells where the row belongs, in whatever
        units the data are.
        """
        alpha, room, surplus, slack = self.kept
        falling, rising = alpha < surplus, room < slack
        return self._spread(np.where(falling, 0.0, np.where(rising, self.upper, self.alpha)))

    def advance(self) -> None:
        """Make one predictor-corrector round."""
        old = np.array([self.alpha, self.room, self.surplus, self.slack])
        alpha, room, surplus, slack = old
        self.system.factorise(self._spread(1.0 / (surplus / alpha + slack / room)))
        _, *change = self._direction(-alpha * surplus, -room * slack)
        after = self._mean_product(self._longest(*change), *change)
        goal = self.mu * (after / self.mu) ** 3
        d_alpha, d_surplus, d_slack = change
        step, *change = self._direction(
            goal - alpha * surplus - d_alpha * d_surplus, goal - room * slack + d_alpha * d_slack
        )
        length = min(1.0, 0.995 * self._longest(*change, cap=2.0))
        self.mu = self._mean_product(length, *change)
        self.alpha = alpha + length * change[0]
        self.room = room - length * change[0]
        self.surplus = surplus + length * change[1]
        self.slack = slack + length * change[2]
        self.kept = np.array([self.alpha, self.room, self.surplus, self.slack]) / old
        self.system.move(step, length)
        self.margins = self.system.margins()

    def _direction(self, r_lower: Vector, r_upper: Vector) -> tuple[Direction, Vector, Vector, Vector]:
        """Solve for the step that changes the two products by the given amounts."""
        margins = self.margins[self.used]
        infeasible = margins - 1.0 + self.slack - self.surplus
        target = r_lower / self.alpha - r_upper / self.room - infeasible
        step = self.system.direction(self._spread(self.alpha), self._spread(target))
        d_alpha = step.alpha[self.used]
        d_surplus = (r_lower - self.surplus * d_alpha) / self.alpha
        d_slack = (r_upper + self.slack * d_alpha) / self.room
        return step, d_alpha, d_surplus, d_slack

    def _mean_product(
        self, length: float, d_alpha: Vector, d_surplus: Vector, d_slack: Vector
    ) -> float:
        """Return the mean of the products after a step of that length."""
        lower = (self.alpha + length * d_alpha) * (self.surplus + length * d_surplus)
        upper = (self.room - length * d_alpha) * (self.slack + length * d_slack)
        return float(np.sum(lower + upper)) / (2 * len(lower))

    def _longest(
        self, d_alpha: Vector, d_surplus: Vector, d_slack: Vector, cap: float = 1.0
    ) -> float:
        """Return the longest step, at most `cap`, that keeps everything positive."""
        longest = cap
        for value, change in (
            (self.alpha, d_alpha),
            (self.room, -d_alpha),
            (self.surplus, d_surplus),
            (self.slack, d_slack),
        ):
            shrinking = change < 0
            ratio = value[shrinking] / -change[shrinking]
            longest = min(longest, float(np.min(ratio, initial=cap)))
        return longest

    def _spread(self, values: Vector) -> Vector:
        """Put values of the rows with weight in their places, 0 elsewhere."""
        full = np.zeros(len(self.used))
        full[self.used] = values
        return full
