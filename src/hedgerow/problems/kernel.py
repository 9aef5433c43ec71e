"""Kernel machines as frozen problems: each is a small builder of one quadratic program.

Every machine's dual is a :class:`BoxProgram` in beta, whose signs are part of it: beta is y alpha. A
machine knows that program, its own primal, and how the program's multipliers become its offset; it
does not know how it is solved. With w = sum_i beta_i phi(x_i), a score is <w, phi(x)> + b and the
products <w, phi(x_j)> = sum_i beta_i K(x_i, x_j) are all that is ever needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import UNIT, Rounding
from hedgerow._base.state import record
from hedgerow.kernels.gram import Gram, sums_with_errors
from hedgerow.problems.base import Criterion, Measurement, Problem, Status, inner
from hedgerow.problems.box_program import BoxProgram

__all__ = [
    "FAINT",
    "FAINT_LOSS",
    "KernelPoint",
    "KernelProblem",
    "KernelSolution",
    "P",
    "ProblemByPoints",
]

Vector = NDArray[np.float64]

FAINT = 1e-4
"""A w of this size, relative to the largest there could be, counts as 0 where the optimum may be 0."""
FAINT_LOSS = 1e-10
"""A mean loss of this size, in units of what losses are measured in, counts as 0 there."""


@dataclass(frozen=True, eq=False)
class KernelPoint:
    """A beta that meets the constraints, and what the data say of it in float64.

    Attributes
    ----------
    beta : ndarray
        The dual point.
    products : ndarray
        <w, phi(x_j)> for every point.
    errors : ndarray
        How far, at most, rounding has put each of them from its true value.
    sq_norm : float
        |w|^2.
    levels : tuple of float
        The multipliers of the program's sums.
    violation : float
        The largest violation of the optimality conditions (LIBSVM's).
    """

    beta: Vector
    products: Vector
    errors: Vector
    sq_norm: float
    levels: tuple[float, ...]
    violation: float


@record()
@dataclass(frozen=True, eq=False)
class KernelSolution:
    """What a solver of kernel problems returns.

    Attributes
    ----------
    beta : ndarray
        The dual point.
    figures : dict of str to float
        What beside w a model needs, such as its "intercept".
    status : str
        Why the solver stopped, in its own opinion; a certificate is the proof.
    n_iter : int
        Steps: pairs of variables moved, or points of which all were.
    solver : str
        Its name.
    history : tuple of (int, float)
        (steps, violation) as it went.
    """

    beta: Vector
    figures: dict[str, Any]
    status: Status
    n_iter: int
    solver: str
    history: tuple[tuple[int, float], ...] = ()


class _Point(Protocol):
    @property
    def beta(self) -> Vector:
        """A dual point that meets the constraints."""

    @property
    def products(self) -> Vector:
        """The products of w with all points."""

    @property
    def violation(self) -> float:
        """The largest violation of the optimality conditions."""


P = TypeVar("P", bound=_Point)


@dataclass(frozen=True, eq=False)
class ProblemByPoints(Problem[KernelSolution], ABC, Generic[P]):
    """A problem in terms of kernel values, of which all that is known of a w is the point of its beta.

    Attributes
    ----------
    gram : Gram
        The kernel values among the points.
    is_convex : bool
        Whether the kernel is positive semi-definite, or conditionally so and the problem sees only
        differences; otherwise no dual value bounds anything.
    """

    gram: Gram
    is_convex: bool = field(default=True, kw_only=True)
    _last: list[P] = field(default_factory=list, init=False, repr=False)
    _measured: list[tuple[P, Measurement]] = field(default_factory=list, init=False, repr=False)

    criterion: ClassVar[Criterion] = "kkt_violation"

    @abstractmethod
    def primal(self, point: P) -> float:
        """Return the primal objective at the point's w and the best guess of the rest."""

    @abstractmethod
    def dual(self, point: P) -> float:
        """Return the dual objective."""

    @abstractmethod
    def rounding(self, point: P, primal: float) -> Rounding:
        """Return how far, at most, rounding has put the figures of a point from their true values."""

    @abstractmethod
    def figures(self, point: P) -> dict[str, Any]:
        """Return what a model needs beside w, by name; "intercept" is b."""

    @abstractmethod
    def point_of(self, beta: Vector, products: Vector, errors: Vector) -> P:
        """Return the point of a feasible beta whose products are at hand, with what they may be off."""

    def per_point(self, beta: Vector) -> Vector:
        """Return the coefficients of the points in w."""
        return beta

    def score_unit(self, point: P) -> float:  # noqa: ARG002
        """Return what a score of the model is in units of the program's slopes."""
        return 1.0

    def point(self, beta: Vector, *, is_precise: bool = False) -> P:
        """Return the point of a beta, made feasible; what is asked for twice in a row is computed once.

        All figures come from the data in float64, or in extended precision, whatever a solver made beta of.
        """
        if not is_precise and self._last and beta is self._last[0].beta:
            return self._last[0]
        feasible = self.feasible(beta)
        if not is_precise and self._last and np.array_equal(self._last[0].beta, feasible):
            return self._last[0]
        sums = sums_with_errors(self.gram, self.per_point(feasible), is_precise)
        point = self.point_of(feasible, *sums)
        self._last[:] = [point]
        return point

    def measurement(self, point: P) -> Measurement:
        """Return the figures of a point; those of the same point in a row are computed once."""
        if not self._measured or self._measured[0][0] is not point:
            primal = self.primal(point)
            rounding = self.rounding(point, primal)
            figures = (primal, self.dual(point), point.violation)
            self._measured[:] = [(point, Measurement(*figures, rounding, self.least_scale))]
        return self._measured[0][1]

    def measurements(self, solution: KernelSolution) -> Iterator[Measurement]:
        """Yield what a solution is worth, in float64 and in extended precision.

        Violations are in units of the model's scores.
        """
        for is_precise in (False, True):  # slow, and needed only where rounding stands in the way
            point = self.point(solution.beta, is_precise=is_precise)
            unit, found = np.float64(self.score_unit(point)), self.measurement(point)
            rounding = found.rounding
            yield Measurement(
                primal=found.primal,
                dual=found.dual if self.is_convex else -np.inf,
                violation=float(found.violation / unit),
                rounding=replace(rounding, violation=float(rounding.violation / unit)),
                least_scale=found.least_scale,
            )
            if not self.is_convex:
                return


@dataclass(frozen=True, eq=False)
class KernelProblem(ProblemByPoints[KernelPoint]):
    """A machine whose dual is one quadratic program with bounds.

    Its attributes are those of a problem by points, and what a machine adds.
    """

    @property
    @abstractmethod
    def program(self) -> BoxProgram:
        """The dual, as a minimisation."""

    program_scale: ClassVar[float] = 1.0
    """The dual objective in units of the program's."""

    @abstractmethod
    def primal(self, point: KernelPoint, error: Vector | float = 0.0) -> float:
        """Return the primal objective at the point's w and the best guess of the rest.

        With an error it is the most that the objective may be if each product is so far off.
        """

    def dual(self, point: KernelPoint) -> float:
        """Return the dual objective."""
        return -self.program_scale * self.program.value(point.beta, point.products)

    def with_larger_margin(self, share: float) -> BoxProgram | None:  # noqa: ARG002
        """Return the program of a functional margin that is larger by a share of 1, if there is such a margin.

        Its solutions, if they are not exact, lie on the side where losses are 0.
        """
        return None

    def rounding(self, point: KernelPoint, primal: float) -> Rounding:
        """Return how far, at most, rounding has put the figures of a point from their true values."""
        program, n_points = self.program, len(point.products)
        linear = np.max(np.abs(program.linear.reshape(-1, n_points)), axis=0)
        offset = sum(abs(level) for level in point.levels)
        errors = point.errors + 4.0 * UNIT * (np.abs(point.products) + linear + offset)
        own = np.abs(program.per_point(point.beta, n_points))
        of_norm = 0.5 * self.program_scale * inner(own, point.errors)
        of_dual = program.rounding(point.beta, point.levels)
        last_place = 4.0 * UNIT * (abs(primal) + abs(point.sq_norm))
        return Rounding(
            violation=2.0 * float(np.max(errors, initial=0.0)),
            primal=of_norm + self.primal(point, errors) - primal + last_place,
            dual=of_norm + self.program_scale * of_dual + last_place,
        )

    @property
    def sees_only_differences(self) -> bool:
        """Whether moving all points in the space of the kernel changes nothing: their betas sum to 0."""
        return bool(self.program.sums) and sum(self.program.sums) == 0.0

    def figures(self, point: KernelPoint) -> dict[str, float]:
        """Return what beside w a model needs, by name; "intercept" is b."""
        return {"intercept": point.levels[0] if point.levels else 0.0}

    def feasible(self, beta: Vector) -> Vector:
        """Return a beta near the given one that meets every constraint."""
        return self.program.feasible(beta)

    def per_point(self, beta: Vector) -> Vector:
        """Return the coefficients of the points in w: the sums of their betas."""
        return self.program.per_point(beta, self.gram.n_points)

    def point_of(self, beta: Vector, products: Vector, errors: Vector) -> KernelPoint:
        """Return the point of a feasible beta whose products are at hand, with what they may be off."""
        program = self.program
        slopes = program.slopes(beta, products)
        own = program.per_point(beta, len(products))
        ends = program.ends(beta, slopes)
        return KernelPoint(
            beta=beta,
            products=products,
            errors=errors,
            sq_norm=inner(own, products),
            levels=program.levels(beta, slopes, ends),
            violation=program.violation(ends),
        )
