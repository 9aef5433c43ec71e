"""The exact finish for all classes at once with a kernel: once the free betas are known, the rest is algebra.

What keeps beta_ik from its bound is a flow, bound less beta; those of a point sum to c_i. At the optimum
the classes with a flow have the same slope, score_ik + [k != y_i]. With the other flows held at 0, the
betas of these classes move by steps u_ik against that of the point's largest flow, r, and solve

    sum over j, l of K_ij <e_k - e_r, e_l - e_s> u_jl + b_k - b_r = slope_ir - slope_ik
    sum over i, k of u_ik (e_k - e_r) = 0                            (if there are intercepts)

by a Cholesky factor in float64. Where a flow would fall below 0 the step ends there and it is held;
when all free ones are where they should be, the classes that most want a flow are given one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import inner
from hedgerow.problems.kernel_crammer_singer import ClassPoint, KernelCrammerSingerProblem

__all__ = ["free_class_steps"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST_FREE = 3000
"""Free betas beyond which a factorisation takes too long."""
RIDGE = 1e-12
"""What is added to the diagonal, relative to it, so that equal points can be told apart."""
REGROUPINGS = 200
NEW_FLOWS = 8
"""Classes of points that are given a flow at a time."""
WANTED = 0.25
"""Part of the violation that one must have for that."""
CORRECTIONS = 3
"""Times that the sums of a step are brought to 0, each with the rounding of the one before."""
SINGULAR = 1e-12
"""A direction of intercepts that is this small, relatively, is none: nothing is free there."""


def free_class_steps(
    problem: KernelCrammerSingerProblem, point: ClassPoint, tol: float, n_threads: int
) -> Iterator[ClassPoint]:
    """Yield, after each step, the best point so far; the last is within the tolerance, or the best there is."""
    best = point
    has_flow = _flows(problem, point) > 0.0
    for _ in range(REGROUPINGS):
        free = _Free.of(problem, point, has_flow)
        if best.violation <= tol or not 0 < len(free.i) <= MOST_FREE:
            break
        moves = free.newton_step(n_threads)
        if moves is None:
            break
        flows, has_flow, is_whole = _advance(_flows(problem, point), has_flow, moves)
        point = problem.point(problem.classes.bounds(slice(None)) - flows)
        best = min(best, point, key=lambda one: one.violation)
        if is_whole:
            has_flow = _with_worst(problem, point, has_flow)
        yield best
    yield best


def _flows(problem: KernelCrammerSingerProblem, point: ClassPoint) -> Vector:
    """Return how far each beta is from its bound, those on it but for rounding being just there."""
    everyone = slice(None)
    classes = problem.classes
    return classes.bounds(everyone) - classes.on_bounds(point.beta, everyone)


@dataclass(frozen=True, eq=False)
class _Free:
    """The betas (i, k) that may move, each against that of class r of the same point."""

    problem: KernelCrammerSingerProblem
    point: ClassPoint
    i: Indices
    k: Indices
    r: Indices

    @classmethod
    def of(cls, problem: KernelCrammerSingerProblem, point: ClassPoint, has_flow: Flags) -> _Free:
        largest = np.argmax(np.where(has_flow, _flows(problem, point), -1.0), axis=1)
        moving = has_flow.copy()
        moving[np.arange(len(moving)), largest] = False
        i, k = (np.ascontiguousarray(places) for places in np.nonzero(moving))
        return cls(problem, point, i, k, largest[i])

    def newton_step(self, n_threads: int) -> Vector | None:
        """Return how all betas move to where free ones have level slopes, or None if they cannot."""
        problem = self.problem
        slopes = problem.classes.slopes(self.point.products, slice(None))
        unit = np.eye(problem.n_classes)
        direction = unit[self.k] - unit[self.r]
        values = problem.gram.block(self.i, self.i)
        if (
            problem.has_intercept
        ):  # what is added vanishes where the sums are kept, and makes them exact
            values += np.mean(np.abs(problem.gram.diagonal))
        # Whole numbers: their products are exact, in whatever order they are summed.
        system = values * (direction @ direction.T)
        diagonal = np.arange(len(system))
        system[diagonal, diagonal] += RIDGE * (1.0 + np.max(np.abs(system)))
        if _core.data.cholesky(system, n_threads) >= 0:
            return None
        step = _core.data.cholesky_solve(system, slopes[self.i, self.r] - slopes[self.i, self.k])
        if problem.has_intercept:
            step = _balanced(system, direction, step)
        return self._table(step)

    def _table(self, step: Vector) -> Vector:
        """Return the moves of all betas."""
        moves = np.zeros_like(self.point.beta)
        moves[self.i, self.k] = step
        np.add.at(moves, (self.i, self.r), -step)
        return moves


def _balanced(factor: Vector, direction: Vector, step: Vector) -> Vector:
    """Return the step with the intercepts that leave the sum over the points of each class as it is."""
    sides = np.ascontiguousarray(direction.T)
    solved = np.array([_core.data.cholesky_solve(factor, side) for side in sides])
    products = np.array([[inner(left, right) for right in solved] for left in sides])
    for _ in range(CORRECTIONS):
        sums = np.array([inner(side, step) for side in sides])
        intercepts = np.linalg.lstsq(products, sums, rcond=SINGULAR)[0]
        step = step - np.sum(intercepts[:, None] * solved, axis=0)
    return step


def _advance(flows: Vector, has_flow: Flags, moves: Vector) -> tuple[Vector, Flags, bool]:
    """Return the flows after as much of the moves as leaves them positive, which are left, and whether it was all."""
    falls = has_flow & (moves > 0.0)
    shares = np.full(flows.shape, np.inf)
    shares[falls] = flows[falls] / moves[falls]
    share = min(1.0, float(np.min(shares)))
    left = has_flow & (shares > share)
    return np.where(left, flows - share * moves, 0.0), left, share == 1.0


def _with_worst(problem: KernelCrammerSingerProblem, point: ClassPoint, has_flow: Flags) -> Flags:
    """Return which classes of points have a flow, with those that most want one."""
    slopes = problem.classes.slopes(point.products + point.intercept, slice(None))
    level = np.min(slopes, axis=1, initial=np.inf, where=has_flow)[:, None]
    excess = np.where(has_flow | (problem.weight[:, None] == 0.0), 0.0, slopes - level).ravel()
    worst = np.argsort(-excess, kind="stable")[:NEW_FLOWS]
    wider = has_flow.copy()
    wider.ravel()[worst[excess[worst] > WANTED * point.violation]] = True
    return wider
