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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import DataError

__all__ = [
    "BinaryProblem",
    "Learner",
    "LinearLearner",
    "Run",
    "Schedule",
    "Status",
    "stream_of",
    "train",
]

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
Status: TypeAlias = Literal["separated", "plateau", "max_iter"]
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
        The factor of every row's step; rows of weight zero are not visited.
    watched : ndarray or None
        For early stopping, the weight of every row that is held out, and zero for those visited.
    """

    number: int
    y: Vector
    weight: Vector
    watched: Vector | None = None

    @cached_property
    def visited(self) -> Rows:
        """The rows to learn from."""
        return np.flatnonzero(self.weight)

    def error(self, scores: Vector) -> float:
        """Return the error criterion: weight * |score| summed over the misclassified rows."""
        return float(np.sum(self.weight * np.maximum(-self.y * scores, 0.0)))

    def yardstick(self, scores: Vector) -> float:
        """Return what must fall: the mean error, or the misclassified share of held-out weight."""
        if self.watched is not None:
            return float(np.average(self.y * scores <= 0, weights=self.watched))
        return self.error(scores) / float(self.weight.sum())


@dataclass(frozen=True)
class Schedule:
    """In which order rows are visited, and when to stop.

    Attributes
    ----------
    max_iter : int
        The most passes.
    tol : float or None
        How much the yardstick must fall below its lowest value to count as progress; None is to
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
    """A plane (coef, intercept) in the space of the features, which the core moves."""

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

    def moves(self, rows: Rows) -> Vector:
        """Return by how much of each row's vector a mistake on it moves the plane."""
        return self.step * self.problem.weight[rows] * self.problem.y[rows]

    def scores(self) -> Vector:
        """Return the scores of all rows as the plane now stands."""
        return self.scores_by(self.coef, self.intercept)

    def scores_by(self, coef: Vector, intercept: float) -> Vector:
        """Return the scores that a plane gives to all rows."""
        offset = np.array([intercept])
        return _core.scores(self.matrix, coef[None, :], offset, self.n_threads)[:, 0]


@dataclass
class _Plateau:
    """Counts the passes since the yardstick last fell by ``tol`` below its lowest value."""

    tol: float | None
    patience: int
    lowest: float = field(default=np.inf, init=False)
    waited: int = field(default=0, init=False)

    def reached(self, value: float) -> bool:
        """Take in the yardstick's value after a pass; say whether patience has run out."""
        if self.tol is None:
            return False
        self.waited = 0 if value <= self.lowest - self.tol else self.waited + 1
        self.lowest = min(self.lowest, value)
        return self.waited >= self.patience


def train(learner: Learner, problem: BinaryProblem, schedule: Schedule, n_before: int = 0) -> Run:
    """Make passes until one makes no mistake or a limit is met; ``n_before`` visits went before."""
    plateau = _Plateau(schedule.tol, schedule.n_iter_no_change)
    errors: list[float] = []
    n_mistakes = 0
    status: Status = "max_iter"
    while status == "max_iter" and len(errors) < schedule.max_iter:
        n_visits = n_before + len(errors) * len(problem.visited)
        n_new = len(learner.visit(schedule.order(problem, n_visits)))
        scores = _finite(learner.scores())
        errors.append(problem.error(scores))
        n_mistakes += n_new
        _log_pass(schedule, problem, errors, n_new)
        if n_new == 0:
            status = "separated"
        elif plateau.reached(problem.yardstick(scores)):
            status = "plateau"
    return Run(status, len(errors), n_mistakes, n_new, tuple(errors))


def stream_of(problem: int, item: int) -> int:
    """Return a random stream: item 0 is the problem's start, 1 + n the pass after n visits."""
    return (problem << 48) | item


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
