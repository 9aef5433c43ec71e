"""Rosenblatt's perceptron as a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._base.parameters import Rule, check_parameters, real_number, true_or_false
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import labels, numbers
from hedgerow._engine import check_n_threads
from hedgerow.data.sparse_coef import SparseCoef, planes_of_model
from hedgerow.data.training_data import TrainingData, check_batch, check_classification_data
from hedgerow.errors import ParameterError
from hedgerow.monitor import monitored_fit
from hedgerow.perceptron._base import (
    REPORT,
    RULES,
    LinearPerceptronBase,
    linear_attributes,
    problems_of,
)
from hedgerow.perceptron._rosenblatt import LinearLearner, Run, Schedule
from hedgerow.perceptron._starts import (
    Hyperplanes,
    checked_hyperplanes,
    held_out_rows,
    random_hyperplanes,
)

__all__ = ["Perceptron"]


def _no_penalty(value: Any) -> str | None:
    """Allow no penalty."""
    return (
        None
        if value is None
        else "None, as the perceptron has no penalty; use LinearSVC for a penalised model"
    )


def _start(value: Any) -> str | None:
    """Allow what ``start`` may be; the shapes are checked when the data are known."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    fine = value is None or pair or (isinstance(value, str) and value == "random")
    return None if fine else "None, 'random' or a pair (coef, intercept)"


_RULES: dict[str, Rule] = RULES | {
    "penalty": _no_penalty,
    "alpha": real_number(0.0),
    "l1_ratio": real_number(0.0, 1.0),
    "early_stopping": true_or_false,
    "validation_fraction": real_number(0.0, 1.0, open_low=True),
    "warm_start": true_or_false,
    "start": _start,
}


class _LastHyperplane(LinearLearner):
    """A perceptron that keeps its last hyperplane."""

    def outcome(self) -> tuple[NDArray[np.float64], float]:
        """Return coefficients and intercept."""
        return self.coef, self.intercept


@stateful(
    _RULES,
    coef_=numbers("planes", "features", or_sparse=True),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    **REPORT,
)
class Perceptron(SparseCoef, LinearPerceptronBase):
    """Rosenblatt's perceptron: a hyperplane that moves at each mistake until there are none.

    Each pass visits the rows in a new random order. At a mistake, where y * score <= 0, the
    hyperplane moves: coef += eta0 * y * x and intercept += eta0 * y. Training ends when a pass
    makes no mistake. If the data are not separable it ends at a limit, with a
    ``ConvergenceWarning``. More than two classes are handled one-vs-rest.

    Parameters
    ----------
    penalty : None
        Must be None: the perceptron has no penalty. ``LinearSVC`` has one.
    alpha, l1_ratio : float
        Parameters of the penalty, which have no effect.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        The maximum number of passes of ``fit``.
    tol : float or None, default=1e-3
        Stop when the mean error (``error_`` divided by the total weight) has not fallen by ``tol``
        below its lowest value for ``n_iter_no_change`` passes in a row. None disables this
        criterion: use it if the data are known to be separable.
    shuffle : bool, default=True
        Whether to visit the rows of each pass in a new random order instead of the given one.
    verbose : bool or int, default=0
        If above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length. With a start at zero it only scales the hyperplane.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. Results do not depend on it.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random orders and of the random start.
    early_stopping : bool, default=False
        Whether to hold out a validation set and stop, without a warning, when the accuracy on it
        has not risen by ``tol`` for ``n_iter_no_change`` passes.
    validation_fraction : float, default=0.1
        The proportion of each class in the validation set.
    n_iter_no_change : int, default=5
        The number of passes without progress after which training stops.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; they multiply ``sample_weight``.
    warm_start : bool, default=False
        Whether ``fit`` starts from the hyperplane of the previous fit.
    start : None, "random" or (coef, intercept), default=None
        The initial hyperplane: zero, numbers drawn uniformly from [-1, 1), or a given one.
    max_time : float or None, default=None
        Time limit of a fit in seconds; the hyperplane reached by then is kept.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The normal vectors.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The offsets.
    classes_ : ndarray
        The labels, sorted.
    status_ : {"separated", "plateau", "max_iter", "stopped", "time_limit", "interrupted"}
        How training ended: the last pass made no mistake, ``tol`` stopped it, ``max_iter`` did
        (for ``partial_fit`` its one pass), a callback, ``max_time``, or Ctrl-C. With several
        one-vs-rest problems it is the last of these that occurs.
    n_iter_ : int
        The number of passes, the maximum over one-vs-rest problems; the last may be incomplete.
    t_ : int
        1 + the number of row visits since the last ``fit`` began.
    n_mistakes_ : int
        The number of mistakes in all passes and all one-vs-rest problems.
    error_ : float
        The error criterion: the sum of sample_weight * |score| over the misclassified training
        rows of all one-vs-rest problems.
    error_history_ : ndarray of shape (n_iter_,)
        ``error_`` after each pass.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Notes
    -----
    scikit-learn's perceptron reduces the steps of the intercept to a hundredth on sparse data; here
    dense and sparse data give the same hyperplane.

    Examples
    --------
    >>> from hedgerow.linear import Perceptron
    >>> X, y = [[1, 2], [4, 1], [2, 2]], [-1, 1, 1]
    >>> model = Perceptron(start=((1, -1), -2), eta0=1 / 4, shuffle=False).fit(X, y)
    >>> model.coef_, model.intercept_, model.status_
    (array([[ 1.5, -0.5]]), array([-1.75]), 'separated')
    """

    def __init__(
        self,
        *,
        penalty: None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        warm_start: bool = False,
        start: Any = None,
        max_time: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.start = start
        self.max_time = max_time

    @monitored_fit
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: Any = None,
    ) -> Perceptron:
        """Fit a hyperplane, or one per class if there are more than two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            The labels.
        coef_init, intercept_init : array-like, optional
            The initial hyperplane, instead of ``start`` and ``warm_start``.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps; rows of weight zero are ignored.

        Returns
        -------
        Perceptron
            The estimator itself.
        """
        check_parameters(self, _RULES)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight)
        schedule = self._schedule()
        start = self._starting_hyperplanes(data, schedule, coef_init, intercept_init)
        runs = self._learn(data, schedule, start, n_before=0)
        if not (self.early_stopping and self.status_ == "plateau"):
            self._warn_unless_separated(runs)
        return self

    @monitored_fit
    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: Any = None
    ) -> Perceptron:
        """Make one pass over a batch of rows, starting from the current hyperplane.

        ``status_``, ``n_iter_``, ``n_mistakes_`` and the errors then describe this pass only.
        Repeated calls with the same rows make the same passes as ``fit``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows of the batch.
        y : array-like of shape (n_samples,)
            The labels, which need not include every class.
        classes : array-like, optional
            All labels that will ever occur; needed only in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps.

        Returns
        -------
        Perceptron
            The estimator itself.
        """
        check_parameters(self, _RULES)
        self._refuse_what_needs_all_rows()
        data = check_batch(self, X, y, classes, sample_weight)
        schedule = self._schedule(max_iter=1)
        if hasattr(self, "coef_"):
            start = Hyperplanes(planes_of_model(self), self.intercept_)
        else:
            start = self._starting_hyperplanes(data, schedule, None, None)
        self._learn(data, schedule, start, n_before=getattr(self, "t_", 1) - 1)
        return self

    def _learn(
        self, data: TrainingData, schedule: Schedule, start: Hyperplanes, n_before: int
    ) -> list[Run]:
        """Train every one-vs-rest problem and keep the result; ``n_before`` visits went before."""
        fraction = self.validation_fraction
        held_out = held_out_rows(data, fraction, schedule.seed) if self.early_stopping else None
        return self._train(
            self._learners(_LastHyperplane, data, problems_of(data, held_out), start),
            schedule,
            partial(linear_attributes, classes=data.classes),
            shared=data.matrix,
            n_workers=check_n_threads(self.n_jobs),
            n_before=n_before,
        )

    def _starting_hyperplanes(
        self,
        data: TrainingData,
        schedule: Schedule,
        coef_init: ArrayLike | None,
        intercept_init: ArrayLike | None,
    ) -> Hyperplanes:
        """Return the hyperplanes to start from: those given to fit, the present ones, or ``start``."""
        n_planes = 1 if len(data.classes) == 2 else len(data.classes)
        planes = Hyperplanes.zero(n_planes, data.X.shape[1])
        if self.warm_start and hasattr(self, "coef_"):
            planes = checked_hyperplanes(
                "the hyperplane to warm-start from", planes_of_model(self), self.intercept_, planes
            )
        elif isinstance(self.start, str):
            planes = random_hyperplanes(planes, schedule.seed, self.fit_intercept)
        elif self.start is not None:
            coef, intercept = self.start
            planes = checked_hyperplanes("start", coef, intercept, planes)
        return checked_hyperplanes(
            "the pair coef_init, intercept_init",
            planes.coef if coef_init is None else coef_init,
            planes.intercept if intercept_init is None else intercept_init,
            planes,
        )

    def _refuse_what_needs_all_rows(self) -> None:
        """Refuse parameters that make no sense for a batch."""
        if self.early_stopping:
            msg = (
                "early_stopping=True needs all rows at once, which partial_fit does not have; "
                "set it to False or use fit"
            )
            raise ParameterError(msg)
        if isinstance(self.class_weight, str):
            msg = (
                f"class_weight={self.class_weight!r} needs all rows at once, which partial_fit does "
                "not have; give a dictionary of label: weight"
            )
            raise ParameterError(msg)
