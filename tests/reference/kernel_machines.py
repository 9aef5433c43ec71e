"""Kernel machines written out as quadratic programs in the primal and handed to Clarabel.

K = F F', so the rows of F may stand for the points: a machine is a w in their space. Variables are w, the
scalars of the machine, and one slack a point. Nothing here knows of a dual, nor of the package.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp

ACCURACY = 1e-8
"""Gap of a judgement, at most, relative to the objective or to 1e-3."""


@dataclass(frozen=True)
class Optimum:
    """The least objective, to within the judge's accuracy, and the scalars it is reached with."""

    objective: float
    scalars: np.ndarray


def solve(K, slack_cost, scalar_cost, rows, *, squared=False, norm=0.5, at_least_zero=()):
    """min norm |w|^2 + scalar_cost's + cost(slack), over slack >= 0 and for each (A, B, r): A F w + B s + slack >= r."""
    F = points_of(K)
    (n, d), m = F.shape, len(scalar_cost)
    has_slack = np.all(np.isfinite(slack_cost))
    k = n if has_slack else 0
    quadratic = np.zeros((d + m + k, d + m + k))
    quadratic[:d, :d] = 2.0 * norm * np.eye(d)
    linear = np.concatenate([np.zeros(d), scalar_cost, np.zeros(k)])
    if has_slack and squared:
        quadratic[d + m :, d + m :] = 2.0 * np.diag(slack_cost)
    elif has_slack:
        linear[d + m :] = slack_cost
    above = [np.hstack([A[:, None] * F, B, np.eye(n)[:, :k]]) for A, B, _ in rows]
    rights = [r for _, _, r in rows]
    above.append(np.hstack([np.zeros((k, d + m)), np.eye(k)]))
    rights.append(np.zeros(k))
    for scalar in at_least_zero:
        above.append(np.eye(d + m + k)[[d + scalar]])
        rights.append(np.zeros(1))
    A, right = np.vstack(above), np.concatenate(rights)
    best = min(
        (_attempt(quadratic, linear, A, right, r) for r in (1e-8, 1e-10, 1e-12)),
        key=lambda found: abs(found.obj_val - found.obj_val_dual),
    )
    gap = abs(best.obj_val - best.obj_val_dual)
    if not gap <= ACCURACY * max(abs(best.obj_val), 1e-3):
        raise ArithmeticError(f"the judge is not sure: {best.obj_val} against {best.obj_val_dual}")
    return Optimum(float(best.obj_val), np.array(best.x)[d : d + m])


def points_of(K):
    """Rows whose products are K, but for rounding."""
    values, vectors = np.linalg.eigh(K)
    large = values > 1e-14 * values.max()
    return vectors[:, large] * np.sqrt(values[large])


def _attempt(quadratic, linear, A, right, regularisation):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.static_regularization_constant = regularisation
    cones = [clarabel.NonnegativeConeT(len(right))]
    P, G = sp.csc_matrix(np.triu(quadratic)), sp.csc_matrix(-A)
    return clarabel.DefaultSolver(P, linear, G, -right, cones, settings).solve()


def _columns(*columns):
    return np.column_stack(columns) if columns else None


def classes(K, y, c, *, squared=False, intercept=True):
    B = y[:, None] if intercept else np.zeros((len(y), 0))
    return solve(K, c, np.zeros(B.shape[1]), [(y, B, np.ones(len(y)))], squared=squared)


def nu_classes(K, y, c, nu):
    B = _columns(y, -np.ones(len(y)))
    return solve(K, c, np.array([0.0, -nu * c.sum()]), [(y, B, np.zeros(len(y)))])


def tube(K, z, c, epsilon, *, intercept=True):
    one = np.ones(len(z))
    B = one[:, None] if intercept else np.zeros((len(z), 0))
    rows = [(one, B, z - epsilon), (-one, -B, -z - epsilon)]
    return solve(K, c, np.zeros(B.shape[1]), rows)


def nu_tube(K, z, c, nu):
    one = np.ones(len(z))
    rows = [(one, _columns(one, one), z), (-one, _columns(-one, one), -z)]
    return solve(K, c, np.array([0.0, nu * c.sum()]), rows, at_least_zero=[1])


def one_class(K, c, nu):
    one = np.ones(len(c))
    return solve(K, c, np.array([-nu * c.sum()]), [(one, -one[:, None], 0.0 * one)])


def ball(K, c):
    """R^2 = t + |a|^2, so that the objective is |a|^2 + t + the weighted excesses of K_ii - 2 <a, x_i> - t."""
    one = np.ones(len(c))
    return solve(K, c, np.array([1.0]), [(2.0 * one, one[:, None], np.diag(K))], norm=1.0)
