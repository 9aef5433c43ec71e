"""What all solvers share: settings, and the run of a solver on a problem."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import Json
from hedgerow.monitor import Monitor, current
from hedgerow.problems.base import PrimalDualProblem, Solution, Status, relative_gap
from hedgerow.problems.linear import LinearProblem

__all__ = ["GapRun", "LinearRun", "Run", "Settings"]

Vector = NDArray[np.float64]

ROUNDING = 1e-14
"""Relative difference of objectives that means nothing: of equal points the later one is taken."""
PROMISING, WORTH_A_PROOF = 3.0, 0.3
"""A gap is worth a proof so near to the tolerance, or if it is such a part of the last one proven."""
PASSES_AFTERWARDS = 8
"""Passes over the data that follow a solver: a last offer, and the certificate."""


@dataclass(frozen=True)
class Settings:
    """Stopping rule and resources, the same for every solver.

    Attributes
    ----------
    tol : float
        Stop when the relative gap, (primal - dual) / max(|primal|, |dual|), is at most this.
    max_iter : int
        Stop after so many iterations.
    seed : int
        Seeds every random choice.
    options : mapping of str to Any
        What one solver alone knows, by name; see ``SOLVERS[name].options``.
    """

    tol: float = 1e-4
    max_iter: int = 1000
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)


S = TypeVar("S")


class Run(ABC, Generic[S]):
    """One run of a solver on a problem, and where it stands.

    It runs under the monitor: a time limit, Ctrl-C and callbacks stop it, and it then has the best
    points so far for a solution. Where checkpoints are kept, it leaves its state now and then, and goes
    on from what a run that was broken off has left, to the same bits.

    Attributes
    ----------
    kept : tuple of str
        The attributes that its later iterations depend on.
    recorded : tuple of str
        The figures that the history has of each report.
    problem, settings
        What to minimise, and when to stop.
    solver : str
        The name of the solver.
    monitor : Monitor
        The task that it is part of.
    key : str or None
        A fingerprint of all that the solution depends on, under which checkpoints are kept.
    n_iter : int
        Iterations made.
    history : list of tuples
        The iteration and the recorded figures of every report.
    when_stopped : callable or None
        What a solver that is stopped does with what it has reached since its last offer.
    """

    kept: ClassVar[tuple[str, ...]] = ("n_iter", "history")
    recorded: ClassVar[tuple[str, ...]]

    problem: Any
    settings: Any

    def __init__(self, solver: str, monitor: Monitor | None, key: str | None) -> None:
        self.solver = solver
        self.monitor = current() if monitor is None else monitor
        self.key = key
        self.n_iter = 0
        self.history: list[Any] = []
        self.when_stopped: Callable[[], object] | None = None

    @abstractmethod
    def solve(self) -> Status | None:
        """Run until the problem is solved or no more can be done; may say why it stopped."""

    @abstractmethod
    def ended(self, status: Status | None) -> S:
        """Return the best points as a solution, given how the run ended."""

    def solution(self) -> S:
        """Let the solver run under the monitor, or recall what it found before; return that."""
        known = self.recalled("/solution")
        if known is not None:
            return self.from_stored(known)
        solution = self.ended(self._status())
        if self.key is not None and self.monitor.reason is None:
            stored = self.to_store(solution)
            self.monitor.keep(f"{self.key}/solution", stored, instead_of=[self.key])
        return solution

    def to_store(self, solution: S) -> Json:
        """Return what is kept of a finished run."""
        return solution

    def from_stored(self, stored: Json) -> S:
        """Return the solution of a finished run of which this was kept."""
        return stored  # type: ignore[no-any-return]

    def _status(self) -> Status | None:
        try:
            with self.monitor.guard():
                status = self.solve()
        except _core.system.Stopped:
            status = self.monitor.reason or "stopped"
            if self.when_stopped is not None:
                self.when_stopped()
        return "interrupted" if self.monitor.reason == "interrupted" else status

    def report(self, figures: Mapping[str, float], point: Any = None) -> None:
        """Record figures and tell the monitor; a point is what its model is made of."""
        self.history.append((self.n_iter, *(figures[name] for name in self.recorded)))
        self.monitor.report(self.n_iter, self.settings.max_iter, figures, point)

    def checkpoint(self, **state: Json | Callable[[], Json]) -> None:
        """Leave where the solver stands, all that its next iterations depend on; callables are called."""
        if self.key is not None:
            self.monitor.remember(self.key, partial(self._standing, state))

    def _standing(self, state: dict[str, Any]) -> Json:
        now = {name: part() if callable(part) else part for name, part in state.items()}
        return {name: getattr(self, name) for name in self.kept} | {"state": now}

    def resume(self) -> Json:
        """Go on from where a run that was broken off stood; return the state of its solver, or None."""
        left = self.recalled("")
        if left is None:
            return None
        for name in self.kept:
            setattr(self, name, left[name])
        return left["state"]

    def recalled(self, what: str) -> Json:
        """Return what is kept under the key, if anything."""
        return None if self.key is None else self.monitor.recall(self.key + what)


Q_co = TypeVar("Q_co", bound=PrimalDualProblem, covariant=True)


class GapRun(Run[Solution], Generic[Q_co]):
    """A run that stops by the gap between the best primal and the best dual point.

    The two are kept apart: each bounds the optimum on its own, and their gap only ever shrinks. Both
    begin at zero, so that there always is a solution.

    Parameters
    ----------
    problem : PrimalDualProblem
        What to minimise.
    settings : Settings
        When to stop.
    solver : str
        The name of the solver.
    algorithm : callable
        Offers points to the run until it is solved or no more can be done; may say why it stopped.
    monitor : Monitor or None
        None for the current one.
    key : str or None
        See :class:`Run`.
    start : Solution or None
        A point near the solution, if one is known: an algorithm may begin there, or not.

    Attributes
    ----------
    begun : Json
        The state that a loop for several problems left, which the algorithm goes on from.
    primal, w, intercept
        The best primal point, and its objective.
    dual, alpha
        The best dual point, and its objective.
    """

    kept = ("n_iter", "history", "primal", "dual", "w", "intercept", "alpha")
    recorded = ("primal", "dual")

    problem: Q_co
    settings: Settings
    w: Vector
    intercept: float
    alpha: Vector

    def __init__(
        self,
        problem: Q_co,
        settings: Settings,
        solver: str,
        algorithm: Callable[[Any], Status | None],
        *,
        monitor: Monitor | None = None,
        key: str | None = None,
        start: Solution | None = None,
    ) -> None:
        super().__init__(solver, monitor, key)
        self.problem, self.settings, self.algorithm = problem, settings, algorithm
        self.start = start
        self.begun: Json = None
        self.primal, self.dual = np.inf, -np.inf
        w, alpha = problem.origin
        self.offer_primal(w, 0.0, objective=problem.objective_at_zero)
        self.offer_dual(alpha, objective=problem.dual_objective_at_zero)

    def solution(self) -> Solution:
        """Let the solver run under the monitor; where numbers overflow the gap stays open."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return super().solution()

    def solve(self) -> Status | None:
        """Run the algorithm."""
        try:
            return self.algorithm(self)
        except FloatingPointError:
            return "stalled"

    def ended(self, status: Status | None) -> Solution:
        """Return the best points; without a status, "optimal" or "max_iter" by the gap."""
        reached: Status = "optimal" if self.is_solved else status or "max_iter"
        if self.monitor.reason == "interrupted":
            reached = "interrupted"
        return Solution(
            w=self.w,
            intercept=self.intercept,
            alpha=self.alpha,
            status=reached,
            n_iter=max(self.n_iter, 1),
            solver=self.solver,
            history=tuple(self.history),
        )

    def option(self, name: str) -> Any:
        """Return the value of an option of the solver."""
        return self.settings.options[name]

    @property
    def relative_gap(self) -> float:
        """Of the best primal and the best dual point so far."""
        return relative_gap(self.primal, self.dual, self.problem.least_scale)

    @property
    def is_solved(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self.relative_gap <= self.settings.tol

    def is_promising(self, relative_gap: float) -> bool:
        """Say whether a dual point with about this gap is worth the passes that prove it."""
        near = PROMISING * self.settings.tol
        return relative_gap <= max(near, WORTH_A_PROOF * self.relative_gap)

    def offer_primal(
        self, w: Vector, b: float, scores: Vector | None = None, objective: float | None = None
    ) -> None:
        """Take in a primal point; its `scores` or `objective`, if at hand, save a pass over the data."""
        if objective is None:
            objective = self.problem.objective(w, b, scores)
        if objective <= self.primal + ROUNDING * abs(objective):
            self.primal, self.w, self.intercept = objective, w.copy(), b

    def replace_primal(self, w: Vector, b: float) -> None:
        """Take in a primal point even if it is worse: for solvers that define what they return."""
        self.primal = np.inf
        self.offer_primal(w, b)

    def offer_dual(self, alpha: Vector, objective: float | None = None) -> None:
        """Take in a dual point after making it feasible, or one that is, with its objective."""
        if objective is not None:
            if objective >= self.dual - ROUNDING * abs(objective):
                self.dual, self.alpha = objective, alpha.copy()
            return
        feasible = self.problem.feasible(alpha)
        began = time.monotonic()
        objective = self.problem.dual_objective(feasible)
        self.monitor.reserve(PASSES_AFTERWARDS * (time.monotonic() - began))
        if objective >= self.dual - ROUNDING * abs(objective):
            self.dual, self.alpha = objective, feasible

    def measure(self) -> bool:
        """Record the gap and report it; return whether it is within the tolerance."""
        gap = self.relative_gap
        figures = {"primal": self.primal, "dual": self.dual, "relative_gap": gap}
        self.report(figures, (self.w, self.intercept))
        if not self.is_solved:
            self.monitor.check()
        return self.is_solved

    def has_stalled(self, rounds: int) -> bool:
        """Say whether so many measurements brought nothing that float64 can show."""
        if len(self.history) < rounds:
            return False
        (_, primal_then, dual_then), (_, primal, dual) = self.history[-rounds], self.history[-1]
        return bool((primal_then - primal) + (dual - dual_then) <= ROUNDING * abs(primal))


LinearRun: TypeAlias = GapRun[LinearProblem]
"""A run on a linear machine."""
