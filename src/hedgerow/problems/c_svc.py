"""C-SVC with a kernel: hinge, squared hinge, or a hard margin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from hedgerow.problems.base import Vector, inner
from hedgerow.problems.box_program import BoxProgram, one_group
from hedgerow.problems.hard_margin import Overlap
from hedgerow.problems.kernel import FAINT_LOSS, KernelPoint, KernelProblem

__all__ = ["CSvcProblem", "Loss"]

Loss = Literal["hinge", "squared_hinge"]

MEETING = 1e-7
"""A distance in kernel space, relative to the size of the points, that counts as none: squared distances are
differences of float64 values, and a distance has half of their digits."""


@dataclass(frozen=True, eq=False)
class CSvcProblem(KernelProblem):
    """Two classes with the hinge, its square, or a hard margin.

    ::

        primal   minimise   1/2 |w|^2 + sum_i c_i max(0, 1 - y_i (<w, phi(x_i)> + b))
                 over w, b

        dual     maximise   sum_i y_i beta_i - 1/2 beta' K beta
                 over       0 <= y_i beta_i <= c_i,  sum_i beta_i = 0

    With the squared hinge the losses are c_i max(0, ...)^2, and the dual has no upper bounds but
    beta_i^2 / (4 c_i) subtracted. An infinite c_i asks for a functional margin of 1: (w, b) is then
    worth what it costs after scaling. Without an intercept b = 0, and nothing is asked of the sum.

    Attributes
    ----------
    y : ndarray
        +1 or -1.
    weight : ndarray
        c_i: C times the weight of the point; infinite for a hard margin, for all points or none.
    loss : {"hinge", "squared_hinge"}
        The loss.
    has_intercept : bool
        Whether there is a b.
    sides : str
        What to call the two classes in a message.
    """

    y: Vector
    weight: Vector
    loss: Loss = "hinge"
    has_intercept: bool = True
    sides: str = "the classes"
    meeting: ClassVar[float] = MEETING

    @property
    def subject(self) -> str:
        """The two classes."""
        return self.sides

    @cached_property
    def is_hard_margin(self) -> bool:
        """Whether every point must have its margin."""
        return bool(np.any(np.isinf(self.weight)))

    @cached_property
    def least_scale(self) -> float:
        """The objective of a `FAINT_LOSS` if there is one class only, whose optimum is 0."""
        has_both = bool(np.any(self.y > 0) and np.any(self.y < 0))
        return 0.0 if has_both or self.is_hard_margin else FAINT_LOSS * float(np.sum(self.weight))

    @cached_property
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""
        y, used = self.y, self.weight > 0
        is_squared = self.loss == "squared_hinge"
        most = np.where(used, np.inf, 0.0) if is_squared else self.weight
        with np.errstate(divide="ignore"):
            ridge = np.where(used, 0.5 / self.weight, 0.0) if is_squared else np.zeros(len(y))
        return BoxProgram(
            linear=-y,
            lower=np.where(y > 0, 0.0, -most),
            upper=np.where(y > 0, most, 0.0),
            ridge=ridge,
            group=one_group(len(y)),
            sums=(0.0,) if self.has_intercept else (),
            start=np.zeros(len(y)),
        )

    def with_larger_margin(self, share: float) -> BoxProgram | None:
        """Return the program of a functional margin of 1 + share; the squared hinge has no use for it."""
        if self.loss == "squared_hinge":
            return None
        return replace(self.program, linear=(1.0 + share) * self.program.linear)

    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at w and b."""
        margins = self.y * (point.products + self.figures(point)["intercept"]) - error
        if self.is_hard_margin:
            least = float(np.min(margins[self.weight > 0]))
            return 0.5 * point.sq_norm / least**2 if least > 0 else np.inf
        loss = np.maximum(0.0, 1.0 - margins)
        losses = loss**2 if self.loss == "squared_hinge" else loss
        return 0.5 * point.sq_norm + inner(self.weight, losses)

    def distance_of(self, overlap: Overlap) -> tuple[float, float]:
        """Return how far combinations of points are from meeting, and the size of the points involved."""
        rows, weights = overlap.rows, overlap.weights
        values = self.gram.block(rows, rows)
        signed = self.y[rows] * weights
        of_place = np.zeros(self.gram.n_points)
        of_place[rows] = signed
        sq_distance = max(0.0, inner(signed, np.sum(signed[:, None] * values, axis=0)))
        distance = np.sqrt(sq_distance + inner(weights, self.gram.errors(of_place)[rows]))
        if self.has_intercept and self.gram.are_equal(rows):
            distance = np.float64(0.0)
        own = np.diagonal(values)
        from_first = own + own[0] - 2.0 * values[0] if self.has_intercept else own
        return float(distance), float(np.sqrt(max(0.0, np.max(from_first))))
