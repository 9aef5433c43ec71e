"""Decomposition for kernel machines: large working sets on a growing set of active points.

Problem: KernelProblem, any machine. A first few points are active; the core solves the program for them
(`cpp solver/box_qp.hpp`), the others resting at a bound. A look at those that rest, their scores
computed but not kept, tells which violate the optimality conditions; they become active, at most as
many as there are, and it starts again from where it stands. So rows and updates run over the points that
matter, and the first rounds, when most moves are undone later, over few.

The core's scores are sums of float32 values. When they say that the tolerance is met they are computed
again in float64 from the data; if these do not agree, the core goes on from them, its errors now only
those of what still moves. Where that does not get there, the free variables are solved for exactly
(`free_set.py`); if that does not help either, the status is "stalled".

Given: the problem, a tolerance for the largest violation, a budget of bytes. Returned: beta.
Cost: kernel values of the support vectors with all points, some times over. Memory: the budget.
Papers: those of box_qp.hpp; Osuna, Freund, Girosi, An improved training algorithm for support vector
machines, 1997 (growing active sets).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import ParameterError
from hedgerow.kernel_problems import BoxProgram, KernelPoint, KernelProblem, KernelSolution
from hedgerow.monitor import Monitor, current
from hedgerow.problems import Status
from hedgerow.solvers.free_set import solve_free_set

__all__ = ["KernelSettings", "bytes_needed", "decompose"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MEGABYTE = 1 << 20
FIRST_POINTS = 2000
"""Points that are active from the start, if there are many more."""
LOOSE = 0.05
"""Part of the first violation that is near enough while the active points still grow."""
FEW = 0.1
"""Violators that are no more than this share of the active points are the last to come."""
ROUNDS = 50
"""Rounds between two reports."""
SAFE = 0.9
"""Part of the tolerance that the core is to reach, so that exact scores agree."""
REFINEMENTS = 8
"""Times that exact scores may disagree."""
WORTHWHILE = 0.5
"""A refinement that leaves more of the violation than this has stalled."""


@dataclass(frozen=True)
class KernelSettings:
    """Stopping rule and resources.

    Attributes
    ----------
    tol : float
        Stop when the largest violation of the optimality conditions is at most this.
    max_iter : int or None
        Stop after so many steps; a step moves a pair of variables.
    cache_bytes : int
        What may be spent on kernel values.
    working_set : int
        Variables solved for at a time.
    n_threads : int
        Threads to compute with; no result depends on it.
    """

    tol: float = 1e-3
    max_iter: int | None = None
    cache_bytes: int = 2048 * MEGABYTE
    working_set: int = 1024
    n_threads: int = 1


def bytes_needed(problem: KernelProblem, settings: KernelSettings) -> int:
    """Return the least budget that a fit can do with: the values among a working set."""
    n_variables = len(problem.program.linear)
    block = min(settings.working_set, n_variables)
    rows_apart = 0 if problem.gram.is_cheap else 4 * block * problem.gram.n_points
    return 8 * block * block + rows_apart


def check_budget(problem: KernelProblem, settings: KernelSettings) -> None:
    """Refuse a budget that cannot hold a working set."""
    needed = bytes_needed(problem, settings)
    if needed > settings.cache_bytes:
        msg = (
            f"{settings.cache_bytes / MEGABYTE:.3g} MB are too few for the kernel values of a working set of "
            f"{min(settings.working_set, len(problem.program.linear))} variables; allow at least "
            f"{np.ceil(needed / MEGABYTE):.0f} MB, take a smaller working set, or train LinearSVC on a "
            "Nystroem map"
        )
        raise ParameterError(msg)


def decompose(
    problem: KernelProblem, settings: KernelSettings, start: Vector | None = None
) -> KernelSolution:
    """Solve a kernel problem.

    Parameters
    ----------
    problem : KernelProblem
        What to solve.
    settings : KernelSettings
        When to stop.
    start : ndarray or None
        A beta to begin at, such as the solution of a similar problem.

    Returns
    -------
    KernelSolution
        The best beta found; for a certificate see ``kernel_certificates``.
    """
    check_budget(problem, settings)
    run = _Run(problem, settings, start)
    try:
        with run.monitor.guard():
            status = run.solve()
    except _core.Stopped:
        status = run.monitor.reason or "stopped"
    if run.monitor.reason == "interrupted":
        status = "interrupted"
    point = problem.point(run.beta)
    return KernelSolution(
        beta=point.beta,
        figures=problem.figures(point),
        status=status,
        n_iter=run.n_steps,
        solver="decomposition",
        history=tuple(run.history),
    )


class _Run:
    """One run of the method, and where it stands."""

    def __init__(
        self, problem: KernelProblem, settings: KernelSettings, start: Vector | None
    ) -> None:
        self.problem, self.settings = problem, settings
        self.monitor: Monitor = current()
        self.program: BoxProgram = problem.program
        self.n_steps = 0
        self.history: list[tuple[int, float]] = []
        self.limit = settings.max_iter if settings.max_iter is not None else np.iinfo(np.int64).max
        self.beta = self.program.feasible(self.program.start if start is None else start)
        self.core: _core.BoxQp | None = None
        self._seconds_per_value = 0.0

    def solve(self) -> Status:
        """Run until exact scores meet the tolerance, or no more can be done."""
        tol = self.settings.tol
        self.core = self._core_solver(self._point_at_start())
        point = self._grow(tol)
        for _ in range(REFINEMENTS):
            if point is None:
                return "max_iter"
            if point.violation <= tol:
                return "optimal"
            before = point.violation
            self.core.set_beta(point.beta, point.products)
            point = self._grow(tol)
            if point is not None and point.violation > WORTHWHILE * before:
                break
        return self._finish(point)

    def _finish(self, point: KernelPoint | None) -> Status:
        """Solve for the free variables exactly, the last resort."""
        if point is None:
            return "max_iter"
        best = solve_free_set(self.problem, point, self.settings.tol)
        self.beta = best.beta
        return "optimal" if best.violation <= self.settings.tol else "stalled"

    def _point_at_start(self) -> KernelPoint:
        n_points = self.problem.gram.n_points
        if np.any(self.beta):
            return self.problem.point(self.beta)
        return self.problem.point_of(self.beta, np.zeros(n_points))

    def _core_solver(self, point: KernelPoint) -> _core.BoxQp:
        """Return the core's solver, with the first points active."""
        program, settings = self.program, self.settings
        core = _core.BoxQp(
            self.problem.gram.source,
            linear=program.linear,
            lower=program.lower,
            upper=program.upper,
            ridge=program.ridge,
            diagonal=self.problem.gram.diagonal,
            group=program.group,
            keeps_sums=bool(program.sums),
            beta=point.beta,
            scores=point.products,
            bytes=settings.cache_bytes - bytes_needed(self.problem, settings),
            working_set=settings.working_set,
            n_threads=settings.n_threads,
        )
        core.activate(self._first_points(point))
        self.goal = max(settings.tol, LOOSE * point.violation)
        return core

    def _first_points(self, point: KernelPoint) -> Indices:
        """Return evenly spaced points, and those that are not at a bound."""
        n_points, program = self.problem.gram.n_points, self.program
        is_first = np.zeros(n_points, dtype=bool)
        is_first[:: max(1, n_points // FIRST_POINTS)] = True
        free = (point.beta > program.lower) & (point.beta < program.upper)
        is_first |= free.reshape(-1, n_points).any(axis=0)
        return np.flatnonzero(is_first)

    def _grow(self, tol: float) -> KernelPoint | None:
        """Solve until no point violates by more than the tolerance, in the core's scores.

        Returns the exact point, or None if the steps are used up.
        """
        core = self.core
        assert core is not None
        goal = self.goal
        while True:
            if not self._run_core(SAFE * goal):
                return None
            violators, n_active = self._violators(goal)
            if len(violators) <= FEW * n_active and goal > tol:
                goal = self.goal = tol
            elif len(violators) == 0:
                return self.problem.point(core.beta)
            if len(violators) > n_active:
                places = np.linspace(0, len(violators) - 1, n_active).astype(np.int64)
                violators = violators[places]
            core.activate(violators)

    def _run_core(self, tolerance: float) -> bool:
        """Let the core solve for the active points; return False if the steps are used up."""
        core = self.core
        assert core is not None
        while True:
            try:
                rounds, steps, violation, stalled = core.run(
                    ROUNDS, self.limit - self.n_steps, tolerance
                )
            finally:
                self.beta = core.beta
            self.n_steps += steps
            self.history.append((self.n_steps, violation))
            self.monitor.report(self.n_steps, self.settings.max_iter, {"violation": violation})
            self.monitor.check()
            if violation <= tolerance or stalled:
                return True
            if self.n_steps >= self.limit:
                return False

    def _violators(self, tolerance: float) -> tuple[Indices, int]:
        """Return the resting points that violate the conditions by more than the tolerance."""
        core, program = self.core, self.program
        assert core is not None
        is_active = core.is_active.astype(bool)
        n_active = int(np.count_nonzero(is_active))
        if n_active == len(is_active):
            return np.empty(0, dtype=np.int64), n_active
        core.look()
        beta = core.beta
        slopes = program.slopes(beta, core.scores)
        active = np.tile(is_active, len(beta) // len(is_active))
        excess = np.full(len(beta), -np.inf)
        for g in range(max(len(program.sums), 1)):
            here = program.group == g
            rises, falls = here & (beta < program.upper), here & (beta > program.lower)
            lowest = np.min(slopes, initial=np.inf, where=active & falls)
            highest = np.max(slopes, initial=-np.inf, where=active & rises)
            if not program.sums:
                lowest = highest = 0.0
            excess = np.maximum(excess, np.where(rises, slopes - lowest, -np.inf))
            excess = np.maximum(excess, np.where(falls, highest - slopes, -np.inf))
        violates = (excess > tolerance) & ~active
        return np.flatnonzero(violates.reshape(-1, len(is_active)).any(axis=0)), n_active
