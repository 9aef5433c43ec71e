"""The one-class machine with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.problems.base import Vector, inner
from hedgerow.problems.box_program import BoxProgram, filled, one_group
from hedgerow.problems.kernel import FAINT, KernelPoint, KernelProblem

__all__ = ["OneClassProblem"]


@dataclass(frozen=True, eq=False)
class OneClassProblem(KernelProblem):
    """A hyperplane between most points and the origin; nu bounds the share of points on the wrong side.

    ::

        primal   minimise   1/2 |w|^2 + sum_i c_i max(0, rho - <w, phi(x_i)>) - nu W rho
                 over w, rho

        dual     maximise   -1/2 beta' K beta
                 over       0 <= beta_i <= c_i,  sum_i beta_i = nu W

    with W = sum_i c_i. The score of a point is <w, phi(x)> - rho.

    Attributes
    ----------
    weight : ndarray
        c_i, the weight of each point.
    nu : float
        Above 0 and at most 1.
    """

    weight: Vector
    nu: float

    def __post_init__(self) -> None:
        if self.nu > 1.0:
            msg = f"nu={self.nu} is infeasible, no more than all points can be outliers; use nu of at most 1"
            raise ParameterError(msg)

    @cached_property
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""
        n, total = len(self.weight), self.nu * float(np.sum(self.weight))
        return BoxProgram(
            linear=np.zeros(n),
            lower=np.zeros(n),
            upper=self.weight,
            ridge=np.zeros(n),
            group=one_group(n),
            sums=(total,),
            start=filled(self.weight, total),
        )

    @cached_property
    def least_scale(self) -> float:
        """The optimum of a `FAINT` share of w, if all points were the largest one; the true one may be 0."""
        longest = float(np.max(np.abs(self.gram.diagonal), initial=0.0))
        return 0.5 * (FAINT * self.program.sums[0]) ** 2 * longest

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w and rho, which is -b."""
        rho = -point.levels[0]
        losses = inner(self.weight, np.maximum(0.0, rho - point.products + error))
        return 0.5 * point.sq_norm + losses - self.program.sums[0] * rho
