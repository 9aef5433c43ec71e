"""What solvers of kernel problems share: settings, budget, reports, and time kept for the certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import ParameterError
from hedgerow.gram import Gram
from hedgerow.monitor import Monitor, current
from hedgerow.problems import Status

__all__ = ["MEGABYTE", "Core", "KernelRun", "KernelSettings", "block_bytes", "check_budget"]

Vector = NDArray[np.float64]

MEGABYTE = 1 << 20
ROUNDS = 50
"""Rounds between two reports."""
PATIENCE = 60
"""Reports without a violation that is clearly lower, after which a run has stalled."""
CLEARLY = 0.9
"""Part of the lowest violation that is clearly lower."""
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
    """

    tol: float = 1e-3
    max_iter: int | None = None
    cache_bytes: int = 2048 * MEGABYTE
    working_set: int = 1024
    shrinking: bool = True
    n_threads: int = 1


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

    def run(self, n_rounds: int, n_steps: int, tolerance: float) -> tuple[int, int, float, bool]:
        """Go on; return the rounds and steps made, the violation, and whether a round moved nothing."""


class KernelRun:
    """One run of a solver, and where it stands.

    Attributes
    ----------
    beta : ndarray
        The best point so far.
    n_steps : int
        Steps made.
    history : list of (int, float)
        (steps, violation) as it went.
    """

    def __init__(self, gram: Gram, settings: KernelSettings, beta: Vector) -> None:
        self.gram, self.settings, self.beta = gram, settings, beta
        self.monitor: Monitor = current()
        self.n_steps = 0
        self.limit = np.iinfo(np.int64).max if settings.max_iter is None else settings.max_iter
        self.history: list[tuple[int, float]] = []
        is_timed = math.isfinite(self.monitor.deadline)
        self.seconds_per_row = self._time_of_a_row() if is_timed else 0.0

    def status_of(self, solve: Callable[[], Status]) -> Status:
        """Let the solver run under the monitor; return how it ended."""
        try:
            with self.monitor.guard():
                status = solve()
        except _core.Stopped:
            status = self.monitor.reason or "stopped"
        return "interrupted" if self.monitor.reason == "interrupted" else status

    def _time_of_a_row(self) -> float:
        """Return the seconds that the exact values of one point with all others take."""
        n_points = self.gram.n_points
        coef = np.zeros((n_points, *self.beta.shape[1:]))
        coef[:: max(1, n_points // SAMPLE)] = 1.0
        n_rows = len(range(0, n_points, max(1, n_points // SAMPLE)))
        began = time.monotonic()
        self.gram.sums(coef)
        return (time.monotonic() - began) / n_rows

    def _keep_time_for_the_certificate(self) -> None:
        n_support = np.count_nonzero(self.beta if self.beta.ndim == 1 else self.beta.any(axis=1))
        self.monitor.reserve(RESERVE * self.seconds_per_row * float(n_support))

    def advance(self, core: Core, tolerance: float) -> bool:
        """Let the core solve, or stall; return False if the steps are used up."""
        lowest, n_waited = np.inf, 0
        while n_waited < PATIENCE:
            try:
                _, steps, violation, stalled = core.run(
                    ROUNDS, self.limit - self.n_steps, tolerance
                )
            finally:
                self.beta = core.beta
            self.n_steps += steps
            self._keep_time_for_the_certificate()
            self.history.append((self.n_steps, violation))
            self.monitor.report(self.n_steps, self.settings.max_iter, {"violation": violation})
            if violation <= tolerance or stalled:
                return True
            self.monitor.check()
            if self.n_steps >= self.limit:
                return False
            n_waited += 1
            if violation < CLEARLY * lowest:
                lowest, n_waited = violation, 0
        return True
