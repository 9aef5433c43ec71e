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

A violation within the tolerance may leave a large gap, where the scores are small beside it or C is large; then
a smaller one is asked for, or that nearly all violations are on the side where losses are 0, until the gap is
small too.

A problem of few points whose Gram matrix is singular, as with a polynomial kernel of few features, can take
millions of pairs. After a number of steps that depends on the number of variables alone an interior point
(`interior_point.py`) takes over, to which the rank makes no difference.

Given: the problem, tolerances for the largest violation and the gap, a budget of bytes. Returned: beta.
Cost: kernel values of the support vectors with all points, some times over. Memory: the budget.
Papers: those of box_qp.hpp; Osuna, Freund, Girosi, An improved training algorithm for support vector
machines, 1997 (growing active sets).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import Json
from hedgerow.problems.base import Status, relative_gap
from hedgerow.problems.kernel import KernelPoint, KernelProblem, KernelSolution
from hedgerow.solvers.dual_qp.free_set import free_set_steps
from hedgerow.solvers.dual_qp.interior_point import bytes_of_interior_point, interior_point_steps
from hedgerow.solvers.dual_qp.linear_system import IndefiniteError
from hedgerow.solvers.dual_qp.run import SMALL, KernelRun, KernelSettings, block_bytes, check_budget

__all__ = ["SharedRows", "bytes_needed", "decompose"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

ALL_AT_ONCE = 20_000
"""Points that are active from the start, if there are no more."""
FIRST_POINTS = 2000
"""Points that are, if there are more."""
LOOSE = 0.05
"""Part of the first violation that is near enough while the active points still grow."""
FEW = 0.1
"""Violators that are no more than this share of the active points are the last to come."""
STEPS_PER_VARIABLE = 100
"""Steps by pairs, for each variable, after which an interior point takes over a small problem."""
AIM = 0.9
"""Part of the allowed gap that a smaller violation is to leave."""
ENLARGED = 0.25
"""Part of the tolerance by which the margin is larger than 1 where the gap is too large otherwise."""
FINE = 1e-6
"""A violation, relative to the scores, that float32 values cannot be trusted with."""
SAFE = 0.9
"""Part of the tolerance that the core is to reach, so that exact scores agree."""


def bytes_needed(problem: KernelProblem, settings: KernelSettings) -> int:
    """Return the least budget that a fit can do with: the values among a working set."""
    return block_bytes(problem.gram, _n_places(problem, settings))


def _n_places(problem: KernelProblem, settings: KernelSettings) -> int:
    return min(settings.working_set, len(problem.program.linear))


@dataclass
class SharedRows:
    """The core's solver, whose rows of kernel values serve several problems over the same points.

    The problems are solved one after the other, and have the same gram and settings. Points that were
    active in one are so in the next: which, and in what order, is part of what a solution depends on.
    """

    core: _core.solver.BoxQp | None = None
    _recalled: list[Indices] = field(default_factory=list, init=False)

    @property
    def active(self) -> list[Indices]:
        """The active points, piece by piece as they became so."""
        if self.core is None:
            return self._recalled
        state = self.core.state
        return np.split(state["points"], state["ends"][:-1]) if len(state["ends"]) else []

    def recall(self, active: list[Indices]) -> None:
        """Make as if problems had been solved that ended with these active points."""
        self.core, self._recalled = None, active

    def solver(
        self, problem: KernelProblem, beta: Vector, products: Vector, settings: KernelSettings
    ) -> _core.solver.BoxQp:
        """Return the core's solver at a beta of a problem."""
        program = problem.program
        arrays = _core.solver.Program(
            linear=program.linear,
            lower=program.lower,
            upper=program.upper,
            ridge=program.ridge,
            diagonal=problem.gram.diagonal,
            group=program.group,
            keeps_sums=bool(program.sums),
        )
        if self.core is not None:
            self.core.restart(arrays, beta=beta, scores=products)
            return self.core
        self.core = _core.solver.BoxQp(
            problem.gram.source,
            arrays,
            beta=beta,
            scores=products,
            n_bytes=settings.cache_bytes - bytes_needed(problem, settings),
            working_set=settings.working_set,
            n_threads=settings.n_threads,
        )
        for piece in self._recalled:
            self.core.activate(piece)
        return self.core


def decompose(
    problem: KernelProblem,
    settings: KernelSettings,
    start: Vector | None = None,
    shared: SharedRows | None = None,
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
    shared : SharedRows or None
        What problems over the same points share.

    Returns
    -------
    KernelSolution
        The best beta found; for a certificate see ``certify``.
    """
    check_budget(problem.gram, _n_places(problem, settings), settings)
    return _Run(problem, settings, start, shared or SharedRows()).solution()


class _Run(KernelRun[KernelPoint]):
    """One run of the method.

    ``goal`` is the violation that is wanted of the active points, ``is_enlarged`` whether the core solves for
    a margin that is larger than 1.
    """

    name = "decomposition"
    kept = (*KernelRun.kept, "goal", "is_enlarged")
    worthwhile = 0.5

    problem: KernelProblem

    def __init__(
        self,
        problem: KernelProblem,
        settings: KernelSettings,
        start: Vector | None,
        shared: SharedRows,
    ) -> None:
        self.program, self.shared = problem.program, shared
        beta = self.program.feasible(self.program.start if start is None else start)
        super().__init__(problem, settings, beta, shared.active)
        self.goal, self.is_enlarged = np.inf, False
        self.most_steps = self.limit
        if self._is_small:
            self.limit = min(self.limit, STEPS_PER_VARIABLE * len(beta))

    @property
    def _is_small(self) -> bool:
        """Whether an interior point could solve the problem."""
        n_points = self.problem.gram.n_points
        fits = bytes_of_interior_point(n_points) <= self.settings.cache_bytes
        return n_points <= SMALL and fits and self.problem.is_convex

    def rest(self) -> Json:
        """Return the active points, which are so in the next problem too."""
        return self.shared.active

    def take_rest(self, rest: Json) -> None:
        """Make as if these points were active."""
        self.shared.recall(rest)

    def solve(self) -> Status:
        """Run until exact scores meet the tolerance, or no more can be done."""
        core = self._begin()
        while True:
            is_limit = not self._grow(core)
            if is_limit and self.n_iter >= self.most_steps:
                return "max_iter"
            point = self.problem.point(self.beta)
            if is_limit or not self.is_worth_refining(point):
                status = None if is_limit else self.finished(point)
                if status in (None, "stalled") and self._is_small:
                    status = self._from_inside(point) or status
                if status is not None:
                    return status
                self.limit = self.most_steps
            core.set_beta(point.beta, point.products)
            self.goal = min(self.goal, self.tol)

    def is_worth_refining(self, point: KernelPoint) -> bool:
        """Say whether the core should go on; the exact finish of a small problem closes a gap sooner."""
        if self._is_small and self.is_within(point, self.tol):
            return False
        return super().is_worth_refining(point)

    def _from_inside(self, best: KernelPoint) -> Status | None:
        """Solve a small problem by an interior point; None if its kernel values turn out to be indefinite."""
        try:
            for point in interior_point_steps(self.problem, self.settings.n_threads):
                best = min(best, point, key=self.distance_from_solved)
                self.beta, self.n_iter = best.beta, self.n_iter + 1
                self.report({"violation": best.violation})
                self.monitor.check()
        except IndefiniteError:
            return None
        return "optimal" if self.is_solved(best) else "stalled"

    def exact_steps(self, point: KernelPoint, tol: float) -> Iterator[KernelPoint]:
        """Solve for the free variables, from a point."""
        return free_set_steps(self.problem, point, tol, self.settings.n_threads)

    def _begin(self) -> _core.solver.BoxQp:
        """Return the core's solver, at the first point or where a run that was broken off left it."""
        left = self.resume()
        if left is not None:
            core = self.shared.solver(self.problem, left["beta"], left["scores"], self.settings)
            core.set_state(**left)
            self.beta = core.beta
            if self.is_enlarged:
                self._enlarge_margin(core)
            return core
        point = self._first_point()
        core = self.shared.solver(self.problem, point.beta, point.products, self.settings)
        self.goal, self.before = max(self.settings.tol, LOOSE * point.violation), point.violation
        first = self._first_points(point)
        core.activate(first[core.is_active[first] == 0])
        return core

    def _first_point(self) -> KernelPoint:
        if np.any(self.beta):
            return self.problem.point(self.beta)
        nothing = np.zeros(self.problem.gram.n_points)
        return self.problem.point_of(self.beta, nothing, nothing)

    def _first_points(self, point: KernelPoint) -> Indices:
        """Return evenly spaced points, and those that are free."""
        n_points, program = self.problem.gram.n_points, self.program
        is_first = np.zeros(n_points, dtype=bool)
        rests = self.settings.shrinking and n_points > ALL_AT_ONCE
        is_first[:: n_points // FIRST_POINTS if rests else 1] = True
        free = (point.beta > program.lower) & (point.beta < program.upper)
        return np.flatnonzero(is_first | free.reshape(-1, n_points).any(axis=0))

    def _grow(self, core: _core.solver.BoxQp) -> bool:
        """Solve until no point violates by more than the tolerance, in the core's scores.

        Returns False if the steps are used up.
        """
        while True:
            if not self.advance(core, SAFE * self.goal):
                return False
            violators, n_active = self._violators(core)
            if len(violators) <= FEW * n_active and self.goal > self.tol:
                self.goal = self.tol
            elif len(violators) == 0 and not self._tightens(core):
                return True
            if len(violators) > n_active:
                spread = np.linspace(0, len(violators) - 1, n_active).astype(np.int64)
                violators = violators[spread]
            core.activate(violators)

    def _tightens(self, core: _core.solver.BoxQp) -> bool:
        """Ask for more if the gap is too large in the core's scores, which cost nothing."""
        problem, settings = self.problem, self.settings
        is_first = self.tol == settings.tol  # later on exact scores tell
        if self._is_small or not is_first or not problem.is_convex or settings.gap_tol == np.inf:
            return False
        scores = core.scores
        point = problem.point_of(self.beta, scores, np.zeros(len(scores)))
        gap = relative_gap(problem.primal(point), problem.dual(point), problem.least_scale)
        if gap <= settings.gap_tol:
            return False
        has_margin = problem.with_larger_margin(0.0) is not None
        wanted = AIM * settings.gap_tol / gap * point.violation
        wanted = (1.0 - 2.0 * ENLARGED) * settings.tol if has_margin else wanted
        if wanted >= self.goal or wanted <= FINE * float(np.max(np.abs(scores))):
            return False
        if has_margin:
            self._enlarge_margin(core, scores)
        self.goal = self.tol = wanted
        return True

    def _enlarge_margin(self, core: _core.solver.BoxQp, scores: Vector | None = None) -> None:
        """Let the core solve for a margin that is larger by a part of the tolerance.

        It makes violations larger by twice that. In return the points that may rise have margins of at least
        1, as long as the core's own violation is no larger either; then they have no losses, whatever C, and
        the gap is that of other points, which is within the tolerance.
        """
        share = ENLARGED * self.settings.tol
        enlarged = self.problem.with_larger_margin(share)
        assert enlarged is not None
        self.program, self.is_enlarged = enlarged, True
        core.set_linear(enlarged.linear)
        grown = (1.0 + share) * self.beta
        fits = bool(np.all((enlarged.lower <= grown) & (grown <= enlarged.upper)))
        if scores is not None and fits:  # near the solution, if nothing is at a bound
            core.set_beta(grown, (1.0 + share) * scores)

    def _violators(self, core: _core.solver.BoxQp) -> tuple[Indices, int]:
        """Return the resting points that violate the conditions, and how many are active."""
        is_active = core.is_active.astype(bool)
        n_active = int(np.count_nonzero(is_active))
        if n_active == len(is_active):
            return np.empty(0, dtype=np.int64), n_active
        core.look()
        active = np.tile(is_active, len(self.beta) // len(is_active))
        slopes = self.program.slopes(self.beta, core.scores)
        excess = self.program.excesses(self.beta, slopes, active)
        violates = (excess > self.goal) & ~active
        return np.flatnonzero(violates.reshape(-1, len(is_active)).any(axis=0)), n_active
