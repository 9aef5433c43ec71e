"""The hinge and the epsilon-insensitive loss, their squares, and the losses of hard margins and of all classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.losses.base import Loss

__all__ = [
    "ClippedLoss",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "LargestHinge",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ClippedLoss(Loss):
    """max(0, r), or max(0, |r| - epsilon) if it is two-sided, or the square of it.

    On 0 <= alpha <= c, or -c <= alpha <= c, the conjugate is epsilon |alpha|. For a square it is
    epsilon |alpha| + alpha^2 / (4 c), and alpha has no bound on the far side.
    """

    epsilon: float = 0.0
    is_smooth: ClassVar[bool] = False  # whether it is a square
    vanishes: ClassVar[bool] = True
    conjugate_terms: ClassVar[float] = 0.0

    def value(self, residual: Vector) -> Vector:
        """Return how far the residual is on the wrong side, or its square."""
        excess = self._excess(residual)
        return np.square(excess) if self.is_smooth else excess

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return c, or 2 c times the excess for a square, with the sign of the residual."""
        excess = self._excess(residual)
        size = 2.0 * weight * excess if self.is_smooth else np.where(excess > 0.0, weight, 0.0)
        return np.copysign(size, residual) if self.is_two_sided else size

    def second_derivative(self, residual: Vector, weight: Vector) -> Vector:
        """Return 2 c where a square counts, else 0."""
        if not self.is_smooth:
            return np.zeros_like(weight)
        counts = np.abs(residual) >= self.epsilon if self.is_two_sided else residual > 0.0
        return np.where(counts, 2.0 * weight, 0.0)

    def lower(self, weight: Vector) -> Vector:
        """Return 0, or minus the upper bound."""
        return -self.upper(weight) if self.is_two_sided else np.zeros_like(weight)

    def upper(self, weight: Vector) -> Vector:
        """Return c; for a square infinity, or 0 for rows without weight."""
        return np.where(weight > 0, np.inf, 0.0) if self.is_smooth else weight

    def curvature(self, weight: Vector) -> Vector:
        """Return the second derivative of the conjugate: 1 / (2 c) for a square, else 0."""
        if not self.is_smooth:
            return np.zeros_like(weight)
        with np.errstate(divide="ignore"):
            return 0.5 / weight

    def conjugate(self, alpha: Vector, weight: Vector) -> Vector:
        """Return epsilon |alpha|, for a square with alpha^2 / (4 c)."""
        price = self.epsilon * np.abs(alpha)
        if self.is_smooth:
            price = price + np.square(alpha) / (4.0 * np.where(weight > 0, weight, 1.0))
        return price

    def conjugate_slopes(self, alpha: Vector, weight: Vector) -> tuple[Vector, Vector]:
        """Return the slopes of the conjugate to both sides of alpha."""
        slope = alpha * self.curvature(np.where(weight > 0, weight, 1.0))
        left = slope + np.where(alpha > 0.0, self.epsilon, -self.epsilon)
        right = slope + np.where(alpha < 0.0, -self.epsilon, self.epsilon)
        left = np.where(alpha <= self.lower(weight), -np.inf, left)
        return left, np.where(alpha >= self.upper(weight), np.inf, right)

    def largest_within(self, residual: Vector, error: Vector) -> Vector:
        """Return the loss on the far side, as it does not fall with the size of the residual."""
        size = np.abs(residual) if self.is_two_sided else residual
        return self.value(size + error)

    def error_of_sum(self, error: float, weight: float, losses: float) -> float:
        """Return the error times the weight; for squares, by Cauchy and Schwarz."""
        if not self.is_smooth:
            return error * weight
        return 2.0 * error * float(np.sqrt(weight * losses)) + error * error * weight

    def core_shape(self, steepness: float = 2.0) -> _core.loss.LossShape:
        """Return the core's form of the loss; the steepness is that of a smoothed kink."""
        if self.is_two_sided:
            return _core.loss.LossShape.two_sided(self.epsilon, steepness, not self.is_smooth)
        return _core.loss.LossShape.one_sided(steepness, not self.is_smooth)

    def _excess(self, residual: Vector) -> Vector:
        """Return max(0, r), or max(0, |r| - epsilon)."""
        size = np.abs(residual) - self.epsilon if self.is_two_sided else residual
        return np.maximum(0.0, size)


@dataclass(frozen=True)
class Hinge(ClippedLoss):
    """max(0, r); alpha in [0, c]."""

    name = core_rule = "hinge"
    is_piecewise_linear = has_step_slope = becomes_hard = True


@dataclass(frozen=True)
class LargestHinge(ClippedLoss):
    """max(0, r) with r the largest over all other classes; each class's alpha in [0, c]."""

    name = "crammer_singer"
    compares_classes = True


@dataclass(frozen=True)
class HardMargin(ClippedLoss):
    """0 if r <= 0, else infinite, whatever the weight; alpha in [0, inf)."""

    name = "hard_margin"
    is_constraint = True

    def value(self, residual: Vector) -> Vector:
        """Return 0, or infinity for rows on the wrong side."""
        return np.where(residual > 0.0, np.inf, 0.0)

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return 0, or infinity for rows on the wrong side."""
        return np.where(residual > 0.0, self.upper(weight), 0.0)

    def upper(self, weight: Vector) -> Vector:
        """Return infinity, or 0 for rows without weight."""
        return np.where(weight > 0, np.inf, 0.0)


@dataclass(frozen=True)
class SquaredHinge(ClippedLoss):
    """max(0, r)^2; alpha in [0, inf)."""

    name = core_rule = "squared_hinge"
    is_smooth = is_piecewise_quadratic = becomes_hard = True


@dataclass(frozen=True)
class EpsilonInsensitive(ClippedLoss):
    """max(0, |r| - epsilon); alpha in [-c, c]."""

    name = core_rule = "epsilon_insensitive"
    is_two_sided = is_piecewise_linear = True


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(ClippedLoss):
    """max(0, |r| - epsilon)^2; any alpha."""

    name = core_rule = "squared_epsilon_insensitive"
    is_two_sided = is_smooth = is_piecewise_quadratic = True
