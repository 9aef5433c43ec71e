"""The certificate of a kernel machine: its figures computed from the data, whatever the solver did.

:func:`certify_kernel` sees only a problem and a solution. It makes a beta that meets every constraint
out of the returned one, computes the products of its w with all points in float64, and from these the
primal, the dual and the largest violation of the optimality conditions.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import inner
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.certificates import Certificate, Criterion, OverlapCertificate
from hedgerow.problems.hard_margin import Overlap
from hedgerow.problems.kernel import KernelSolution, Measurement

__all__ = ["KERNEL_MEETING", "Provable", "certify_kernel", "certify_kernel_overlap"]

KERNEL_MEETING = 1e-7
"""A distance in kernel space, relative to the size of the points, that counts as none: squared distances are
differences of float64 values, and a distance has half of their digits."""


class _Point(Protocol):
    @property
    def violation(self) -> float:
        """The largest violation of the optimality conditions."""


P = TypeVar("P", bound=_Point)


class Provable(Protocol[P]):
    """A problem whose points can be measured, such as a KernelProblem."""

    @property
    def is_convex(self) -> bool:
        """Whether the kernel is positive semi-definite."""

    def point(self, beta: NDArray[np.float64], *, is_precise: bool = False) -> P:
        """Return the point of a beta, made feasible, from the data in float64 or in extended precision."""

    def measurement(self, point: P) -> Measurement:
        """Return the objectives of a point, and how far they may be off."""

    def figures(self, point: P) -> dict[str, Any]:
        """Return what beside w a model needs, by name."""

    def score_unit(self, point: P) -> float:
        """Return what a score of the model is in units of the program's slopes."""


def certify_kernel(
    problem: Provable[P],
    solution: KernelSolution,
    tolerance: float,
    criterion: Criterion = "kkt_violation",
    subject: str = "",
) -> Certificate:
    """Return the certificate of a solution.

    Parameters
    ----------
    problem : Provable
        What was to be minimised.
    solution : KernelSolution
        What a solver returned; its beta is used, nothing else is believed.
    tolerance : float
        The largest figure that counts as solved.
    criterion : {"kkt_violation", "relative_gap"}
        Which figure that is: LIBSVM's largest violation, or the gap.
    subject : str
        What to call the problem where it is one of several.

    Notes
    -----
    With a kernel that is not positive semi-definite a dual value bounds nothing: the certificate's is
    minus infinity, and it is none.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # not finite: not certified
        for is_precise in (False, True):  # slow, and needed only where rounding stands in the way
            point = problem.point(solution.beta, is_precise=is_precise)
            unit, figures = np.float64(problem.score_unit(point)), problem.measurement(point)
            certificate = Certificate(
                primal=figures.primal,
                dual=figures.dual if problem.is_convex else -np.inf,
                kkt_violation=float(point.violation / unit),
                criterion=criterion,
                tolerance=tolerance,
                status=solution.status,
                least_scale=figures.least_scale,
                gap_error=figures.rounding.gap,
                violation_error=float(figures.rounding.violation / unit),
                subject=subject,
            )
            if certificate.is_certified or not problem.is_convex:
                break
        return certificate


def certify_kernel_overlap(problem: CSvcProblem, overlap: Overlap) -> OverlapCertificate:
    """Return the certificate of an overlap in kernel space, recomputed from the data.

    Parameters
    ----------
    problem : CSvcProblem
        Whose points and signs count, and whether there is an intercept.
    overlap : Overlap
        What a solver says meets.
    """
    rows, weights, y = overlap.rows, overlap.weights, problem.y[overlap.rows]
    sums = [weights[y > 0], weights[y < 0]] if problem.has_intercept else [weights]
    wrong = max(-float(np.min(weights)), *(abs(float(np.sum(s)) - 1.0) for s in sums))
    values = problem.gram.block(rows, rows)
    signed = y * weights
    of_place = np.zeros(problem.gram.n_points)
    of_place[rows] = signed
    sq_distance = max(0.0, inner(signed, np.sum(signed[:, None] * values, axis=0)))
    distance = np.sqrt(sq_distance + inner(weights, problem.gram.errors(of_place)[rows]))
    if problem.has_intercept and problem.gram.are_equal(rows):
        distance = np.float64(0.0)
    own = np.diagonal(values)
    from_first = own + own[0] - 2.0 * values[0] if problem.has_intercept else own
    return OverlapCertificate(
        rows=rows,
        weights=weights,
        distance=float(distance),
        size=float(np.sqrt(max(0.0, np.max(from_first)))),
        weight_error=wrong if np.all(problem.weight[rows] > 0) else np.inf,
        largest_margin=float(0.5 * distance if problem.has_intercept else distance),
        meeting=KERNEL_MEETING,
    )
