"""nu-SVR with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.problems.base import Vector, inner
from hedgerow.problems.box_program import BoxProgram, filled
from hedgerow.problems.kernel import KernelPoint, KernelProblem
from hedgerow.problems.svr import faint_objective

__all__ = ["NuSvrProblem"]


@dataclass(frozen=True, eq=False)
class NuSvrProblem(KernelProblem):
    """Regression with a tube whose width is part of the solution; nu bounds the share of points outside it.

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
        return faint_objective(self.target, self.weight, 0.0)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w, b and epsilon."""
        found = self.figures(point)
        off = np.abs(self.target - point.products - found["intercept"]) + error
        losses = inner(self.weight, np.maximum(0.0, off - found["epsilon"]))
        price = self.nu * float(np.sum(self.weight)) * found["epsilon"]
        return 0.5 * point.sq_norm + losses + price
