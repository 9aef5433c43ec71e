"""Interior point for all classes at once, for small problems: any C, to the last bits.

Problem: CrammerSingerProblem with any intercepts, written with a level t_i and a flow f_ik a row:

    minimise 1/2 |w|^2 + sum_i c_i (t_i - score_i,y_i)   subject to   s_ik = t_i - slope_ik >= 0

where slope_ik = score_ik + [k != y_i]. The multipliers f_ik >= 0 sum to c_i over k, and alpha_ik =
c_i [k = y_i] - f_ik. Each round makes f_ik s_ik smaller and more equal by Newton's method with
Mehrotra's predictor and corrector. At the end the flows that are larger than their slacks are the free
ones of the exact finish (class_active_set).

Given: the problem. Offered: planes and alpha after every round.
Cost: n K^2 d^2 and the factorisation of a system of order K (d + 1) a round, 10 to 40 rounds.
Paper: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optim. 1992.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import Status
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.reduction import pairs_of_classes
from hedgerow.solvers.all_classes.active_set import ClassRows, finish_classes_exactly, is_small
from hedgerow.solvers.base import GapRun
from hedgerow.solvers.solver import LinearSolver
from hedgerow.solvers.workload import Workload

__all__ = ["CLASS_INTERIOR_POINT"]

Vector = NDArray[np.float64]

TO_THE_EDGE = 0.99
"""Share of the way to the nearest bound that a step may go."""
RIDGES = (1e-14, 1e-12, 1e-10, 1e-8)
"""What may be added to the diagonal of the equations, relatively, for directions without curvature."""
CLOSE, NEAR = 1e-10, 1e-2
"""Relative gaps at which it is clear which flows are 0, and at which that may be guessed."""
PATIENCE = 5
"""Rounds that may bring nothing."""


@dataclass
class _Point:
    """Planes with the weight of the constant last, levels, flows and slacks; or a step of them."""

    w: Vector
    t: Vector
    f: Vector
    s: Vector

    def reach(self, step: _Point) -> float:
        """Return how far a step can go until a flow or a slack is 0, at most 1."""
        ratios = [
            np.min(-value[down] / move[down], initial=np.inf)
            for value, move in ((self.f, step.f), (self.s, step.s))
            for down in [move < 0.0]
        ]
        return float(min(1.0, TO_THE_EDGE * min(ratios)))

    def moved(self, step: _Point, length: float) -> _Point:
        """Return the point after a part of a step."""
        return _Point(
            self.w + length * step.w,
            self.t + length * step.t,
            self.f + length * step.f,
            self.s + length * step.s,
        )


def class_interior_point(run: GapRun[CrammerSingerProblem]) -> Status | None:
    """Solve to the last bits, or as far as max_iter rounds go."""
    problem = run.problem
    rows = ClassRows(problem)
    point = _start(rows)
    while run.n_iter < run.settings.max_iter:
        try:
            point = _round(rows, point)
        except FloatingPointError:  # so near to the end that the equations have no digits left
            break
        run.n_iter += 1
        run.offer_primal(rows.planes(point.w), 0.0)
        run.offer_dual(rows.spread(rows.own - point.f))
        run.measure()
        if run.relative_gap <= CLOSE or run.has_stalled(PATIENCE):
            break
    if run.relative_gap <= NEAR:
        finish_classes_exactly(run, rows, point.f > point.s)
    if run.measure() or run.n_iter >= run.settings.max_iter:
        return None
    return "stalled"


def _start(rows: ClassRows) -> _Point:
    """Return w = 0 with flows and slacks well inside."""
    w, _ = rows.problem.origin
    t = np.full(len(rows.used), 2.0)
    flows = np.repeat(rows.problem.weight[:, None] / len(w), len(w), axis=1)
    return _Point(w, t, flows, t[:, None] - rows.slopes(w))


def _round(rows: ClassRows, point: _Point) -> _Point:
    """Return the point after one step."""
    system = _System(rows, point)
    products = point.f * point.s
    plain = system.step(-products)
    reached = point.moved(plain, point.reach(plain))
    before, after = float(np.mean(products)), float(np.mean(reached.f * reached.s))
    aim = (after / before) ** 3 * before
    step = system.step(aim - products - plain.f * plain.s)
    return point.moved(step, point.reach(step))


class _System:
    """Newton's equations at a point, reduced to the planes."""

    def __init__(self, rows: ClassRows, point: _Point) -> None:
        self.rows, self.point = rows, point
        self.d = point.f / point.s
        self.d_sum = np.sum(self.d, axis=1)
        self.off_planes = rows.held * point.w - rows.combine(rows.own - point.f)
        self.off_flows = rows.problem.weight - np.sum(point.f, axis=1)
        self.off_slacks = point.s - (point.t[:, None] - rows.slopes(point.w))
        self.factor = _factor(self._matrix())

    def _matrix(self) -> Vector:
        """Return the equations of the planes."""
        rows, (n_classes, width) = self.rows, self.point.w.shape
        size = width if rows.constant else width - 1
        matrix = np.zeros((n_classes, width, n_classes, width))
        for k, other in pairs_of_classes(n_classes):
            curvature = self.d[:, k] * self.d[:, other] / self.d_sum
            block = _core.data.gram(rows.problem.matrix, curvature, rows.constant, 1)
            matrix[k, :size, other, :size] = matrix[other, :size, k, :size] = -block
            matrix[k, :size, k, :size] += (
                block  # sums of the others: a difference would lose digits
            )
            matrix[other, :size, other, :size] += block
        each = np.arange(n_classes)
        matrix[each, :, each] += np.diag(rows.held)
        if rows.is_free:  # a number added to all intercepts changes nothing: hold their sum
            matrix[:, -1, :, -1] += 1.0
        return matrix.reshape(n_classes * width, -1)

    def step(self, off_products: Vector) -> _Point:
        """Return the step towards products that are off by so much."""
        d = self.d
        push = off_products / self.point.s + d * self.off_slacks
        rest = (np.sum(push, axis=1) - self.off_flows) / self.d_sum
        right = -self.off_planes - self.rows.combine(push - d * rest[:, None])
        w = _core.data.cholesky_solve(self.factor, right.ravel()).reshape(right.shape)
        scores = self.rows.scores(w)
        t = (np.sum(push + d * scores, axis=1) - self.off_flows) / self.d_sum
        return _Point(w, t, push + d * (scores - t[:, None]), t[:, None] - scores - self.off_slacks)


def _factor(matrix: Vector) -> Vector:
    """Return the Cholesky factor, of a diagonal that is a little larger where it must be."""
    for ridge in RIDGES:
        factor = matrix.copy()
        factor[np.diag_indices_from(factor)] *= 1.0 + ridge
        if _core.data.cholesky(factor, 1) < 0:
            return factor
    raise FloatingPointError


def _effort(work: Workload) -> float | None:
    """Return that small problems take no time, and others too much."""
    return 0.0 if is_small(cast(CrammerSingerProblem, work.problem)) else None


CLASS_INTERIOR_POINT = LinearSolver(
    name="class_interior_point",
    run=class_interior_point,
    needs=("loss.compares_classes", "classes"),
    effort=_effort,
)
