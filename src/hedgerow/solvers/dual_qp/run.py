"""What solvers of kernel problems share: settings, budget, reports, checkpoints, time for the certificate."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.state import Json
from hedgerow.errors import ParameterError
from hedgerow.kernels.gram import Gram
from hedgerow.monitor import current
from hedgerow.problems.base import Status
from hedgerow.problems.kernel import KernelSolution, P, ProblemByPoints
from hedgerow.solvers.base import Run

__all__ = ["MEGABYTE", "Core", "KernelRun", "KernelSettings", "block_bytes", "check_budget"]

Vector = NDArray[np.float64]

MEGABYTE = 1 << 20
ROUNDS = 50
"""Rounds between two reports."""
PATIENCE = 60
"""Reports without a violation that is clearly lower, after which a run has stalled."""
CLEARLY = 0.9
"""Part of the lowest violation that is clearly lower."""
REFINEMENTS = 8
"""Times that exact scores may disagree."""
SMALL = 1000
"""Points up to which a solution within the tolerance is made exact."""
EXACT = 1e-12
"""The violation that counts as exact, relative to the scores."""
SAMPLE = 64
"""Rows of exact values that are timed, where time is limited, to know how long a certificate takes."""
RESERVE = 1.5
"""Time kept for the certificate, in units of the estimate."""


@dataclass(frozen=True)
class KernelSettings:
    """Stopping rule and resources.

    Attributes
    ----------
    tol : float
        Stop when the largest violation of the optimality conditions is at most this.
    max_iter : int or None
        Stop after so many steps; a step moves a pair of variables, or all those of a point.
    cache_bytes : int
        What may be spent on kernel values.
    working_set : int
        Variables solved for at a time.
    shrinking : bool
        Whether points rest until they are needed.
    n_threads : int
        Threads to compute with; no result depends on it.
    gap_tol : float
        Stop only when the relative gap is at most this too.
    """

    tol: float = 1e-3
    max_iter: int | None = None
    cache_bytes: int = 2048 * MEGABYTE
    working_set: int = 1024
    shrinking: bool = True
    n_threads: int = 1
    gap_tol: float = math.inf


def block_bytes(gram: Gram, n_places: int) -> int:
    """Return the least budget that a fit can do with: the values among a working set."""
    rows_apart = 0 if gram.is_cheap else 4 * n_places * gram.n_points
    return 8 * n_places * n_places + rows_apart


def check_budget(gram: Gram, n_places: int, settings: KernelSettings) -> None:
    """Refuse a budget that cannot hold a working set."""
    needed = block_bytes(gram, n_places)
    if needed > settings.cache_bytes:
        msg = (
            f"{settings.cache_bytes / MEGABYTE:.3g} MB are too few for the kernel values of a working set of "
            f"{n_places} variables; allow at least "
            f"{np.ceil(needed / MEGABYTE):.0f} MB, take a smaller working set, or train LinearSVC on a "
            "Nystroem map"
        )
        raise ParameterError(msg)


class Core(Protocol):
    """A solver of the core's."""

    @property
    def beta(self) -> Vector:
        """Where it stands."""

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """All that its later rounds depend on."""

    def run(self, n_rounds: int, n_steps: int, tolerance: float) -> tuple[int, int, float, bool]:
        """Go on; return the rounds and steps made, the violation, and whether a round moved nothing."""


class KernelRun(Run[KernelSolution], Generic[P]):
    """A run that stops by the violation of the optimality conditions; its iterations are steps of the core.

    It leaves a checkpoint after every report. What goes on from it comes to the same bits, if a kernel that
    Python computes gives the same value in every block.

    Attributes
    ----------
    name : str
        Of the solver.
    worthwhile : float
        Exact scores that leave more of the violation than this have not helped.
    beta : ndarray
        The best point so far.
    limit : int
        Steps that may be made.
    lowest : float
        The lowest violation that the core has reported since it was told to solve.
    n_waited : int
        Reports since one was clearly lower.
    tol : float
        The violation that is wanted: that of the settings, or less if the gap was too large with that.
    before : float
        The violation that the last exact scores left.
    n_refined : int
        How often there were any.
    """

    name: ClassVar[str]
    worthwhile: ClassVar[float]
    recorded = ("violation",)
    kept: ClassVar[tuple[str, ...]] = (
        "n_iter",
        "history",
        "lowest",
        "n_waited",
        "tol",
        "before",
        "n_refined",
    )

    problem: ProblemByPoints[P]
    settings: KernelSettings

    def __init__(
        self, problem: ProblemByPoints[P], settings: KernelSettings, beta: Vector, *others: Any
    ) -> None:
        monitor = current()
        key = None if monitor.store is None else _key(problem, settings, beta, *others)
        super().__init__(self.name, monitor, key)
        self.problem, self.settings, self.beta = problem, settings, beta
        self.limit = np.iinfo(np.int64).max if settings.max_iter is None else settings.max_iter
        self.lowest, self.n_waited = np.inf, 0
        self.tol, self.before, self.n_refined = settings.tol, np.inf, 0
        is_timed = math.isfinite(self.monitor.deadline)
        self.seconds_per_row = self._time_of_a_row() if is_timed else 0.0

    @abstractmethod
    def exact_steps(self, point: P, tol: float) -> Iterator[P]:
        """Yield, after each step of an exact finish from a point, the best point so far."""

    def ended(self, status: Status | None) -> KernelSolution:
        """Return the best point, evaluated from the data."""
        point = self.problem.point(self.beta)
        return KernelSolution(
            beta=point.beta,
            figures=self.problem.figures(point),
            status=status or "max_iter",
            n_iter=self.n_iter,
            solver=self.name,
            history=tuple(self.history),
        )

    def to_store(self, solution: KernelSolution) -> Json:
        """Return what is kept of a finished run: also what other runs need of it."""
        return {"solution": solution, "rest": self.rest()}

    def from_stored(self, stored: Json) -> KernelSolution:
        """Return the solution of a finished run, and make as if it had ended just now."""
        self.take_rest(stored["rest"])
        return stored["solution"]  # type: ignore[no-any-return]

    def rest(self) -> Json:
        """Return what other runs need of this one beside its solution."""
        return None

    def take_rest(self, rest: Json) -> None:
        """Make as if a run had ended that has left this for others."""

    def _time_of_a_row(self) -> float:
        """Return the seconds that the exact values of one point with all others take."""
        gram = self.problem.gram
        n_points = gram.n_points
        coef = np.zeros((n_points, *self.beta.shape[1:]))
        coef[:: max(1, n_points // SAMPLE)] = 1.0
        n_rows = len(range(0, n_points, max(1, n_points // SAMPLE)))
        began = time.monotonic()
        gram.sums(coef)
        return (time.monotonic() - began) / n_rows

    def _keep_time_for_the_certificate(self) -> None:
        n_support = np.count_nonzero(self.beta if self.beta.ndim == 1 else self.beta.any(axis=1))
        self.monitor.reserve(RESERVE * self.seconds_per_row * float(n_support))

    def advance(self, core: Core, tolerance: float) -> bool:
        """Let the core solve, or stall; return False if the steps are used up."""
        while self.n_waited < PATIENCE:
            try:
                _, steps, violation, stalled = core.run(ROUNDS, self.limit - self.n_iter, tolerance)
            finally:
                self.beta = core.beta
            self.n_iter += steps
            self._keep_time_for_the_certificate()
            self.report({"violation": violation})
            if violation <= tolerance or stalled:
                break
            self.monitor.check()
            if self.n_iter >= self.limit:
                return False
            self.n_waited += 1
            if violation < CLEARLY * self.lowest:
                self.lowest, self.n_waited = violation, 0
            self.checkpoint(core=lambda: core.state)
        self.lowest, self.n_waited = np.inf, 0
        return True

    def is_solved(self, point: P) -> bool:
        """Say whether the violation and the gap of a point are small enough, rounding included."""
        settings = self.settings
        if not self.is_within(point, settings.tol):
            return False
        if not self.problem.is_convex or settings.gap_tol == math.inf:
            return True
        figures = self.problem.measurement(point)
        return figures.relative_gap <= _less_rounding(settings.gap_tol, figures.relative_rounding)

    def is_within(self, point: P, tol: float) -> bool:
        """Say whether the violation of a point is within a tolerance, rounding included."""
        if point.violation > tol:
            return False
        error = self.problem.measurement(point).rounding.violation
        return point.violation <= _less_rounding(tol, error)

    def distance_from_solved(self, point: P) -> float:
        """Return the violation or the gap of a point in units of its tolerance, whichever is larger."""
        settings = self.settings
        of_gap = self.problem.measurement(point).relative_gap / settings.gap_tol
        return max(point.violation / settings.tol, of_gap)

    def is_worth_refining(self, point: P) -> bool:
        """Say whether the core should go on from the exact scores of a point.

        Where they meet the tolerance and only the gap is too large, a smaller violation is asked for.
        """
        if self.is_solved(point):
            return False
        before, self.before, self.n_refined = self.before, point.violation, self.n_refined + 1
        if self.is_within(point, self.tol):
            gap = self.problem.measurement(point).relative_gap
            self.tol = point.violation * min(0.5, 0.7 * self.settings.gap_tol / gap)
            self.before = np.inf
            return self.tol > 0 and self.n_refined < REFINEMENTS
        return point.violation <= self.worthwhile * before and self.n_refined < REFINEMENTS

    def finished(self, point: P) -> Status:
        """Bring a point within the tolerance, that of a small problem to the last bits; return the status.

        So it does not matter how a small problem was begun. What can be had of that in time is kept.
        """
        best, self.beta = point, point.beta
        with suppress(_core.system.Stopped):
            for best in self.exact_steps(point, self._least(point)):
                self.beta = best.beta
                self.monitor.check()
        if self.is_solved(best):
            return "optimal"
        self.monitor.check()
        return "stalled"

    def _least(self, point: P) -> float:
        """Return the violation at which a point is exact enough."""
        problem = self.problem
        if problem.gram.n_points > SMALL or not problem.is_convex:
            return self.settings.tol if self.is_solved(point) else self.tol
        return min(self.tol, EXACT * (1.0 + float(np.max(np.abs(point.products)))))

    def resume(self) -> Json:
        """Go on from where a run that was broken off stood; return the state of its core, or None."""
        left = super().resume()
        if left is None:
            return None
        _refuse_repetition(left["core"])
        return left["core"]


def _less_rounding(tolerance: float, error: float) -> float:
    """Return what is left of a tolerance for the solver; where rounding takes most of it, half."""
    return max(tolerance - error, 0.5 * tolerance)


def _refuse_repetition(core: Json) -> None:
    """Refuse a state in which a point is active, or a variable has a place, twice; the core does not look."""
    for name in ("points", "slot"):
        numbers = core.get(name, np.empty(0, dtype=np.int64))
        numbers = numbers[numbers >= 0]
        if len(np.unique(numbers)) != len(numbers):
            msg = f"the state of a solver names one of its {name} twice"
            raise ValueError(msg)


def _key(problem: Any, settings: KernelSettings, *others: Any) -> str:
    """Name all that the solution depends on."""
    given = {
        part.name: getattr(problem, part.name)
        for part in fields(problem)
        if part.init and part.name != "gram"
    }
    rules = (
        settings.tol,
        settings.gap_tol,
        settings.max_iter,
        settings.working_set,
        settings.shrinking,
    )
    return fingerprint(type(problem).__name__, problem.gram.parts, given, rules, others)
