"""Newton's method for the l1 penalty and smooth losses, on a working set of features.

Problem: LinearProblem with penalty |w|_1 and a smooth loss, any intercept. At the optimum the slope of
the losses, v_j = sum_i alpha_i y_i x_ij, is sign(w_j) where w_j is not 0, and at most 1 in size where
it is. Each round looks at all v_j, takes the features that are in use or whose |v_j| is near 1 or
above, minimises the quadratic model of the losses plus |w|_1 over these (`l1_model`), and moves there,
or to the best point on the way. With many features the first rounds are made for a higher price of
|w|_1, at which few are in use.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss, scaled until all |v_j| <= 1.
Cost: some 5 to 20 rounds, each X_A' V X_A for the m features A of the working set and a few
factorisations of the m x m system.
Paper: Yuan, Ho, Lin, An improved GLMNET for l1-regularized logistic regression, JMLR 2012; Lee, Sun,
Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM J. Opt. 2014.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import columns_of
from hedgerow.problems.base import Status, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.l1_model import L1Model
from hedgerow.solvers.solver import LinearSolver

__all__ = ["PROXIMAL_NEWTON"]

Vector = NDArray[np.float64]

SMALL = 256
"""So many features are all in the working set, and one may always be as large."""
LARGEST = 5000
"""Features in a working set, at most: its Hessian has 8 m^2 bytes."""
NEAR = 0.9
"""Features that are 0 are worth a place in the working set from this |v_j| on."""
FALL = 5.0
"""Where there are many features the price of |w|_1 starts high, and falls to 1 by this factor."""
MET = 0.5
"""Violation, relative to the price, at which the next price is due."""
DEEP = 1e-12
"""Relative gap to reach on small problems."""
DECREASE = 0.25
"""Share of the decrease that the model promises for its full step to be taken."""
TRIALS = 40
"""Most lengths that a line search tries."""
STUCK = 1e-9
"""A length of the step that is no run."""
PATIENCE = 10
"""Measurements that may bring nothing before the solver counts as stalled."""
CHORD = 0.01
"""Share of a loss's derivative over its residual that counts as curvature where it may have none."""
ATTEMPTS = 10
"""Most steps to look for in one round."""


def proximal_newton(run: LinearRun) -> Status | None:
    """Solve a problem with the l1 penalty to the tolerance of the settings."""
    problem, settings = run.problem, run.settings
    is_small = is_cheap(problem)
    enough = min(settings.tol, DEEP) if is_small else settings.tol
    w, b = np.zeros(problem.shape[1]), 0.0
    if problem.intercept == "free":
        b = problem.best_intercept(np.zeros(problem.shape[0]))
    price = np.inf if problem.shape[1] > SMALL else 1.0
    left = run.resume()
    if left is not None:
        w, b, price = left["w"], left["b"], left["price"]
    while True:
        run.checkpoint(w=w, b=b, price=price)
        scores = problem.scores(w, b)
        residual = problem.residuals(scores)
        alpha = problem.loss.alpha_at(residual, problem.weight)
        run.offer_primal(w, b, scores)
        run.offer_dual(alpha)
        run.measure()
        if run.relative_gap <= enough or run.n_iter >= settings.max_iter:
            return None
        if price == 1.0 and run.has_stalled(PATIENCE):
            return "stalled"
        v = problem.combine(alpha)
        price = _next_price(price, w, v)
        part = _Part.of(problem, _working_set(w, v, price), w, b, price)
        if is_small and price == 1.0:
            run.offer_dual(part.alpha_of_model(residual, alpha, v))
        w, b = part.advance(w, residual, alpha, v)
        run.n_iter += 1


def _violation(w: Vector, v: Vector, price: float) -> Vector:
    """Return how far each v_j is from what it would be at the optimum for price * |w|_1."""
    return np.where(w != 0.0, np.abs(v - price * np.sign(w)), np.abs(v) - price)


def _next_price(price: float, w: Vector, v: Vector) -> float:
    """Return the price for the next round: lower, down to 1, once the present one is nearly met."""
    if np.isinf(price):
        return max(1.0, float(np.max(np.abs(v), initial=0.0)) / FALL)
    met = float(np.max(_violation(w, v, price), initial=0.0)) <= MET * price
    return max(1.0, price / FALL) if met else price


def _working_set(w: Vector, v: Vector, price: float) -> NDArray[np.intp]:
    """Return the features to move: those in use, and as many again of those with the largest |v_j|."""
    used = w != 0.0
    if len(w) <= SMALL:
        return np.arange(len(w))
    room = min(max(SMALL, 2 * int(np.count_nonzero(used))), LARGEST)
    wanted = _violation(w, v, price)
    if np.count_nonzero(used) < room:
        wanted[used] = np.inf
    worth = np.flatnonzero(used | (np.abs(v) >= NEAR * price))
    order = np.argsort(-wanted[worth], kind="stable")
    return np.sort(worth[order[:room]])


@dataclass(frozen=True, eq=False)
class _Part:
    """The problem in the features of the working set, the others held.

    The intercept is one more unknown, the last: that of a constant feature, free of charge or not.
    """

    problem: LinearProblem
    columns: NDArray[np.intp]
    matrix: _core.data.Matrix
    constant: float
    start: Vector
    price: Vector

    @classmethod
    def of(
        cls, problem: LinearProblem, columns: NDArray[np.intp], w: Vector, b: float, price: float
    ) -> _Part:
        """Return the part with these columns."""
        whole = len(columns) == problem.shape[1]
        matrix = problem.matrix if whole else columns_of(problem.matrix, columns)
        start, prices = w[columns], np.full(len(columns), price)
        if problem.intercept == "none":
            return cls(problem, columns, matrix, 0.0, start, prices)
        is_free = problem.intercept == "free"
        constant = 1.0 if is_free else problem.intercept_scaling
        prices = np.append(prices, 0.0 if is_free else price)
        return cls(problem, columns, matrix, constant, np.append(start, b / constant), prices)

    def advance(
        self, w: Vector, residual: Vector, alpha: Vector, v: Vector
    ) -> tuple[Vector, float]:
        """Return w and b after a step to the minimum of the model, or as far as it pays.

        Where rows without curvature stop a step at once, as they have some just behind the point, that is
        taken, and another step is looked for.
        """
        curvature = self._curvature(residual)
        if not (self.problem.loss.is_piecewise_quadratic or self.problem.loss.has_log_odds):
            # A loss that is linear where its rows are would leave the model without a minimum.
            curvature = np.maximum(curvature, CHORD * np.abs(alpha) / (1.0 + np.abs(residual)))
        slope = self._slope(alpha, v)
        for _ in range(ATTEMPTS):
            there = self._model(curvature, slope).minimise(self.problem.n_threads)
            line = _Line(self, residual, slope, there - self.start)
            length, too_far = line.best_length()
            if length > STUCK:
                break
            curvature = np.maximum(curvature, self._curvature(residual - too_far * line.d_margin))
        there = there if length == 1.0 else self.start + length * line.step
        w = w.copy()
        w[self.columns] = there[: len(self.columns)]
        return w, self.constant * float(there[-1]) if self.constant else 0.0

    def alpha_of_model(self, residual: Vector, alpha: Vector, v: Vector) -> Vector:
        """Return alpha at the minimum of the model for the present signs.

        Close to the solution its v is nearer to the bounds than rounding lets that of any w be.
        """
        curvature = self._curvature(residual)
        step = self._model(curvature, self._slope(alpha, v)).step_for_signs(self.problem.n_threads)
        return alpha - curvature * self.margins_of(step)

    def _model(self, curvature: Vector, slope: Vector) -> L1Model:
        hessian = _core.data.gram(self.matrix, curvature, self.constant, self.problem.n_threads)
        return L1Model(hessian, self.price, self.start, slope)

    def _slope(self, alpha: Vector, v: Vector) -> Vector:
        """Return the slope of the losses in the unknowns."""
        slope = -v[self.columns]
        if not self.constant:
            return slope
        balance = inner(self.problem.y, alpha) - self.problem.pull
        return np.append(slope, -self.constant * balance)

    def _curvature(self, residual: Vector) -> Vector:
        return self.problem.loss.second_derivative(residual, self.problem.weight)

    def margins_of(self, step: Vector) -> Vector:
        """Return how a step changes the functional margins."""
        d_w, d_b = step[: len(self.columns)], 0.0
        if self.constant:
            d_b = self.constant * float(step[-1])
        scores = _core.data.scores(
            self.matrix, d_w[None, :], np.array([d_b]), self.problem.n_threads
        )
        return self.problem.y * scores[:, 0]


class _Line:
    """The objective along a step; no length costs a pass over the data."""

    def __init__(self, part: _Part, residual: Vector, slope: Vector, step: Vector) -> None:
        self.part = part
        self.residual = residual
        self.step = step
        self.d_margin = part.margins_of(step)
        self.pull = part.problem.pull * part.constant * float(step[-1]) if part.constant else 0.0
        self.promised = inner(slope, step) + self._prices(1.0) - self._prices(0.0)

    def best_length(self) -> tuple[float, float]:
        """Return a length near the best, 1 if that keeps what the model promises, and one too far."""
        before = self._value(0.0)
        rounding = 1e-14 * abs(before)
        if self._value(1.0) <= before + DECREASE * self.promised + rounding:
            return 1.0, 1.0
        start = self._slope_and_rise(0.0)[0]
        low, length, high = 0.0, 0.5, 1.0
        for _ in range(TRIALS):
            slope, rise = self._slope_and_rise(length)
            low, high = (length, high) if slope <= 0.0 else (low, length)
            if low > 0.0 and 0.1 * start <= slope <= 0.0:
                break
            length -= slope / rise if rise > 0.0 else 0.0
            length = length if low < length < high else 0.5 * (low + high)
        return low, high

    def _value(self, length: float) -> float:
        problem = self.part.problem
        losses = problem.loss.value(self.residual - length * self.d_margin)
        return self._prices(length) + length * self.pull + inner(problem.weight, losses)

    def _prices(self, length: float) -> float:
        return inner(self.part.price, np.abs(self.part.start + length * self.step))

    def _slope_and_rise(self, length: float) -> tuple[float, float]:
        """Return the slope to the right of a length, and the second derivative of the losses there."""
        loss, weight = self.part.problem.loss, self.part.problem.weight
        residual = self.residual - length * self.d_margin
        there = self.part.start + length * self.step
        sign = np.where(there == 0.0, np.sign(self.step), np.sign(there))
        slope = inner(self.part.price * sign, self.step) + self.pull
        slope -= inner(self.d_margin, loss.alpha_at(residual, weight))
        return slope, inner(np.square(self.d_margin), loss.second_derivative(residual, weight))


PROXIMAL_NEWTON = LinearSolver(
    name="proximal_newton",
    run=proximal_newton,
    needs=("loss.is_smooth",),
    effort=lambda _: 1.0,
    penalties=("l1",),
)
