"""A linear SVM as slow and obvious as possible: the judge of the fast code.

The dual is maximised by accelerated projected gradient steps on dense float64 matrices; the primal
point is read off the dual one. Nothing here is shared with the package.
"""

from __future__ import annotations

import numpy as np


def primal(X, y, c, w, b, *, loss, intercept="free", scaling=1.0):
    """1/2 |w|^2 + 1/2 (b/s)^2 [penalized] + sum c loss."""
    slack = np.maximum(0.0, 1.0 - y * (X @ w + b))
    value = 0.5 * w @ w + c @ (slack if loss == "hinge" else slack**2)
    return value + (0.5 * (b / scaling) ** 2 if intercept == "penalized" else 0.0)


def dual(X, y, c, alpha, *, loss, intercept="free", scaling=1.0):
    """What is maximised over 0 <= alpha <= c (hinge) or 0 <= alpha (squared hinge)."""
    w = X.T @ (alpha * y)
    value = alpha.sum() - 0.5 * w @ w
    if loss == "squared_hinge":
        value -= np.sum(alpha**2 / (4 * c))
    return value - (0.5 * scaling**2 * (alpha @ y) ** 2 if intercept == "penalized" else 0.0)


def project(alpha, y, upper, *, balanced):
    """The nearest point of the box, or of the box cut with sum(alpha * y) = 0."""
    if not balanced:
        return np.clip(alpha, 0.0, upper)
    reach = np.abs(alpha).max() + (upper[np.isfinite(upper)].max(initial=0.0)) + 1.0
    low, high = -reach, reach
    for _ in range(60):
        shift = 0.5 * (low + high)
        excess = y @ np.clip(alpha - shift * y, 0.0, upper)
        low, high = (shift, high) if excess > 0 else (low, shift)
    return np.clip(alpha - 0.5 * (low + high) * y, 0.0, upper)


def solve(X, y, c, *, loss, intercept="free", scaling=1.0, n_iter=4000):
    """Return (w, alpha) after so many accelerated projected gradient steps on the dual."""
    Z = X * y[:, None]
    if intercept == "penalized":
        Z = np.hstack([Z, scaling * y[:, None]])
    curvature = np.zeros_like(c) if loss == "hinge" else 1.0 / (2.0 * c)
    upper = c if loss == "hinge" else np.full_like(c, np.inf)
    step = 1.0 / (np.linalg.norm(Z, 2) ** 2 + curvature.max() + 1e-12)
    alpha = ahead = np.zeros_like(c)
    pace = 1.0
    for _ in range(n_iter):
        slope = Z @ (Z.T @ ahead) + curvature * ahead - 1.0
        new = project(ahead - step * slope, y, upper, balanced=intercept == "free")
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * pace**2))
        if slope @ (new - alpha) > 0:  # momentum points uphill: start it again
            faster = pace = 1.0
        ahead = new + (pace - 1.0) / faster * (new - alpha)
        alpha, pace = new, faster
    return X.T @ (alpha * y), alpha


def best_intercept_value(X, y, c, w, *, loss):
    """The least primal over b for a given w, by ternary search (the primal is convex in b)."""
    scores = X @ w
    low, high = -np.abs(scores).max() - 2.0, np.abs(scores).max() + 2.0
    for _ in range(300):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if primal(X, y, c, w, a, loss=loss) < primal(X, y, c, w, b, loss=loss):
            high = b
        else:
            low = a
    return primal(X, y, c, w, 0.5 * (low + high), loss=loss)
