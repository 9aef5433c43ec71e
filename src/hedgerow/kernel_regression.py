"""Kernel machines for values: epsilon-SVR and nu-SVR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.kernel_problems import (
    FAINT_LOSS,
    BoxProgram,
    KernelPoint,
    KernelProblem,
    filled,
    one_group,
)
from hedgerow.problems import inner

__all__ = ["NuTube", "Tube"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tube(KernelProblem):
    """Regression that pays for what is more than epsilon off.

    ::

        primal   minimise   1/2 |w|^2 + sum_i c_i max(0, |z_i - <w, phi(x_i)> - b| - epsilon)
                 over w, b

        dual     maximise   z' beta - epsilon sum_i |beta_i| - 1/2 beta' K beta
                 over       |beta_i| <= c_i,  sum_i beta_i = 0

    A point has two variables, of beta above 0 and below. Without an intercept b = 0, and nothing is
    asked of the sum.

    Attributes
    ----------
    target : ndarray
        z_i.
    weight : ndarray
        c_i: C times the weight of the point.
    epsilon : float
        Half the width of the tube.
    has_intercept : bool
        Whether there is a b.
    """

    target: Vector
    weight: Vector
    epsilon: float
    has_intercept: bool = True

    @cached_property
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""
        z, none = self.target, np.zeros(len(self.target))
        return BoxProgram(
            linear=np.concatenate([self.epsilon - z, -self.epsilon - z]),
            lower=np.concatenate([none, -self.weight]),
            upper=np.concatenate([self.weight, none]),
            ridge=np.zeros(2 * len(z)),
            group=one_group(2 * len(z)),
            sums=(0.0,) if self.has_intercept else (),
            start=np.zeros(2 * len(z)),
        )

    @cached_property
    def least_scale(self) -> float:
        """The objective of a `FAINT_LOSS`; the optimum is 0 where the tube holds every target."""
        return _faint_objective(self.target, self.weight, self.epsilon)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w and b."""
        off = np.abs(self.target - point.products - self.figures(point)["intercept"]) + error
        return 0.5 * point.sq_norm + inner(self.weight, np.maximum(0.0, off - self.epsilon))


@dataclass(frozen=True, eq=False)
class NuTube(KernelProblem):
    """Regression whose tube is found along: nu bounds the share of points outside it.

    ::

        primal   minimise   1/2 |w|^2 + sum_i c_i max(0, |z_i - <w, phi(x_i)> - b| - epsilon)
                            + nu (sum_i c_i) epsilon
                 over w, b, epsilon >= 0

        dual     maximise   z' beta - 1/2 beta' K beta
                 over       beta = above + below,  0 <= above_i <= c_i,  -c_i <= below_i <= 0,
                            the sum of above = nu (sum_i c_i) / 2 = minus the sum of below

    Attributes
    ----------
    target : ndarray
        z_i.
    weight : ndarray
        c_i: C times the weight of the point.
    nu : float
        Above 0 and at most 1.
    """

    target: Vector
    weight: Vector
    nu: float

    def __post_init__(self) -> None:
        if self.nu > 1.0:
            msg = f"nu={self.nu} is infeasible, no more than all points can be outside the tube; use nu of at most 1"
            raise ParameterError(msg)

    @cached_property
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""
        n, none = len(self.target), np.zeros(len(self.target))
        half = 0.5 * self.nu * float(np.sum(self.weight))
        start = filled(self.weight, half)
        return BoxProgram(
            linear=np.concatenate([-self.target, -self.target]),
            lower=np.concatenate([none, -self.weight]),
            upper=np.concatenate([self.weight, none]),
            ridge=np.zeros(2 * n),
            group=np.repeat(np.array([0, 1], dtype=np.uint8), n),
            sums=(half, -half),
            start=np.concatenate([start, -start]),
        )

    def figures(self, point: KernelPoint) -> dict[str, float]:
        """Return b and epsilon: free points have <w, phi(x)> = z - b, less or plus epsilon."""
        above, below = point.levels
        return {"intercept": 0.5 * (above + below), "epsilon": max(0.0, 0.5 * (above - below))}

    @cached_property
    def least_scale(self) -> float:
        """The objective of a `FAINT_LOSS`; the optimum is 0 where all targets are equal."""
        return _faint_objective(self.target, self.weight, 0.0)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w, b and epsilon."""
        found = self.figures(point)
        off = np.abs(self.target - point.products - found["intercept"]) + error
        losses = inner(self.weight, np.maximum(0.0, off - found["epsilon"]))
        price = self.nu * float(np.sum(self.weight)) * found["epsilon"]
        return 0.5 * point.sq_norm + losses + price


def _faint_objective(target: Vector, weight: Vector, epsilon: float) -> float:
    """Return the objective of a machine whose mean loss is as good as none."""
    used = target[weight > 0]
    size = 0.5 * float(np.ptp(used)) + epsilon if len(used) else 0.0
    return FAINT_LOSS * float(np.sum(weight)) * size
