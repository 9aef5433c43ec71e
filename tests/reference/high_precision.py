"""The judge of certificates: what a fitted model is truly worth, in decimals of 100 digits.

A verdict needs no trust. The primal of the model that was returned is evaluated exactly; the optimum is
enclosed by a dual point that meets every constraint, at first the model's own, and by the best primal
point known. Where these leave a question open, an interior point is run, in long doubles and then in
decimals. A certificate is false if it is proven to be; what stays open is told apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from tests.reference.box_program import INFINITE
from tests.reference.exact_kernels import ONE, ZERO

SLACK = Decimal("1.01")
"""On every comparison with a tolerance."""
ROUNDING = Decimal("1e-9")
"""How far a lower bound may be above the optimum, relative to the scale of the gap."""
UNAVOIDABLE = Decimal("2e-15")
"""Of what w = 0 costs: losses of margins that are doubles are not known better."""
FAINT = Decimal("1e-9")
"""An objective this small, relative to what is usual for the data, is 0 for a machine whose optimum may be."""
MOST_EXACT = 120
"""Dual variables up to which the interior point is run in decimals: it takes minutes beyond."""
VIOLATION_SLACK = Decimal("1.1")


@dataclass
class Verdict:
    """What is known of a model and of its certificate.

    `faults` maps what is wrong to how much: "gap" (a better model exists), "primal" (not that of the
    model), "dual" (above the optimum), "violation", "indefinite", "scale"; `open` names what could not be
    settled.
    """

    primal: Decimal
    dual: Decimal = -INFINITE
    best_primal: Decimal = INFINITE
    violation: Decimal | None = None
    solver: str = "none"
    faults: dict[str, float] = field(default_factory=dict)
    open: tuple[str, ...] = ()

    @property
    def is_false(self):
        return bool(self.faults)

    def __str__(self):
        parts = [f"P={float(self.primal):.9g}", f"P*={float(self.best_primal):.9g}"]
        parts.append(f"D*={float(self.dual):.9g}")
        parts += [f"{name} {size:.2e}" for name, size in self.faults.items()]
        parts += [f"{name}?" for name in self.open]
        return " ".join(parts)


@dataclass(frozen=True)
class Claim:
    """A certificate, and how large a gap it may have to be one."""

    certificate: object
    gap_tolerance: float

    @property
    def primal(self):
        return Decimal(self.certificate.primal)

    @property
    def dual(self):
        return Decimal(self.certificate.dual)

    @property
    def tolerance(self):
        return Decimal(self.gap_tolerance)

    @property
    def error(self):
        """How far off the certificate says that rounding may have put its figures."""
        return Decimal(getattr(self.certificate, "gap_error", 0.0))


def kernel_claim(certificate):
    """A kernel machine's: the gap may be 1e-3, or the tolerance if that is larger."""
    return Claim(certificate, max(1e-3, certificate.tolerance))


def linear_claim(certificate):
    """A linear machine's: the gap may be its tolerance."""
    return Claim(certificate, certificate.tolerance)


def judge(task, points, x, claim, violation=None):
    """Return the verdict on a certified model.

    `points` are the model, or readings of it of which the best one counts; `x` are its dual variables.
    """
    primal = min(task.primal(point) for point in points)
    verdict = Verdict(primal, best_primal=primal, violation=violation)
    if not primal < INFINITE:
        verdict.faults["gap"] = float("inf")
        return verdict
    _try_dual(task, verdict, x)
    hint = max((abs(v) for v in x), default=ONE)
    for solver in ("long double", "decimal") if len(x) <= MOST_EXACT else ("long double",):
        if not _open_questions(task, verdict, claim):
            break
        verdict.solver = solver
        _run_solver(task, verdict, hint, exactly=solver == "decimal")
    _conclude(task, verdict, claim)
    return verdict


def scale_of(task, verdict, claim):
    """What gaps are divided by."""
    sizes = [abs(verdict.primal), Decimal(claim.certificate.least_scale)]
    sizes += [abs(verdict.dual)] if verdict.dual > -INFINITE else []
    return max(*sizes, Decimal("1e-300"))


def rounding_of(task):
    """By how much a model of doubles may be off, whatever it is."""
    return UNAVOIDABLE * task.primal_at_zero


def _try_dual(task, verdict, x):
    feasible = task.feasible(x)
    if feasible is not None:
        verdict.dual = max(verdict.dual, task.dual(feasible))


def _run_solver(task, verdict, hint, *, exactly):
    found = task.solved(hint, exactly=exactly)
    if found is not None:
        x, point = found
        verdict.dual = max(verdict.dual, task.dual(x))
        verdict.best_primal = min(verdict.best_primal, task.primal(point))


def _open_questions(task, verdict, claim):
    """Return what is neither proven nor refuted."""
    scale = scale_of(task, verdict, claim)
    allowed = SLACK * claim.tolerance * scale + rounding_of(task)
    questions = []
    if verdict.primal - verdict.dual > allowed >= verdict.primal - verdict.best_primal:
        questions.append("gap")
    above = claim.dual - claim.error - ROUNDING * scale - rounding_of(task)
    if verdict.dual < above <= verdict.best_primal:
        questions.append("dual")
    return questions


def _conclude(task, verdict, claim):
    scale, rounding = scale_of(task, verdict, claim), rounding_of(task)
    tolerance = SLACK * claim.tolerance
    wrong = {
        "gap": (verdict.primal - verdict.best_primal) / scale,
        "primal": abs(claim.primal - verdict.primal) / scale,
        "dual": (claim.dual - claim.error - verdict.best_primal) / scale,
    }
    limits = {"gap": tolerance, "primal": tolerance, "dual": ROUNDING}
    known_to = rounding / scale
    verdict.faults |= {k: float(v) for k, v in wrong.items() if v > limits[k] + known_to}
    sizes = max(abs(verdict.primal), abs(verdict.best_primal))
    if sizes > FAINT * task.natural_size and sizes > 0:  # where a stated scale is no excuse
        gap = (verdict.primal - verdict.best_primal) / sizes
        if gap > 10 * tolerance and gap * sizes > rounding:
            verdict.faults["scale"] = float(gap)
    if verdict.violation is not None:
        allowed = VIOLATION_SLACK * Decimal(claim.certificate.tolerance)
        if verdict.violation > allowed:
            verdict.faults["violation"] = float(verdict.violation)
    if not verdict.faults:
        verdict.open = tuple(_open_questions(task, verdict, claim))


def is_indefinite(K):
    """Say whether an exact table has an eigenvalue clearly below 0."""
    largest = max((abs(v) for v in K.ravel()), default=ZERO)
    if largest == 0:
        return False
    values = np.linalg.eigvalsh((K / largest).astype(np.float64))
    return bool(values[0] < -1e-10 * max(values[-1], -values[0]))
