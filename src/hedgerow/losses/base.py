"""What a loss is: its value, derivative and conjugate, and what solvers ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core

__all__ = ["Loss"]

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

    def core_shape(self, steepness: float = 2.0) -> _core.loss.LossShape | None:  # noqa: ARG002
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
