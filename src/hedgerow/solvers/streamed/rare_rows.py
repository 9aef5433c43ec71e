"""A step of Newton's method with the exact losses of some rows instead of their second derivatives.

A feature that few rows have may have none near the kink of its loss: second derivatives then say
that its weight is free to move, and the step is far too long. Where many rows have a feature, the sum of
their losses is smooth. So the objective of all rows is modelled around a point z by

    <g', d> + 1/2 <d, H' d> + sum of smooth_i(z + d) over the rare rows

with the gradient g' and second derivatives H' of all others. The rare rows are in memory, and the
model is minimised by Newton's method with a line search, which costs some passes over these few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.linear.ridge_system import cholesky_factor
from hedgerow.solvers.linear.smooth_objective import ARMIJO, SmoothObjective

__all__ = ["StepModel", "broad_gram", "rare_gram", "smoothed"]

Vector = NDArray[np.float64]

BROADER = 2.5
"""How much wider the window is for second derivatives."""
STEPS, TRIALS = 50, 30
"""The most steps to the minimum of a model, and the most halvings of each."""
SETTLED = 1e-6
"""The share of the squared gradient at which a model counts as minimised."""


def smoothed(problem: LinearProblem, window: float) -> SmoothObjective:
    """Return the objective, with losses smoothed over a window if they have kinks."""
    objective = SmoothObjective(problem)
    if window > 0.0:
        objective.shape = problem.loss.core_shape(1.0 / window)
        objective.shift = 0.5 * (problem.lower + problem.upper)
    return objective


def broad_gram(objective: SmoothObjective, window: float) -> Vector:
    """Return the second derivatives at a point for a wider window, which has more rows in it."""
    if window == 0.0:
        return objective.gram()
    problem = objective.problem
    broad = smoothed(problem, BROADER * window)
    rows = (problem.y, problem.target, problem.weight, broad.shift)
    assert broad.shape is not None  # rows in blocks have losses that the core knows
    broad.sums = _core.loss.loss_at(
        broad.shape, *rows, objective.residual, broad.alpha, broad.curvature, problem.n_threads
    )
    return broad.gram()


@dataclass(frozen=True, eq=False)
class _Losses:
    """The smoothed losses of the rare rows at a point, and their derivatives."""

    value: float
    slope: Vector
    gram: Vector

    @classmethod
    def at(cls, z: Vector, rare: LinearProblem, window: float) -> _Losses:
        """Evaluate them."""
        objective = smoothed(rare, window)
        objective.move_to(z)
        slope = -objective.combined
        if objective.constant:
            slope = np.append(slope, -objective.constant * objective.sums.balance)
        return cls(objective.sums.smooth, slope, objective.gram())


def rare_gram(z: Vector, rare: LinearProblem, window: float) -> Vector:
    """Return the part of `broad_gram` at a point that is due to the rare rows."""
    objective = smoothed(rare, window)
    objective.move_to(z)
    return broad_gram(objective, window)


@dataclass(frozen=True, eq=False)
class StepModel:
    """The model of the objective around a point.

    Attributes
    ----------
    gradient : ndarray
        The gradient of all rows at the point.
    quadratic : ndarray
        The second derivatives of all but the rare rows.
    rare : LinearProblem
        The rare rows.
    window : float
        The window over which kinks of their losses are smoothed.
    unit : float
        The scale of the scores.
    """

    gradient: Vector
    quadratic: Vector
    rare: LinearProblem
    window: float
    unit: float

    def step_from(self, z: Vector) -> Vector:
        """Return the step from z to an approximate minimum of the model."""
        gradient, quadratic = self.gradient, self.quadratic
        losses = _Losses.at(z, self.rare, self.window)
        linear = gradient - losses.slope
        step, value, slope = np.zeros_like(z), losses.value, gradient
        for _ in range(STEPS):
            direction = self._direction(slope, losses.gram)
            descent, length = inner(slope, direction), 1.0
            for _ in range(TRIALS):
                trial = step + length * direction
                product = _times(quadratic, trial)
                losses = _Losses.at(z + trial, self.rare, self.window)
                reached = inner(linear, trial) + 0.5 * inner(trial, product) + losses.value
                if reached <= value + ARMIJO * length * descent:
                    break
                length *= 0.5
            else:
                return step
            step, value, slope = trial, reached, linear + product + losses.slope
            if inner(slope, slope) <= SETTLED * inner(gradient, gradient):
                break
        return step

    def _direction(self, slope: Vector, gram: Vector) -> Vector:
        """Return the step of Newton's method; an intercept that no row determines moves by one unit."""
        matrix = self.quadratic + gram
        loose = matrix.diagonal() == 0.0
        matrix[loose] = matrix[:, loose] = 0.0
        matrix[loose, loose] = np.abs(slope[loose]) / self.unit + (slope[loose] == 0.0)
        factor = cholesky_factor(matrix, self.rare.n_threads)
        return -_core.data.cholesky_solve(factor, slope)


def _times(matrix: Vector, vector: Vector) -> Vector:
    """Return the product, summed in an order that does not depend on the number of BLAS threads."""
    product: Vector = np.sum(matrix * vector, axis=1)
    return product
