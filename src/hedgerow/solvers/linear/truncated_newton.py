"""Newton steps by conjugate gradients: truncated, preconditioned, and within a trust region.

The quadratic model of a `SmoothObjective` at its point is minimised by conjugate gradients, one pass
over the data a step, until the gradient of the model is a small share of the objective's: the smaller
the nearer the solution is. The diagonal of the model accelerates them. `Truncated` then goes to the
minimum of the objective along the way; `TrustRegion` stops at the edge of a region whose size follows
how well the model has predicted the objective.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import Json
from hedgerow.problems.base import inner
from hedgerow.solvers.linear.smooth_objective import SmoothObjective

__all__ = ["Truncated", "TrustRegion"]

Vector = NDArray[np.float64]

FORCING = 0.1
"""Share of the gradient that conjugate gradients may leave in the model, at most."""
CG_STEPS = 250
ROUNDING = 1e-14
"""Relative decrease of the objective that cannot be told from none."""


class Truncated:
    """Steps along what conjugate gradients find."""

    def __init__(self, objective: SmoothObjective, is_preconditioned: bool) -> None:
        self.objective = objective
        self.is_preconditioned = is_preconditioned
        self.radius = np.inf
        self.was_cut = False

    def state(self) -> Json:
        """Return the radius."""
        return self.radius

    def go_on_from(self, state: Json) -> None:
        """Go on with a radius."""
        self.radius = float(state)

    def advance(self) -> None:
        """Go to the minimum of the objective along the model's step."""
        gradient = self.objective.gradient()
        direction, _, _ = self._model(gradient)
        self.objective.step(direction, inner(gradient, direction))

    def _model(self, gradient: Vector) -> tuple[Vector, Vector, float]:
        """Return the step that conjugate gradients find, its product with the model, and its size."""
        scale = self._scale()
        norm = np.sqrt(inner(gradient, scale * gradient))
        enough = norm * min(FORCING, np.sqrt(norm / (1.0 + abs(self.objective.value))))
        step, product = np.zeros_like(gradient), np.zeros_like(gradient)
        left = -gradient
        direction = scale * left
        power = inner(left, direction)
        for _ in range(CG_STEPS):
            hessian_direction = self.objective.hessian_times(direction)
            length = power / inner(direction, hessian_direction)
            ahead = step + length * direction
            if _size(ahead, scale) >= self.radius:
                length = _to_the_edge(step, direction, scale, self.radius)
                return step + length * direction, product + length * hessian_direction, self.radius
            step, product = ahead, product + length * hessian_direction
            left = left - length * hessian_direction
            scaled = scale * left
            power, before = inner(left, scaled), power
            if np.sqrt(power) <= enough:
                break
            direction = scaled + power / before * direction
        return step, product, _size(step, scale)

    def _scale(self) -> Vector:
        """Return the inverse of the diagonal of the model, or ones."""
        if not self.is_preconditioned:
            return np.ones_like(self.objective.penalised)
        return 1.0 / self.objective.hessian_diagonal()


def _size(step: Vector, scale: Vector) -> float:
    """Return the length of a step in the units of the preconditioner."""
    return float(np.sqrt(inner(step, step / scale)))


def _to_the_edge(step: Vector, direction: Vector, scale: Vector, radius: float) -> float:
    """Return how far to go along the direction to the edge of the region."""
    a, b = inner(direction, direction / scale), inner(step, direction / scale)
    c = inner(step, step / scale) - radius**2
    return float((-b + np.sqrt(b * b - a * c)) / a)


class TrustRegion(Truncated):
    """Steps that the model is trusted for."""

    def advance(self) -> None:
        """Make a step if it brings what the model predicted, and change the radius accordingly."""
        objective = self.objective
        gradient, before = objective.gradient(), objective.value
        step, product, size = self._model(gradient)
        predicted = -(inner(gradient, step) + 0.5 * inner(step, product))
        start = objective.z
        objective.move_to(start + step)
        kept = (before - objective.value) / predicted if predicted > 0.0 else 0.0
        self.was_cut = kept < 1e-4 and predicted > ROUNDING * abs(before)
        if self.was_cut:
            objective.return_to(start)
        if kept < 0.25:
            self.radius = 0.25 * size
        elif kept > 0.75 and size > 0.9 * self.radius:
            self.radius = 4.0 * self.radius
