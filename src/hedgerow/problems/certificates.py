"""Proof of quality: what a solution is worth, computed without trusting the solver.

:func:`certify` sees only a problem and a solution. It evaluates the primal at the returned w and b,
makes a dual point that provably meets every constraint out of the returned alpha, and evaluates the
dual there, all in float64 and from the data. Whatever the solver did, no solution can have an
objective below that dual value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import any_number, one_of, real_number, short_text
from hedgerow._base.state import record
from hedgerow.losses import Logistic
from hedgerow.problems.base import Solution, blocks, extended, inner, relative_gap
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.hard_margin import MEETING, HardMarginProblem, Overlap
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.linear_rounding import can_be_precise, linear_rounding, quick_rounding

__all__ = [
    "Certificate",
    "Criterion",
    "OverlapCertificate",
    "certify",
    "certify_overlap",
    "largest_gap",
    "on_bounds",
    "slacks",
    "uncertified",
    "violation_of",
    "worst",
]

Vector = NDArray[np.float64]
Criterion = Literal["relative_gap", "kkt_violation"]

AT_BOUND = 1e-12
"""An alpha this near to a bound, relative to the box, counts as on it: rounding, no more."""


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
    problem: LinearProblem,
    solution: Solution,
    tolerance: float,
    criterion: Criterion = "relative_gap",
) -> Certificate:
    """Return the certificate of a solution, recomputed from the data.

    Parameters
    ----------
    problem : LinearProblem
        What was to be minimised.
    solution : Solution
        What a solver returned; its w, intercept and alpha are used, nothing else is believed.
    tolerance : float
        The largest figure that counts as solved.
    criterion : {"relative_gap", "kkt_violation"}
        Which figure that is.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is not certified
        certificate = _certify(problem, solution, tolerance, criterion)
        if certificate.is_certified or not can_be_precise(problem):
            return certificate
        problem = replace(problem, is_precise=True)
        solution = replace(solution, w=extended(solution.w), alpha=extended(solution.alpha))
        return _certify(problem, solution, tolerance, criterion)


def _certify(
    problem: LinearProblem, solution: Solution, tolerance: float, criterion: Criterion
) -> Certificate:
    """Return the certificate of a solution, in the precision of the problem."""
    alpha = problem.feasible(solution.alpha)
    v = problem.combine(alpha)
    scores, violation = _scores_and_violation(problem, solution, alpha, v)
    primal = problem.objective(solution.w, solution.intercept, scores)
    dual = problem.dual_objective(alpha, v)
    figures = (primal, dual, violation, criterion, tolerance, solution.status, problem.least_scale)
    if not problem.is_precise:
        quick = quick_rounding(problem, solution, scores, alpha, v, objectives=(primal, dual))
        if quick is not None:
            certificate = Certificate(*figures, quick.gap, quick.violation)
            if certificate.is_certified:
                return certificate
    rounding = linear_rounding(problem, solution, scores, alpha, v)
    return Certificate(*figures, rounding.gap, rounding.violation)


def _scores_and_violation(
    problem: LinearProblem, solution: Solution, alpha: Vector, v: Vector
) -> tuple[Vector, float]:
    """Return the scores of the solution, and the largest violation of the optimality conditions at alpha."""
    if isinstance(problem, CrammerSingerProblem):
        scores = problem.scores(solution.w, solution.intercept)
        return scores, _violation_of_classes(problem, solution, alpha, v)
    balance = inner(problem.y, alpha)
    scores, scores_of_v = _scores_of_both(problem, solution, v, balance)
    of_rows = _violation_of_rows(problem, alpha, scores_of_v)
    return scores, max(of_rows, _violation_of_bounds(problem, solution, v, balance))


def uncertified(dual: float, tolerance: float, status: str) -> Certificate:
    """Return what is known of a solution whose rows were not read again: a lower bound, if anything."""
    return Certificate(np.inf, dual, np.inf, "relative_gap", tolerance, status)


def on_bounds(problem: LinearProblem, alpha: Vector) -> Vector:
    """Return alpha with values that are on a bound but for rounding put onto it."""
    if isinstance(problem, CrammerSingerProblem):
        return problem.classes.on_bounds(alpha, slice(None))
    if isinstance(problem.loss, Logistic):  # whose conditions do not jump at a bound
        return alpha
    lower, upper = problem.lower, problem.upper
    largest = float(np.max(np.abs(alpha), initial=0.0))
    rounding = AT_BOUND * np.where(np.isfinite(upper), upper, largest)
    alpha = np.where(alpha >= upper - rounding, upper, alpha)
    alpha = np.where(alpha <= lower + rounding, lower, alpha)
    return np.where(np.abs(alpha) <= rounding, 0.0, alpha)


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
    """Proof that no plane separates two classes: convex combinations of their rows that meet.

    On a plane with margin m all rows of a class, and so all their convex combinations, lie m away
    from it on their side. Two such points are at least 2 m apart.

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
        No plane separates the classes with a larger one.
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


def certify_overlap(problem: HardMarginProblem, overlap: Overlap) -> OverlapCertificate:
    """Return the certificate of an overlap, recomputed from the data.

    Parameters
    ----------
    problem : HardMarginProblem
        Whose rows and signs count, and whether there is an intercept.
    overlap : Overlap
        What a solver says meets.
    """
    has_intercept = problem.intercept != "none"
    y, weights = problem.y[overlap.rows], overlap.weights
    sums = [weights[y > 0], weights[y < 0]] if has_intercept else [weights]
    wrong = max(-float(np.min(weights)), *(abs(float(np.sum(s)) - 1.0) for s in sums))
    distance, size = problem.distance_of(overlap)
    return OverlapCertificate(
        rows=overlap.rows,
        weights=weights,
        distance=distance,
        size=size,
        weight_error=wrong if np.all(problem.weight[overlap.rows] > 0) else np.inf,
        largest_margin=0.5 * distance if has_intercept else distance,
    )


def _scores_of_both(
    problem: LinearProblem, solution: Solution, v: Vector, balance: float
) -> tuple[Vector, Vector]:
    """Return the scores of the solution, and those that go with alpha, in one pass over the data.

    With a quadratic penalty the latter are those of w = v; another one has no w of its own for
    alpha, and takes the solution's.
    """
    if problem.penalty.bounds_dual:
        scores = problem.scores(solution.w, solution.intercept)
        return scores, scores
    planes = np.array([solution.w, v])
    intercepts = np.array([solution.intercept, problem.rho * (balance - problem.pull)])
    scores = problem.scores_of(planes, intercepts)
    return scores[:, 0], scores[:, 1]


def _violation_of_rows(problem: LinearProblem, alpha: Vector, scores: Vector) -> float:
    """Return how far, at most, a residual is from lying between the slopes of the conjugate at alpha.

    A free intercept is taken as the best there is for that.
    """
    return violation_of(problem, *slacks(problem, alpha, scores))


def slacks(problem: LinearProblem, alpha: Vector, scores: Vector) -> tuple[float, float]:
    """Return the largest lower and the least upper end of the intervals in which rows want 0 to lie."""
    on_bound = on_bounds(problem, alpha)
    highest, lowest = -np.inf, np.inf
    for rows in blocks(len(alpha)):
        weight, y = problem.weight[rows], problem.y[rows]
        left, right = problem.loss.conjugate_slopes(on_bound[rows], weight)
        residual = problem.target[rows] - y * scores[rows]
        least, most = residual - right, residual - left  # 0 is to lie between them
        if problem.intercept == "free":
            least, most = np.where(y > 0, least, -most), np.where(y > 0, most, -least)
        highest = max(highest, float(np.max(least, initial=-np.inf, where=weight > 0)))
        lowest = min(lowest, float(np.min(most, initial=np.inf, where=weight > 0)))
    return highest, lowest


def violation_of(problem: LinearProblem, highest: float, lowest: float) -> float:
    """Return the violation that the slacks of all rows make."""
    if problem.intercept == "free":
        return max(0.0, highest - lowest)
    return max(highest, -lowest, 0.0)


def _violation_of_classes(
    problem: CrammerSingerProblem, solution: Solution, alpha: Vector, v: Vector
) -> float:
    """Return by how much, at most, a class scores too high beside one whose alpha could rise.

    The scores are those of w = v; free intercepts are the solution's.
    """
    planes = v.copy()
    planes[:, -1] = problem.rho * v[:, -1] if problem.intercept != "free" else solution.w[:, -1]
    scores, classes = problem.scores(planes, 0.0), problem.classes
    largest = 0.0
    for rows in blocks(len(alpha)):
        slopes = classes.slopes(scores[rows], rows)
        can_rise = classes.on_bounds(alpha[rows], rows) < classes.bounds(rows)
        lowest = np.min(slopes, axis=1, initial=np.inf, where=can_rise)
        beyond = np.where(problem.weight[rows] > 0, np.max(slopes, axis=1) - lowest, 0.0)
        largest = max(largest, float(np.max(beyond)))
    return largest


def _violation_of_bounds(
    problem: LinearProblem, solution: Solution, v: Vector, balance: float
) -> float:
    """Return how far v is from |v_j| <= 1 and from the sign of w_j where w_j is not 0 (l1)."""
    if not problem.penalty.bounds_dual:
        return 0.0
    w = solution.w
    if problem.intercept == "penalized":
        w, v = np.append(w, solution.intercept), np.append(v, problem.augmentation(balance))
    beyond = np.where(w == 0.0, np.maximum(np.abs(v) - 1.0, 0.0), np.abs(v - np.sign(w)))
    return float(np.max(beyond, initial=0.0))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %"
