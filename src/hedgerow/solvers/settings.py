"""When a solver stops, and what it may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import Json
from hedgerow.monitor import Monitor, current
from hedgerow.problems.base import Solution, Status, relative_gap
from hedgerow.problems.linear import LinearProblem

__all__ = ["Progress", "Settings"]

Vector = NDArray[np.float64]

_KEPT = ("n_iter", "history", "primal", "dual", "w", "intercept", "alpha")
"""The part of a progress that changes."""

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


@dataclass
class Progress:
    """The gap as a solver goes: measures it, remembers it, keeps the best point of each side.

    The best primal point and the best dual point are kept apart: each bounds the optimum on its
    own, and their gap only ever shrinks. Both begin at zero, so that there always is a solution.
    ``start`` is a point near the solution, if one is known: a solver may begin there, or not.
    ``begun`` is the state that a loop for several problems left, which its own loop goes on from.
    ``when_stopped``, if a solver sets it, offers what it has reached since its last offer. With a
    ``key``, where the solver stands is left in the monitor's store, to go on from after a crash.
    """

    problem: LinearProblem
    settings: Settings
    solver: str
    monitor: Monitor = field(default_factory=current)
    key: str | None = None
    start: Solution | None = None
    begun: Json = None
    when_stopped: Callable[[], object] | None = None
    n_iter: int = 0
    history: list[tuple[int, float, float]] = field(default_factory=list)
    primal: float = field(init=False, default=np.inf)
    dual: float = field(init=False, default=-np.inf)
    w: Vector = field(init=False)
    intercept: float = field(init=False)
    alpha: Vector = field(init=False)

    def __post_init__(self) -> None:
        w, alpha = self.problem.origin
        self.offer_primal(w, 0.0, objective=self.problem.objective_at_zero)
        if self.problem.pull:
            self.offer_dual(alpha)
        else:  # where no row pays and v is 0
            self.offer_dual(alpha, objective=0.0)

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
        """Write the gap down and report it; return whether it is within the tolerance."""
        self.history.append((self.n_iter, self.primal, self.dual))
        figures = {
            "primal": self.primal,
            "dual": self.dual,
            "relative_gap": self.relative_gap,
        }
        point = (self.w, self.intercept)
        self.monitor.report(self.n_iter, self.settings.max_iter, figures, point)
        if not self.is_solved:
            self.monitor.check()
        return self.is_solved

    def has_stalled(self, rounds: int) -> bool:
        """Say whether so many measurements brought nothing that float64 can show."""
        if len(self.history) < rounds:
            return False
        (_, primal_then, dual_then), (_, primal, dual) = self.history[-rounds], self.history[-1]
        return (primal_then - primal) + (dual - dual_then) <= ROUNDING * abs(primal)

    def checkpoint(self, **state: Json | Callable[[], Json]) -> None:
        """Leave where the solver stands, all that its next rounds depend on; callables are called."""
        if self.key is not None:
            self.monitor.remember(self.key, partial(self._standing, state))

    def _standing(self, state: dict[str, Any]) -> Json:
        now = {name: part() if callable(part) else part for name, part in state.items()}
        return {name: getattr(self, name) for name in _KEPT} | {"state": now}

    def resume(self) -> Json:
        """Return the state that an earlier, broken-off run left, or None."""
        left = None if self.key is None else self.monitor.recall(self.key)
        if left is None:
            return None
        for name in _KEPT:
            setattr(self, name, left[name])
        return left["state"]

    def solution(self, status: Status | None = None) -> Solution:
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
