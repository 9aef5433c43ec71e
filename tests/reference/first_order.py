"""First-order methods as slow and obvious as possible: the judges of the fast code.

All work on dense float64 rows, and take the rows visited as a list. Nothing here is shared with the
package.
"""

from __future__ import annotations

import numpy as np


def every_pegasos_plane(X, y, draws, *, total_weight):
    """Return w_0, w_1, ... before each draw, for l = 1 / total_weight, and which draws violated."""
    theta, planes, violated = np.zeros(X.shape[1]), [], []
    for t, i in enumerate(draws):
        w = theta / (t / total_weight) if t else np.zeros_like(theta)
        planes.append(w)
        violated.append(y[i] * (w @ X[i]) < 1)
        if violated[-1]:
            theta = theta + y[i] * X[i]
    return planes, violated


def constant_rate(X, y, weight, visits, *, rate, fit_intercept):
    """Return w, b after w -= a (l w - s y x), b += a s y, or w -= a l w, one visit after another."""
    used = np.sum(weight > 0)
    decay, share = 1 / weight.sum(), used * weight / weight.sum()
    w, b = np.zeros(X.shape[1]), 0.0
    for i in visits:
        violated = y[i] * (w @ X[i] + b) < 1
        if violated:
            w = w - rate * (decay * w - share[i] * y[i] * X[i])
            b = b + (rate * share[i] * y[i] if fit_intercept else 0.0)
        else:
            w = w - rate * decay * w
    return w, b


def convex_combination(X, y, weight, visits, *, rate):
    """Return w after w = (1 - g) w + g C' s y x, or (1 - g) w, one visit after another."""
    C, share = weight.sum(), np.sum(weight > 0) * weight / weight.sum()
    w = np.zeros(X.shape[1])
    for i in visits:
        violated = y[i] * (w @ X[i]) < 1
        w = (1 - rate) * w + (rate * C * share[i] * y[i] * X[i] if violated else 0.0)
    return w


def scaling_bound(w, d, alpha, y, X):
    """Return the bound on the change of 1/2 |w|^2 + the logistic losses when w moves by d."""
    T = np.abs(X).sum(axis=1).max()
    value = w @ d + 0.5 * d @ d
    for j in range(X.shape[1]):
        for i in range(X.shape[0]):
            share = alpha[i] * abs(X[i, j]) / T
            value += share * (np.exp(-d[j] * T * np.sign(y[i] * X[i, j])) - 1)
    return value
