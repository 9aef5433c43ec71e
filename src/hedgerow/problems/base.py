"""What every problem is, and what all of them share: measurements, solutions, sums in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import Rounding
from hedgerow._base.state import record

__all__ = [
    "BLOCK",
    "Criterion",
    "Ended",
    "Hyperplanes",
    "Intercept",
    "Measurement",
    "PrimalDualProblem",
    "Problem",
    "Solution",
    "Status",
    "Vector",
    "blocks",
    "extended",
    "inner",
    "relative_gap",
    "worst_status",
]

Vector = NDArray[np.float64]
Intercept = Literal["free", "penalized", "none"]
Status = Literal[
    "optimal",
    "approximate",
    "max_iter",
    "stalled",
    "no_margin",
    "stopped",
    "time_limit",
    "interrupted",
]
"""How a fit can end, the worst last."""

Criterion = Literal["relative_gap", "kkt_violation"]
"""The figure that is held against a tolerance."""

BLOCK = 1 << 14
"""Rows of which something is computed at a time."""


def worst_status(statuses: Iterable[Status]) -> Status:
    """Return how several fits ended together."""
    return max(statuses, key=get_args(Status).index)


def inner(a: Vector, b: Vector) -> float:
    """Return <a, b>, summed in an order that does not depend on the number of BLAS threads."""
    if len(a) <= BLOCK:
        return float((a * b).sum())
    return sum(float((a[rows] * b[rows]).sum()) for rows in blocks(len(a)))


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield stretches of the rows, so that what is computed of each row needs no array of them all."""
    for begin in range(0, n_rows, BLOCK):
        yield slice(begin, begin + BLOCK)


def extended(values: Any) -> Any:
    """Return an array, or a CSR array, of the same values in NumPy's extended precision."""
    return values.astype(np.longdouble)


def relative_gap(primal: float, dual: float, least_scale: float = 0.0) -> float:
    """Return the gap over max(|primal|, |dual|, least_scale); 0 when all are 0."""
    scale = max(abs(primal), abs(dual), least_scale)
    return (primal - dual) / scale if scale > 0 else 0.0


@record()
@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Attributes
    ----------
    w, intercept : ndarray, float
        The primal point.
    alpha : ndarray
        The dual point.
    status : {"optimal", "approximate", "max_iter", "stalled", "interrupted", "time_limit", "stopped"}
        Why the solver stopped, in its own opinion; a certificate is the proof.
    n_iter : int
        Its iterations: sweeps, rounds or steps.
    solver : str
        Its name.
    history : tuple of (int, float, float)
        (iteration, primal, dual) at every check of the gap.
    """

    w: Vector
    intercept: float
    alpha: Vector
    status: Status
    n_iter: int
    solver: str
    history: tuple[tuple[int, float, float], ...] = ()


class Hyperplanes(NamedTuple):
    """The hyperplanes of a solution, one per row of each array.

    Attributes
    ----------
    coef, intercept : ndarray
        w and b.
    alpha, at_bound : ndarray
        The dual variables of all rows, and which of them are at a bound.
    """

    coef: Vector
    intercept: Vector
    alpha: Vector
    at_bound: NDArray[np.bool_]


@dataclass(frozen=True)
class Measurement:
    """What a solution is worth: figures that follow from the problem and the solution alone.

    Attributes
    ----------
    primal, dual : float
        The objectives; the dual one at a point that meets every constraint.
    violation : float
        The largest violation of the optimality conditions.
    rounding : Rounding
        How far, at most, rounding has put these figures from their true values.
    least_scale : float
        The least size of the objective that gaps are measured by.
    """

    primal: float
    dual: float
    violation: float
    rounding: Rounding
    least_scale: float

    @property
    def relative_gap(self) -> float:
        """The gap between the objectives, relative to their size."""
        return relative_gap(self.primal, self.dual, self.least_scale)

    @property
    def relative_rounding(self) -> float:
        """How far, at most, rounding has put the relative gap from its true value."""
        scale = max(abs(self.primal), abs(self.dual), self.least_scale)
        return self.rounding.gap / scale if scale > 0 else 0.0


class Ended(Protocol):
    """A solution, whatever it is made of."""

    @property
    def status(self) -> Status:
        """Why the solver stopped."""


S_contra = TypeVar("S_contra", bound=Ended, contravariant=True)


class Problem(Protocol[S_contra]):
    """A minimisation and its dual: what a certificate, and the runs of solvers, ask of any problem.

    `S_contra` is the type of its solutions. A problem is immutable and does not know how it is solved.
    """

    @property
    def criterion(self) -> Criterion:
        """The figure that its solvers bring within the tolerance, and that a certificate is about."""
        return "relative_gap"

    @property
    def subject(self) -> str:
        """What to call the problem where it is one of several; empty if there is only one."""
        return ""

    @property
    def least_scale(self) -> float:
        """The least size of the objective that gaps are measured by; above 0 where the optimum may be 0."""
        return 0.0

    def feasible(self, alpha: Vector, /) -> Vector:
        """Return a dual point near the given one, whatever it is, that meets every constraint of the dual."""
        ...

    def measurements(self, solution: S_contra, /) -> Iterator[Measurement]:
        """Yield what a solution is worth, computed from the data.

        Each measurement bounds rounding more tightly than the one before it, and takes longer. Whoever
        needs a proof takes the first one that is exact enough.
        """
        ...


class PrimalDualProblem(Problem[Solution], Protocol):
    """A problem in which w is a vector, so that primal and dual points are evaluated apart."""

    @property
    def origin(self) -> tuple[Vector, Vector]:
        """The points w = 0 and alpha = 0."""
        ...

    @property
    def objective_at_zero(self) -> float | None:
        """The primal objective at the origin, if it is at hand."""
        return None

    @property
    def dual_objective_at_zero(self) -> float | None:
        """The dual objective at the origin, if it is at hand and the origin meets every constraint."""
        return None

    def objective(self, w: Vector, b: float, scores: Vector | None = None, /) -> float:
        """Return the primal objective; the scores of the point, if at hand, save a pass over the data."""
        ...

    def dual_objective(self, alpha: Vector, /) -> float:
        """Return the dual objective at a feasible alpha."""
        ...
