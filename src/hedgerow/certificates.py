"""Proof of quality: what a solution is worth, computed without trusting the solver.

:func:`certify` sees only a problem and a solution. It evaluates the primal at the returned w and b,
makes a dual point that provably meets every constraint out of the returned alpha, and evaluates the
dual there, all in float64 and from the data. Whatever the solver did, no solution can have an
objective below that dual value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow._parameters import any_number, one_of, real_number, short_text
from hedgerow._state import record
from hedgerow.problems import LinearProblem, Solution

__all__ = ["Certificate", "Criterion", "certify", "worst"]

Vector = NDArray[np.float64]
Criterion = Literal["relative_gap", "kkt_violation"]

AT_BOUND = 1e-12
"""An alpha this near to a bound, relative to the box, counts as on it: rounding, no more."""


ROUNDING = 1e-12
"""A relative gap below which nothing but rounding is left."""


@record(
    primal=any_number,
    dual=any_number,
    kkt_violation=any_number,
    criterion=one_of("relative_gap", "kkt_violation"),
    tolerance=real_number(0.0),
    status=short_text,
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
        The largest value of that figure that counts as solved.
    status : str
        Why the solver stopped.
    """

    primal: float
    dual: float
    kkt_violation: float
    criterion: Criterion
    tolerance: float
    status: str

    @property
    def gap(self) -> float:
        """Primal - dual; a tiny negative value is rounding."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap over max(|primal|, |dual|); 0 when both are 0."""
        scale = max(abs(self.primal), abs(self.dual))
        return self.gap / scale if scale > 0 else 0.0

    @property
    def is_certified(self) -> bool:
        """Whether the criterion's figure is proven to be within the tolerance."""
        figures = (self.primal, self.dual, self.kkt_violation)
        if not np.all(np.isfinite(figures)) or self.relative_gap < -1e-9:
            return False
        return float(getattr(self, self.criterion)) <= self.tolerance

    def __str__(self) -> str:
        if not np.isfinite(self.primal) or not np.isfinite(self.dual):
            return f"Not certified: the figures are not finite (solver status: {self.status!r})."
        gap = max(self.relative_gap, 0.0)
        bound = f"the objective is {self.primal:.6g}, and no solution can go below {self.dual:.6g}"
        violation = f"the largest KKT violation is {self.kkt_violation:.1e}"
        asked = f"asked for: {self._asked()}"
        if self.is_certified:
            share = "up to rounding" if gap < ROUNDING else f"to within {_percent(gap)}"
            return f"Certified: {bound}, so this one is the best there is {share} ({asked}); {violation}."
        return (
            f"Not certified: {bound}, so a better one by up to {_percent(gap)} may exist ({asked}); "
            f"{violation}; the solver stopped with status {self.status!r}."
        )

    def _asked(self) -> str:
        if self.criterion == "relative_gap":
            return _percent(self.tolerance)
        return f"a violation of {self.tolerance:.1e}"


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
    feasible = problem.feasible(solution.alpha)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is not certified
        return Certificate(
            primal=problem.objective(solution.w, solution.intercept),
            dual=problem.dual_objective(feasible),
            kkt_violation=_kkt_violation(problem, problem.boxed(solution.alpha)),
            criterion=criterion,
            tolerance=tolerance,
            status=solution.status,
        )


def worst(certificates: tuple[Certificate, ...]) -> Certificate:
    """Return the certificate with the largest figure: if it is certified, all are."""
    return max(certificates, key=lambda c: (not c.is_certified, getattr(c, c.criterion)))


def _kkt_violation(problem: LinearProblem, alpha: Vector) -> float:
    """Return the largest violation of the optimality conditions of the dual at alpha.

    The conditions ask of the slope g of the dual to be minimised: g_i >= 0 at the lower bound,
    <= 0 at the upper, 0 between; with a free intercept, after b y_i is added for the best b.
    """
    used = problem.weight > 0
    y, a, upper = problem.y[used], alpha[used], problem.upper[used]
    curvature = problem.loss.curvature(problem.weight[used])
    intercept = problem.rho * float(np.sum(problem.y * alpha))
    scores = problem.scores(problem.combine(alpha), intercept)[used]
    slope = y * scores - 1.0 + curvature * a
    box = np.where(np.isfinite(upper), upper, max(float(np.max(a, initial=0.0)), 1.0))
    can_rise, can_fall = a < upper - AT_BOUND * box, a > AT_BOUND * box
    if problem.intercept != "free":
        worst_rise = np.max(-slope[can_rise], initial=0.0)
        worst_fall = np.max(slope[can_fall], initial=0.0)
        return float(max(worst_rise, worst_fall)) + 0.0  # never -0.0
    up, low = np.where(y > 0, can_rise, can_fall), np.where(y > 0, can_fall, can_rise)
    if not up.any() or not low.any():
        return 0.0
    return max(0.0, float(np.max((-y * slope)[up]) - np.min((-y * slope)[low])))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2g} %"
