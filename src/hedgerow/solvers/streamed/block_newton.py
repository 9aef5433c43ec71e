"""Newton's method by blocks, for many more rows than features and than fit into memory.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. A pass adds up the value, gradient and second derivatives of the objective at a point
(`SmoothObjective`); the step follows from these sums, and from the rows of rare features as they are
(`rare_rows`), and is cut if the next pass finds it too long.

Kinks of a loss are rounded off over a window so narrow that this costs half the tolerance. With many
rows many are in the window, and Newton's method goes on as if the loss were smooth. The alphas follow
from the residuals and need not be kept.

Given: some rows to start from, in memory, and a block's problem. Kept: the plane.
Cost: one reading of the files a pass, of which there were 2 to 7 at a tolerance of 1e-4; the square of
a row's values, for losses with kinks of the rows in the window alone. Where many rows are alike these
are few again, steps are cut, and it took up to 27 passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.monitor import current
from hedgerow.problems.base import inner, relative_gap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import Settings
from hedgerow.solvers.choose import solve
from hedgerow.solvers.linear.augmented_lagrangian import FIRST_WINDOW, NARROWER, NEGLIGIBLE
from hedgerow.solvers.linear.smooth_objective import ARMIJO, ROUNDING, SmoothObjective
from hedgerow.solvers.streamed.rare_rows import StepModel, broad_gram, rare_bend, smoothed

__all__ = ["BlockNewton", "NewtonPlane", "Start"]

Vector = NDArray[np.float64]

STARTED = 1e-3
"""Relative gap to which the first rows are solved."""
ROUNDED_OFF = 0.5
"""Share of the tolerance that rounding off the kinks may cost."""
LEAST_CUT, MOST_CUT = 0.1, 0.5
"""Shares of a step that was too long."""
PATIENCE = 60
"""Passes in which the gap does not halve after which rounding has won."""
FAST = 0.01
"""What is left of a gap after a step with which second derivatives of another point are good enough."""
CAUTION = 10.0
"""How much less than the last step the next one may bring, if it is counted upon."""


@dataclass(frozen=True, eq=False)
class Start:
    """What is in memory of a plane's rows.

    Attributes
    ----------
    sample : LinearProblem
        Rows that stand for all.
    rare : LinearProblem
        All rows that have a rare feature.
    """

    sample: LinearProblem
    rare: LinearProblem


@dataclass
class NewtonPlane:
    """Where Newton's method stands for one plane.

    Attributes
    ----------
    number : int
        Of the plane.
    n_features : int
        The length of w.
    z, window : ndarray, float
        The point (w, t) that the next pass evaluates, and how wide its losses are rounded off.
    base, base_window, value : ndarray, float, float
        The last point taken, its window, and the smoothed objective there.
    direction, slope, length
        The step from there to z, and how the objective falls along it.
    combined, sums : ndarray
        What a pass has added up: sum_i alpha_i y_i x_i; balance, smoothed losses, losses and gain.
    gram, bent_at, is_bent : ndarray, ndarray, bool
        Second derivatives, where they are from, and whether the next pass adds up new ones.
    gap, astray, foreseen : float
        The relative gap at the last point taken, about; the part of it that the gradient makes; and
        what it will be at z.
    least, since : float, int
        The least gap so far, and passes since.
    """

    number: int
    n_features: int
    z: Vector
    base: Vector
    window: float = 0.0
    base_window: float = 0.0
    value: float = np.inf
    slope: float = 0.0
    length: float = 0.0
    gap: float = np.inf
    astray: float = 0.0
    foreseen: float = np.inf
    is_sure: bool = False
    least: float = np.inf
    since: int = 0
    is_bent: bool = True
    bent_at: Vector = field(default_factory=lambda: np.empty(0))
    direction: Vector = field(default_factory=lambda: np.empty(0))
    combined: Vector = field(default_factory=lambda: np.empty(0))
    sums: Vector = field(default_factory=lambda: np.zeros(4))
    gram: Vector = field(default_factory=lambda: np.empty((0, 0)))

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b; ``problem`` is that of any block, or of no rows."""
        whole = _Whole(problem, self, 1.0)
        whole.z = self._best[0]
        return np.ascontiguousarray(whole.w), whole.intercept

    @property
    def _best(self) -> tuple[Vector, float]:
        """The next point and its window if it is surely good, else the last."""
        return (self.z, self.window) if self.is_sure else (self.base, self.base_window)

    def alpha_of(self, problem: LinearProblem, rows: slice) -> Vector:  # noqa: ARG002
        """Return the alphas of a block."""
        z, window = self._best
        objective = smoothed(problem, window)
        objective.move_to(z)
        return objective.alpha

    def settle(self, w: Vector, balance: float, gap: float) -> None:  # noqa: ARG002
        """Nothing is kept that alpha makes."""
        self.is_sure = False


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

    def hessian_without(self, rare: Vector) -> Vector:
        """Return the second derivatives of all but some rows, of which ``rare`` are theirs.

        What rounding leaves of a difference is 0: a free intercept that only these rows hold back
        must not seem to be held by noise.
        """
        scale = np.sqrt(self._gram.diagonal())
        left = self._gram - rare
        left[np.abs(left) <= ROUNDING * np.outer(scale, scale)] = 0.0
        np.fill_diagonal(left, np.maximum(left.diagonal(), 0.0) + self.penalised)
        return left


@dataclass(frozen=True)
class BlockNewton:
    """The same steps for every plane.

    Attributes
    ----------
    tol : float
        The relative gap that is asked for.
    unit : float
        The size that scores are of.
    starts : sequence of Start
        What is in memory, a plane each.
    seed : int
        For the solution of these rows.
    name : str
        "newton", or "augmented_lagrangian" for losses with kinks.
    """

    tol: float
    unit: float
    starts: Sequence[Start]
    seed: int
    name: str

    moves_alphas = False

    def plane(self, number: int) -> NewtonPlane:
        """Return a plane that starts at the solution of the rows in memory.

        These also know about the second derivatives; only of rows in a window they have too few.
        """
        sample = self.starts[number].sample
        start = solve(sample, Settings(STARTED, seed=self.seed))
        objective = SmoothObjective(sample)
        z = objective.point(start.w, start.intercept)
        plane = NewtonPlane(number, sample.shape[1], z, z)
        if sample.loss.is_smooth:
            objective.move_to(z)
            plane.gram, plane.bent_at, plane.is_bent = objective.gram(), z, False
        else:
            plane.window = plane.base_window = self._window(sample, z)
        return plane

    def _window(self, sample: LinearProblem, z: Vector) -> float:
        """Return a window over which kinks can be rounded off at little cost."""
        window = FIRST_WINDOW * self.unit
        objective = smoothed(sample, window)
        objective.move_to(z)
        while window > ROUNDING * self.unit:
            apart = objective.rows_apart(objective.gradient())
            if apart <= ROUNDED_OFF * self.tol * objective.primal:
                break
            window *= NARROWER
            narrower = smoothed(sample, window)
            objective.reshape(narrower.shape, narrower.shift)
        return window

    def begin_pass(self, plane: NewtonPlane) -> None:
        """Begin with empty sums."""
        n_unknowns = len(plane.z)
        plane.combined, plane.sums = np.zeros(plane.n_features), np.zeros(4)
        if plane.is_bent:
            plane.gram, plane.bent_at = np.zeros((n_unknowns, n_unknowns)), plane.z

    def visit(self, plane: NewtonPlane, problem: LinearProblem, rows: slice) -> None:  # noqa: ARG002
        """Add a block's part; if that is stopped, the plane stays as it was."""
        objective = smoothed(problem, plane.window)
        with current().guard():
            objective.move_to(plane.z)
            gram = broad_gram(objective, plane.window) if plane.is_bent else 0.0
        found = objective.sums
        plane.gram += gram
        plane.sums += (found.balance, found.smooth, found.value, found.gain)
        plane.combined += objective.combined

    def end_pass(self, plane: NewtonPlane, problem: LinearProblem) -> None:
        """Take the point or cut the step to it; then choose the next one."""
        whole = _Whole(problem, plane, self.unit)
        most = plane.value + ARMIJO * plane.length * plane.slope + ROUNDING * abs(plane.value)
        gradient = whole.gradient()
        plane.since += 1
        plane.foreseen = np.inf
        if plane.length > 0.0 and not whole.value <= most:
            here = inner(gradient, plane.direction)
            share = plane.slope / (plane.slope - here) if here > 0.0 else MOST_CUT
            plane.length *= float(np.clip(share, LEAST_CUT, MOST_CUT))
            plane.z = plane.base + plane.length * plane.direction
            return
        self._take(plane, whole, gradient)

    def _take(self, plane: NewtonPlane, whole: _Whole, gradient: Vector) -> None:
        """Take the point; narrow the window if it is settled and too wide, then step on."""
        plane.base, plane.base_window, plane.value = plane.z, plane.window, whole.value
        apart, astray = whole.rows_apart(gradient), whole.astray(gradient)
        fall, plane.astray = (astray / plane.astray if plane.astray else 1.0), astray
        plane.gap = relative_gap(whole.primal, whole.primal - apart - astray)
        if plane.gap < 0.5 * plane.least:
            plane.least, plane.since = plane.gap, 0
        negligible = NEGLIGIBLE * self.tol * abs(whole.primal)
        if plane.window > 0.0 and astray <= max(apart, negligible) and plane.gap > self.tol:
            # The next pass is at the same point, as a narrower window sees it.
            plane.window *= NARROWER
            plane.length, plane.is_bent = 0.0, True
            return
        plane.foreseen = relative_gap(whole.primal, whole.primal - apart - CAUTION * fall * astray)
        rare = self.starts[plane.number].rare
        quadratic = whole.hessian_without(rare_bend(plane.bent_at, rare, plane.window))
        model = StepModel(gradient, quadratic, rare, plane.window, self.unit)
        plane.direction = model.step_from(plane.base)
        plane.slope, plane.length = inner(gradient, plane.direction), 1.0
        plane.z = plane.base + plane.direction
        plane.is_bent = plane.window > 0.0 or fall > FAST

    def gap(self, plane: NewtonPlane, problem: LinearProblem) -> float:  # noqa: ARG002
        """Return about the relative gap at the last point taken, or at the next if it will be less."""
        plane.is_sure = plane.gap > self.tol >= plane.foreseen
        return min(plane.gap, plane.foreseen)

    def has_stalled(self, plane: NewtonPlane) -> bool:
        """Say whether the gap has not halved for long."""
        return plane.since >= PATIENCE
