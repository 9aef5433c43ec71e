"""Proof of quality: what a solution is worth, computed without trusting the solver.

:func:`certify` sees only a problem and a solution. The problem evaluates the primal at the returned
point, makes a dual point that provably meets every constraint out of the returned one, and evaluates
the dual there, from the data and with bounds on rounding. Whatever the solver did, no solution can
have an objective below that dual value. Without convexity a dual value bounds nothing: it is
minus infinity then, and nothing is certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import any_number, one_of, real_number, short_text
from hedgerow._base.state import record
from hedgerow.errors import NotSeparableError
from hedgerow.problems.base import Criterion, Ended, Problem, relative_gap
from hedgerow.problems.hard_margin import MEETING, Overlap

__all__ = [
    "Certificate",
    "OverlapCertificate",
    "SeparationProblem",
    "certify",
    "certify_overlap",
    "largest_gap",
    "not_separable",
    "uncertified",
    "worst",
]

Vector = NDArray[np.float64]
S = TypeVar("S", bound=Ended)

ROUNDING = 1e-12
"""A relative gap below which nothing but rounding is left."""

LARGEST_GAP = 1e-3
"""The relative gap that a machine may have that is solved to a KKT violation, unless its tolerance is larger."""

LONGEST_SUBJECT = 200

WEIGHT_ERROR = 1e-9
"""An error of weights, or of their sum, that counts as rounding."""


@record(
    primal=any_number,
    dual=any_number,
    kkt_violation=any_number,
    criterion=one_of("relative_gap", "kkt_violation"),
    tolerance=real_number(0.0),
    status=short_text,
    least_scale=real_number(0.0),
    gap_error=any_number,
    violation_error=any_number,
    subject=short_text,
)
@dataclass(frozen=True)
class Certificate:
    """How far a solution can be from the best one.

    Attributes
    ----------
    primal : float
        Objective of the returned solution.
    dual : float
        A lower bound on the objective of every solution.
    kkt_violation : float
        The largest violation of the optimality conditions at alpha, in units of the score
        (LIBSVM's stopping figure).
    criterion : {"relative_gap", "kkt_violation"}
        Which figure is held against the tolerance.
    tolerance : float
        The largest value of that figure that counts as solved. If it is of the violation, the
        relative gap must be within ``gap_tolerance`` too.
    status : str
        Why the solver stopped.
    least_scale : float
        The least that the gap is divided by; above 0 only for machines whose optimum may be 0.
    gap_error : float
        How far, at most, rounding has put the primal and the dual objective, and with them the gap, from
        their true values.
    violation_error : float
        The same of the largest violation.
    subject : str
        Of several binary problems, the one that these figures are of; empty if there is only one.
    """

    primal: float
    dual: float
    kkt_violation: float
    criterion: Criterion
    tolerance: float
    status: str
    least_scale: float = 0.0
    gap_error: float = 0.0
    violation_error: float = 0.0
    subject: str = ""

    @property
    def gap(self) -> float:
        """Primal - dual; a tiny negative value is rounding."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap over max(|primal|, |dual|, least_scale); 0 when all are 0."""
        return relative_gap(self.primal, self.dual, self.least_scale)

    @property
    def gap_tolerance(self) -> float:
        """The largest relative gap that counts as solved."""
        if self.criterion == "relative_gap":
            return self.tolerance
        return largest_gap(self.tolerance)

    @property
    def is_certified(self) -> bool:
        """Whether the figures are proven to be within the tolerances, rounding included."""
        if self.status == "no_margin":
            return False
        figures = (self.primal, self.dual, self.kkt_violation, self.gap_error)
        if not all(map(math.isfinite, figures)) or self.relative_gap < -self._rounding - 1e-9:
            return False
        if max(self.relative_gap, 0.0) + self._rounding > self.gap_tolerance:
            return False
        is_small = self.kkt_violation + self.violation_error <= self.tolerance
        return is_small or self.criterion == "relative_gap"

    @property
    def _rounding(self) -> float:
        """How far, at most, rounding has put the relative gap from its true value."""
        if self.primal == 0.0 == self.dual:  # no objective of a loss is below 0
            return 0.0
        return relative_gap(
            self.gap_error, 0.0, max(self.least_scale, abs(self.primal), abs(self.dual))
        )

    def __str__(self) -> str:
        of = f" ({self.subject})" if self.subject else ""
        if self.status == "no_margin":
            return f"Not certified{of}: the margin rho is 0 up to rounding, so no plane separates what nu leaves of the classes, and w = 0 is a solution; the model is that of an SVC with a large C instead."
        if self.primal == np.inf and np.isfinite(self.kkt_violation):
            return f"Not certified{of}: some rows lie on the wrong side, so this is no solution of the problem; whether there is one could not be proven in float64 (solver status: {self.status!r})."
        if self.primal == np.inf and np.isfinite(self.dual):
            return f"Not certified{of}: no solution can go below {self.dual:.6g}, but the objective of this one was not measured (status: {self.status!r})."
        if self.dual == -np.inf and np.isfinite(self.primal):
            return f"Not certified{of}: the kernel is not positive semi-definite, so nothing bounds the objective from below; it is {self.primal:.6g}, and {self._violation()} (status: {self.status!r})."
        if not np.isfinite(self.primal) or not np.isfinite(self.dual):
            return (
                f"Not certified{of}: the figures are not finite (solver status: {self.status!r})."
            )
        gap = max(self.relative_gap, 0.0)
        bound = f"the objective is {self.primal:.6g}, and no solution can go below {self.dual:.6g}"
        asked = f"asked for: {self._asked()}"
        if self.is_certified:
            share = "up to rounding" if gap < ROUNDING else f"to within {_percent(gap)}"
            return f"Certified{of}: {bound}, so this one is the best there is {share} ({asked}); {self._violation()}."
        return (
            f"Not certified{of}: {bound}, so a better one by up to {_percent(gap)} may exist ({asked}); "
            f"{self._violation()}{self._doubt()}; the solver stopped with status {self.status!r}."
        )

    def _asked(self) -> str:
        if self.criterion == "relative_gap":
            return _percent(self.tolerance)
        return f"a violation of {self.tolerance:.1e} and {_percent(self.gap_tolerance)}"

    def _violation(self) -> str:
        return f"the largest KKT violation is {self.kkt_violation:.1e}, in units of the score"

    def _doubt(self) -> str:
        """Say so if rounding may be all that is in the way of a proof, or is too large for one."""
        of_gap, of_violation = self._rounding, self.violation_error
        has_doubt = of_gap > self.gap_tolerance or self.relative_gap - of_gap <= self.gap_tolerance
        if self.criterion == "kkt_violation":
            within = self.kkt_violation - of_violation <= self.tolerance
            has_doubt = (has_doubt and within) or of_violation > self.tolerance
        if not has_doubt:
            return ""
        return (
            f"; rounding alone may have changed the objective by {_percent(of_gap)} and the violation by "
            f"{of_violation:.1e}, too much for a proof: scale and centre the features"
        )


def largest_gap(tolerance: float) -> float:
    """Return the largest relative gap with which a violation within the tolerance counts as solved."""
    return max(LARGEST_GAP, tolerance)


def certify(
    problem: Problem[S],
    solution: S,
    tolerance: float,
    criterion: Criterion | None = None,
) -> Certificate:
    """Return the certificate of a solution, recomputed from the data.

    Parameters
    ----------
    problem : Problem
        What was to be minimised.
    solution : Solution or KernelSolution
        What a solver returned; its primal and dual points are used, nothing else is believed.
    tolerance : float
        The largest figure that counts as solved.
    criterion : {"relative_gap", "kkt_violation"} or None
        Which figure that is; None for the one that solvers of the problem stop by.

    Returns
    -------
    Certificate
        The first whose figures are proven to be within the tolerance, or the most exact one.
    """
    criterion = criterion or problem.criterion
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # not finite: not certified
        for found in problem.measurements(solution):
            certificate = Certificate(
                primal=found.primal,
                dual=found.dual,
                kkt_violation=found.violation,
                criterion=criterion,
                tolerance=tolerance,
                status=solution.status,
                least_scale=found.least_scale,
                gap_error=found.rounding.gap,
                violation_error=found.rounding.violation,
                subject=problem.subject,
            )
            if certificate.is_certified:
                break
    return certificate


def uncertified(dual: float, tolerance: float, status: str) -> Certificate:
    """Return what is known of a solution whose rows were not read again: a lower bound, if anything."""
    return Certificate(np.inf, dual, np.inf, "relative_gap", tolerance, status)


def worst(certificates: tuple[Certificate, ...]) -> Certificate:
    """Return the certificate with the largest figure: if it is certified, all are. It says which it is."""
    places = range(len(certificates))
    figures = [(not c.is_certified, getattr(c, c.criterion)) for c in certificates]
    k = max(places, key=lambda place: figures[place])
    if len(certificates) == 1:
        return replace(certificates[0], subject="")
    which = certificates[k].subject or f"certificates_[{k}]"
    subject = f"the worst of {len(certificates)} binary problems: {which}"
    return replace(certificates[k], subject=subject[:LONGEST_SUBJECT])


@dataclass(frozen=True, eq=False)
class OverlapCertificate:
    """Proof that no hyperplane separates two classes: convex combinations of their rows that meet.

    If a hyperplane has margin m, all rows of a class, and so all their convex combinations, are at
    least m away from it on their side, and combinations of the two classes at least 2 m apart.

    Attributes
    ----------
    rows : ndarray of int64
        The rows involved.
    weights : ndarray
        Their weights.
    distance : float
        Between the two combinations; without an intercept, of the combination of y_i x_i from 0.
    size : float
        The largest distance of a row involved from the first one, or from 0 without an intercept.
    weight_error : float
        How far, at most, a weight is below 0 or the sum of a class, or of all, is from 1; infinite
        if a row is involved that the problem gives no weight.
    largest_margin : float
        No hyperplane separates the classes with a larger one.
    meeting : float
        A distance, relative to the size, that counts as none.
    """

    rows: NDArray[np.int64]
    weights: Vector
    distance: float
    size: float
    weight_error: float
    largest_margin: float
    meeting: float = MEETING

    @property
    def is_certified(self) -> bool:
        """Whether the combinations are convex and meet, up to rounding."""
        return self.weight_error <= WEIGHT_ERROR and self.distance <= self.meeting * self.size

    def __str__(self) -> str:
        met = "meet" if self.is_certified else "do not meet"
        return (
            f"convex combinations of {len(self.rows)} rows {met} (distance {self.distance:.1e}), so no "
            f"plane separates them with a margin above {self.largest_margin:.1e}"
        )


class SeparationProblem(Protocol):
    """A problem that asks for a hyperplane between two classes."""

    @property
    def y(self) -> Vector:
        """+1 or -1 for each row."""

    @property
    def weight(self) -> Vector:
        """The weight of each row; 0 for those that need not be separated."""

    @property
    def has_intercept(self) -> bool:
        """Whether there is a b."""

    @property
    def sides(self) -> str:
        """What to call the two classes in a message."""

    @property
    def meeting(self) -> float:
        """A distance, relative to the size of the rows, that counts as none."""

    def distance_of(self, overlap: Overlap) -> tuple[float, float]:
        """Return how far combinations of rows are from meeting, and the size of the rows involved."""


def certify_overlap(problem: SeparationProblem, overlap: Overlap) -> OverlapCertificate:
    """Return the certificate of an overlap, recomputed from the data.

    Parameters
    ----------
    problem : HardMarginProblem or CSvcProblem
        The problem, which defines the rows, the signs and whether there is an intercept.
    overlap : Overlap
        The overlap that a solver found.

    Returns
    -------
    OverlapCertificate
        The certificate.
    """
    y, weights = problem.y[overlap.rows], overlap.weights
    sums = [weights[y > 0], weights[y < 0]] if problem.has_intercept else [weights]
    wrong = max(-float(np.min(weights)), *(abs(float(np.sum(s)) - 1.0) for s in sums))
    distance, size = problem.distance_of(overlap)
    return OverlapCertificate(
        rows=overlap.rows,
        weights=weights,
        distance=distance,
        size=size,
        weight_error=wrong if np.all(problem.weight[overlap.rows] > 0) else np.inf,
        largest_margin=0.5 * distance if problem.has_intercept else distance,
        meeting=problem.meeting,
    )


def not_separable(problem: SeparationProblem, overlap: Overlap) -> NotSeparableError:
    """Return the error that says that there is no hard margin, with its proof certified."""
    proof = certify_overlap(problem, overlap)
    msg = f"C=inf asks for a plane between {problem.sides}, but {proof}; use a finite C"
    return NotSeparableError(msg, proof)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %"
