"""What the stochastic solvers share: epochs over the rows, and what they prove on the way.

Problem: LinearProblem with the hinge loss. A visitor goes to rows one by one and says which of
them violated their margin. At the optimum w = sum_i alpha_i y_i x_i with alpha_i the weight c_i times a
subgradient of the hinge; over time, the share of its visits at which a row violates plays that part:

    alpha_i = c_i * violations_i / visits_i

always lies between its bounds. Early epochs, of poor planes, are forgotten. The plane of a visitor is what
it says it is, and not the best one met.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import Json
from hedgerow.problems.base import Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun

__all__ = ["Visitor", "in_epochs", "used_rows"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

LONGEST_BURST = 16
"""Epochs between two measurements of the gap, at most."""
MOST_VISITS = 2**60
"""Visits of a row, at most: sums of such counts stay below what 64 bits hold."""


class Visitor(Protocol):
    """How a solver visits rows, and what it has come to."""

    def order(self, epoch: int) -> Rows:
        """Return the rows of an epoch."""

    def visit(self, order: Rows, violations: Rows) -> int:
        """Visit rows and count their violations; return how many were visited before a stop."""

    def plane(self) -> tuple[Vector, float]:
        """Return w and b."""

    def state(self) -> Json:
        """Return a copy of all that later visits depend on."""

    def restore(self, state: Json) -> None:
        """Go on from such a state."""


def used_rows(problem: LinearProblem) -> Rows:
    """Return the rows that have weight."""
    return np.flatnonzero(problem.weight > 0)


def in_epochs(run: LinearRun, visitor: Visitor) -> Status:
    """Let a visitor go to rows, epoch after epoch, and measure the gap now and then."""
    settings = run.settings
    shares = _Shares(run.problem.shape[0])
    run.when_stopped = lambda: _offer(run, visitor, shares)
    burst = 1
    left = run.resume()
    if left is not None:
        burst = left["burst"]
        visitor.restore(left["visitor"])
        shares.restore(*left["shares"])
    while run.n_iter < settings.max_iter:
        run.checkpoint(burst=burst, visitor=visitor.state, shares=shares.state)
        for _ in range(min(burst, settings.max_iter - run.n_iter)):
            order = visitor.order(run.n_iter)
            shares.add_visits(order[: visitor.visit(order, shares.violations)])
            run.monitor.check()
            run.n_iter += 1
        _offer(run, visitor, shares)
        if run.measure():
            break
        shares.forget(run.n_iter)
        burst = min(2 * burst, LONGEST_BURST)
    return "approximate"


class _Shares:
    """Visits and violations of every row, counted over about the last two thirds of the epochs."""

    def __init__(self, n_samples: int) -> None:
        self.older, self.newer = np.zeros((2, 2, n_samples), dtype=np.int64)
        self.began = 0

    @property
    def violations(self) -> Rows:
        """Where violations are counted up."""
        counts: Rows = self.newer[0]
        return counts

    def add_visits(self, rows: Rows) -> None:
        """Count visits."""
        self.newer[1] += np.bincount(rows, minlength=self.newer.shape[1])

    def of_violations(self) -> Vector:
        """Return the share of each row's visits that were violations; 0 without visits."""
        violations, visits = self.older + self.newer
        shares: Vector = violations / np.maximum(visits, 1)
        return shares

    def forget(self, epoch: int) -> None:
        """Drop the older half of the counts when the newer one is as long as all before it."""
        if epoch >= 2 * self.began:
            self.older, self.newer, self.began = self.newer, np.zeros_like(self.newer), epoch

    def state(self) -> Json:
        """Return a copy of the counts."""
        return self.older.copy(), self.newer.copy(), self.began

    def restore(self, older: Rows, newer: Rows, began: int) -> None:
        """Go on with such counts."""
        counts = np.stack([older, newer])
        if counts.min(initial=0) < 0 or counts.max(initial=0) > MOST_VISITS:
            msg = f"a row was visited a number of times that is not between 0 and {MOST_VISITS}"
            raise ValueError(msg)
        self.older, self.newer, self.began = older.copy(), newer.copy(), began


def _offer(run: LinearRun, visitor: Visitor, shares: _Shares) -> None:
    """Offer the visitor's plane, and the alpha that the violations tell of."""
    run.replace_primal(*visitor.plane())
    run.offer_dual(run.problem.weight * shares.of_violations())
