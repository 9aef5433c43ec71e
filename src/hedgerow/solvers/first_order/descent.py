"""What the first-order solvers share: the point they stand at, and the loop that moves it.

Problem: LinearProblem with a smooth loss, any intercept, penalty 1/2 |w|^2. The unknowns u are w, with
b / s as one entry more for a penalised intercept. A free intercept is no unknown: it is the best one
for w at every point, so that alpha is balanced and what is minimised is a function of w alone. Then

    alpha = slope of the loss at the residuals     V = sum_i alpha_i y_i (x_i, s) - q (0, s)
    gradient = u - V                               primal - dual(alpha) = 1/2 |gradient|^2

the second because Fenchel's and Young's inequality is tight in every row: the gap costs nothing.

Cost: two passes over the data a round, the scores of the direction and V. The scores of all points
along a direction follow from these, so that the line search reads no data.

SciPy's optimisers are not used: they ask for the objective as a black box, which costs two passes at
every trial of the line search, and add by BLAS, whose sums depend on its threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import Json
from hedgerow.problems.base import Status, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun

__all__ = ["Iterate", "LineSearch", "Method", "Step", "descend"]

Vector = NDArray[np.float64]

Step: TypeAlias = tuple[Vector, Vector]
"""A step of the unknowns, and by how much it changed the gradient."""

Direction: TypeAlias = Callable[[Vector, Sequence[Step]], Vector]
"""Where to go, given the gradient and the last steps, the latest at the end."""

FRESH = 100
"""Rounds after which the scores are computed anew, as the rounding of their steps adds up."""
PATIENCE = 50
"""Rounds that may bring nothing before a solver counts as stalled."""
FLAT = 0.01
"""A line search ends where the slope is this share of what it was."""
TRIALS = 50
"""Most lengths that a line search tries."""


class Method(Protocol):
    """How a solver moves its point, and what it remembers to do so."""

    def advance(self, point: Iterate) -> bool:
        """Move the point down; return whether there was a way."""

    def memory(self) -> Json:
        """Return all that later moves depend on, but for the point."""

    def recall(self, memory: Json) -> None:
        """Go on with such a memory."""


class Iterate:
    """A primal point, its scores, and the alpha and the gradient that follow from them."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.unknowns = np.zeros(problem.shape[1] + (problem.intercept == "penalized"))
        self.free_intercept = 0.0
        self.scores = np.zeros(problem.shape[0])
        self._settle()

    @property
    def w(self) -> Vector:
        """The normal vector."""
        return self.unknowns[: self.problem.shape[1]]

    @property
    def intercept(self) -> float:
        """The intercept b."""
        return self.free_intercept + self._constant_of(self.unknowns)

    def _constant_of(self, unknowns: Vector) -> float:
        """Return what a penalised intercept among the unknowns adds to every score."""
        if self.problem.intercept != "penalized":
            return 0.0
        return self.problem.intercept_scaling * float(unknowns[-1])

    def scores_of(self, unknowns: Vector) -> Vector:
        """Return the scores of some unknowns, or the change of the scores along a direction."""
        return self.problem.scores(unknowns[: self.problem.shape[1]], self._constant_of(unknowns))

    def state(self) -> Json:
        """Return where it stands."""
        return (self.unknowns, self.free_intercept, self.scores)

    def restore(self, unknowns: Vector, free_intercept: float, scores: Vector) -> None:
        """Go to where it stood."""
        self.unknowns, self.free_intercept, self.scores = unknowns, free_intercept, scores
        self._evaluate()

    def move(self, step: Vector, scores_of_step: Vector, shift: float = 0.0) -> None:
        """Add a step of the unknowns and a shift of a free intercept, given the scores of both."""
        self.unknowns = self.unknowns + step
        self.free_intercept += shift
        self.scores = self.scores + scores_of_step
        self._settle()

    def refresh(self) -> None:
        """Rid the scores of the rounding of many steps."""
        self.scores = self.scores_of(self.unknowns) + self.free_intercept
        self._settle()

    def _settle(self) -> None:
        """Choose a free intercept, then evaluate."""
        if self.problem.intercept == "free":
            shift = self.problem.best_intercept(self.scores)
            self.free_intercept += shift
            self.scores = self.scores + shift
        self._evaluate()

    def _evaluate(self) -> None:
        """Compute what follows from unknowns and scores."""
        problem = self.problem
        self.residuals = problem.residuals(self.scores)
        self.alpha = problem.loss.alpha_at(self.residuals, problem.weight)
        combined = problem.combine(self.alpha)
        if problem.intercept == "penalized":
            combined = np.append(combined, problem.augmentation(inner(problem.y, self.alpha)))
        self.gradient = self.unknowns - combined

    def offer(self, run: LinearRun) -> None:
        """Offer w, b and alpha with their objectives."""
        losses = inner(self.problem.weight, self.problem.loss.value(self.residuals))
        primal = self.problem.cost_of(self.w, self.intercept) + losses
        run.offer_primal(self.w, self.intercept, objective=primal)
        run.offer_dual(self.alpha, primal - 0.5 * inner(self.gradient, self.gradient))

    def move_along(self, direction: Vector) -> Vector | None:
        """Go to about the lowest point along a direction; return the step, or None if it leads up."""
        problem = self.problem
        slope = inner(self.gradient, direction)
        if not slope < 0.0:
            return None
        along, shift = self.scores_of(direction), 0.0
        curvature = problem.loss.second_derivative(self.residuals, problem.weight)
        if problem.intercept == "free" and np.any(curvature > 0.0):
            shift = -inner(curvature, along) / float(
                np.sum(curvature)
            )  # how the best intercept goes along
            along = along + shift
        way = _Way(
            problem,
            self.residuals,
            problem.y * along,
            inner(self.unknowns, direction) + problem.pull * (shift + self._constant_of(direction)),
            inner(direction, direction),
        )
        length = way.lowest(slope, way.square + inner(np.square(along), curvature))
        self.move(length * direction, length * along, length * shift)
        return length * direction


@dataclass(frozen=True, eq=False)
class _Way:
    """The objective along a direction: margins that change, and slope and curvature of the penalties."""

    problem: LinearProblem
    residuals: Vector
    margins: Vector
    linear: float
    square: float

    def slope_and_curvature(self, length: float) -> tuple[float, float]:
        """Return the derivatives at a length."""
        loss, weight = self.problem.loss, self.problem.weight
        there = self.residuals - length * self.margins
        pull = inner(self.margins, loss.alpha_at(there, weight))
        curvature = inner(np.square(self.margins), loss.second_derivative(there, weight))
        return self.linear + length * self.square - pull, self.square + curvature

    def lowest(self, slope: float, curvature: float) -> float:
        """Return where the slope, known at 0, is about 0: by Newton's method between known signs."""
        flat = FLAT * abs(slope)
        length, low, high = 0.0, 0.0, np.inf
        for _ in range(TRIALS):
            length -= slope / curvature
            if not low < length < high:
                length = 0.5 * (low + high)
            slope, curvature = self.slope_and_curvature(length)
            if abs(slope) <= flat:
                break
            low, high = (length, high) if slope < 0.0 else (low, length)
        return length


class LineSearch:
    """A method that goes to about the lowest point along a direction.

    It remembers the last steps, each with the change of the gradient that it made, and gives them to
    the function that chooses the direction.
    """

    def __init__(self, direction: Direction, n_remembered: int) -> None:
        self.direction = direction
        self.steps: deque[Step] = deque(maxlen=n_remembered)

    def advance(self, point: Iterate) -> bool:
        """Move the point; a direction that leads up was misled by what is remembered."""
        before = point.gradient
        step = point.move_along(self.direction(before, self.steps))
        if step is None and self.steps:
            self.steps.clear()
            step = point.move_along(self.direction(before, self.steps))
        if step is None:
            return False
        self.steps.append((step, point.gradient - before))
        return True

    def memory(self) -> Json:
        """Return the steps."""
        return list(self.steps)

    def recall(self, memory: Json) -> None:
        """Go on with such steps."""
        self.steps.extend(memory)


def descend(run: LinearRun, method: Method) -> Status | None:
    """Let the method move from 0 until the tolerance of the settings is met."""
    point = Iterate(run.problem)
    left = run.resume()
    if left is not None:
        point.restore(*left["point"])
        method.recall(left["memory"])
    while True:
        run.checkpoint(point=point.state, memory=method.memory)
        if run.n_iter % FRESH == 0:
            point.refresh()
            run.offer_dual(point.alpha)  # whose pass tells how much time to leave for the end
        point.offer(run)
        if run.measure() or run.n_iter >= run.settings.max_iter:
            return None
        if run.has_stalled(PATIENCE) or not method.advance(point):
            return "stalled"
        run.n_iter += 1
