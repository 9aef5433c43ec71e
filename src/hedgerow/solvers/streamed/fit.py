"""A fit to rows in blocks: passes over all blocks until one more pass certifies the result."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import in_threads
from hedgerow.data.blocks import RowBlock, RowVector
from hedgerow.monitor import current
from hedgerow.problems.certificates import uncertified
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import Settings
from hedgerow.solvers.streamed.certificate import StreamedCertificate
from hedgerow.solvers.streamed.task import StreamedTask

__all__ = ["BlockSolver", "SolverState", "StreamedFit"]

Vector = NDArray[np.float64]

TIME_FOR_CERTIFICATE = 1.5
"""The time of a certificate, in passes."""


class SolverState(Protocol):
    """Where a solver stands with one problem; all its attributes are numbers and arrays."""

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b; ``problem`` is that of any block, or of no rows."""

    def alpha_of(self, problem: LinearProblem, rows: slice) -> Vector:
        """Return the alphas of a block."""

    def correct(self, w: Vector, balance: float, gap: float) -> None:
        """Take over sum_i alpha_i y_i x_i, sum_i alpha_i y_i and the gap, computed anew from all rows."""


class BlockSolver(Protocol):
    """A solver that sees one block at a time."""

    @property
    def name(self) -> str:
        """The name that users give it."""

    @property
    def moves_alphas(self) -> bool:
        """Whether the alphas are part of its state; else they follow from w and b."""

    def start(self, number: int) -> Any:
        """Return the state that a problem starts from."""

    def begin_pass(self, state: Any) -> None:
        """Begin a pass over all blocks."""

    def visit(self, state: Any, problem: LinearProblem, rows: slice) -> None:
        """Work on a block."""

    def end_pass(self, state: Any, problem: LinearProblem) -> None:
        """End a pass over all blocks."""

    def gap(self, state: Any, problem: LinearProblem) -> float:
        """Return an estimate of the relative gap after a pass."""

    def has_stalled(self, state: Any) -> bool:
        """Say whether more passes would not help."""


class StreamedFit:
    """A fit under way, and what came of it.

    Parameters
    ----------
    task : StreamedTask
        The problems.
    solver : BlockSolver
        How they are solved.
    alpha : list of RowVector
        Where the alphas of every problem are kept, if at all.
    settings : Settings
        When to stop; an iteration is a pass over all blocks.
    n_threads : int
        Threads for several problems.
    key : str or None
        The key of the state in the monitor's store.

    Attributes
    ----------
    states : list of SolverState
        Where the solver stands.
    at_bound : ndarray of bool of shape (n_problems, n_rows)
        Which alphas are at their bound, if the alphas are in memory, else empty.
    w, intercepts : list
        The primal points.
    certificates : list of Certificate
        Their certificates.
    status : str
        How the run ended.
    n_iter : int
        Passes made, without those of certificates.
    """

    def __init__(
        self,
        task: StreamedTask,
        solver: BlockSolver,
        alpha: list[RowVector],
        settings: Settings,
        n_threads: int,
        *,
        key: str | None = None,
    ) -> None:
        self.task = task
        self.alpha = alpha
        in_memory = [each for each in alpha if isinstance(each, np.ndarray)]
        self.at_bound = np.zeros((len(in_memory), task.rows.n_rows), dtype=bool)
        self.states: list[SolverState] = []
        self.n_iter = 0
        self._solver = solver
        self._settings = settings
        self._n_threads = n_threads
        self._key = key
        self._monitor = current()
        self._n_blocks_done = 0
        self._certified_at = -1
        self._common = task.without_rows()

    @property
    def solver(self) -> str:
        """The name of the solver."""
        return self._solver.name

    def run(self, seconds_of_pass: float) -> None:
        """Make passes until all is certified, or time or passes run out."""
        self._monitor.reserve(TIME_FOR_CERTIFICATE * seconds_of_pass)
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                self.status = self._end(self._passes())
        except _core.system.Stopped:
            self._certified_at = -1  # some blocks may have been visited since
            self.status = self._end(self._monitor.reason or "stopped")

    def _passes(self) -> str:
        """Make passes until all is certified or no more are allowed; stop where numbers overflow."""
        self._start()
        try:
            while self.n_iter < self._settings.max_iter:
                self._pass()
                if max(self._gaps()) <= self._settings.tol and self._certify("optimal"):
                    return "optimal"
                if any(map(self._solver.has_stalled, self.states)):
                    return "stalled"
        except FloatingPointError:
            return "stalled"
        return "max_iter"

    def _end(self, status: str) -> str:
        """Certify the points reached; Ctrl-C does not wait for that."""
        if status == "interrupted":
            self._keep_points()
            unknown = uncertified(-np.inf, self._settings.tol, status)
            self.certificates = [unknown] * len(self.states)
            return status
        if self._certified_at != self.n_iter:
            self._certify(status)
        if all(each.is_certified for each in self.certificates):
            status = "optimal"
        self.certificates = [replace(each, status=status) for each in self.certificates]
        return status

    def _start(self) -> None:
        """Start every problem, or continue from what an interrupted run left."""
        make = self._solver.start
        self.states = list(in_threads(make, range(self.task.n_problems), self._n_threads))
        self._resume()

    def _pass(self) -> None:
        """Visit every block once for every problem."""
        began, n_bytes = time.monotonic(), 0
        if self._n_blocks_done == 0:
            for state in self.states:
                self._solver.begin_pass(state)
        for number, block in enumerate(self.task.rows.blocks()):
            n_bytes += block.n_bytes
            if number >= self._n_blocks_done:
                self._monitor.check()
                visit = partial(self._visit, block=block)
                list(in_threads(visit, range(len(self.states)), self._n_threads))
                self._n_blocks_done = number + 1
                self._checkpoint()
                self._monitor.report(n_bytes, self.task.rows.n_bytes, {"pass": self.n_iter + 1})
        for state in self.states:
            self._solver.end_pass(state, self._common)
        self._n_blocks_done = 0
        self.n_iter += 1
        self._monitor.reserve(TIME_FOR_CERTIFICATE * (time.monotonic() - began))

    def _visit(self, k: int, block: RowBlock) -> None:
        self._solver.visit(self.states[k], self.task.block(k, block), block.rows)

    def _gaps(self) -> list[float]:
        """Return estimates of the relative gaps."""
        return [self._solver.gap(state, self._common) for state in self.states]

    def _certify(self, status: str) -> bool:
        """Read all rows once more and certify every problem; say whether all are within the tolerance."""
        pending = [StreamedCertificate(*state.point(self._common)) for state in self.states]
        for block in self.task.rows.blocks():
            if self._monitor.reason == "interrupted":
                raise _core.system.Stopped
            for k, each in enumerate(pending):
                problem = self.task.block(k, block)
                alpha = each.add(problem, self.states[k].alpha_of(problem, block.rows))
                self._keep_alphas(k, block.rows, alpha, problem.upper)
        self.w, self.intercepts = [each.w for each in pending], [each.b for each in pending]
        self.certificates = [each.finish(status, self._settings.tol) for each in pending]
        self._certified_at = self.n_iter
        for k, (state, each) in enumerate(zip(self.states, pending, strict=True)):
            state.correct(each.v, each.balance, self.certificates[k].relative_gap)
        return all(certificate.is_certified for certificate in self.certificates)

    def _keep_alphas(self, k: int, rows: slice, alpha: Vector, upper: Vector) -> None:
        """Keep the alphas of some rows, and which are at their bound, where there is room."""
        if self.alpha:
            self.alpha[k][rows] = alpha
        if len(self.at_bound):
            self.at_bound[k, rows] = (alpha != 0.0) & (np.abs(alpha) >= upper)

    def _keep_points(self) -> None:
        """Keep the points as they are."""
        points = [state.point(self._common) for state in self.states]
        self.w, self.intercepts = [w for w, _ in points], [b for _, b in points]

    # -------------------------------------------------------------------------------- checkpoints

    def _checkpoint(self) -> None:
        """Save the state, if it is time to."""
        if self._key is not None:
            self._monitor.remember(self._key, self._standing)

    def _standing(self) -> dict[str, Any]:
        every = slice(0, self.task.rows.n_rows)
        return {
            "n_iter": self.n_iter,
            "n_blocks_done": self._n_blocks_done,
            "states": [
                {name: value for name, value in vars(state).items() if name != "alpha"}
                for state in self.states
            ],
            "alpha": [alpha[every] for alpha in self.alpha] if self._solver.moves_alphas else [],
        }

    def _resume(self) -> None:
        """Continue from what an interrupted run left."""
        left = None if self._key is None else self._monitor.recall(self._key)
        if left is None:
            return
        self.n_iter, self._n_blocks_done = left["n_iter"], left["n_blocks_done"]
        for state, standing in zip(self.states, left["states"], strict=True):
            for name, value in standing.items():
                setattr(state, name, value)
        for alpha, values in zip(self.alpha, left["alpha"], strict=False):
            alpha[slice(0, len(values))] = values
