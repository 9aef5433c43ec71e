"""The averaged perceptron: the mean of all hyperplanes during training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import check_parameters
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import labels, numbers
from hedgerow._engine import check_n_threads
from hedgerow.data.sparse_coef import SparseCoef
from hedgerow.data.training_data import check_classification_data
from hedgerow.monitor import monitored_fit
from hedgerow.perceptron._base import (
    REPORT,
    RULES,
    LinearPerceptronBase,
    linear_attributes,
    problems_of,
)
from hedgerow.perceptron._rosenblatt import LinearLearner, Visits

__all__ = ["AveragedPerceptron"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass
class _AveragedLearner(LinearLearner):
    """A perceptron that keeps its mean hyperplane, without adding up the hyperplanes.

    A move made at visit p (counted from 0) of T is in the hyperplane after each of the visits p .. T - 1,
    a share 1 - p / T of them. Hence the mean hyperplane is the present one less the sum of all moves,
    each times its p, over T.
    """

    changing = (*LinearLearner.changing, "n_visits", "late_coef", "late_intercept")

    n_visits: int = field(default=0, init=False)
    steps: Vector = field(init=False)
    late_coef: Vector = field(init=False)
    late_intercept: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.steps = self.problem.steps(self.step)
        self.late_coef = np.zeros_like(self.coef)

    def visit(self, order: Rows) -> Visits:
        """Visit the rows in this order and learn from mistakes, until the monitor requests a stop."""
        visits = super().visit(order)
        rows = order[visits.mistakes]
        late_moves = np.zeros(len(self.problem.y))
        late_moves[rows] = self.steps[rows] * (self.n_visits + visits.mistakes)
        self.late_coef += _core.data.weighted_row_sum(self.matrix, late_moves, self.n_threads)
        self.late_intercept += float(late_moves.sum()) if self.fit_intercept else 0.0
        self.n_visits += visits.n_made
        return visits

    def outcome(self) -> tuple[Vector, float]:
        """Return coefficients and intercept of the mean hyperplane."""
        n_visits = max(self.n_visits, 1)
        coef = self.coef - self.late_coef / n_visits
        return coef, self.intercept - self.late_intercept / n_visits

    def scores(self) -> Vector:
        """Return the scores that the mean hyperplane gives to all rows."""
        return self.scores_by(*self.outcome())


@stateful(
    RULES,
    coef_=numbers("planes", "features", or_sparse=True),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    **REPORT,
)
class AveragedPerceptron(SparseCoef, LinearPerceptronBase):
    """The mean of all hyperplanes of a perceptron, weighted by the visits they survived.

    It is trained like :class:`Perceptron`, started at zero. The last hyperplane depends on the last
    rows visited; the mean is much more stable if the data are not separable.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        The maximum number of passes.
    tol : float or None, default=1e-3
        Stop when the mean error of the mean hyperplane has not fallen by ``tol`` below its lowest
        value for ``n_iter_no_change`` passes in a row; None disables this criterion.
    shuffle : bool, default=True
        Whether to visit the rows of each pass in a new random order instead of the given one.
    verbose : bool or int, default=0
        If above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length; it only scales the hyperplane.
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
    coef_, intercept_ : ndarray
        The mean hyperplanes, one for two classes, otherwise one per class.
    classes_ : ndarray
        The labels, sorted.
    status_ : {"separated", "plateau", "max_iter", "stopped", "time_limit", "interrupted"}
        How training ended, as in :class:`Perceptron`. "separated" refers to the last hyperplane of
        the perceptron; the mean hyperplane may still misclassify rows, see ``error_``.
    n_iter_, t_, n_mistakes_ : int
        As in :class:`Perceptron`.
    error_ : float
        The error criterion of the mean hyperplanes.
    error_history_ : ndarray of shape (n_iter_,)
        ``error_`` after each pass.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    References
    ----------
    Y. Freund and R. E. Schapire, Large margin classification using the perceptron algorithm,
    Machine Learning 37 (1999).

    Examples
    --------
    >>> from hedgerow.linear import AveragedPerceptron
    >>> model = AveragedPerceptron(shuffle=False).fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
    >>> model.coef_, model.intercept_, model.n_mistakes_
    (array([[1.66666667]]), array([0.33333333]), 2)
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1000,
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
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AveragedPerceptron:
        """Fit the mean hyperplane, or one per class if there are more than two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps; rows of weight zero are ignored.

        Returns
        -------
        AveragedPerceptron
            The estimator itself.
        """
        check_parameters(self, RULES)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight)
        runs = self._train(
            self._learners(_AveragedLearner, data, problems_of(data)),
            self._schedule(),
            partial(linear_attributes, classes=data.classes),
            shared=data.matrix,
            n_workers=check_n_threads(self.n_jobs),
        )
        self._warn_unless_separated(runs)
        return self
