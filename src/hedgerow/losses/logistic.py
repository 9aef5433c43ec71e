"""The logistic loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.losses.base import Loss

__all__ = ["Logistic"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + e^r); alpha in [0, c], its conjugate the entropy of alpha / c times -c."""

    name = core_rule = "logistic"
    target = 0.0
    has_log_odds = True
    reaches_bounds = False

    def value(self, residual: Vector) -> Vector:
        """Return log(1 + e^r)."""
        return np.logaddexp(0.0, residual)

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return c / (1 + e^-r)."""
        return weight * _sigmoid(residual)

    def second_derivative(self, residual: Vector, weight: Vector) -> Vector:
        """Return c s (1 - s) for s = 1 / (1 + e^-r)."""
        return weight * _sigmoid(residual) * _sigmoid(-residual)

    def lower(self, weight: Vector) -> Vector:
        """Return 0."""
        return np.zeros_like(weight)

    def upper(self, weight: Vector) -> Vector:
        """Return c."""
        return weight

    def curvature(self, weight: Vector) -> Vector:
        """Return 4 / c, the second derivative of the conjugate in the middle, where it is least."""
        with np.errstate(divide="ignore"):
            return 4.0 / weight

    def conjugate(self, alpha: Vector, weight: Vector) -> Vector:
        """Return alpha log(alpha / c) + (c - alpha) log(1 - alpha / c), 0 at the ends."""
        share = alpha / np.where(weight > 0, weight, 1.0)
        return weight * (_times_log(share) + _times_log(1.0 - share))

    def conjugate_slopes(self, alpha: Vector, weight: Vector) -> tuple[Vector, Vector]:
        """Return log(alpha / (c - alpha)) twice; at the ends as far out as float64 can tell."""
        share = alpha / np.where(weight > 0, weight, 1.0)
        inside = np.clip(share, np.finfo(np.float64).tiny, 1.0 - np.finfo(np.float64).epsneg)
        slope = np.log(inside) - np.log1p(-inside)
        return slope, slope

    def largest_within(self, residual: Vector, error: Vector) -> Vector:
        """Return the loss at the larger end, as it rises with the residual."""
        return self.value(residual + error)

    def error_of_sum(self, error: float, weight: float, losses: float) -> float:  # noqa: ARG002
        """Return the error times the weight, as no slope exceeds that of a row."""
        return error * weight

    def core_shape(self, steepness: float = 2.0) -> _core.loss.LossShape:  # noqa: ARG002
        """Return the core's form of the loss."""
        return _core.loss.LossShape.logistic()


def _sigmoid(r: Vector) -> Vector:
    """Return 1 / (1 + e^-r), accurate where it is small."""
    small = np.exp(-np.abs(r))
    return np.where(r >= 0.0, 1.0, small) / (1.0 + small)


def _times_log(share: Vector) -> Vector:
    """Return share * log(share), 0 at 0."""
    return share * np.log(np.where(share > 0.0, share, 1.0))
