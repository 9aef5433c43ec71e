"""SVDD: the smallest ball around the points in the space of a kernel, with slack."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from hedgerow.errors import ParameterError
from hedgerow.problems.base import Vector
from hedgerow.problems.box_program import BoxProgram, filled, one_group
from hedgerow.problems.kernel import FAINT, KernelPoint, KernelProblem

__all__ = ["SvddProblem"]


@dataclass(frozen=True, eq=False)
class SvddProblem(KernelProblem):
    """The smallest ball around the points, or around most of them (SVDD).

    ::

        primal   minimise   R^2 + sum_i c_i max(0, |phi(x_i) - a|^2 - R^2)
                 over a, R^2

        dual     maximise   sum_i beta_i K(x_i, x_i) - beta' K beta
                 over       0 <= beta_i <= c_i,  sum_i beta_i = 1,  with  a = sum_i beta_i phi(x_i)

    With every c_i >= 1 no point is left outside. The program is half of this.

    Attributes
    ----------
    weight : ndarray
        c_i: what it costs to leave the point outside; their sum is at least 1.
    """

    weight: Vector
    program_scale: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        total = float(np.sum(self.weight))
        if total < 1.0 - 1e-12:
            n = int(np.count_nonzero(self.weight))
            msg = f"the weights of the {n} points sum to {total:.6g}, so a ball of radius 0 is best; use C of at least {1 / n:.6g}"
            raise ParameterError(msg)

    @cached_property
    def program(self) -> BoxProgram:
        """Half the dual, as a minimisation."""
        n = len(self.weight)
        upper = np.minimum(self.weight, 1.0)
        return BoxProgram(
            linear=-0.5 * self.gram.diagonal,
            lower=np.zeros(n),
            upper=upper,
            ridge=np.zeros(n),
            group=one_group(n),
            sums=(1.0,),
            start=filled(upper, 1.0),
        )

    @property
    def sees_only_differences(self) -> bool:
        """Yes: a ball is made of distances, its centre a combination of points whose weights sum to 1."""
        return True

    @property
    def is_hard(self) -> bool:
        """Whether no point is left outside."""
        return bool(np.all(self.weight >= 1.0))

    @cached_property
    def least_scale(self) -> float:
        """A `FAINT` squared radius, relative to that of a ball around 0; the true one may be 0."""
        return FAINT**2 * float(np.max(np.abs(self.gram.diagonal), initial=0.0))

    def figures(self, point: KernelPoint) -> dict[str, float]:
        """Return the squared radius, that of a hard ball reaching its farthest point, and R^2 - |a|^2, halved."""
        sq_radius = max(0.0, point.sq_norm + 2.0 * point.levels[0])
        if self.is_hard:
            sq_radius = float(np.max(self._sq_distances(point)))
        return {"intercept": 0.5 * (sq_radius - point.sq_norm), "sq_radius": sq_radius}

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at a and R^2."""
        sq_radius = self.figures(point)["sq_radius"]
        sq_distances = self._sq_distances(point) + 2.0 * error
        if self.is_hard:
            return max(sq_radius, float(np.max(sq_distances)))
        beyond = np.maximum(0.0, sq_distances - sq_radius)
        outside = beyond > 0.0
        return sq_radius + float(np.sum(self.weight[outside] * beyond[outside]))

    def _sq_distances(self, point: KernelPoint) -> Vector:
        """Return the squared distance of every point from the centre."""
        return self.gram.diagonal - 2.0 * point.products + point.sq_norm
