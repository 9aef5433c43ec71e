"""Newton's method by blocks, for many more rows than features and than fit into memory.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. A pass adds up the value, gradient and second derivatives of the objective at a point
(`SmoothObjective`); the step follows from these sums, and is cut if the next pass finds it too long.
Losses with kinks are smoothed by augmented Lagrangians, as in `augmented_lagrangian`: when the
gradient is small beside the gap that is left, alpha becomes the old alpha and the window narrows.

Given: a plane, and a block's problem with the rows it stands for. Kept: the plane.
Cost: one reading of the files a pass, of which smooth losses took 3 to 20, others 7 to 80; the square
of a row's values. It starts at the solution of the first block.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.monitor import current
from hedgerow.problems import LinearProblem, inner, relative_gap
from hedgerow.solvers.augmented_lagrangian import (
    FIRST_WINDOW,
    NARROWER,
    NEGLIGIBLE,
    PATIENCE,
    START_WINDOW,
)
from hedgerow.solvers.choose import solve
from hedgerow.solvers.ridge_system import cholesky_factor
from hedgerow.solvers.settings import Settings
from hedgerow.solvers.smooth_objective import ARMIJO, ROUNDING, SmoothObjective, loss_shape

__all__ = ["BlockNewton", "NewtonPlane"]

Vector = NDArray[np.float64]

STARTED = 1e-3
"""Relative gap to which the first block is solved."""
LEAST_CUT, MOST_CUT = 0.1, 0.5
"""Shares of a step that was too long."""


@dataclass
class NewtonPlane:
    """Where Newton's method stands for one plane.

    Attributes
    ----------
    alpha : ndarray
        Of all rows, at the point of the last pass.
    old_alpha : ndarray or None
        That the augmented Lagrangian is made of; None for the middle between the bounds.
    window : float
        Its width; 0 for a smooth loss.
    z : ndarray
        The point (w, t) that this pass evaluates.
    n_features : int
        The length of w.
    base, value : ndarray, float
        The last point taken, and the smoothed objective there.
    direction, slope, length
        The step from there to z, and how the objective falls along it.
    combined, sums, gram : ndarray
        What this pass has added up: sum_i alpha_i y_i x_i; balance, smoothed losses, losses and gain;
        second derivatives.
    gap, least, since : float, float, int
        The relative gap at the last point taken, about; the least so far, and passes since.
    """

    alpha: Vector
    z: Vector
    n_features: int
    window: float = 0.0
    old_alpha: Vector | None = None
    value: float = np.inf
    slope: float = 0.0
    length: float = 0.0
    gap: float = np.inf
    least: float = np.inf
    since: int = 0
    base: Vector = field(default_factory=lambda: np.empty(0))
    direction: Vector = field(default_factory=lambda: np.empty(0))
    combined: Vector = field(default_factory=lambda: np.empty(0))
    sums: Vector = field(default_factory=lambda: np.zeros(4))
    gram: Vector = field(default_factory=lambda: np.empty((0, 0)))

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b of the last point taken; ``problem`` is that of any block, or of no rows."""
        whole = _Whole(problem, self, 1.0)
        whole.z = self.base
        return np.ascontiguousarray(whole.w), whole.intercept

    def settle(self, w: Vector, balance: float, gap: float) -> None:
        """Nothing is kept that alpha makes."""


@dataclass(frozen=True)
class _Sums:
    """What the rows of all blocks add up to; see _core.LossSums."""

    balance: float
    smooth: float
    value: float
    gain: float


class _Whole(SmoothObjective):
    """The objective of all rows at a point, from the sums of a pass."""

    def __init__(self, common: LinearProblem, plane: NewtonPlane, unit: float) -> None:
        super().__init__(common)
        self.z, self.combined, self._gram = plane.z, plane.combined, plane.gram
        self.sums = _Sums(*plane.sums.tolist())
        self._unit = unit

    def astray(self, gradient: Vector) -> float:
        """Return what the gap owes to the gradient not being 0; a free intercept's part is a guess."""
        penalised = self.penalised * gradient
        return 0.5 * inner(penalised, gradient) + abs(self.excess) * self._unit

    def hessian(self, sample: Any = None) -> Vector:  # noqa: ARG002 - it is of all rows
        """Return the second derivatives."""
        return self._with_penalty(self._gram.copy())


@dataclass(frozen=True)
class BlockNewton:
    """The same steps for every plane.

    Attributes
    ----------
    tol : float
        The relative gap that is asked for.
    unit : float
        The size that scores are of.
    n_rows : int
        Of all blocks.
    seed : int
        For the solution of the first block.
    name : str
        "newton", or "augmented_lagrangian" for losses with kinks.
    """

    tol: float
    unit: float
    n_rows: int
    seed: int
    name: str

    def plane(self, alpha: Vector, problem: LinearProblem) -> NewtonPlane:
        """Return a plane that starts at the solution of the first block, if that has both classes."""
        objective = SmoothObjective(problem)
        z = np.zeros_like(objective.penalised)
        window = 0.0 if problem.loss.is_smooth else FIRST_WINDOW * self.unit
        if problem.loss.is_two_sided or np.unique(problem.y[problem.weight > 0]).size == 2:
            share = self.n_rows / problem.shape[0]
            sample = replace(problem, weight=share * problem.weight)
            start = solve(sample, Settings(STARTED, seed=self.seed))
            window *= START_WINDOW
            z[: len(start.w)] = start.w
            if objective.constant:
                z[-1] = start.intercept / objective.constant
        return NewtonPlane(alpha, z, problem.shape[1], window, base=z)

    def begin_pass(self, plane: NewtonPlane) -> None:
        """Begin with empty sums."""
        n_unknowns = len(plane.z)
        plane.combined, plane.sums = np.zeros(plane.n_features), np.zeros(4)
        plane.gram = np.zeros((n_unknowns, n_unknowns))

    def visit(self, plane: NewtonPlane, problem: LinearProblem, rows: slice) -> None:
        """Add a block's part; if that is stopped, the plane stays as it was."""
        objective = SmoothObjective(problem)
        if plane.window > 0.0:
            objective.shape = loss_shape(problem, 1.0 / plane.window)
            middle = 0.5 * (problem.lower + problem.upper)
            objective.shift = middle if plane.old_alpha is None else plane.old_alpha[rows]
        with current().guard():
            objective.move_to(plane.z)
            constant, n_threads = objective.constant, problem.n_threads
            plane.gram += _core.gram(problem.matrix, objective.bend, constant, n_threads)
        found = objective.sums
        plane.sums += (found.balance, found.smooth, found.value, found.gain)
        plane.combined += objective.combined
        plane.alpha[rows] = objective.alpha

    def end_pass(self, plane: NewtonPlane, problem: LinearProblem) -> None:
        """Take the point or cut the step to it; then choose the next one."""
        whole = _Whole(problem, plane, self.unit)
        most = plane.value + ARMIJO * plane.length * plane.slope + ROUNDING * abs(plane.value)
        gradient = whole.gradient()
        plane.since += 1
        if plane.length > 0.0 and not whole.value <= most:
            here = inner(gradient, plane.direction)
            share = plane.slope / (plane.slope - here) if here > 0.0 else MOST_CUT
            plane.length *= float(np.clip(share, LEAST_CUT, MOST_CUT))
            plane.z = plane.base + plane.length * plane.direction
            return
        self._take(plane, whole, gradient)

    def _take(self, plane: NewtonPlane, whole: _Whole, gradient: Vector) -> None:
        """Take the point; narrow the window if it is settled, else step on."""
        plane.base, plane.value = plane.z, whole.value
        apart, astray = whole.rows_apart(gradient), whole.astray(gradient)
        plane.gap = relative_gap(whole.primal, whole.primal - apart - astray)
        if plane.gap < 0.5 * plane.least:
            plane.least, plane.since = plane.gap, 0
        negligible = NEGLIGIBLE * self.tol * abs(whole.primal)
        if plane.window > 0.0 and astray <= max(apart, negligible):
            plane.window *= NARROWER
            plane.length = 0.0
            if plane.old_alpha is None:
                plane.old_alpha = plane.alpha.copy()
            else:
                np.copyto(plane.old_alpha, plane.alpha)
            return
        lower = cholesky_factor(whole.hessian(), whole.problem.n_threads)
        plane.direction = -_core.cholesky_solve(lower, gradient)
        plane.slope, plane.length = inner(gradient, plane.direction), 1.0
        plane.z = plane.base + plane.direction

    def gap(self, plane: NewtonPlane, problem: LinearProblem) -> float:  # noqa: ARG002
        """Return about the relative gap at the last point taken, of which alpha must be."""
        return plane.gap if plane.value < np.inf and plane.length in (0.0, 1.0) else np.inf

    def has_stalled(self, plane: NewtonPlane) -> bool:
        """Say whether the gap has not halved for long."""
        return plane.since >= PATIENCE
