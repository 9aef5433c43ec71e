"""Losses of the residual row by row, as their formulas read: the judge of the fused pass.

Rows are treated one at a time in Python floats. Nothing here is shared with the package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Shape:
    """kind is one_sided, two_sided or logistic; top is 1 or infinity."""

    kind: str
    steepness: float = 1.0
    top: float = 1.0
    epsilon: float = 0.0


def soft(u, width):
    """U moved towards 0 by width, but not beyond."""
    return math.copysign(max(abs(u) - width, 0.0), u)


def softplus(r):
    """log(1 + e^r), where e^r may overflow."""
    return max(r, 0.0) + math.log1p(math.exp(-abs(r)))


def sigmoid(r):
    """1 / (1 + e^-r)."""
    return 1.0 / (1.0 + math.exp(-r)) if r >= 0 else math.exp(r) / (1.0 + math.exp(r))


def clipped_row(shape, r, c, shift):
    """(alpha, bend, smooth, value, conjugate) of a row under a one- or two-sided loss."""
    if c == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    k, top, two_sided = shape.steepness, c * shape.top, shape.kind == "two_sided"
    u = shift + c * k * r
    inner = soft(u, c * k * shape.epsilon) if two_sided else max(u, 0.0)
    alpha = min(max(inner, -top), top)
    bend = c * k if 0.0 < abs(inner) < top else 0.0
    tube = shape.epsilon * abs(alpha) if two_sided else 0.0
    smooth = alpha * r - tube - (alpha - shift) ** 2 / (2 * c * k)
    excess = max(abs(r) - shape.epsilon, 0.0) if two_sided else max(r, 0.0)
    if math.isinf(shape.top):
        return alpha, bend, smooth, c * excess**2, tube + alpha**2 / (4 * c)
    return alpha, bend, smooth, c * excess, tube


def logistic_row(r, c):
    """The same for the logistic loss; the conjugate is c (p log p + q log q)."""
    p, q = sigmoid(r), sigmoid(-r)
    log_p, log_q = -softplus(-r), -softplus(r)
    return c * p, c * p * q, -c * log_q, -c * log_q, c * (p * log_p + q * log_q)


def at_residuals(shape, y, target, weight, shift, residual):
    """Return (alpha, bend, sums), the sums as a dict."""
    rows = [
        logistic_row(r, c) if shape.kind == "logistic" else clipped_row(shape, r, c, s)
        for r, c, s in zip(residual.tolist(), weight.tolist(), shift.tolist(), strict=True)
    ]
    alpha, bend, smooth, value, conjugate = np.array(rows).reshape(-1, 5).T
    sums = {
        "balance": math.fsum(alpha * y),
        "smooth": math.fsum(smooth),
        "value": math.fsum(value),
        "gain": math.fsum(target * alpha - conjugate),
    }
    return alpha, bend, sums


def residuals(X, y, target, w, intercept):
    """Target minus functional margin, for a dense X."""
    return target - y * (np.asarray(X, dtype=np.float64) @ w + intercept)
