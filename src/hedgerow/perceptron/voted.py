"""The voted perceptron: every hyperplane during training casts votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import check_parameters
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import labels, numbers, rows, several, whole_numbers
from hedgerow._engine import check_n_threads
from hedgerow.data.rows import dense
from hedgerow.data.training_data import (
    TrainingData,
    check_classification_data,
    check_fitted,
    check_prediction_data,
)
from hedgerow.errors import ParameterError
from hedgerow.monitor import monitored_fit
from hedgerow.perceptron._base import REPORT, RULES, LinearPerceptronBase, problems_of
from hedgerow.perceptron._rosenblatt import BinaryProblem, LinearLearner, Visits
from hedgerow.perceptron._starts import Hyperplanes

__all__ = ["VotedPerceptron"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]

_BLOCK = 2**22
"""Numbers in a block of hyperplanes or of their scores: 32 MB."""
_SECONDS_A_MISTAKE = 1e-7
"""Seconds per mistake to collect the mistakes at the end, on slow memory."""


@dataclass
class _VotedLearner(LinearLearner):
    """A perceptron that remembers on which row it made each mistake, and how many visits later."""

    changing = (
        *LinearLearner.changing,
        "n_visits",
        "last",
        "mistakes",
        "visits_between",
        "seconds_afterwards",
    )

    n_visits: int = field(default=0, init=False)
    last: int = field(default=0, init=False)
    mistakes: list[Rows] = field(default_factory=list, init=False)
    visits_between: list[Rows] = field(default_factory=list, init=False)

    def visit(self, order: Rows) -> Visits:
        """Visit the rows in this order and learn from mistakes, until the monitor requests a stop."""
        visits = super().visit(order)
        when = self.n_visits + visits.mistakes
        self.mistakes.append(order[visits.mistakes])
        self.visits_between.append(np.diff(when, prepend=self.last))
        self.last = int(when[-1]) if len(when) else self.last
        self.n_visits += visits.n_made
        self.seconds_afterwards += _SECONDS_A_MISTAKE * len(when)
        return visits

    def outcome(self) -> tuple[Rows, Rows]:
        """Return the rows of the mistakes, and how many visits the hyperplane made by each lasted."""
        survivals = np.concatenate([*self.visits_between, [self.n_visits - self.last]])[1:]
        # The core's integers are NumPy's other kind of 64 bits, and print as such.
        return np.concatenate(self.mistakes).astype(np.int64), survivals.astype(np.int64)


@stateful(
    RULES,
    classes_=labels("classes", one_vs_rest="planes"),
    support_=whole_numbers("support"),
    support_vectors_=rows("support", "features"),
    steps_=numbers("planes", "support"),
    mistakes_=several(list, "planes", whole_numbers("mistakes[]", below="support")),
    survivals_=several(list, "planes", whole_numbers("mistakes[]", low=1)),
    **REPORT,
)
class VotedPerceptron(LinearPerceptronBase):
    """All hyperplanes of a perceptron, each with one vote per visit it survived.

    It is trained like :class:`Perceptron`, started at zero. A row is assigned the class with most
    votes, where each hyperplane votes with the sign of its score. The decision boundary is not a
    hyperplane but piecewise linear.

    Memory is bounded by the number of mistakes: each mistake is stored as one number and each row
    with a mistake once; hyperplanes are rebuilt from them in blocks for prediction. A prediction
    costs as much as scoring with ``n_mistakes_`` hyperplanes, so ``max_iter`` is small.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=10
        The maximum number of passes.
    tol : float or None, default=1e-3
        Stop when the perceptron's mean error has not fallen by ``tol`` below its lowest value for
        ``n_iter_no_change`` passes in a row; None disables this criterion.
    shuffle : bool, default=True
        Whether to visit the rows of each pass in a new random order instead of the given one.
    verbose : bool or int, default=0
        If above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length; it does not change the votes.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random orders.
    n_iter_no_change : int, default=5
        The number of passes without progress after which training stops.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; they multiply ``sample_weight``.
    max_time : float or None, default=None
        Time limit of a fit in seconds; the model reached by then is kept.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    support_ : ndarray of int64
        The training rows with at least one mistake.
    support_vectors_ : ndarray or CSR of shape (n_support, n_features)
        Those rows.
    steps_ : ndarray of shape (n_problems, n_support)
        The step at a mistake on each of them: eta0 * weight * y.
    mistakes_ : list of ndarray of int64, one per one-vs-rest problem
        The mistakes in order, as indices into ``support_``; each created a hyperplane.
    survivals_ : list of ndarray of int64, one per one-vs-rest problem
        The votes of those hyperplanes.
    status_, n_iter_, t_, n_mistakes_, error_, error_history_
        As in :class:`Perceptron`; the errors are those of the last hyperplane.
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
        max_time: float | None = None,
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
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> VotedPerceptron:
        """Fit the voting hyperplanes, for each class if there are more than two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps, not of the votes; rows of weight zero are ignored.

        Returns
        -------
        VotedPerceptron
            The estimator itself.
        """
        check_parameters(self, RULES)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight)
        problems = problems_of(data)
        runs = self._train(
            self._learners(_VotedLearner, data, problems),
            self._schedule(),
            partial(self._mistakes_kept, data=data, problems=problems),
            shared=data.matrix,
            n_workers=check_n_threads(self.n_jobs),
        )
        self._warn_unless_separated(runs)
        return self

    def planes(self, problem: int = 0) -> tuple[Vector, Vector, Rows]:
        """Return the hyperplanes of a one-vs-rest problem, in the order of training.

        Parameters
        ----------
        problem : int, default=0
            The index of the problem; with two classes there is only 0.

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
            msg = f"problem={problem!r} is not a one-vs-rest problem of this model; choose one of {known}"
            raise ParameterError(msg)
        none = Hyperplanes.zero(0, self.n_features_in_)
        planes = next(self._hyperplanes_in_blocks(problem, len(self.mistakes_[problem]) or 1), none)
        return planes.coef, planes.intercept, self.survivals_[problem]

    def _mistakes_kept(
        self,
        outcomes: Sequence[tuple[Rows, Rows]],
        data: TrainingData,
        problems: Sequence[BinaryProblem],
    ) -> dict[str, Any]:
        """Return the attributes that the hyperplanes and their votes are made from."""
        # There may be many more mistakes than rows: look places up instead of sorting.
        is_support = np.zeros(data.X.shape[0], dtype=bool)
        for mistakes, _ in outcomes:
            is_support[mistakes] = True
        support, place = np.flatnonzero(is_support), np.cumsum(is_support) - 1
        return {
            "classes_": data.classes,
            "support_": support,
            "support_vectors_": data.X[support],
            "steps_": np.array([problem.steps(self.eta0)[support] for problem in problems]),
            "mistakes_": [place[mistakes] for mistakes, _ in outcomes],
            "survivals_": [survivals for _, survivals in outcomes],
        }

    def _hyperplanes_in_blocks(self, problem: int, block: int) -> Iterator[Hyperplanes]:
        """Yield the hyperplanes of a problem, at most ``block`` at a time: running sums of the steps."""
        mistakes, steps = self.mistakes_[problem], self.steps_[problem]
        last = Hyperplanes.zero(1, self.n_features_in_)
        for first in range(0, len(mistakes), block):
            which = mistakes[first : first + block]
            moves = steps[which, None] * dense(self.support_vectors_[which])
            moves[0] += last.coef[0]
            turns = steps[which] * bool(self.fit_intercept)
            turns[0] += last.intercept[0]
            planes = Hyperplanes(moves.cumsum(axis=0), turns.cumsum())
            last = Hyperplanes(planes.coef[-1:], planes.intercept[-1:])
            yield planes

    def _scores(self, X: Any) -> Vector:
        """Return the votes for the class of each problem minus those against it, as a fraction of all."""
        matrix = check_prediction_data(self, X)
        n_rows, n_features = matrix.shape
        block = max(1, _BLOCK // max(n_rows, n_features))
        n_threads = check_n_threads(self.n_jobs)
        votes = np.zeros((n_rows, len(self.mistakes_)))
        for k, survivals in enumerate(self.survivals_):
            first = 0
            for planes in self._hyperplanes_in_blocks(k, block):
                scores = _core.data.scores(matrix, planes.coef, planes.intercept, n_threads)
                votes[:, k] += np.sign(scores) @ survivals[first : first + block]
                first += block
            votes[:, k] /= max(survivals.sum(), 1)
        return votes
