"""The perceptrons as slow and obvious as possible: the judges of the fast code.

Each takes the orders of its passes as a list of row lists, and signs y of +1 and -1. Nothing here is
shared with the package.
"""

from __future__ import annotations

import numpy as np


def every_plane(X, y, orders, *, start=None, step=1.0, weight=None, fit_intercept=True):
    """Return the plane (b, b0) after every visit to a row, and the number of mistakes a pass."""
    X, weight = np.asarray(X, float), np.ones(len(y)) if weight is None else weight
    b, b0 = (np.zeros(X.shape[1]), 0.0) if start is None else start
    b = np.array(b, float)
    planes, mistakes = [], []
    for order in orders:
        mistakes.append(0)
        for i in order:
            if y[i] * (b @ X[i] + b0) <= 0:
                b = b + step * weight[i] * y[i] * X[i]
                b0 = b0 + (step * weight[i] * y[i] if fit_intercept else 0.0)
                mistakes[-1] += 1
            planes.append((b, b0))
        if mistakes[-1] == 0:
            break
    return planes, mistakes


def error(X, y, plane, weight=None):
    """Return the error criterion: the sum of |score| over misclassified points."""
    weight = np.ones(len(y)) if weight is None else weight
    scores = np.asarray(X, float) @ plane[0] + plane[1]
    return sum(c * abs(s) for s, sign, c in zip(scores, y, weight, strict=True) if sign * s <= 0)


def averaged(planes):
    """Return the mean of the planes after every visit."""
    return np.mean([b for b, _ in planes], axis=0), np.mean([b0 for _, b0 in planes])


def votes(planes, X):
    """Return the mean, over the planes after every visit, of the sign of each row's score."""
    return np.mean([np.sign(np.asarray(X, float) @ b + b0) for b, b0 in planes], axis=0)


def kernel_perceptron(gram, y, orders, *, step=1.0, weight=None, fit_intercept=True):
    """Return the dual coefficients and the intercept after the last pass, and mistakes a pass."""
    weight = np.ones(len(y)) if weight is None else weight
    a, b0 = np.zeros(len(y)), 0.0
    mistakes = []
    for order in orders:
        mistakes.append(0)
        for i in order:
            if y[i] * (a @ gram[i] + b0) <= 0:
                a[i] += step * weight[i] * y[i]
                b0 += step * weight[i] * y[i] if fit_intercept else 0.0
                mistakes[-1] += 1
        if mistakes[-1] == 0:
            break
    return a, b0, mistakes
