"""Linear machines whose dual is not that of a kernel machine, in decimals: the l1 penalty, the logistic loss.

A row has the residual target - y (<w, x> + b). Points hold the scores <w, x_i> without b, and the penalty
of w in place of half its squared length.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tests.reference.box_program import INFINITE, BoxProgram, factored, solve, solved
from tests.reference.exact_kernels import CONTEXT, HALF, ONE, ZERO
from tests.reference.exact_machines import Point, numbers


@dataclass(frozen=True)
class LinearTask:
    """Rows, and how they are held against their targets; y is +1 for all in regression."""

    X: np.ndarray
    c: np.ndarray
    y: np.ndarray
    target: np.ndarray
    loss: str
    epsilon: Decimal = ZERO
    intercept: str = "free"
    scaling: Decimal = ONE
    penalty: str = "l1"
    start: tuple[np.ndarray, Decimal] | None = None

    @property
    def is_two_sided(self):
        return self.loss == "squared_epsilon_insensitive"

    def model(self, w, b):
        """The point of a plane."""
        held = np.append(w, b / self.scaling) if self.intercept == "penalized" else w
        cost = sum(map(abs, held), ZERO) if self.penalty == "l1" else HALF * (held @ held)
        return Point(self.X @ w, cost, (b,))

    def primal(self, point):
        return point.sq_norm + self.c @ self._losses(point)

    def _losses(self, point):
        residuals = self.target - self.y * (point.products + point.scalars[0])
        if self.loss == "logistic":
            return np.array([_log_one_plus_exp(r) for r in residuals], dtype=object)
        size = np.abs(residuals) - self.epsilon if self.is_two_sided else residuals
        excess = np.maximum(ZERO, size)
        return excess * excess

    @property
    def primal_at_zero(self):
        return self.primal(self.model(numbers(ZERO, self.X.shape[1]), ZERO))

    @property
    def natural_size(self):
        return self.primal_at_zero

    def variables(self, alpha):
        """The dual variables: one a row, with a sign in regression."""
        return alpha

    def feasible(self, alpha):
        """alpha cut to its bounds, with sum 0 for a free intercept, and scaled down to |v_j| <= 1."""
        most = self.c if self.loss == "logistic" else numbers(INFINITE, len(self.c))
        least = -most if self.is_two_sided else numbers(ZERO, len(self.c))
        alpha = np.minimum(np.maximum(alpha, least), most)
        if self.intercept == "free":
            alpha = self._balanced(alpha)
        if self.penalty != "l1":
            return alpha
        beyond = max([ONE, *map(abs, self._held_by(alpha))])
        return alpha / beyond

    def _balanced(self, alpha):
        """The heavier side scaled down."""
        signed = self.y * alpha
        excess = sum(signed, ZERO)
        heavier = np.array([s * excess > 0 for s in signed])
        if excess == 0 or not heavier.any():
            return alpha
        total = sum(map(abs, signed[heavier]), ZERO)
        return np.where(heavier, alpha * (ONE - abs(excess) / total), alpha)

    def _held_by(self, alpha):
        """v, and what belongs to a penalised intercept."""
        v = self.X.T @ (self.y * alpha)
        if self.intercept == "penalized":
            v = np.append(v, self.scaling * sum(self.y * alpha, ZERO))
        return v

    def dual(self, alpha):
        if self.loss == "logistic":
            shares = [(a, c, a / c) for a, c in zip(alpha, self.c, strict=True)]
            prices = [c * (_times_log(s) + _times_log(ONE - s)) for a, c, s in shares]
        else:
            prices = self.epsilon * np.abs(alpha) + alpha * alpha / (4 * self.c)
        gain = self.target @ alpha - sum(prices, ZERO)
        if self.penalty == "l1":
            return gain
        v = self._held_by(alpha)
        return gain - HALF * (v @ v)

    def at_residuals(self, point):
        """The alphas that the residuals of a model ask for."""
        residuals = self.target - self.y * (point.products + point.scalars[0])
        if self.loss == "logistic":
            return self.c * np.array([_share(r) for r in residuals], dtype=object)
        size = np.abs(residuals) - self.epsilon if self.is_two_sided else residuals
        alpha = 2 * self.c * np.maximum(ZERO, size)
        return np.where(residuals < 0, -alpha, alpha) if self.is_two_sided else alpha

    def solved(self, hint, *, exactly):
        """Alphas and a plane that are nearly the best; the logistic loss is always solved in decimals.

        With the l1 penalty the program is in alpha and v, with v = sum_i alpha_i y_i x_i between -1 and 1.
        """
        if self.loss == "logistic":
            point = Smoothed(self).best()
            return self.feasible(self.at_residuals(point)), point
        program, n_held = self._program()
        x, multipliers = solve(program, hint, exactly=exactly)
        if not all(v.is_finite() for v in x):
            return None
        n = len(self.c)
        alpha = x[:n] - x[n : 2 * n] if self.is_two_sided else x[:n]
        w = -multipliers[:n_held]
        b = -multipliers[n_held] if self.intercept == "free" else ZERO
        if self.intercept == "penalized":
            w, b = w[:-1], w[-1] * self.scaling
        return self.feasible(alpha), self.model(w, b)

    def _program(self):
        X = self.X * self.y[:, None]
        if self.intercept == "penalized":
            X = np.column_stack([X, self.scaling * self.y])
        gain, cost, y = self.target, self.c, self.y
        q = -gain
        if self.is_two_sided:
            X, cost, y = np.vstack([X, -X]), np.append(cost, cost), np.append(y, -y)
            q = np.append(self.epsilon - gain, self.epsilon + gain)
        n, n_held = X.shape
        quadratic = np.concatenate([HALF / cost, numbers(ZERO, n_held)])
        A = np.hstack([X.T, -np.diag(numbers(ONE, n_held))])
        if self.intercept == "free":
            A = np.vstack([A, np.concatenate([y, numbers(ZERO, n_held)])])
        bound = numbers(ONE, n_held)
        program = BoxProgram(
            H=np.diag(quadratic),
            q=np.concatenate([q, numbers(ZERO, n_held)]),
            A=A,
            b=numbers(ZERO, len(A)),
            lower=np.concatenate([numbers(ZERO, n), -bound]),
            upper=np.concatenate([numbers(INFINITE, n), bound]),
        )
        return program, n_held


class Smoothed:
    """Newton's method for the logistic loss; |w_j| gives way to sqrt(w_j^2 + m_j^2) with m_j going to 0."""

    def __init__(self, task):
        self.task = task
        w, b = task.start
        self.Z, self.u = task.X, w
        if task.intercept != "none":
            self.Z = np.column_stack([task.X, numbers(ONE, len(task.c))])
            self.u = np.append(w, b)
        self.held = numbers(ONE, len(self.u))
        if task.intercept != "none":
            scale = ONE / task.scaling
            self.held[-1] = scale if task.intercept == "penalized" else ZERO
        self.width = numbers(ZERO, len(self.u))

    def best(self):
        """The point at which nothing is left to gain."""
        widths = [max(map(abs, column)) for column in self.Z.T]
        for power in range(2, 26 if self.task.penalty == "l1" else 3):
            shrink = Decimal(10) ** -power
            self.width = np.array([shrink / (v or ONE) for v in widths], dtype=object)
            self._newton()
        w, b = self.u, ZERO
        if self.task.intercept != "none":
            w, b = w[:-1], w[-1]
        return self.task.model(w, b)

    def _penalty(self, u):
        """Its value, slope and bend, entry by entry."""
        held, h = self.held * u, self.held
        if self.task.penalty != "l1":
            return HALF * held * held, h * held, h * h
        roots = np.array([root.sqrt() for root in held * held + self.width * self.width])
        roots = np.where(h == 0, ONE, roots)
        values = np.where(h == 0, ZERO, roots)
        return values, h * held / roots, h * h * self.width * self.width / roots**3

    def _value(self, u):
        losses = [_log_one_plus_exp(-m) for m in self.task.y * (self.Z @ u)]
        return sum(self._penalty(u)[0], ZERO) + self.task.c @ np.array(losses, dtype=object)

    def _newton(self):
        value = self._value(self.u)
        for _ in range(80):
            margins = self.task.y * (self.Z @ self.u)
            shares = np.array([_share(-m) for m in margins], dtype=object)
            _, slope, bend = self._penalty(self.u)
            gradient = slope - self.Z.T @ (self.task.y * self.task.c * shares)
            curve = self.task.c * shares * (ONE - shares)
            step = solved(factored(np.diag(bend) + (self.Z.T * curve) @ self.Z), gradient)
            gain, length = gradient @ step, ONE
            if gain <= Decimal("1e-50") * value:
                return
            while length > Decimal("1e-9"):
                after = self._value(self.u - length * step)
                if after <= value - length * gain / 10:
                    break
                length /= 2
            else:
                return
            self.u, value = self.u - length * step, after


def _share(r):
    """1 / (1 + e^-r)."""
    small = CONTEXT.exp(-abs(r))
    return (ONE if r >= 0 else small) / (ONE + small)


def _log_one_plus_exp(r):
    if r > 0:
        return r + _log_one_plus_exp(-r)
    small = CONTEXT.exp(r)
    return small - small * small / 2 if small < Decimal("1e-45") else CONTEXT.ln(ONE + small)


def _times_log(share):
    return share * CONTEXT.ln(share) if share > 0 else ZERO
