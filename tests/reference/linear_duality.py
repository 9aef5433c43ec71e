"""Primal and dual of a linear machine, as slow and obvious as possible: where they meet, both are best.

Row i has features x_i, sign y_i, target p_i and weight c_i; its residual is r_i = p_i - y_i (<w, x_i> + b)::

    primal   1/2 |w|^2 + 1/2 (b / s)^2 + q b + sum_i c_i loss(r_i)
    dual     sum_i [p_i alpha_i - conj_i(alpha_i)] - 1/2 |sum_i alpha_i y_i x_i|^2
             - 1/2 s^2 (sum_i alpha_i y_i - q)^2

The terms with s are those of a penalised intercept. Nothing here is shared with the package.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

LOSSES = {
    "hinge": lambda r, _: np.maximum(0.0, r),
    "squared_hinge": lambda r, _: np.maximum(0.0, r) ** 2,
    "logistic": lambda r, _: np.logaddexp(0.0, r),
    "epsilon_insensitive": lambda r, epsilon: np.maximum(0.0, np.abs(r) - epsilon),
    "squared_epsilon_insensitive": lambda r, epsilon: np.maximum(0.0, np.abs(r) - epsilon) ** 2,
}


def primal(X, y, p, c, w, b, *, loss, epsilon=0.0, scaling=None, q=0.0):
    """The primal objective; `scaling` is None unless the intercept is penalised."""
    value = 0.5 * w @ w + q * b + c @ LOSSES[loss](p - y * (X @ w + b), epsilon)
    return value if scaling is None else value + 0.5 * (b / scaling) ** 2


def dual(X, y, p, c, alpha, *, loss, epsilon=0.0, scaling=None, q=0.0):
    """The dual objective, -inf outside its domain; all weights are positive."""
    w = X.T @ (alpha * y)
    value = p @ alpha - 0.5 * w @ w - np.sum(conjugate(alpha, c, loss, epsilon))
    return value if scaling is None else value - 0.5 * scaling**2 * (alpha @ y - q) ** 2


def conjugate(alpha, c, loss, epsilon):
    """sup over r of alpha r - c loss(r), for each row."""
    if loss == "logistic":
        inside = (alpha >= 0) & (alpha <= c)
        within = np.clip(alpha, 0.0, c)
        return np.where(
            inside, xlogy(within, within / c) + xlogy(c - within, 1 - within / c), np.inf
        )
    value = (
        alpha**2 / (4 * c)
        if loss.startswith("squared")
        else np.where(np.abs(alpha) <= c, 0.0, np.inf)
    )
    return value + (
        np.where(alpha >= 0, 0.0, np.inf) if loss.endswith("hinge") else epsilon * np.abs(alpha)
    )
