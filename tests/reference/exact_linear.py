"""Linear machines whose dual is not that of a kernel machine, in decimals: the l1 penalty, the logistic loss.

A row has the residual target - y (<w, x> + b). Points hold the scores <w, x_i> without b, and the penalty
of w in place of half its squared length.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tests.reference.box_program import INFINITE, BoxProgram, solve
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
            shares = [ONE / (ONE + (-r).exp()) for r in residuals]
            return self.c * np.array(shares, dtype=object)
        size = np.abs(residuals) - self.epsilon if self.is_two_sided else residuals
        alpha = 2 * self.c * np.maximum(ZERO, size)
        return np.where(residuals < 0, -alpha, alpha) if self.is_two_sided else alpha

    def solved(self, hint, *, exactly):
        """The program in alpha and v, with v = sum_i alpha_i y_i x_i between -1 and 1."""
        if self.loss == "logistic" or self.penalty != "l1":
            return None
        program, X, n_held = self._program()
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
        return program, X, n_held


def _log_one_plus_exp(r):
    if r > 0:
        return r + _log_one_plus_exp(-r)
    small = CONTEXT.exp(r)
    return small - small * small / 2 if small < Decimal("1e-45") else CONTEXT.ln(ONE + small)


def _times_log(share):
    return share * CONTEXT.ln(share) if share > 0 else ZERO
