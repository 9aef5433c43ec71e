"""Losses of the functional margin m = y * score, and what their duals look like.

The loss of a row with weight c is c * value(m). Its convex conjugate gives the row's part of the
dual, gain(alpha) on 0 <= alpha <= upper, so that for every m and every such alpha

    c * value(m)  >=  gain(alpha) - alpha * m          (Fenchel and Young)

with equality where alpha is minus a slope of c * value at m. Every gap is a sum of these.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError

__all__ = ["LOSSES", "Hinge", "Loss", "SquaredHinge", "loss_by_name"]

Vector = NDArray[np.float64]


class Loss(Protocol):
    """A convex, decreasing loss of the functional margin."""

    name: str

    def value(self, margin: Vector) -> Vector:
        """Return the loss at each functional margin."""

    def upper(self, weight: Vector) -> Vector:
        """Return the largest alpha of each row."""

    def curvature(self, weight: Vector) -> Vector:
        """Return the second derivative of -gain: 0 where gain is linear, inf for weight 0."""

    def gain(self, alpha: Vector, weight: Vector) -> Vector:
        """Return each row's part of the dual at 0 <= alpha <= upper."""

    def alpha_at(self, margin: Vector, weight: Vector) -> Vector:
        """Return minus a slope of weight * value at each functional margin."""


class Hinge:
    """max(0, 1 - m); dual: gain(alpha) = alpha on [0, c]."""

    name = "hinge"

    def value(self, margin: Vector) -> Vector:
        """Return max(0, 1 - m)."""
        return np.maximum(0.0, 1.0 - margin)

    def upper(self, weight: Vector) -> Vector:
        """Return c."""
        return weight

    def curvature(self, weight: Vector) -> Vector:
        """Return 0: the dual is linear in alpha."""
        return np.zeros_like(weight)

    def gain(self, alpha: Vector, weight: Vector) -> Vector:  # noqa: ARG002 - the protocol's form
        """Return alpha."""
        return alpha

    def alpha_at(self, margin: Vector, weight: Vector) -> Vector:
        """Return c where m < 1, else 0."""
        return np.where(margin < 1.0, weight, 0.0)


class SquaredHinge:
    """max(0, 1 - m)^2; dual: gain(alpha) = alpha - alpha^2 / (4 c) on [0, inf)."""

    name = "squared_hinge"

    def value(self, margin: Vector) -> Vector:
        """Return max(0, 1 - m)^2."""
        return np.square(np.maximum(0.0, 1.0 - margin))

    def upper(self, weight: Vector) -> Vector:
        """Return infinity, or 0 for rows without weight."""
        return np.where(weight > 0, np.inf, 0.0)

    def curvature(self, weight: Vector) -> Vector:
        """Return 1 / (2 c)."""
        with np.errstate(divide="ignore"):
            return 0.5 / weight

    def gain(self, alpha: Vector, weight: Vector) -> Vector:
        """Return alpha - alpha^2 / (4 c)."""
        safe = np.where(weight > 0, weight, 1.0)
        return alpha - np.square(alpha) / (4.0 * safe)

    def alpha_at(self, margin: Vector, weight: Vector) -> Vector:
        """Return 2 c max(0, 1 - m)."""
        return 2.0 * weight * np.maximum(0.0, 1.0 - margin)


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge())}


def loss_by_name(name: str) -> Loss:
    """Return the loss of that name."""
    if name not in LOSSES:
        msg = f"loss={name!r} is not known; choose one of {', '.join(map(repr, LOSSES))}"
        raise ParameterError(msg)
    return LOSSES[name]
