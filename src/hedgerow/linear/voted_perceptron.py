"""The voted perceptron: every plane the perceptron had casts its vote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import check_n_threads
from hedgerow._parameters import check_parameters, real_number, short_text, whole_number
from hedgerow._rows import dense
from hedgerow._state import stateful
from hedgerow._state.rules import labels, numbers, rows, several, whole_numbers
from hedgerow._validation import (
    TrainingData,
    check_classification_data,
    check_fitted,
    check_prediction_data,
)
from hedgerow.errors import ParameterError
from hedgerow.linear._perceptron_base import RULES, LinearPerceptronBase, problems_of
from hedgerow.linear._planes import Planes
from hedgerow.linear._rosenblatt import LinearLearner

__all__ = ["VotedPerceptron"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

_BLOCK = 2**22
"""Numbers in a block of planes or of their scores: 32 MB."""


@dataclass
class _VotedLearner(LinearLearner):
    """A perceptron that remembers on which row and at which visit it made each mistake."""

    n_visits: int = field(default=0, init=False)
    mistakes: list[Rows] = field(default_factory=list, init=False)
    visits: list[Rows] = field(default_factory=list, init=False)

    def visit(self, order: Rows) -> Rows:
        """Visit the rows in this order, learn from mistakes, return their positions in it."""
        positions = super().visit(order)
        self.mistakes.append(order[positions])
        self.visits.append(self.n_visits + positions)
        self.n_visits += len(order)
        return positions

    def survivals(self) -> Rows:
        """Return how many visits the plane made by each mistake lasted, that mistake's included."""
        return np.diff(np.concatenate([*self.visits, [self.n_visits]])).astype(np.int64)


@stateful(
    RULES,
    classes_=labels("classes", one_vs_rest="planes"),
    support_=whole_numbers("support"),
    support_vectors_=rows("support", "features"),
    steps_=numbers("planes", "support"),
    mistakes_=several(list, "planes", whole_numbers("mistakes[]", below="support")),
    survivals_=several(list, "planes", whole_numbers("mistakes[]", low=1)),
    n_iter_=whole_number(0),
    t_=whole_number(1),
    status_=short_text,
    n_mistakes_=whole_number(0),
    error_=real_number(0.0),
    error_history_=numbers("passes", low=0.0),
)
class VotedPerceptron(LinearPerceptronBase):
    """All planes a perceptron has had, each with as many votes as visits it survived.

    The perceptron is :class:`Perceptron`'s, started at zero. A row is given the class that the
    planes' votes, sign(score) times survival, add up to. The result is not a plane: its boundary is
    made of pieces of many.

    Memory is bounded by the number of mistakes: each is kept as one number and each row that ever
    caused one is kept once; planes are built from them, in blocks, when they vote. Prediction
    costs as much as scoring every row with ``n_mistakes_`` planes, and so ``max_iter`` is small.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the intercept moves too.
    max_iter : int, default=10
        The most passes.
    tol : float or None, default=1e-3
        Stop when the perceptron's mean error has not come ``tol`` below its lowest value for
        ``n_iter_no_change`` passes in a row; None never stops for that reason.
    shuffle : bool, default=True
        Whether each pass has a random order of its own, instead of the order of the data.
    verbose : int, default=0
        Above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length, which changes no vote.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the orders.
    n_iter_no_change : int, default=5
        How many passes may go without progress.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; they multiply ``sample_weight``.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    support_ : ndarray of int64
        The training rows on which any mistake was made.
    support_vectors_ : ndarray or CSR of shape (n_support, n_features)
        Those rows.
    steps_ : ndarray of shape (n_problems, n_support)
        The step each of them makes on a mistake: eta0 * weight * y.
    mistakes_ : list of ndarray of int64, one a one-vs-rest problem
        The mistakes in the order they were made, as places in ``support_``; each made a plane.
    survivals_ : list of ndarray of int64, one a one-vs-rest problem
        The votes of those planes.
    status_, n_iter_, t_, n_mistakes_, error_, error_history_
        As in :class:`Perceptron`; the errors are those of the perceptron's last plane.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    References
    ----------
    Y. Freund and R. E. Schapire, Large margin classification using the perceptron algorithm,
    Machine Learning 37 (1999).

    Examples
    --------
    >>> from hedgerow.linear import VotedPerceptron
    >>> model = VotedPerceptron(shuffle=False).fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
    >>> coef, intercept, survivals = model.planes()
    >>> coef.ravel(), intercept, survivals
    (array([1., 2.]), array([1., 0.]), array([2, 4]))
    >>> model.decision_function([[-0.5]])
    array([-0.33333333])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 10,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VotedPerceptron:
        """Learn planes that vote, for each class if there are more than two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps, not of the votes; rows of weight zero are as if not there.

        Returns
        -------
        VotedPerceptron
            The estimator itself.
        """
        check_parameters(self, RULES)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight)
        problems = problems_of(data)
        learners, runs = self._train_learners(_VotedLearner, data, problems, self._schedule())
        self.classes_ = data.classes
        self._keep_mistakes(data, learners)
        self._keep_report(runs, len(problems[0].visited))
        self._warn_unless_separated(runs)
        return self

    def planes(self, problem: int = 0) -> tuple[Vector, Vector, Rows]:
        """Return the planes of a one-vs-rest problem, in the order they were made.

        Parameters
        ----------
        problem : int, default=0
            Which one; with two classes there is only the first.

        Returns
        -------
        coef : ndarray of shape (n_planes, n_features)
            Their normal vectors.
        intercept : ndarray of shape (n_planes,)
            Their offsets.
        survivals : ndarray of shape (n_planes,)
            Their votes.
        """
        check_fitted(self)
        if problem not in range(len(self.mistakes_)):
            known = f"0 to {len(self.mistakes_) - 1}"
            msg = f"problem={problem!r} is none of the one-vs-rest problems; choose one of {known}"
            raise ParameterError(msg)
        planes = next(self._planes_in_blocks(problem, len(self.mistakes_[problem])))
        return planes.coef, planes.intercept, self.survivals_[problem]

    def _keep_mistakes(self, data: TrainingData, learners: list[_VotedLearner]) -> None:
        """Set what the planes and their votes are made from."""
        rows = [np.concatenate(learner.mistakes) for learner in learners]
        self.support_ = np.unique(np.concatenate(rows))
        self.support_vectors_ = data.X[self.support_]
        self.steps_ = np.array([learner.moves(self.support_) for learner in learners])
        self.mistakes_ = [np.searchsorted(self.support_, r).astype(np.int64) for r in rows]
        self.survivals_ = [learner.survivals() for learner in learners]

    def _planes_in_blocks(self, problem: int, block: int) -> Iterator[Planes]:
        """Yield the planes of a problem, at most ``block`` at a time: running sums of the steps."""
        mistakes, steps = self.mistakes_[problem], self.steps_[problem]
        last = Planes.zero(1, self.n_features_in_)
        for first in range(0, len(mistakes), block):
            which = mistakes[first : first + block]
            moves = steps[which, None] * dense(self.support_vectors_[which])
            moves[0] += last.coef[0]
            turns = steps[which] * bool(self.fit_intercept)
            turns[0] += last.intercept[0]
            planes = Planes(moves.cumsum(axis=0), turns.cumsum())
            last = Planes(planes.coef[-1:], planes.intercept[-1:])
            yield planes

    def _scores(self, X: Any) -> Vector:
        """Return the votes for each problem's class less those against it, as a share of all."""
        matrix = check_prediction_data(self, X)
        n_rows, n_features = matrix.shape
        block = max(1, _BLOCK // max(n_rows, n_features))
        n_threads = check_n_threads(self.n_jobs)
        votes = np.zeros((n_rows, len(self.mistakes_)))
        for k, survivals in enumerate(self.survivals_):
            first = 0
            for planes in self._planes_in_blocks(k, block):
                scores = _core.scores(matrix, planes.coef, planes.intercept, n_threads)
                votes[:, k] += np.sign(scores) @ survivals[first : first + block]
                first += block
            votes[:, k] /= survivals.sum()
        return votes
