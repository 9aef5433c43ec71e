"""The averaged perceptron: the mean of every plane the perceptron had on its way."""

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
from hedgerow.perceptron._base import REPORT, RULES, LinearPerceptronBase, planes_kept, problems_of
from hedgerow.perceptron._rosenblatt import LinearLearner, Visits

__all__ = ["AveragedPerceptron"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass
class _AveragedLearner(LinearLearner):
    """A perceptron that keeps its mean plane, without adding up the planes.

    A move made at visit p (counted from 0) of T is in the plane after each of the visits p .. T - 1,
    a share 1 - p / T of them. Hence the mean plane is the present one less the sum of all moves,
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
        """Visit the rows in this order and learn from mistakes, until the monitor says stop."""
        visits = super().visit(order)
        rows = order[visits.mistakes]
        late_moves = np.zeros(len(self.problem.y))
        late_moves[rows] = self.steps[rows] * (self.n_visits + visits.mistakes)
        self.late_coef += _core.weighted_row_sum(self.matrix, late_moves, self.n_threads)
        self.late_intercept += float(late_moves.sum()) if self.fit_intercept else 0.0
        self.n_visits += visits.n_made
        return visits

    def outcome(self) -> tuple[Vector, float]:
        """Return coefficients and intercept of the mean plane."""
        n_visits = max(self.n_visits, 1)
        coef = self.coef - self.late_coef / n_visits
        return coef, self.intercept - self.late_intercept / n_visits

    def scores(self) -> Vector:
        """Return the scores that the mean plane gives to all rows."""
        return self.scores_by(*self.outcome())


@stateful(
    RULES,
    coef_=numbers("planes", "features", or_sparse=True),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    **REPORT,
)
class AveragedPerceptron(SparseCoef, LinearPerceptronBase):
    """The mean of all planes a perceptron has had, each weighted by the visits it survived.

    The perceptron itself is :class:`Perceptron`'s, started at zero. Its last plane depends on the
    last rows visited; the mean is far steadier on data that no plane separates.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the intercept moves too.
    max_iter : int, default=1000
        The most passes.
    tol : float or None, default=1e-3
        Stop when the mean error of the mean plane has not come ``tol`` below its lowest value for
        ``n_iter_no_change`` passes in a row; None never stops for that reason.
    shuffle : bool, default=True
        Whether each pass has a random order of its own, instead of the order of the data.
    verbose : bool or int, default=0
        Above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length, which only scales the plane.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the orders.
    n_iter_no_change : int, default=5
        How many passes may go without progress.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; they multiply ``sample_weight``.
    max_time : float or None, default=None
        Seconds that a fit may take; it then keeps what it has come to.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The mean planes, one for two classes, else one a class.
    classes_ : ndarray
        The labels, sorted.
    status_ : {"separated", "plateau", "max_iter", "stopped", "time_limit", "interrupted"}
        How training ended, as in :class:`Perceptron`. "separated" is said of the perceptron's last
        plane; the mean plane may still err on some row, see ``error_``.
    n_iter_, t_, n_mistakes_ : int
        As in :class:`Perceptron`.
    error_ : float
        The error criterion of the mean planes.
    error_history_ : ndarray of shape (n_iter_,)
        The same after each pass.
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
        """Learn the mean plane, or one for each class if there are more than two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps; rows of weight zero are as if they were not there.

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
            partial(planes_kept, classes=data.classes),
            shared=data.matrix,
            n_workers=check_n_threads(self.n_jobs),
        )
        self._warn_unless_separated(runs)
        return self
