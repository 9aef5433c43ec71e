"""The objective with a smooth loss as a function of one vector, one pass over the data a point.

The unknowns are z = (w, t) with b = k t: k is the scaling of a penalised intercept, 1 for a free one;
without an intercept z = w. With D = 1 but for a free t, where it is 0,

    objective(z) = 1/2 <z, D z> + q k t + sum_i smooth_i(r_i)        r_i = p_i - y_i <z, (x_i, k)>

where smooth_i is the loss itself, or the augmented Lagrangian of one with kinks (`_core.loss.LossShape`). A
loss that the core does not know is evaluated in Python (`python_losses`).
At every point the true losses and their duals are at hand too: a gap costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import generator_of
from hedgerow.data.rows import rows_of
from hedgerow.problems.base import inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.python_losses import derivatives_in_python, sums_in_python

__all__ = [
    "ROWS_PER_UNKNOWN",
    "WORTH_A_START",
    "ChangingSum",
    "Sample",
    "SmoothObjective",
]

Vector = NDArray[np.float64]

ARMIJO = 1e-4
"""Share of the decrease predicted that a full step has to bring."""
GOOD_ENOUGH = 0.1
"""Share of the slope at the start that may be left at the end of a line search."""
TRIALS = 30
ROUNDING = 1e-13
"""Relative change of an objective that means nothing."""
ROWS_PER_UNKNOWN = 50
"""Rows a sample needs for each unknown, to start from or for second derivatives."""
UNDERRATED = 0.7
"""Share of a second derivative below which a sample's estimate of it is not taken."""
FEWEST_ROWS = 1000
"""Rows that it has at least."""
WORTH_A_START = 4
"""How many rows each row of it must stand for to save work."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One row drawn from every so many neighbours."""

    rows: NDArray[np.int64]
    every: int

    @classmethod
    def draw(cls, n_rows: int, every: int, seed: int) -> Sample:
        """Draw a row from each stretch of `every` rows."""
        begins = np.arange(0, n_rows - every + 1, every)
        return cls(begins + generator_of(seed).integers(every, size=len(begins)), every)

    @classmethod
    def to_start_from(cls, problem: LinearProblem, seed: int) -> Sample | None:
        """Draw a sample worth solving first; None if there are too few rows for that."""
        n_rows, n_columns = problem.shape
        every = min(n_rows // (ROWS_PER_UNKNOWN * (n_columns + 1)), n_rows // FEWEST_ROWS)
        return None if every < WORTH_A_START else cls.draw(n_rows, every, seed)

    def problem(self, whole: LinearProblem) -> LinearProblem:
        """Return the problem of the sample's rows, each of which stands for its neighbours."""
        targets = None if whole.targets is None else whole.targets[self.rows]
        return replace(
            whole,
            matrix=rows_of(whole.matrix, self.rows),
            y=whole.y[self.rows],
            weight=self.every * whole.weight[self.rows],
            targets=targets,
        )

    def of(self, values: Vector) -> Vector:
        """Return the values of the sample, which stand for those of all, and 0 elsewhere."""
        thin = np.zeros_like(values)
        thin[self.rows] = self.every * values[self.rows]
        return thin


@dataclass
class ChangingSum:
    """A sum over the rows, linear in weights v of which few may change from time to time.

    Attributes
    ----------
    v, value : ndarray or None
        The last weights, and their sum.
    """

    v: Vector | None = None
    value: Vector | None = None

    def at(self, v: Vector, sum_of: Callable[[Vector], Vector]) -> Vector:
        """Return the sum for v: by what changed, if that is on fewer rows than there are in it."""
        before, change = None, v
        if self.v is not None and np.count_nonzero(v != self.v) < np.count_nonzero(v):
            before, change = self.value, v - self.v
        value = sum_of(change)
        if before is not None:
            value += before
        self.v, self.value = v.copy(), value.copy()
        return value


class Sums(Protocol):
    """What the losses of all rows add up to at a point."""

    @property
    def balance(self) -> float:
        """sum_i alpha_i y_i."""

    @property
    def smooth(self) -> float:
        """The smoothed losses."""

    @property
    def value(self) -> float:
        """The losses."""

    @property
    def gain(self) -> float:
        """What the alphas add to the dual."""


class SmoothObjective:
    """A point, and all that a step from it needs."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.shape = None if problem.loss.core_rule is None else problem.loss.core_shape()
        self.shift: Vector | None = None
        self.residual, self._other, self.alpha, self.curvature = np.empty((4, problem.shape[0]))
        scaling = {"free": 1.0, "penalized": problem.intercept_scaling, "none": 0.0}
        self.constant = scaling[problem.intercept]
        self.penalised = np.ones(problem.shape[1] + (self.constant != 0.0))
        if problem.intercept == "free":
            self.penalised[-1] = 0.0
        self.combined: Vector
        self.sums: Sums
        self.z: Vector

    @property
    def w(self) -> Vector:
        """The normal vector."""
        return self.z[:-1] if self.constant else self.z

    @property
    def intercept(self) -> float:
        """The intercept b."""
        return self.constant * float(self.z[-1]) if self.constant else 0.0

    def point(self, w: Vector, intercept: float) -> Vector:
        """Return z at this normal vector and intercept."""
        return np.append(w, intercept / self.constant) if self.constant else w

    @property
    def value(self) -> float:
        """The objective with the smoothed losses."""
        return self.problem.cost_of(self.w, self.intercept) + self.sums.smooth

    @property
    def primal(self) -> float:
        """The objective with the true losses."""
        return self.problem.cost_of(self.w, self.intercept) + self.sums.value

    @property
    def dual(self) -> float:
        """The dual objective at alpha, as if it met the constraint of a free intercept."""
        return self.sums.gain - self.problem.price_of(self.combined, self.sums.balance)

    @property
    def excess(self) -> float:
        """What is to be 0 for the alpha of a free intercept."""
        return self.sums.balance - self.problem.pull if self.problem.intercept == "free" else 0.0

    def astray(self, gradient: Vector) -> float:
        """Return what the gap owes to the gradient not being 0; a free intercept's part is a guess."""
        penalised = self.penalised * gradient
        return 0.5 * inner(penalised, gradient) + abs(self.excess) * self.problem.unit

    def rows_apart(self, gradient: Vector) -> float:
        """Return what the gap owes to single rows: how far their losses are above their duals."""
        penalised = self.penalised * gradient
        whole = self.primal - self.dual + self.intercept * self.excess
        return whole - 0.5 * inner(penalised, gradient)

    def move_to(self, z: Vector) -> None:
        """Evaluate everything at z, in one pass over the data."""
        problem = self.problem
        self.residual, self._other = self._other, self.residual
        self.z = z
        if self.shape is None:
            self.residual[:] = problem.residuals(problem.scores(self.w, self.intercept))
            self._evaluate_residuals()
            return
        self.combined, self.sums = _core.loss.loss_pass(
            problem.matrix,
            self.shape,
            problem.y,
            problem.target,
            problem.weight,
            self.shift,
            np.ascontiguousarray(self.w),
            self.intercept,
            self.residual,
            self.alpha,
            self.curvature,
            problem.n_threads,
        )

    def return_to(self, z: Vector) -> None:
        """Go back to the point before the last move."""
        self.residual, self._other = self._other, self.residual
        self.z = z
        self._evaluate_residuals()

    def take_best_intercept(self) -> None:
        """Move a free intercept to where the true losses are least."""
        problem, b = self.problem, self.intercept
        scores = problem.y * (problem.target - self.residual)
        best = problem.best_intercept(scores - b)
        self.residual -= problem.y * (best - b)
        self.z = np.append(self.w, best)
        self._evaluate_residuals()

    def reshape(self, shape: _core.loss.LossShape | None, shift: Vector | None) -> None:
        """Take another smoothed loss at the same point."""
        self.shape, self.shift = shape, shift
        self._evaluate_residuals()

    def gradient(self) -> Vector:
        """Return the gradient of the smoothed objective."""
        pull = self.combined
        if self.constant:
            pull = np.append(pull, self.constant * (self.sums.balance - self.problem.pull))
        return self.penalised * self.z - pull

    def gram(self) -> Vector:
        """Return the second derivatives of the losses as a matrix."""
        return self._gram_of(self.curvature)

    def hessian(self, sample: Sample | None = None, known: Sequence[ChangingSum] = ()) -> Vector:
        """Return the second derivatives as a matrix, or an estimate from a sample of the rows.

        ``known`` are two sums as they were the last time, if that was from the same rows.
        """
        gram, squares = known or (ChangingSum(), ChangingSum())
        curvature = self.curvature if sample is None else sample.of(self.curvature)
        matrix = gram.at(curvature, self._gram_of)
        if sample is None:
            return self._with_penalty(matrix)
        # A sample may lack the few rows that hold a rare feature back.
        true, estimate = squares.at(self.curvature, self._squares_of), matrix.diagonal()
        np.fill_diagonal(matrix, np.where(estimate < UNDERRATED * true, true, estimate))
        return self._with_penalty(matrix)

    def _gram_of(self, v: Vector) -> Vector:
        """Return the sum of v_i z_i z_i'."""
        return _core.data.gram(self.problem.matrix, v, self.constant, self.problem.n_threads)

    def _squares_of(self, v: Vector) -> Vector:
        """Return its diagonal."""
        squares = _core.data.weighted_square_sum(self.problem.matrix, v, self.problem.n_threads)
        if self.constant:
            squares = np.append(squares, self.constant**2 * float(np.sum(v)))
        return squares

    def _with_penalty(self, matrix: Vector) -> Vector:
        """Return second derivatives of the losses with those of the penalty, in place."""
        diagonal = matrix.diagonal() + self.penalised
        diagonal[diagonal == 0.0] = 1.0  # a free intercept that no row moves
        np.fill_diagonal(matrix, diagonal)
        return matrix

    def hessian_times(self, p: Vector) -> Vector:
        """Return the product of the second derivatives with a vector."""
        problem = self.problem
        product = _core.data.gram_times(
            problem.matrix, self.curvature, self.constant, p, problem.n_threads
        )
        return self.penalised * p + product

    def hessian_diagonal(self) -> Vector:
        """Return the diagonal of the second derivatives."""
        diagonal = self._squares_of(self.curvature) + self.penalised
        diagonal[diagonal == 0.0] = 1.0  # a free intercept that no row moves
        return diagonal

    def step(self, direction: Vector, slope: float) -> float:
        """Move along a direction of descent and return how far: all the way if that is good.

        Else to the minimum along the way, for which the residuals at both ends are enough.
        """
        start, before = self.z, self.value
        self.move_to(start + direction)
        if self.value <= before + ARMIJO * slope + ROUNDING * abs(before):
            return 1.0
        self._other, self.residual = self.residual, self._other  # back to the start
        change = np.subtract(self._other, self.residual, out=self._other)
        length = self._best_length(start, direction, slope, change)
        self.residual += length * change
        self.z = start + length * direction
        self._evaluate_residuals()
        return length

    def offer(self, run: LinearRun) -> bool:
        """Offer the point and its alpha, and return whether that closes the gap."""
        run.offer_primal(self.w, self.intercept, objective=self.primal)
        if self.problem.intercept != "free":
            run.offer_dual(self.alpha, objective=self.dual)
        else:
            self._offer_balanced(run)
        return run.measure()

    def _offer_balanced(self, run: LinearRun) -> None:
        """Offer an alpha that meets a free intercept's constraint, if that seems worth a pass."""
        gradient = self.gradient()
        gap = self.rows_apart(gradient) + self.astray(gradient)
        scale = max(abs(self.primal), abs(self.dual), self.problem.least_scale)
        if scale == 0.0 or run.is_promising(gap / scale):
            run.offer_dual(self.alpha)

    def _evaluate_residuals(self) -> None:
        """Evaluate everything from the residuals: half a pass over the data."""
        problem = self.problem
        if self.shape is None:
            self.sums = sums_in_python(problem, self.residual, self.alpha, self.curvature)
        else:
            rows = (problem.y, problem.target, problem.weight, self.shift)
            self.sums = _core.loss.loss_at(
                self.shape, *rows, self.residual, self.alpha, self.curvature, problem.n_threads
            )
        self.combined = problem.combine(self.alpha)

    def _losses_along(self, change: Vector, length: float) -> tuple[float, float]:
        """Return the derivatives of the losses along a change of the residuals, so far from here."""
        problem = self.problem
        if self.shape is None:
            return derivatives_in_python(problem, self.residual, change, length)
        rows = (problem.weight, self.shift, self.residual, change)
        _, slope, rise = _core.loss.loss_along(self.shape, *rows, length, problem.n_threads)
        return slope, rise

    def _best_length(
        self, start: Vector, direction: Vector, slope_at_start: float, change: Vector
    ) -> float:
        """Return a length just short of where the objective along the direction is least.

        Beyond it the slope may be small and the objective yet above where it started.
        """
        problem = self.problem
        weighted = self.penalised * direction
        linear, quadratic = inner(start, weighted), inner(direction, weighted)
        if self.constant:
            linear += problem.pull * self.constant * float(direction[-1])
        low, high, length = 0.0, 1.0, 0.5
        for _ in range(TRIALS):
            slope, rise = self._losses_along(change, length)
            slope += linear + length * quadratic
            if GOOD_ENOUGH * slope_at_start <= slope <= 0.0:
                return length
            low, high = (length, high) if slope < 0.0 else (low, length)
            length -= slope / (rise + quadratic)
            length = length if low < length < high else 0.5 * (low + high)
        return low or length
