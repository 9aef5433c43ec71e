"""The exact finish of a kernel machine: once the free variables are known, the rest is algebra.

At the optimum a beta is at a bound, or free, and then its slope is the level of its group. With the
others fixed the free ones solve

    (Q_FF + diag(ridge)) step + levels of the groups = slopes_F        sum of step over each group = 0

by a Cholesky factor in float64. Where a bound is in the way the step ends there and that variable is
free no more; when all are where they should be, and not before, the bound variables that violate their
conditions most become free. For tight tolerances, where pairs would take very many steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import inner
from hedgerow.problems.box_program import BoxProgram
from hedgerow.problems.kernel import KernelPoint, KernelProblem
from hedgerow.solvers.dual_qp.linear_system import centred

__all__ = ["free_set_steps"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_FREE = 4000
"""Free variables beyond which a factorisation takes too long."""
RIDGE = 1e-12
"""What is added to the diagonal, relative to it, so that equal points can be told apart."""
REGROUPINGS = 50
NEW_FREE = 8
"""Variables that become free at a time."""
WANTED = 0.25
"""Part of the violation that one must have for that."""


def free_set_steps(
    problem: KernelProblem,
    point: KernelPoint,
    tol: float,
    n_threads: int,
    most_repeats: int = REGROUPINGS,
) -> Iterator[KernelPoint]:
    """Yield, after each step, the best point so far; the last is within the tolerance, or the best there is.

    A step with the same free variables as the one before corrects rounding alone. After `most_repeats` of
    them in a row it ends.
    """
    program, best, n_repeats = problem.program, point, 0
    free = np.flatnonzero((point.beta > program.lower) & (point.beta < program.upper))
    for _ in range(REGROUPINGS):
        if best.violation <= tol or not 0 < len(free) <= MOST_FREE:
            break
        step = _newton_step(problem, point, free, n_threads)
        if step is None:
            break
        beta, left = _advance(program, point.beta, free, step)
        point = problem.point(beta)
        best = min(best, point, key=lambda one: one.violation)
        is_level = len(left) == len(free)
        before, free = free, _with_worst(program, point, left) if is_level else left
        yield best
        n_repeats = n_repeats + 1 if np.array_equal(before, free) else 0
        if n_repeats >= most_repeats:
            break
    yield best


def _newton_step(
    problem: KernelProblem, point: KernelPoint, free: Indices, n_threads: int
) -> Vector | None:
    """Return the step of the free variables to where their slopes are level, or None if there is none."""
    program, n_points = problem.program, problem.gram.n_points
    slopes = program.slopes(point.beta, point.products)[free]
    group = program.group[free]
    groups = [g for g in range(len(program.sums)) if np.any(group == g)]
    sides = np.array([(group == g).astype(np.float64) for g in groups]).reshape(-1, len(free))
    values = problem.gram.block(free % n_points, free % n_points)
    system = _factor(values, sides, program.ridge[free], n_threads)
    if system is None and groups:  # K may be positive semi-definite for steps of sum 0 only
        system = _factor(centred(values)[0], sides, program.ridge[free], n_threads)
    if system is None:
        return None
    step = _core.data.cholesky_solve(system, slopes)
    if not groups:
        return step
    solved = np.array([_core.data.cholesky_solve(system, side) for side in sides])
    levels = np.linalg.solve(_products(sides, solved), np.sum(sides * step, axis=1))
    step -= np.sum(levels[:, None] * solved, axis=0)
    return step


def _factor(values: Vector, sides: Vector, ridge: Vector, n_threads: int) -> Vector | None:
    """Return the Cholesky factor of the system of the free variables, or None if there is none."""
    system, size = values.copy(), float(np.max(np.abs(values)))
    for side in sides:  # what is added vanishes where sums are kept, and makes them exact
        system += size * side[:, None] * side
    diagonal = np.arange(len(system))
    system[diagonal, diagonal] += ridge + RIDGE * (1.0 + size)
    return system if _core.data.cholesky(system, n_threads) < 0 else None


def _products(a: Vector, b: Vector) -> Vector:
    """Return the dot products of rows, summed in an order that does not depend on BLAS threads."""
    return np.array([[inner(left, right) for right in b] for left in a])


def _advance(
    program: BoxProgram, beta: Vector, free: Indices, step: Vector
) -> tuple[Vector, Indices]:
    """Return beta moved along the step as far as the bounds allow, and what is still free."""
    room = np.where(step > 0, program.upper[free] - beta[free], beta[free] - program.lower[free])
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(step != 0.0, room / np.abs(step), np.inf)
    share = min(1.0, float(np.min(shares)))
    moved = beta.copy()
    moved[free] = beta[free] + share * step
    hit = shares <= share
    at_bound = np.where(step > 0, program.upper[free], program.lower[free])
    moved[free[hit]] = at_bound[hit]
    return moved, free[~hit]


def _with_worst(program: BoxProgram, point: KernelPoint, free: Indices) -> Indices:
    """Return the free variables, with the held ones of each group that most want to leave their bounds."""
    slopes = program.slopes(point.beta, point.products)
    levels = np.zeros(2)
    levels[: len(point.levels)] = point.levels
    wish = slopes - levels[program.group]
    rise = np.where(point.beta < program.upper, wish, 0.0)
    fall = np.where(point.beta > program.lower, -wish, 0.0)
    excess = np.maximum(rise, fall)
    excess[free] = 0.0
    worst = np.argsort(-excess, kind="stable")[:NEW_FREE]
    worst = worst[excess[worst] > WANTED * point.violation]
    return np.union1d(free, worst).astype(np.int64)
