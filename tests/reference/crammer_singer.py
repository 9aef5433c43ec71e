"""The machine of Crammer and Singer as a conic program: the judge of its optimum.

Variables are the planes, their intercepts and one slack a row; the program is built from the formula
alone, densely and without care for speed, and shares nothing with the package.
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

ACCURACY = 1e-8
"""Relative gap of a judgement, at most."""


def objective(X, y, c, coef, b, *, penalized=False, scaling=1.0):
    """What is minimised, at planes coef, b, row by row."""
    value = 0.5 * np.sum(coef**2)
    if penalized:
        value += 0.5 * np.sum((b / scaling) ** 2)
    for row, label, weight in zip(X, y, c, strict=True):
        scores = coef @ row + b
        others = np.delete(scores, label)
        value += weight * max(0.0, 1.0 + others.max() - scores[label])
    return value


def optimum(X, y, c, n_classes, *, intercept="none", scaling=1.0):
    """Return the least objective, with a relative error of at most ACCURACY."""
    (n, d), has_b = X.shape, intercept != "none"
    n_planes = n_classes * (d + has_b)
    rows, rights = [], []
    for i in range(n):
        for k in range(n_classes):
            if k == y[i]:
                continue  # 1 + score_k - score_y <= slack
            difference = np.zeros((n_classes, d + has_b))
            augmented = np.append(X[i], 1.0)[: d + has_b]
            difference[k] += augmented
            difference[y[i]] -= augmented
            slack = np.zeros(n)
            slack[i] = -1.0
            rows.append(np.concatenate([difference.ravel(), slack]))
            rights.append(-1.0)
    rows.extend(np.hstack([np.zeros((n, n_planes)), -np.eye(n)]))
    rights.extend(np.zeros(n))
    squares = np.ones((n_classes, d + has_b))
    if has_b:
        squares[:, -1] = 1.0 / scaling**2 if intercept == "penalized" else 0.0
    P = sp.diags_array(np.concatenate([squares.ravel(), np.zeros(n)]), format="csc")
    q = np.concatenate([np.zeros(n_planes), c])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(len(rights))]
    A = sp.csc_array(np.array(rows))
    found = clarabel.DefaultSolver(P, q, A, np.array(rights), cones, settings).solve()
    planes = np.array(found.x)[:n_planes].reshape(n_classes, d + has_b)
    b = planes[:, -1] if has_b else np.zeros(n_classes)
    value = objective(
        X, y, c, planes[:, :d], b, penalized=intercept == "penalized", scaling=scaling
    )
    if not abs(value - found.obj_val_dual) <= ACCURACY * abs(value):
        raise ArithmeticError(f"the judge is not sure: {value}, {found.obj_val_dual}")
    return value
