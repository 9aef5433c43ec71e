"""Interior point for the hinge and the epsilon-insensitive loss.

Problem: LinearProblem with a loss of straight pieces, any intercept. With slacks xi_i >= 0 and
surpluses s_i = xi_i - residual_i >= 0, the optimality conditions of the hinge are

    w = sum_i alpha_i y_i x_i    alpha_i s_i = 0    (c_i - alpha_i) xi_i = 0    0 <= alpha_i <= c_i

A two-sided loss is two hinges, of the residuals r_i - epsilon and -r_i - epsilon, whose alphas are
subtracted.

The method follows the path on which both products equal mu as mu falls to 0, by Mehrotra's predictor
and corrector. Eliminating s and xi leaves a weighted ridge regression (`ridge_system`), factorised
once a round and solved twice.

Given: the problem. Offered: points whose alpha is on its bounds where it belongs there.
Cost: 15 to 40 rounds, almost whatever C is; each a factorisation of the ridge system.
Paper: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Opt. 1992;
Ferris and Munson, Interior-point methods for massive support vector machines, SIAM J. Opt. 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import Json
from hedgerow.problems.base import Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import finish_exactly, is_cheap
from hedgerow.solvers.linear.ridge_system import Direction, RidgeSystem, ridge_system
from hedgerow.solvers.solver import LinearSolver
from hedgerow.solvers.workload import MOST_UNKNOWNS, Workload

__all__ = ["INTERIOR_POINT"]

Vector = NDArray[np.float64]

PATIENCE = 15
"""Rounds in which mu does not halve after which rounding has won."""
DEEP = 1e-9
"""Relative gap to reach on small problems, where the exact finish needs a good guess."""


def interior_point(run: LinearRun) -> Status | None:
    """Solve a problem with a loss of straight pieces to the tolerance of the settings."""
    problem, settings = run.problem, run.settings
    path = _Path(problem, ridge_system(problem))
    enough = min(settings.tol, DEEP) if is_cheap(problem) else settings.tol
    lowest, since = path.mu, 0
    left = run.resume()
    if left is not None:
        lowest, since = left["lowest"], left["since"]
        path.go_on_from(left["path"])
    while True:
        run.checkpoint(lowest=lowest, since=since, path=path.state)
        if path.gap(run) <= enough or run.n_iter >= settings.max_iter or since >= PATIENCE:
            break
        try:
            path.advance()
        except (
            FloatingPointError
        ):  # the path has come as far as numbers can; the finish may do more
            since = PATIENCE
            break
        run.n_iter += 1
        lowest, since = (path.mu, 0) if path.mu < 0.5 * lowest else (lowest, since + 1)
    finish_exactly(run, path.alpha_on_bounds())
    return "stalled" if since >= PATIENCE else None


class _Path:
    """A point on (or near) the central path, rows without weight left out.

    The layers of `point` are alpha, room, surplus and slack, each with a line for every side of the
    loss. The room is c - alpha, kept as a variable of its own: near the bound the difference of
    the two would be all rounding.
    """

    def __init__(self, problem: LinearProblem, system: RidgeSystem) -> None:
        self.problem = problem
        self.system = system
        self.used = problem.weight > 0
        self.side = np.array([[1.0], [-1.0]]) if problem.loss.is_two_sided else np.array([[1.0]])
        self.upper = np.tile(problem.weight[self.used], (len(self.side), 1))
        # A path that starts far nearer to the bounds than residuals are from theirs gets stuck.
        half, unit = 0.5 * self.upper, np.full_like(self.upper, problem.unit)
        self.point = np.array([half, half, unit, 2.0 * unit])
        self.kept = np.ones_like(self.point)
        self.mu = _mean_product(self.point)
        self.margins = system.margins()

    def state(self) -> Json:
        """Return all that the next rounds depend on."""
        return {"point": self.point, "kept": self.kept, "primal": self.system.point()}

    def go_on_from(self, state: Json) -> None:
        """Stand where another path stood."""
        self.point, self.kept = state["point"], state["kept"]
        self.system.place(*state["primal"])
        self.mu = _mean_product(self.point)
        self.margins = self.system.margins()

    def gap(self, run: LinearRun) -> float:
        """Offer this point, and return the relative gap reached so far."""
        w, b, scores = self.system.w, self.system.intercept, self.problem.y * self.margins
        if self.problem.intercept == "free":
            best = self.problem.best_intercept(scores - b)
            scores, b = scores + (best - b), best
        run.offer_primal(w, b, scores)
        run.offer_dual(self.alpha_on_bounds())
        if not run.is_solved:
            run.offer_dual(self._by_row(self.point[0]))
        run.measure()
        return run.relative_gap

    def alpha_on_bounds(self) -> Vector:
        """Return alpha with the values that are heading for a bound put onto it.

        Near the solution a round leaves alpha about as it was and shrinks the surplus, or the other
        way round; which of the two kept less of its size tells where the row belongs, in whatever
        units the data are.
        """
        alpha, room, surplus, slack = self.kept
        falling, rising = alpha < surplus, room < slack
        return self._by_row(np.where(falling, 0.0, np.where(rising, self.upper, self.point[0])))

    def advance(self) -> None:
        """Make one predictor-corrector round."""
        alpha, room, surplus, slack = old = self.point
        self.v = 1.0 / (surplus / alpha + slack / room)
        self.system.factorise(self._spread(np.sum(self.v, axis=0)))
        _, change = self._direction(-alpha * surplus, -room * slack)
        after = _mean_product(old + _longest(old, change, cap=1.0) * change)
        goal = self.mu * (after / self.mu) ** 3
        step, change = self._direction(
            goal - alpha * surplus - change[0] * change[2],
            goal - room * slack - change[1] * change[3],
        )
        length = min(1.0, 0.995 * _longest(old, change, cap=2.0))
        self.point = old + length * change
        self.kept = self.point / old
        self.mu = _mean_product(self.point)
        self.system.move(step, length)
        self.margins = self.system.margins()

    def _direction(self, r_lower: Vector, r_upper: Vector) -> tuple[Direction, Vector]:
        """Solve for the step that changes alpha * surplus and room * slack by the given amounts."""
        alpha, room, surplus, slack = self.point
        residual = (self.problem.target - self.margins)[self.used]
        infeasible = slack - surplus - (self.side * residual - self.problem.loss.epsilon)
        target = r_lower / alpha - r_upper / room - infeasible
        step = self.system.direction(self._by_row(alpha), self._spread(self._merged(target)))
        d_alpha = step.alpha[None, self.used]
        if len(self.side) > 1:
            d_alpha = self.v * (target - self.side * step.margin[self.used])
        d_surplus = (r_lower - surplus * d_alpha) / alpha
        d_slack = (r_upper + slack * d_alpha) / room
        return step, np.array([d_alpha, -d_alpha, d_surplus, d_slack])

    def _merged(self, target: Vector) -> Vector:
        """Return the target of each row that stands for those of its sides."""
        merged: Vector = np.sum(self.side * self.v * target, axis=0) / np.sum(self.v, axis=0)
        return merged if len(self.side) > 1 else target[0]

    def _by_row(self, alpha: Vector) -> Vector:
        """Return one alpha per row: the first side's minus the second's."""
        return self._spread(np.sum(self.side * alpha, axis=0))

    def _spread(self, values: Vector) -> Vector:
        """Put values of the rows with weight in their places, 0 elsewhere."""
        full = np.zeros(len(self.used))
        full[self.used] = values
        return full


def _mean_product(point: Vector) -> float:
    """Return mu, the mean of alpha * surplus and room * slack."""
    alpha, room, surplus, slack = point
    return float(np.mean(alpha * surplus + room * slack)) / 2.0


def _longest(point: Vector, change: Vector, cap: float) -> float:
    """Return the longest step, at most `cap`, that keeps the whole point positive."""
    falls = change < 0
    return float(np.min(point[falls] / -change[falls], initial=cap))


def _effort(work: Workload) -> float | None:
    """Return about the time it takes; none for small problems, which are solved to the last bit."""
    if is_cheap(work.problem):
        return 0.0
    if work.unknowns > MOST_UNKNOWNS:
        return None
    return 25.0 * (8.0 * work.pass_ + work.gram + work.factor)


INTERIOR_POINT = LinearSolver(
    name="interior_point",
    run=interior_point,
    needs=("loss.is_piecewise_linear",),
    effort=_effort,
)
