"""nu-SVC with a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.problems.base import Vector, inner
from hedgerow.problems.box_program import BoxProgram, filled
from hedgerow.problems.kernel import FAINT, KernelPoint, KernelProblem

__all__ = ["NuSvcProblem"]


@dataclass(frozen=True, eq=False)
class NuSvcProblem(KernelProblem):
    """Two classes with a margin rho that is part of the solution; nu bounds the share of margin errors.

    ::

        primal   minimise   1/2 |w|^2 + sum_i c_i max(0, rho - y_i (<w, phi(x_i)> + b)) - nu W rho
                 over w, b, rho

        dual     maximise   -1/2 beta' K beta
                 over       0 <= y_i beta_i <= c_i,
                            the sum over class +1 = nu W / 2 = minus the sum over class -1

    with W = sum_i c_i. At most a share nu of the weight has a functional margin below rho, and at least
    that share is of support vectors. Dividing w and b by rho gives the machine with margin 1.

    Attributes
    ----------
    y : ndarray
        +1 or -1.
    weight : ndarray
        c_i, the weight of each point.
    nu : float
        Above 0 and at most twice the share of the lighter class.
    sides : str
        What to call the two classes in a message.
    """

    y: Vector
    weight: Vector
    nu: float
    sides: str = "these classes"
    is_divided_by_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        total, positive = np.sum(self.weight), np.sum(self.weight[self.y > 0])
        largest = 2.0 * min(positive, total - positive) / total
        if self.nu > largest * (1.0 + 1e-12):
            msg = (
                f"nu={self.nu} is infeasible for {self.sides}, of which the lighter one has "
                f"{100 * largest / 2:.3g} % of the weight; use nu of at most {largest:.6g}"
            )
            raise ParameterError(msg)

    @cached_property
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""
        y, n = self.y, len(self.y)
        half = 0.5 * self.nu * float(np.sum(self.weight))
        start = np.empty(n)
        for sign in (1.0, -1.0):
            of_class = y == sign
            start[of_class] = sign * filled(self.weight[of_class], half)
        return BoxProgram(
            linear=np.zeros(n),
            lower=np.where(y > 0, 0.0, -self.weight),
            upper=np.where(y > 0, self.weight, 0.0),
            ridge=np.zeros(n),
            group=(y < 0).astype(np.uint8),
            sums=(half, -half),
            start=start,
        )

    def figures(self, point: KernelPoint) -> dict[str, float]:
        """Return b and rho: free points of class y have <w, phi(x)> = y rho - b."""
        of_positive, of_negative = point.levels
        return {
            "intercept": 0.5 * (of_positive + of_negative),
            "rho": 0.5 * (of_negative - of_positive),
        }

    @property
    def subject(self) -> str:
        """The two classes."""
        return self.sides

    @cached_property
    def least_scale(self) -> float:
        """The optimum of nearest points that are a `FAINT` distance apart; the true one may be 0."""
        longest = float(np.max(np.abs(self.gram.diagonal), initial=0.0))
        return 0.5 * (FAINT * 2.0 * self.program.sums[0]) ** 2 * longest

    def score_unit(self, point: KernelPoint) -> float:
        """Return rho, by which the machine is divided."""
        return max(self.figures(point)["rho"], 0.0)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w, b and rho."""
        found = self.figures(point)
        margins = self.y * (point.products + found["intercept"]) - error
        short = np.maximum(0.0, found["rho"] - margins)
        gain = self.nu * float(np.sum(self.weight)) * found["rho"]
        return 0.5 * point.sq_norm + inner(self.weight, short) - gain
