"""The certificate of rows that come in blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.certificates import Certificate, slacks, violation_of
from hedgerow.problems import LinearProblem, inner

__all__ = ["StreamedCertificate"]

Vector = NDArray[np.float64]

BALANCED = 1e-9
"""A balance, relative to the size of alpha, that is 0 but for rounding."""


class StreamedCertificate:
    """The certificate of a solution whose rows come in blocks, each a problem of its own.

    The blocks have all but their rows in common. What is added up is what :func:`certify` computes,
    but for the violation, of which an upper bound is given: the w that alpha makes is known after the
    last block, and no score can be farther from that of the solution's w than their distance times
    the longest row.

    Parameters
    ----------
    w : ndarray
        The primal point.
    intercepts : ndarray
        Values of b to choose among; the best one is ``intercept`` in the end.
    tolerance : float
        The largest relative gap that counts as solved.
    """

    def __init__(self, w: Vector, intercepts: Vector, tolerance: float) -> None:
        self.w = w
        self.v = np.zeros_like(w)
        self.balance = 0.0
        self._intercepts = intercepts
        self._tolerance = tolerance
        self._losses: Vector = np.zeros(len(intercepts))
        self._gain = self._size = 0.0
        self._highest, self._lowest = -np.inf, np.inf
        self._longest = 0.0
        self._any: LinearProblem | None = None

    def add(self, problem: LinearProblem, alpha: Vector) -> None:
        """Take in a block of rows and their alphas, cut to their bounds."""
        alpha = problem.boxed(alpha)
        scores = problem.scores(self.w, 0.0)
        self._losses += [problem.losses(scores + b) for b in self._intercepts]
        self._gain += problem.gain(alpha)
        self.v += problem.combine(alpha)
        self.balance += inner(problem.y, alpha)
        self._size += float(np.sum(np.abs(alpha)))
        highest, lowest = slacks(problem, alpha, scores + self._intercepts[0])
        self._highest, self._lowest = max(self._highest, highest), min(self._lowest, lowest)
        norms = _core.row_sq_norms(problem.matrix, problem.n_threads)
        self._longest = max(self._longest, float(np.max(norms, initial=0.0)))
        self._any = problem

    @property
    def intercept(self) -> float:
        """The best of the intercepts for w."""
        return float(self._intercepts[np.argmin(self._primals())])

    def finish(self, status: str) -> Certificate:
        """Return the certificate, after the last block."""
        assert self._any is not None
        is_balanced = abs(self.balance - self._any.pull) <= BALANCED * self._size
        is_feasible = is_balanced or self._any.intercept != "free"
        dual = self._gain - self._any.price_of(self.v, self.balance)
        return Certificate(
            primal=float(np.min(self._primals())),
            dual=dual if is_feasible else -np.inf,
            kkt_violation=violation_of(
                self._any, self._highest + self._off, self._lowest - self._off
            ),
            criterion="relative_gap",
            tolerance=self._tolerance,
            status=status,
        )

    @property
    def _off(self) -> float:
        """How far, at most, a score of the solution is from that of what alpha makes."""
        assert self._any is not None
        between = self.w - self.v
        off = float(np.sqrt(self._longest * inner(between, between)))
        if self._any.intercept == "penalized":
            off += abs(float(self._intercepts[0]) - self._any.rho * self.balance)
        return off

    def _primals(self) -> Vector:
        assert self._any is not None
        costs = [self._any.cost_of(self.w, float(b)) for b in self._intercepts]
        return np.add(self._losses, costs)
