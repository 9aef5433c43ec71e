"""epsilon-SVR with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.problems.base import Vector, inner
from hedgerow.problems.box_program import BoxProgram, one_group
from hedgerow.problems.kernel import FAINT_LOSS, KernelPoint, KernelProblem

__all__ = ["SvrProblem", "faint_objective"]


@dataclass(frozen=True, eq=False)
class SvrProblem(KernelProblem):
    """Regression in which errors of up to epsilon cost nothing.

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
        return faint_objective(self.target, self.weight, self.epsilon)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w and b."""
        off = np.abs(self.target - point.products - self.figures(point)["intercept"]) + error
        return 0.5 * point.sq_norm + inner(self.weight, np.maximum(0.0, off - self.epsilon))


def faint_objective(target: Vector, weight: Vector, epsilon: float) -> float:
    """Return the objective of a machine whose mean loss is as good as none."""
    used = target[weight > 0]
    size = 0.5 * float(np.ptp(used)) + epsilon if len(used) else 0.0
    return FAINT_LOSS * float(np.sum(weight)) * size
