"""Rosenblatt's rule: the training loop that all perceptrons share.

Given rows x_i with signs y_i, weights c_i and a step a, look for (w, b) such that
y_i (<w, x_i> + b) > 0 for every i::

    repeat
        for i in a random order of the rows:
            if y_i (<w, x_i> + b) <= 0:              (a score of exactly zero is a mistake)
                w += a c_i y_i x_i,   b += a c_i y_i
    until a pass makes no mistake

This is stochastic gradient descent of constant step on the error criterion, the sum of
c_i |<w, x_i> + b| over the misclassified rows. From (w, b) = 0 it makes at most (R / margin)^2
mistakes if some plane through the origin of the vectors (x_i, 1) separates them by that margin,
R being the length of the longest; otherwise it never ends by itself, and the limits of
:class:`Schedule` end it. Cost of a pass: the rows are read twice, to learn and to measure.

F. Rosenblatt, The perceptron, Psychological Review 65 (1958). A. B. J. Novikoff, On convergence
proofs on perceptrons, Symposium on the Mathematical Theory of Automata (1962).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import DataError

__all__ = [
    "BinaryProblem",
    "Learner",
    "LinearLearner",
    "OnPass",
    "Run",
    "Schedule",
    "Status",
    "for_each_problem",
    "stream_of",
    "train",
]

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
Status: TypeAlias = Literal["separated", "plateau", "max_iter"]
OnPass: TypeAlias = Callable[[Rows, Rows], None]
"""Told after each pass the rows it made mistakes on and how many visits had gone before each."""
T = TypeVar("T")

_log = logging.getLogger("hedgerow.perceptron")


@dataclass(frozen=True)
class BinaryProblem:
    """Signed rows to separate.

    Attributes
    ----------
    number : int
        Its place among the one-vs-rest problems of a fit.
    y : ndarray
        +1 or -1 for every row.
    weight : ndarray
        The factor of every row's step.
    visited : ndarray of int64
        The rows to learn from, all of positive weight.
    held_out : ndarray of int64
        The rows that early stopping watches, none of them visited; empty without early stopping.
    """

    number: int
    y: Vector
    weight: Vector
    visited: Rows
    held_out: Rows

    def error(self, scores: Vector) -> float:
        """Return the error criterion: weight * |score| summed over misclassified visited rows."""
        rows = self.visited
        return float(self.weight[rows] @ np.maximum(-self.y[rows] * scores[rows], 0.0))

    def regret(self, scores: Vector) -> float:
        """Return what must fall: the mean error, or the misclassified share of held-out weight."""
        if len(self.held_out):
            rows = self.held_out
            return float(np.average(self.y[rows] * scores[rows] <= 0, weights=self.weight[rows]))
        return self.error(scores) / float(self.weight[self.visited].sum())


@dataclass(frozen=True)
class Schedule:
    """In which order rows are visited, and when to stop.

    Attributes
    ----------
    max_iter : int
        The most passes.
    tol : float or None
        How much the regret must fall below its lowest value to count as progress; None is to
        never stop for lack of progress.
    n_iter_no_change : int
        How many passes in a row may go without progress.
    shuffle : bool
        A fresh random order for each pass, else the order of the data.
    seed : int
        Seeds the orders.
    verbose : int
        Above 0, every pass is logged.
    """

    max_iter: int
    tol: float | None
    n_iter_no_change: int
    shuffle: bool
    seed: int
    verbose: int

    def order(self, problem: BinaryProblem, n_before: int) -> Rows:
        """Return the rows in the order of the pass that ``n_before`` visits went before."""
        rows = problem.visited
        if not self.shuffle:
            return rows
        return rows[
            _core.random_permutation(self.seed, stream_of(problem.number, n_before + 1), len(rows))
        ]


@dataclass(frozen=True)
class Run:
    """How a training went.

    Attributes
    ----------
    status : str
        "separated": the last pass made no mistake; "plateau": no progress; "max_iter": neither.
    n_iter : int
        Passes made.
    n_mistakes, n_last_mistakes : int
        Mistakes of all passes and of the last one.
    errors : tuple of float
        The error criterion after each pass.
    """

    status: Status
    n_iter: int
    n_mistakes: int
    n_last_mistakes: int
    errors: tuple[float, ...]


class Learner(Protocol):
    """Something with a plane that learns from mistakes."""

    def visit(self, order: Rows) -> Rows:
        """Visit the rows in this order, learn from mistakes, return their positions in it."""

    def scores(self) -> Vector:
        """Return the scores of all rows as the plane now stands."""


@dataclass
class LinearLearner:
    """A plane (coef, intercept), which the core moves."""

    matrix: _core.Matrix
    problem: BinaryProblem
    step: float
    fit_intercept: bool
    coef: Vector
    intercept: float
    n_threads: int

    def visit(self, order: Rows) -> Rows:
        """Visit the rows in this order, learn from mistakes, return their positions in it."""
        y, weight = self.problem.y, self.problem.weight
        positions, self.intercept = _core.perceptron_pass(
            self.matrix, y, weight, order, self.step, self.fit_intercept, self.coef, self.intercept
        )
        return positions

    def scores(self) -> Vector:
        """Return the scores of all rows as the plane now stands."""
        intercept = np.array([self.intercept])
        return _core.scores(self.matrix, self.coef[None, :], intercept, self.n_threads)[:, 0]


@dataclass
class _Plateau:
    """Counts the passes since the regret last fell by ``tol`` below its lowest value."""

    tol: float | None
    patience: int
    lowest: float = field(default=np.inf, init=False)
    waited: int = field(default=0, init=False)

    def reached(self, regret: float) -> bool:
        """Take in the regret after a pass; say whether patience has run out."""
        if self.tol is None:
            return False
        self.waited = 0 if regret <= self.lowest - self.tol else self.waited + 1
        self.lowest = min(self.lowest, regret)
        return self.waited >= self.patience


def train(
    learner: Learner,
    problem: BinaryProblem,
    schedule: Schedule,
    n_before: int = 0,
    on_pass: OnPass | None = None,
) -> Run:
    """Make passes until one makes no mistake or a limit is met; ``n_before`` visits went before."""
    plateau = _Plateau(schedule.tol, schedule.n_iter_no_change)
    errors: list[float] = []
    n_mistakes = 0
    status: Status = "max_iter"
    while status == "max_iter" and len(errors) < schedule.max_iter:
        n_visits = len(errors) * len(problem.visited)
        order = schedule.order(problem, n_before + n_visits)
        positions = learner.visit(order)
        if on_pass is not None:
            on_pass(order[positions], n_visits + positions)
        scores = _finite(learner.scores())
        errors.append(problem.error(scores))
        n_mistakes += len(positions)
        _log_pass(schedule, problem, errors, len(positions))
        if len(positions) == 0:
            status = "separated"
        elif plateau.reached(problem.regret(scores)):
            status = "plateau"
    return Run(status, len(errors), n_mistakes, len(positions), tuple(errors))


def stream_of(problem: int, item: int) -> int:
    """Return a random stream: item 0 is the problem's start, 1 + n the pass after n visits."""
    return (problem << 48) | item


def for_each_problem(solve: Callable[[int], T], n_problems: int, n_threads: int) -> list[T]:
    """Return ``solve(k)`` for every problem; they share nothing, so threads change no result."""
    n_workers = min(n_problems, n_threads)
    if n_workers == 1:
        return [solve(k) for k in range(n_problems)]
    with ThreadPoolExecutor(n_workers) as pool:
        return list(pool.map(solve, range(n_problems)))


def _finite(scores: Vector) -> Vector:
    """Refuse scores that ran out of the range of floating-point numbers."""
    if not np.isfinite(scores).all():
        i = int(np.flatnonzero(~np.isfinite(scores))[0])
        msg = (
            f"the score of row {i} overflowed to {scores[i]}; "
            "scale X, for example with StandardScaler, or lower eta0"
        )
        raise DataError(msg)
    return scores


def _log_pass(
    schedule: Schedule, problem: BinaryProblem, errors: list[float], n_mistakes: int
) -> None:
    """Tell the log about a pass, if asked to."""
    if schedule.verbose > 0:
        message = "problem %d, pass %d: %d mistakes, error %.6g"
        _log.info(message, problem.number, len(errors), n_mistakes, errors[-1])
