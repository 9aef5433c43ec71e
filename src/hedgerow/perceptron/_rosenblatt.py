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
mistakes if some hyperplane through the origin of the vectors (x_i, 1) separates them by that margin,
R being the length of the longest; otherwise it never ends by itself, and the limits of
:class:`Schedule` or the monitor end it. Cost of a pass: the rows are read twice, to learn and to
measure.

F. Rosenblatt, The perceptron, Psychological Review 65 (1958). A. B. J. Novikoff, On convergence
proofs on perceptrons, Symposium on the Mathematical Theory of Automata (1962).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.state import Json, record
from hedgerow.errors import DataError
from hedgerow.monitor import Monitor, Reason, current

__all__ = [
    "BinaryProblem",
    "Learner",
    "LinearLearner",
    "Run",
    "Schedule",
    "Status",
    "Visits",
    "stream_of",
    "train",
]

Vector: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
Status: TypeAlias = Literal["separated", "plateau", "max_iter"] | Reason
Outcome = TypeVar("Outcome")
Outcome_co = TypeVar("Outcome_co", covariant=True)

_log = logging.getLogger("hedgerow.perceptron")

_SCORES_AFTERWARDS = 2
"""Times the scores take that are kept free at the end of the time: a last measurement, and rest."""


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

    def steps(self, eta0: float) -> Vector:
        """Return by how much of its vector a mistake on each row moves the hyperplane."""
        return eta0 * self.weight * self.y

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
        The maximum number of passes.
    tol : float or None
        How much the yardstick must fall below its lowest value to count as progress; None is to
        never stop for lack of progress.
    n_iter_no_change : int
        How many passes in a row may go without progress.
    shuffle : bool
        A fresh random order for each pass, else the order of the data.
    seed : int
        Seed of the random orders.
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
            _core.system.random_permutation(
                self.seed, stream_of(problem.number, n_before + 1), len(rows)
            )
        ]


@record()
@dataclass(frozen=True)
class Run:
    """How a training went.

    Attributes
    ----------
    status : str
        "separated": the last pass made no mistake; "plateau": no progress; "max_iter": neither; or
        the monitor's reason to stop.
    n_iter : int
        Passes made; the last may have been cut short.
    n_visits : int
        Visits made to rows.
    n_mistakes, n_last_mistakes : int
        Mistakes of all passes and of the last one.
    errors : tuple of float
        The error criterion after each pass.
    """

    status: Status
    n_iter: int
    n_visits: int
    n_mistakes: int
    n_last_mistakes: int
    errors: tuple[float, ...]


class Visits(NamedTuple):
    """What came of visiting rows: how many of them, the first ones, and the mistakes' positions."""

    n_made: int
    mistakes: Rows


class Learner(Protocol[Outcome_co]):
    """Something with a hyperplane that learns from mistakes.

    It is sent to where it is trained; of it only the outcome comes back. About
    ``seconds_afterwards`` are then needed to make a model of that. What a visit changes is in the
    attributes named in ``changing``.
    """

    changing: ClassVar[tuple[str, ...]]
    seconds_afterwards: float

    @property
    def problem(self) -> BinaryProblem:
        """What it learns."""

    def visit(self, order: Rows) -> Visits:
        """Visit the rows in this order and learn from mistakes, until the monitor requests a stop."""

    def scores(self) -> Vector:
        """Return the scores of all rows as the hyperplane now stands."""

    def outcome(self) -> Outcome_co:
        """Return what a model is made of, as the learner now stands."""


@dataclass
class LinearLearner:
    """A hyperplane (coef, intercept) in the space of the features, which the core moves."""

    changing: ClassVar[tuple[str, ...]] = ("coef", "intercept")

    matrix: _core.data.Matrix
    problem: BinaryProblem
    step: float
    fit_intercept: bool
    coef: Vector
    intercept: float
    n_threads: int
    seconds_afterwards: float = field(default=0.0, init=False)

    def visit(self, order: Rows) -> Visits:
        """Visit the rows in this order and learn from mistakes, until the monitor requests a stop."""
        y, weight = self.problem.y, self.problem.weight
        with current().guard():
            n_made, mistakes, self.intercept = _core.solver.perceptron_pass(
                self.matrix,
                y,
                weight,
                order,
                self.step,
                self.fit_intercept,
                self.coef,
                self.intercept,
            )
        return Visits(n_made, mistakes)

    def scores(self) -> Vector:
        """Return the scores of all rows as the hyperplane now stands."""
        return self.scores_by(self.coef, self.intercept)

    def scores_by(self, coef: Vector, intercept: float) -> Vector:
        """Return the scores that a hyperplane gives to all rows."""
        offset = np.array([intercept])
        return _core.data.scores(self.matrix, coef[None, :], offset, self.n_threads)[:, 0]


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


@dataclass
class _Passes:
    """The passes made so far."""

    learner: Learner[object]
    schedule: Schedule
    n_before: int
    plateau: _Plateau
    n_visits: int = 0
    n_mistakes: int = 0
    n_last_mistakes: int = 0
    errors: list[float] = field(default_factory=list)

    def make_one(self, monitor: Monitor) -> Status | None:
        """Make a pass, and say why it was the last, if it was."""
        problem = self.learner.problem
        order = self.schedule.order(problem, self.n_before + self.n_visits)
        visits = self.learner.visit(order)
        cut_short = monitor.reason if visits.n_made < len(order) else None
        began = time.monotonic()
        scores = _finite(self.learner.scores())
        measuring = time.monotonic() - began
        monitor.reserve(_SCORES_AFTERWARDS * measuring + self.learner.seconds_afterwards)
        self.n_visits += visits.n_made
        self.n_last_mistakes = len(visits.mistakes)
        self.n_mistakes += self.n_last_mistakes
        self.errors.append(problem.error(scores))
        if cut_short is not None or self.n_last_mistakes == 0:
            return cut_short or "separated"
        return "plateau" if self.plateau.reached(problem.yardstick(scores)) else None

    def standing(self) -> Json:
        """Return all that the next passes depend on."""
        return [
            {name: getattr(one, name) for name in names} for one, names in self._changing_parts()
        ]

    def go_on_from(self, standing: Json) -> None:
        """Stand where an earlier training stood."""
        for (one, names), values in zip(self._changing_parts(), standing, strict=True):
            for name in names:
                setattr(one, name, values[name])

    def _changing_parts(self) -> list[tuple[Any, tuple[str, ...]]]:
        own = ("n_visits", "n_mistakes", "n_last_mistakes", "errors")
        plateau = ("lowest", "waited")
        return [(self, own), (self.plateau, plateau), (self.learner, self.learner.changing)]

    def tell(self, monitor: Monitor) -> None:
        """Tell the log, if it is to know, and the monitor about the last pass."""
        n_iter, error, n_mistakes = len(self.errors), self.errors[-1], self.n_last_mistakes
        if self.schedule.verbose > 0:
            message = "problem %d, pass %d: %d mistakes, error %.6g"
            _log.info(message, self.learner.problem.number, n_iter, n_mistakes, error)
        figures = {"error": error, "mistakes": n_mistakes}
        monitor.report(n_iter, self.schedule.max_iter, figures, self.learner)


def train(learner: Learner[Outcome], schedule: Schedule, n_before: int = 0) -> tuple[Outcome, Run]:
    """Make passes until one makes no mistake or a limit is met; ``n_before`` visits went before."""
    monitor = current()
    if monitor.store is None:
        return _train(learner, schedule, n_before, monitor, None)
    key = fingerprint("train", learner, schedule, n_before)
    known: tuple[Outcome, Run] | None = monitor.recall(f"{key}/outcome")
    if known is None:
        known = _train(learner, schedule, n_before, monitor, key)
        if monitor.reason is None:
            monitor.keep(f"{key}/outcome", known, instead_of=[key])
    return known


def _train(
    learner: Learner[Outcome], schedule: Schedule, n_before: int, monitor: Monitor, key: str | None
) -> tuple[Outcome, Run]:
    """Make the passes, leaving checkpoints under the key."""
    passes = _Passes(learner, schedule, n_before, _Plateau(schedule.tol, schedule.n_iter_no_change))
    left = None if key is None else monitor.recall(key)
    if left is not None:
        passes.go_on_from(left)
    status: Status | None = None
    while status is None:
        if key is not None:
            monitor.remember(key, passes.standing)
        status = passes.make_one(monitor)
        passes.tell(monitor)
        if len(passes.errors) == schedule.max_iter:
            status = status or "max_iter"
        status = status or monitor.reason
    if monitor.reason == "interrupted":
        status = "interrupted"
    run = Run(
        status=status,
        n_iter=len(passes.errors),
        n_visits=passes.n_visits,
        n_mistakes=passes.n_mistakes,
        n_last_mistakes=passes.n_last_mistakes,
        errors=tuple(passes.errors),
    )
    return learner.outcome(), run


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
