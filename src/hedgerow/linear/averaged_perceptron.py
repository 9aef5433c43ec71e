"""The averaged perceptron: the mean of every plane the perceptron had on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._state import stateful
from hedgerow._validation import (
    TrainingData,
    check_classification_data,
    check_n_threads,
    check_parameters,
)
from hedgerow.linear._perceptron_base import RULES, LinearPerceptronBase, problems_of
from hedgerow.linear._rosenblatt import BinaryProblem, Run

__all__ = ["AveragedPerceptron"]

Vector = NDArray[np.float64]


@dataclass
class _Average:
    """Sums that give the mean plane without adding up the planes.

    A mistake at visit p (counted from 0) of T is in the plane after each of the visits p .. T - 1,
    so its step enters the mean with the share 1 - p / T. All of a row's mistakes have the same
    step: the number of them and the sum of their p are enough.
    """

    n_rows: int
    counts: NDArray[np.int64] = field(init=False)
    visits: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.n_rows, dtype=np.int64)
        self.visits = np.zeros(self.n_rows, dtype=np.int64)

    def add(self, rows: NDArray[np.int64], visits: NDArray[np.int64]) -> None:
        """Take in a pass, which visits each row once."""
        self.counts[rows] += 1
        self.visits[rows] += visits

    def share_of_rows(self, n_visits: int) -> Vector:
        """Return with how many of its steps each row enters the mean plane."""
        return self.counts - self.visits / n_visits


@stateful(
    "coef_",
    "intercept_",
    "classes_",
    "n_iter_",
    "t_",
    "status_",
    "n_mistakes_",
    "error_",
    "error_history_",
)
class AveragedPerceptron(LinearPerceptronBase):
    """The mean of all planes a perceptron has had, each weighted by the visits it survived.

    The perceptron itself is :class:`Perceptron`'s, started at zero. Its last plane depends on the
    last rows visited; the mean is far steadier on data that no plane separates, at no cost: the
    planes are never formed.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the intercept moves too.
    max_iter : int, default=1000
        The most passes.
    tol : float or None, default=1e-3
        Stop when the perceptron's mean error has not come ``tol`` below its lowest value for
        ``n_iter_no_change`` passes in a row; None never stops for that reason.
    shuffle : bool, default=True
        Whether each pass has a random order of its own, instead of the order of the data.
    verbose : int, default=0
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

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The mean planes, one for two classes, else one a class.
    classes_ : ndarray
        The labels, sorted.
    status_ : {"separated", "plateau", "max_iter"}
        How the perceptron ended, as in :class:`Perceptron`. "separated" is said of its last plane;
        the mean plane may still err on some row, see ``error_``.
    n_iter_, t_, n_mistakes_ : int
        As in :class:`Perceptron`.
    error_ : float
        The error criterion of the mean planes.
    error_history_ : ndarray of shape (n_iter_,)
        The error criterion of the perceptron's plane after each pass.
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
    (array([[1.33333333]]), array([0.66666667]), 2)
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
        problems = problems_of(data)
        averages = [_Average(len(data.y)) for _ in problems]
        runs = self._train_planes(
            data, problems, self._schedule(), on_pass=[average.add for average in averages]
        )[1]
        self.classes_ = data.classes
        self._keep_report(runs, len(problems[0].visited))
        self._keep_means(data, problems, averages, runs)
        self._warn_unless_separated(runs)
        return self

    def _keep_means(
        self,
        data: TrainingData,
        problems: list[BinaryProblem],
        averages: list[_Average],
        runs: list[Run],
    ) -> None:
        """Set the mean planes and their error."""
        n_threads = check_n_threads(self.n_jobs)
        alphas = [
            self.eta0 * p.weight * p.y * average.share_of_rows(run.n_iter * len(p.visited))
            for p, average, run in zip(problems, averages, runs, strict=True)
        ]
        self.coef_ = np.array([_core.weighted_row_sum(data.matrix, a, n_threads) for a in alphas])
        self.intercept_ = np.array([a.sum() if self.fit_intercept else 0.0 for a in alphas])
        scores = _core.scores(data.matrix, self.coef_, self.intercept_, n_threads)
        self.error_ = sum(p.error(scores[:, k]) for k, p in enumerate(problems))
