"""Kernel machines for classes: C-SVC, nu-SVC, one-class, and the enclosing ball."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.kernel_problems import (
    FAINT,
    FAINT_LOSS,
    BoxProgram,
    KernelPoint,
    KernelProblem,
    filled,
    one_group,
)
from hedgerow.problems import inner

__all__ = ["Ball", "Classes", "Loss", "NuClasses", "OneClass"]

Vector = NDArray[np.float64]
Loss = Literal["hinge", "squared_hinge"]


@dataclass(frozen=True, eq=False)
class Classes(KernelProblem):
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

    @property
    def subject(self) -> str:
        """The two classes."""
        return self.sides

    @cached_property
    def is_hard(self) -> bool:
        """Whether every point must have its margin."""
        return bool(np.any(np.isinf(self.weight)))

    @cached_property
    def least_scale(self) -> float:
        """The objective of a `FAINT_LOSS` if there is one class only, whose optimum is 0."""
        has_both = bool(np.any(self.y > 0) and np.any(self.y < 0))
        return 0.0 if has_both or self.is_hard else FAINT_LOSS * float(np.sum(self.weight))

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
        if self.is_hard:
            least = float(np.min(margins[self.weight > 0]))
            return 0.5 * point.sq_norm / least**2 if least > 0 else np.inf
        loss = np.maximum(0.0, 1.0 - margins)
        losses = loss**2 if self.loss == "squared_hinge" else loss
        return 0.5 * point.sq_norm + inner(self.weight, losses)


@dataclass(frozen=True, eq=False)
class NuClasses(KernelProblem):
    """Two classes with a margin rho that is found along: nu bounds the share of margin errors.

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


@dataclass(frozen=True, eq=False)
class OneClass(KernelProblem):
    """A plane that keeps most points away from the origin: nu bounds the share that it fails.

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


@dataclass(frozen=True, eq=False)
class Ball(KernelProblem):
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
