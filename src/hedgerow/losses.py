"""Losses of the residual r = target - functional margin, and their conjugates.

A classifier's rows have the functional margin m = y * score and one target for all (1, or 0 for the
logistic loss); a regressor's rows have y = +1 and their own targets. The loss of a row with
weight c is c * value(r). Its convex conjugate gives the row's part of the dual on
lower <= alpha <= upper, so that for every r and every such alpha

    c * value(r) + conjugate(alpha)  >=  alpha * r          (Fenchel and Young)

with equality where alpha is a slope of c * value at r. Every gap is a sum of these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import Rule
from hedgerow.errors import ParameterError

__all__ = [
    "ALL_CLASSES",
    "BUILT_IN",
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
    "groups_points",
    "loss_by_name",
    "own_loss",
    "regression_loss",
]

Vector = NDArray[np.float64]

LARGEST_LOGARITHM = 40.0
"""Of a share that is not 0, or of 1 minus it, in the conjugate of the logistic loss."""
DIFFERENCE = 1e-7
"""Step of a difference quotient, relative to the size of the residual."""
OF_FORMULA = {
    "core_rule",
    "is_piecewise_linear",
    "is_piecewise_quadratic",
    "has_step_slope",
    "has_log_odds",
    "becomes_hard",
}
"""Attributes that say which formula a loss is."""
FARTHEST, BISECTIONS = 1e12, 64
"""Where a residual is looked for, and in how many steps."""


class Loss(ABC):
    """A convex loss of the residual.

    A loss of your own is a subclass with `value`, `alpha_at` and `conjugate`; :func:`hedgerow.testing.check_loss`
    says whether they belong together. The other methods have defaults that are right for any smooth
    convex loss. Override them where a formula is known: it is faster and more exact.

    Attributes
    ----------
    name : str
        What users call it.
    target : float
        The target of every row of a classifier.
    is_smooth : bool
        Whether it has a derivative everywhere.
    is_two_sided : bool
        Whether residuals of both signs cost.
    epsilon : float
        How large a residual costs nothing.
    vanishes : bool
        Whether all residuals up to epsilon cost exactly nothing.
    is_piecewise_linear, is_piecewise_quadratic : bool
        Whether it is max(0, r) or max(0, |r| - epsilon), or the square of one of these.
    has_step_slope : bool
        Whether it is max(0, r), whose alpha is c for rows that violate their margin, else 0.
    has_log_odds : bool
        Whether it is log(1 + e^r), whose alpha is c times a probability.
    is_constraint : bool
        Whether it is infinite for rows on the wrong side.
    compares_classes : bool
        Whether it is a loss of the scores of all classes, not of one residual.
    reaches_bounds : bool
        Whether an alpha can be equal to its bound at a finite residual.
    becomes_hard : bool
        Whether it turns into a hard margin as its weight grows.
    core_rule : str or None
        The name of the rule by which the core solves for one alpha; None if the core has none.
    conjugate_terms : float
        How large, for a weight of 1, terms of the conjugate can be that cancel out: bounds its rounding.
    """

    target: ClassVar[float] = 1.0
    is_smooth: ClassVar[bool] = True
    is_two_sided: ClassVar[bool] = False
    vanishes: ClassVar[bool] = False
    is_piecewise_linear: ClassVar[bool] = False
    is_piecewise_quadratic: ClassVar[bool] = False
    has_step_slope: ClassVar[bool] = False
    has_log_odds: ClassVar[bool] = False
    is_constraint: ClassVar[bool] = False
    compares_classes: ClassVar[bool] = False
    reaches_bounds: ClassVar[bool] = True
    becomes_hard: ClassVar[bool] = False
    core_rule: ClassVar[str | None] = None
    conjugate_terms: ClassVar[float] = LARGEST_LOGARITHM
    epsilon: float = 0.0

    def __init_subclass__(cls) -> None:
        """Take nothing over from a loss with another formula that is true of that formula alone."""
        super().__init_subclass__()
        if {"value", "alpha_at"} & vars(cls).keys():
            for name in OF_FORMULA - vars(cls).keys():
                setattr(cls, name, getattr(Loss, name))

    @property
    def name(self) -> str:
        """What users call it."""
        return type(self).__name__

    def __repr__(self) -> str:
        kind = type(self)
        return f"{kind.__module__}.{kind.__qualname__}({vars(self)!r})"

    @abstractmethod
    def value(self, residual: Vector) -> Vector:
        """Return the loss at each residual."""

    @abstractmethod
    def alpha_at(self, residual: Vector, weight: Vector) -> Vector:
        """Return the derivative of weight * value at each residual, or any slope at a kink."""

    @abstractmethod
    def conjugate(self, alpha: Vector, weight: Vector) -> Vector:
        """Return each row's price in the dual at lower <= alpha <= upper."""

    def second_derivative(self, residual: Vector, weight: Vector) -> Vector:
        """Return the second derivative of weight * value, 0 at kinks of the loss."""
        step = DIFFERENCE * (1.0 + np.abs(residual))
        rise = self.alpha_at(residual + step, weight) - self.alpha_at(residual - step, weight)
        return rise / (2.0 * step)

    def lower(self, weight: Vector) -> Vector:
        """Return the least alpha of each row."""
        return self._slope_towards(-np.inf, weight)

    def upper(self, weight: Vector) -> Vector:
        """Return the largest alpha of each row."""
        return self._slope_towards(np.inf, weight)

    def _slope_towards(self, end: float, weight: Vector) -> Vector:
        """Return the derivative far out, 0 for rows without weight."""
        with np.errstate(invalid="ignore"):
            return np.where(weight > 0, self.alpha_at(np.full_like(weight, end), weight), 0.0)

    def curvature(self, weight: Vector) -> Vector:
        """Return a lower bound on the second derivative of the conjugate."""
        return np.zeros_like(weight)

    def conjugate_slopes(self, alpha: Vector, weight: Vector) -> tuple[Vector, Vector]:
        """Return its slopes to the left and to the right; infinite towards what is out of bounds.

        They are the least and the largest residual with this derivative, found by bisection.
        """
        is_reached = partial(self._compares, np.greater_equal, alpha, weight)
        is_passed = partial(self._compares, np.greater, alpha, weight)
        left = np.where(alpha <= self.lower(weight), -np.inf, _first_residual(is_reached, alpha))
        right = np.where(alpha >= self.upper(weight), np.inf, _first_residual(is_passed, alpha))
        return left, right

    def _compares(
        self, compare: Callable[..., Any], alpha: Vector, weight: Vector, residual: Vector
    ) -> NDArray[np.bool_]:
        """Compare the derivative at residuals with alpha."""
        found: NDArray[np.bool_] = compare(self.alpha_at(residual, weight), alpha)
        return found

    def largest_within(self, residual: Vector, error: Vector) -> Vector:
        """Return the largest loss at a distance of at most so much from each residual."""
        return np.maximum(self.value(residual + error), self.value(residual - error))

    def error_of_sum(self, error: float, weight: float, losses: float) -> float | None:  # noqa: ARG002
        """Return how far off a weighted sum of losses may be if each residual is off by at most so much.

        Parameters
        ----------
        error : float
            How far off a residual may be.
        weight : float
            The sum of the weights.
        losses : float
            The weighted sum of the losses.

        Returns
        -------
        float or None
            A bound; None if it takes more than these sums to tell.
        """
        return None

    def core_shape(self, steepness: float = 2.0) -> _core.LossShape | None:  # noqa: ARG002
        """Return the core's form of the loss, or None; the steepness is that of a smoothed kink."""
        return None


def _first_residual(is_there: Callable[[Vector], NDArray[np.bool_]], like: Vector) -> Vector:
    """Return the least residual for which a condition holds that stays true once it is."""
    low, high = np.full_like(like, -FARTHEST), np.full_like(like, FARTHEST)
    for _ in range(BISECTIONS):
        # The middle on a scale that is linear near 0 and logarithmic far out.
        middle = np.sinh(0.5 * (np.arcsinh(low) + np.arcsinh(high)))
        there = is_there(middle)
        low, high = np.where(there, low, middle), np.where(there, middle, high)
    return high


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

    def core_shape(self, steepness: float = 2.0) -> _core.LossShape:
        """Return the core's form of the loss; the steepness is that of a smoothed kink."""
        if self.is_two_sided:
            return _core.LossShape.two_sided(self.epsilon, steepness, not self.is_smooth)
        return _core.LossShape.one_sided(steepness, not self.is_smooth)

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

    def core_shape(self, steepness: float = 2.0) -> _core.LossShape:  # noqa: ARG002
        """Return the core's form of the loss."""
        return _core.LossShape.logistic()


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


BUILT_IN: tuple[Loss, ...] = (
    *LOSSES.values(),
    EpsilonInsensitive(),
    SquaredEpsilonInsensitive(),
    HARD,
    ALL_CLASSES,
)
"""One of each loss."""


def loss_by_name(name: str | Loss) -> Loss:
    """Return a classifier's loss of that name; one that is given as an object is returned as it is."""
    if isinstance(name, Loss):
        return name
    _refuse_unknown(name, LOSSES)
    return LOSSES[name]


def regression_loss(name: str | Loss, epsilon: float) -> Loss:
    """Return a regressor's loss of that name; one that is given as an object is returned as it is."""
    if isinstance(name, Loss):
        return name
    _refuse_unknown(name, REGRESSION_LOSSES)
    return REGRESSION_LOSSES[name](epsilon)


def own_loss(*, is_two_sided: bool) -> Rule:
    """Allow a loss of the user's own, for classes or for regression."""

    def rule(value: Any) -> str | None:
        if isinstance(value, Loss) and value.is_two_sided == is_two_sided:
            return None
        return f"a hedgerow.losses.Loss with is_two_sided={is_two_sided}"

    return rule


def groups_points(loss: str | Loss) -> bool:
    """Say whether an alpha of a loss can be at its bound, by which points are told apart."""
    known = {each.name: each for each in BUILT_IN}
    return (loss if isinstance(loss, Loss) else known[loss]).reaches_bounds


def _refuse_unknown(name: str, known: Iterable[str]) -> None:
    if name not in known:
        msg = f"loss={name!r} is not known; choose one of {', '.join(map(repr, known))}"
        raise ParameterError(msg)
