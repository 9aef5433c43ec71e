"""Losses of the residual r = target - functional margin, and what their duals look like.

A classifier's rows have the functional margin m = y * score and one target for all (1, or 0 for the
logistic loss); a regressor's rows have y = +1 and their value as target. The loss of a row with
weight c is c * value(r). Its convex conjugate gives the row's part of the dual on
lower <= alpha <= upper, so that for every r and every such alpha

    c * value(r) + conjugate(alpha)  >=  alpha * r          (Fenchel and Young)

with equality where alpha is a slope of c * value at r. Every gap is a sum of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError

__all__ = [
    "ALL_CLASSES",
    "HARD",
    "LOSSES",
    "REGRESSION_LOSSES",
    "ClippedLoss",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "LargestHinge",
    "Logistic",
    "Loss",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "loss_by_name",
    "regression_loss",
]

Vector = NDArray[np.float64]


class Loss(Protocol):
    """A convex loss of the residual."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def target(self) -> float:
        """The target of every row of a classifier."""

    @property
    def is_smooth(self) -> bool:
        """Whether it has a slope everywhere."""

    @property
    def is_two_sided(self) -> bool:
        """Whether residuals of both signs cost."""

    @property
    def epsilon(self) -> float:
        """How large a residual costs nothing."""

    def value(self, residual: Vector) -> Vector:
        """Return the loss at each residual."""

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return a slope of weight * value at each residual."""

    def bend_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return the second derivative of weight * value, 0 at kinks of the loss."""

    def lower(self, weight: Vector) -> Vector:
        """Return the least alpha of each row."""

    def upper(self, weight: Vector) -> Vector:
        """Return the largest alpha of each row."""

    def curvature(self, weight: Vector) -> Vector:
        """Return the least second derivative of the conjugate."""

    def conjugate(self, alpha: Vector, weight: Vector) -> Vector:
        """Return each row's price in the dual at lower <= alpha <= upper."""

    def conjugate_slopes(self, alpha: Vector, weight: Vector) -> tuple[Vector, Vector]:
        """Return its slopes to the left and to the right; infinite towards what is out of bounds."""


@dataclass(frozen=True)
class ClippedLoss:
    """max(0, r), or max(0, |r| - epsilon) if it is two-sided, or the square of it.

    On 0 <= alpha <= c, or -c <= alpha <= c, the conjugate is epsilon |alpha|. For a square it is
    epsilon |alpha| + alpha^2 / (4 c), and alpha has no bound on the far side.
    """

    epsilon: float = 0.0
    name: ClassVar[str]
    target: ClassVar[float] = 1.0
    is_two_sided: ClassVar[bool] = False
    is_smooth: ClassVar[bool] = False  # whether it is a square

    def value(self, residual: Vector) -> Vector:
        """Return how far the residual is on the wrong side, or its square."""
        excess = self._excess(residual)
        return np.square(excess) if self.is_smooth else excess

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return c, or 2 c times the excess for a square, with the sign of the residual."""
        excess = self._excess(residual)
        size = 2.0 * weight * excess if self.is_smooth else np.where(excess > 0.0, weight, 0.0)
        return np.copysign(size, residual) if self.is_two_sided else size

    def bend_at(self, residual: Vector, weight: Vector) -> Vector:
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
        bent = alpha * self.curvature(np.where(weight > 0, weight, 1.0))
        left = bent + np.where(alpha > 0.0, self.epsilon, -self.epsilon)
        right = bent + np.where(alpha < 0.0, -self.epsilon, self.epsilon)
        left = np.where(alpha <= self.lower(weight), -np.inf, left)
        return left, np.where(alpha >= self.upper(weight), np.inf, right)

    def _excess(self, residual: Vector) -> Vector:
        """Return max(0, r), or max(0, |r| - epsilon)."""
        size = np.abs(residual) - self.epsilon if self.is_two_sided else residual
        return np.maximum(0.0, size)


@dataclass(frozen=True)
class Hinge(ClippedLoss):
    """max(0, r); alpha in [0, c]."""

    name = "hinge"


@dataclass(frozen=True)
class LargestHinge(ClippedLoss):
    """max(0, r) with r the largest over all other classes; each class's alpha in [0, c]."""

    name = "crammer_singer"


@dataclass(frozen=True)
class HardMargin(ClippedLoss):
    """0 if r <= 0, else infinite, whatever the weight; alpha in [0, inf)."""

    name = "hard_margin"

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

    name = "squared_hinge"
    is_smooth = True


@dataclass(frozen=True)
class EpsilonInsensitive(ClippedLoss):
    """max(0, |r| - epsilon); alpha in [-c, c]."""

    name = "epsilon_insensitive"
    is_two_sided = True


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(ClippedLoss):
    """max(0, |r| - epsilon)^2; any alpha."""

    name = "squared_epsilon_insensitive"
    is_two_sided = True
    is_smooth = True


@dataclass(frozen=True)
class Logistic:
    """log(1 + e^r); alpha in [0, c], its conjugate the entropy of alpha / c times -c."""

    name: ClassVar[str] = "logistic"
    target: ClassVar[float] = 0.0
    is_smooth: ClassVar[bool] = True
    is_two_sided: ClassVar[bool] = False
    epsilon: ClassVar[float] = 0.0

    def value(self, residual: Vector) -> Vector:
        """Return log(1 + e^r)."""
        return np.logaddexp(0.0, residual)

    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return c / (1 + e^-r)."""
        return weight * _sigmoid(residual)

    def bend_at(self, residual: Vector, weight: Vector) -> Vector:
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


def _sigmoid(r: Vector) -> Vector:
    """Return 1 / (1 + e^-r), accurate where it is small."""
    small = np.exp(-np.abs(r))
    return np.where(r >= 0.0, 1.0, small) / (1.0 + small)


def _times_log(share: Vector) -> Vector:
    """Return share * log(share), 0 at 0."""
    return share * np.log(np.where(share > 0.0, share, 1.0))


HARD: Loss = HardMargin()
"""The loss of a hard margin; users ask for it by an infinite C."""

ALL_CLASSES: Loss = LargestHinge()
"""The loss of all classes at once; users ask for it by ``multi_class="crammer_singer"``."""

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic())}
"""The losses of classifiers."""

REGRESSION_LOSSES: dict[str, Callable[[float], Loss]] = {
    loss.name: loss for loss in (EpsilonInsensitive, SquaredEpsilonInsensitive)
}
"""The losses of regressors, each made for an epsilon."""


def loss_by_name(name: str) -> Loss:
    """Return a classifier's loss of that name."""
    _refuse_unknown(name, LOSSES)
    return LOSSES[name]


def regression_loss(name: str, epsilon: float) -> Loss:
    """Return a regressor's loss of that name."""
    _refuse_unknown(name, REGRESSION_LOSSES)
    return REGRESSION_LOSSES[name](epsilon)


def _refuse_unknown(name: str, known: Iterable[str]) -> None:
    if name not in known:
        msg = f"loss={name!r} is not known; choose one of {', '.join(map(repr, known))}"
        raise ParameterError(msg)
