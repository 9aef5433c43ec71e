"""Newton's method by blocks, for many more rows than features and than fit into memory.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. A pass adds up the value, gradient and second derivatives of the objective at a point
(`SmoothObjective`); the step follows from these sums, and from the rows of rare features as they are
(`rare_rows`), and is cut if the next pass finds it too long.

Kinks of a loss are smoothed over a window so narrow that this costs half the tolerance. With many rows
many are in the window, and Newton's method works as if the loss were smooth. The alphas follow from the
residuals and need not be kept.

Given: some rows to start from, in memory, and a block's problem. Kept: the state.
Cost: one reading of all rows per pass, of which there were 2 to 7 at a tolerance of 1e-4; per row the
square of its number of values, for losses with kinks only of rows in the window. Where many rows are
alike, few are in the window, steps are cut, and it took up to 27 passes.
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
from hedgerow.solvers.streamed.rare_rows import StepModel, broad_gram, rare_gram, smoothed
from hedgerow.solvers.streamed.task import SampledProblem

__all__ = ["BlockNewton", "NewtonState"]

Vector = NDArray[np.float64]

STARTED = 1e-3
"""Relative gap to which the sample is solved."""
ROUNDED_OFF = 0.5
"""Share of the tolerance that smoothing the kinks may cost."""
LEAST_CUT, MOST_CUT = 0.1, 0.5
"""Least and largest share that is kept of a step that was too long."""
PATIENCE = 60
"""Passes without the gap halving after which rounding prevents progress."""
FAST = 0.01
"""If a step leaves less than this share of the gap, its second derivatives are used again."""
CAUTION = 10.0
"""How many times less than the last step the next one is predicted to bring."""


@dataclass
class NewtonState:
    """Where Newton's method stands with one problem.

    Attributes
    ----------
    number : int
        The number of the problem.
    n_features : int
        The length of w.
    z, window : ndarray, float
        The point (w, t) that the next pass evaluates, and the window over which its losses are smoothed.
    base, base_window, value : ndarray, float, float
        The last point taken, its window, and the smoothed objective there.
    direction, slope, length
        The step from there to z, and how the objective falls along it.
    combined, sums : ndarray
        What a pass has added up: sum_i alpha_i y_i x_i; balance, smoothed losses, losses and gain.
    gram, gram_at, renews_gram : ndarray, ndarray, bool
        Second derivatives, the point they were taken at, and whether the next pass takes new ones.
    gap, gradient_gap, predicted : float
        An estimate of the relative gap at the last point taken, the part of the gap that is due to the
        gradient, and the relative gap predicted at z.
    is_predicted : bool
        Whether z is taken for the solution because of its predicted gap.
    least, since : float, int
        The smallest gap so far, and passes since.
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
    gradient_gap: float = 0.0
    predicted: float = np.inf
    is_predicted: bool = False
    least: float = np.inf
    since: int = 0
    renews_gram: bool = True
    gram_at: Vector = field(default_factory=lambda: np.empty(0))
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
        """The next point and its window if its gap is predicted to be small enough, else the last."""
        return (self.z, self.window) if self.is_predicted else (self.base, self.base_window)

    def alpha_of(self, problem: LinearProblem, rows: slice) -> Vector:  # noqa: ARG002
        """Return the alphas of a block."""
        z, window = self._best
        objective = smoothed(problem, window)
        objective.move_to(z)
        return objective.alpha

    def correct(self, w: Vector, balance: float, gap: float) -> None:  # noqa: ARG002
        """Keep nothing: no sum over alpha is part of the state."""
        self.is_predicted = False


@dataclass(frozen=True)
class _Sums:
    """Sums over the rows of all blocks; see _core.loss.LossSums."""

    balance: float
    smooth: float
    value: float
    gain: float


class _Whole(SmoothObjective):
    """The objective of all rows at a point, from the sums of a pass."""

    def __init__(self, common: LinearProblem, state: NewtonState, unit: float) -> None:
        super().__init__(common)
        self.z, self.combined, self._gram = state.z, state.combined, state.gram
        self.sums = _Sums(*state.sums.tolist())
        self._unit = unit

    def gradient_gap(self, gradient: Vector) -> float:
        """Return the part of the gap that is due to the gradient; that of a free intercept is a guess."""
        penalised = self.penalised * gradient
        return 0.5 * inner(penalised, gradient) + abs(self.excess) * self._unit

    def hessian_without(self, rare: Vector) -> Vector:
        """Return the second derivatives of all but some rows, of which ``rare`` are theirs.

        What rounding leaves of a difference is set to 0: a free intercept that only these rows determine
        must not seem to be determined by noise.
        """
        scale = np.sqrt(self._gram.diagonal())
        left = self._gram - rare
        left[np.abs(left) <= ROUNDING * np.outer(scale, scale)] = 0.0
        np.fill_diagonal(left, np.maximum(left.diagonal(), 0.0) + self.penalised)
        return left


@dataclass(frozen=True)
class BlockNewton:
    """Newton's method, one step per pass.

    Attributes
    ----------
    tol : float
        The relative gap to be reached.
    unit : float
        The scale of the scores.
    samples : sequence of SampledProblem
        The rows in memory, for every problem.
    seed : int
        Seed of the solution of these rows.
    name : str
        "newton", or "augmented_lagrangian" for losses with kinks.
    """

    tol: float
    unit: float
    samples: Sequence[SampledProblem]
    seed: int
    name: str

    moves_alphas = False

    def start(self, number: int) -> NewtonState:
        """Return the state of a problem at the solution of the rows in memory.

        They also give the second derivatives of smooth losses; of others, too few are in the window.
        """
        sample = self.samples[number].sample
        start = solve(sample, Settings(STARTED, seed=self.seed))
        objective = SmoothObjective(sample)
        z = objective.point(start.w, start.intercept)
        state = NewtonState(number, sample.shape[1], z, z)
        if sample.loss.is_smooth:
            objective.move_to(z)
            state.gram, state.gram_at, state.renews_gram = objective.gram(), z, False
        else:
            state.window = state.base_window = self._window(sample, z)
        return state

    def _window(self, sample: LinearProblem, z: Vector) -> float:
        """Return a window over which kinks can be smoothed at little cost."""
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

    def begin_pass(self, state: NewtonState) -> None:
        """Begin with empty sums."""
        n_unknowns = len(state.z)
        state.combined, state.sums = np.zeros(state.n_features), np.zeros(4)
        if state.renews_gram:
            state.gram, state.gram_at = np.zeros((n_unknowns, n_unknowns)), state.z

    def visit(self, state: NewtonState, problem: LinearProblem, rows: slice) -> None:  # noqa: ARG002
        """Add a block's part; if that is stopped, the state stays as it was."""
        objective = smoothed(problem, state.window)
        with current().guard():
            objective.move_to(state.z)
            gram = broad_gram(objective, state.window) if state.renews_gram else 0.0
        found = objective.sums
        state.gram += gram
        state.sums += (found.balance, found.smooth, found.value, found.gain)
        state.combined += objective.combined

    def end_pass(self, state: NewtonState, problem: LinearProblem) -> None:
        """Accept the point or shorten the step to it; then choose the next one."""
        whole = _Whole(problem, state, self.unit)
        most = state.value + ARMIJO * state.length * state.slope + ROUNDING * abs(state.value)
        gradient = whole.gradient()
        state.since += 1
        state.predicted = np.inf
        if state.length > 0.0 and not whole.value <= most:
            here = inner(gradient, state.direction)
            share = state.slope / (state.slope - here) if here > 0.0 else MOST_CUT
            state.length *= float(np.clip(share, LEAST_CUT, MOST_CUT))
            state.z = state.base + state.length * state.direction
            return
        self._take(state, whole, gradient)

    def _take(self, state: NewtonState, whole: _Whole, gradient: Vector) -> None:
        """Accept the point; narrow the window if it is too wide for the gap, else make a step."""
        state.base, state.base_window, state.value = state.z, state.window, whole.value
        apart, gradient_gap = whole.rows_apart(gradient), whole.gradient_gap(gradient)
        fall, state.gradient_gap = (
            (gradient_gap / state.gradient_gap if state.gradient_gap else 1.0),
            gradient_gap,
        )
        state.gap = relative_gap(whole.primal, whole.primal - apart - gradient_gap)
        if state.gap < 0.5 * state.least:
            state.least, state.since = state.gap, 0
        negligible = NEGLIGIBLE * self.tol * abs(whole.primal)
        if state.window > 0.0 and gradient_gap <= max(apart, negligible) and state.gap > self.tol:
            # The next pass is at the same point, as a narrower window sees it.
            state.window *= NARROWER
            state.length, state.renews_gram = 0.0, True
            return
        state.predicted = relative_gap(
            whole.primal, whole.primal - apart - CAUTION * fall * gradient_gap
        )
        rare = self.samples[state.number].rare
        quadratic = whole.hessian_without(rare_gram(state.gram_at, rare, state.window))
        model = StepModel(gradient, quadratic, rare, state.window, self.unit)
        state.direction = model.step_from(state.base)
        state.slope, state.length = inner(gradient, state.direction), 1.0
        state.z = state.base + state.direction
        state.renews_gram = state.window > 0.0 or fall > FAST

    def gap(self, state: NewtonState, problem: LinearProblem) -> float:  # noqa: ARG002
        """Return an estimate of the relative gap at the last point, or at the next if that is less."""
        state.is_predicted = state.gap > self.tol >= state.predicted
        return min(state.gap, state.predicted)

    def has_stalled(self, state: NewtonState) -> bool:
        """Say whether the gap has not halved for many passes."""
        return state.since >= PATIENCE
