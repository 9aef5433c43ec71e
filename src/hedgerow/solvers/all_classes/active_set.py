"""The exact finish for all classes at once: once the right alphas are known, the rest is algebra.

At the optimum an alpha of a row is on its bound, or free, and the free ones of a row have classes with
the same slope, score_ik + [k != y_i]. Given a good guess of which are free, those of all rows solve the
linear equations

    slope_ik = slope_ir for the free k of row i, r one of them     (sum_i alpha_ik = 0 if b is free)

with alpha_ir what makes the row's sum 0. Alphas that then break their bound are put on it, those whose
class has too high a slope become free, and it starts again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import array_of, dense, rows_of
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.solvers.base import LinearRun

__all__ = ["ClassRows", "finish_classes_exactly", "is_small"]

Vector = NDArray[np.float64]

CHEAP = 5e7
"""Multiplications that the equations of all planes may cost a round."""
FEW_FREE = 600
"""Free alphas up to which the finish is made."""
REGROUPINGS = 20
ROUNDING = 1e-10
"""Differences of slopes that mean nothing."""


def is_small(problem: CrammerSingerProblem) -> bool:
    """Say whether dense equations for this problem take no noticeable time."""
    n_samples, n_features = problem.shape
    n_weights = (n_features + 1) * problem.n_classes
    return (n_samples + n_weights) * n_weights**2 <= CHEAP


class ClassRows:
    """The rows with weight of a problem, and what its equations are made of.

    A point w has one row per class, the weight of the constant that carries its intercept last.

    Attributes
    ----------
    problem : CrammerSingerProblem
        Of these rows alone.
    constant : float
        1 for free intercepts, s for penalised ones, 0 for none.
    own : ndarray
        c_i [k = y_i], the largest alphas.
    held : ndarray
        What 1/2 w_kj^2 is multiplied with: 1, or 0 for free intercepts.
    """

    def __init__(self, problem: CrammerSingerProblem) -> None:
        self.used = np.flatnonzero(problem.weight)
        self.n_rows = len(problem.y)
        self.problem = replace(
            problem,
            matrix=rows_of(problem.matrix, self.used),
            y=problem.y[self.used],
            weight=problem.weight[self.used],
        )
        constants = {"free": 1.0, "penalized": problem.intercept_scaling, "none": 0.0}
        self.constant = constants[problem.intercept]
        self.is_free = problem.intercept == "free"
        self.own = self.problem.classes.bounds(slice(None))
        self.held = np.ones(problem.shape[1] + 1)
        self.held[-1] = 0.0 if self.is_free else 1.0

    def planes(self, w: Vector) -> Vector:
        """Return the planes with their intercepts last."""
        planes = w.copy()
        planes[:, -1] *= self.constant
        return planes

    def scores(self, w: Vector) -> Vector:
        """Return <w_k, x_i> + b_k."""
        return self.problem.scores(self.planes(w), 0.0)

    def slopes(self, w: Vector) -> Vector:
        """Return the scores, plus 1 for classes that are not the row's own."""
        return self.problem.classes.slopes(self.scores(w), slice(None))

    def combine(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_ik (x_i, constant) of every class."""
        return self.planes(self.problem.combine(alpha))

    def spread(self, alpha: Vector) -> Vector:
        """Return alphas for all rows of the whole problem, 0 for those without weight."""
        spread = np.zeros((self.n_rows, alpha.shape[1]))
        spread[self.used] = alpha
        return spread


def finish_classes_exactly(run: LinearRun, rows: ClassRows, is_free: NDArray[np.bool_]) -> None:
    """Try to replace the points of a nearly solved problem by exact ones."""
    for _ in range(REGROUPINGS):
        if np.sum(is_free) > FEW_FREE + len(is_free) or not is_free.any(axis=1).all():
            return
        alpha, w = _solve(rows, is_free)
        run.offer_primal(rows.planes(w), 0.0)
        run.offer_dual(rows.spread(alpha))
        slopes = rows.slopes(w)
        level = np.max(slopes, axis=1, initial=-np.inf, where=is_free)[:, None]
        leaves = is_free & (alpha > rows.own)
        joins = ~is_free & (slopes > level + ROUNDING)
        if not (leaves.any() or joins.any()):
            return
        is_free = (is_free & ~leaves) | joins


def _solve(rows: ClassRows, is_free: NDArray[np.bool_]) -> tuple[Vector, Vector]:
    """Return the alphas that make the slopes of free ones equal, and their planes."""
    each = np.arange(len(is_free))
    reference = np.argmax(is_free, axis=1)
    alpha = np.where(is_free, 0.0, rows.own)
    alpha[each, reference] -= np.sum(alpha, axis=1)
    moving = is_free.copy()
    moving[each, reference] = False
    i, k = np.nonzero(moving)
    found, intercepts = _equal_slopes(rows, alpha, i, k, reference[i])
    np.add.at(alpha, (i, k), found)
    np.add.at(alpha, (i, reference[i]), -found)
    w = rows.held * rows.combine(alpha)
    w[:, -1] += intercepts
    return alpha, w


def _equal_slopes(
    rows: ClassRows,
    alpha: Vector,
    i: NDArray[np.int64],
    k: NDArray[np.int64],
    r: NDArray[np.int64],
) -> tuple[Vector, Vector]:
    """Return how much alpha_ik must rise, and alpha_ir fall, and the free intercepts, or 0."""
    n_classes = alpha.shape[1]
    unit = np.eye(n_classes)
    direction = unit[k] - unit[r]
    slope = np.sum(direction * rows.slopes(rows.held * rows.combine(alpha))[i], axis=1)
    x = dense(array_of(rows.problem.matrix))[i].astype(np.float64)
    curvature = (x @ x.T + rows.problem.rho) * (direction @ direction.T)
    if not rows.is_free:
        return _least_squares(curvature, -slope), np.zeros(n_classes)
    system = np.block([[curvature, direction], [direction.T, np.zeros((n_classes, n_classes))]])
    found = _least_squares(system, -np.concatenate([slope, np.sum(alpha, axis=0)]))
    return found[: len(i)], found[len(i) :]


def _least_squares(system: Vector, right: Vector) -> Vector:
    """Return the shortest solution: rows that are alike, or planes through them, leave several."""
    if not len(right):
        return right
    return np.asarray(np.linalg.lstsq(system, right, rcond=1e-12)[0], np.float64)
