"""Base of the perceptrons: parameter rules, training reports and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from hedgerow import _core
from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import (
    Rule,
    check_seed,
    class_weights,
    one_of,
    positive_number,
    real_number,
    true_or_false,
    verbosity,
    whole_number,
)
from hedgerow._base.state.rules import AttributeRule, numbers
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.data.sparse_coef import planes_of_model
from hedgerow.data.training_data import TrainingData, check_prediction_data
from hedgerow.errors import warn_user
from hedgerow.monitor import CallbackSupport, current
from hedgerow.perceptron._rosenblatt import BinaryProblem, Learner, Run, Schedule, train
from hedgerow.perceptron._starts import Hyperplanes
from hedgerow.reduction import labels_from_scores, one_vs_rest_signs

__all__ = [
    "REPORT",
    "RULES",
    "LinearPerceptronBase",
    "PerceptronBase",
    "linear_attributes",
    "problems_of",
]

Vector = NDArray[np.float64]
Plane: TypeAlias = tuple[Vector, float]
Outcome = TypeVar("Outcome")

_BY_RANK = ("separated", "plateau", "max_iter", "stopped", "time_limit", "interrupted")
"""How training can end, the worst last."""


def _real_number_or_none(value: Any) -> str | None:
    """Allow None and finite numbers that are not negative."""
    expected = None if value is None else real_number(0.0)(value)
    return None if expected is None else f"None or {expected}"


RULES: dict[str, Rule] = {
    "fit_intercept": true_or_false,
    "max_iter": whole_number(1),
    "tol": _real_number_or_none,
    "shuffle": true_or_false,
    "verbose": verbosity,
    "eta0": positive_number(),
    "n_iter_no_change": whole_number(1),
    "class_weight": class_weights,
}
"""The rules of the parameters that every perceptron has."""

REPORT: dict[str, AttributeRule] = {
    "n_iter_": whole_number(0),
    "t_": whole_number(1),
    "status_": one_of(*_BY_RANK),
    "n_mistakes_": whole_number(0),
    "error_": real_number(0.0),
    "error_history_": numbers("passes", low=0.0),
}
"""The rules of the fitted attributes that say how training went."""


def problems_of(
    data: TrainingData, held_out: NDArray[np.int64] | None = None
) -> list[BinaryProblem]:
    """Return the one-vs-rest problems of the data; held-out rows have weight zero in them."""
    weight, watched = data.sample_weight, None
    if held_out is not None:
        is_watched = np.zeros(len(weight), dtype=bool)
        is_watched[held_out] = True
        weight, watched = np.where(is_watched, 0.0, weight), np.where(is_watched, weight, 0.0)
    signs = one_vs_rest_signs(data.y, len(data.classes))
    return [BinaryProblem(k, y, weight, watched) for k, y in enumerate(signs)]


def linear_attributes(planes: Sequence[Plane], classes: NDArray[Any]) -> dict[str, Any]:
    """Return the fitted attributes of a linear model."""
    return {
        "classes_": classes,
        "coef_": np.array([coef for coef, _ in planes]),
        "intercept_": np.array([intercept for _, intercept in planes]),
    }


class PerceptronBase(CallbackSupport, ClassifierMixin, Estimator):
    """A classifier whose scores come from hyperplanes trained by Rosenblatt's rule, one-vs-rest."""

    fit_intercept: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    verbose: int
    eta0: float
    random_state: Any
    n_iter_no_change: int
    class_weight: Mapping[Any, float] | str | None
    max_time: float | None

    _if_classes_overlap = "use LinearSVC or KernelPerceptron"

    classes_: NDArray[Any]
    n_iter_: int
    t_: int
    status_: str
    n_mistakes_: int
    error_: float
    error_history_: Vector

    @abstractmethod
    def _scores(self, X: Any) -> Vector:
        """Return the scores, one column per one-vs-rest problem."""

    def decision_function(self, X: Any) -> Vector:
        """Return the scores of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per row for two classes, positive for the second; otherwise one per class.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted label of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        return labels_from_scores(self._scores(X), self.classes_)

    def _schedule(self, max_iter: int | None = None) -> Schedule:
        """Return the parameters that decide on order and stopping."""
        return Schedule(
            max_iter=int(self.max_iter if max_iter is None else max_iter),
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            shuffle=bool(self.shuffle),
            seed=check_seed(self.random_state),
            verbose=self.verbose,
        )

    def _train(
        self,
        learners: Sequence[Learner[Outcome]],
        schedule: Schedule,
        attributes: Callable[[Sequence[Outcome]], dict[str, Any]],
        *,
        shared: Any,
        n_workers: int = 1,
        n_before: int = 0,
    ) -> list[Run]:
        """Train the learner of every problem and set the fitted attributes.

        ``shared`` is the data that all learners have in common.
        """
        if len(learners) == 1:
            current().model_at = lambda learner: attributes([learner.outcome()])
        task = partial(train, schedule=schedule, n_before=n_before)
        found = side_by_side(task, learners, n_workers, shared=(shared,))
        outcomes, runs = zip(*found, strict=True)
        for name, value in attributes(outcomes).items():
            setattr(self, name, value)
        self._keep_report(runs, n_before)
        return list(runs)

    def _keep_report(self, runs: Sequence[Run], n_before: int) -> None:
        """Set the attributes that say how training went, summed over the one-vs-rest problems."""
        self.n_iter_ = max(run.n_iter for run in runs)
        self.t_ = 1 + n_before + max(run.n_visits for run in runs)
        self.n_mistakes_ = sum(run.n_mistakes for run in runs)
        self.status_ = max((run.status for run in runs), key=_BY_RANK.index)
        # A problem that ended early keeps its last error while the others go on.
        padded = [run.errors + run.errors[-1:] * (self.n_iter_ - run.n_iter) for run in runs]
        self.error_history_ = np.sum(padded, axis=0)
        self.error_ = float(self.error_history_[-1])

    def _warn_unless_separated(self, runs: Sequence[Run]) -> None:
        """Warn if the data were not separated, unless the user stopped the fit.

        A fit stopped by Ctrl-C or by a callback needs no warning.
        """
        stuck = [run for run in runs if run.status != "separated"]
        if not stuck or self.status_ in ("interrupted", "stopped"):
            return
        where = "" if len(runs) == 1 else f" in {len(stuck)} of {len(runs)} one-vs-rest problems"
        n_mistakes = sum(run.n_last_mistakes for run in stuck)
        why, remedy = self._limit_met()
        msg = (
            f"{type(self).__name__} did not separate the data{where} {why}: the last pass "
            f"made {n_mistakes} mistakes; {remedy}, or, if the classes overlap, "
            f"{self._if_classes_overlap}"
        )
        warn_user(msg, ConvergenceWarning)

    def _limit_met(self) -> tuple[str, str]:
        """Return which limit ended training, and how to lift it."""
        if self.status_ == "max_iter":
            return f"within max_iter={self.max_iter} passes", "raise max_iter"
        if self.status_ == "time_limit":
            return f"within the time limit, {self.n_iter_} passes", "raise max_time"
        why = f"and made no progress of tol={self.tol:g} in {self.n_iter_no_change} passes"
        return why, "set tol=None to continue until max_iter"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearPerceptronBase(PerceptronBase):
    """A perceptron whose hyperplanes are vectors in the space of the features."""

    n_jobs: int | None

    def _learners(
        self,
        learner_type: Callable[..., Learner[Outcome]],
        data: TrainingData,
        problems: Sequence[BinaryProblem],
        start: Hyperplanes | None = None,
    ) -> list[Learner[Outcome]]:
        """Return a learner for every problem, at zero unless told otherwise."""
        start = Hyperplanes.zero(len(problems), data.X.shape[1]) if start is None else start
        return [
            learner_type(
                matrix=data.matrix,
                problem=problem,
                step=float(self.eta0),
                fit_intercept=bool(self.fit_intercept),
                coef=coef.copy(),
                intercept=float(intercept),
                n_threads=check_n_threads(self.n_jobs) if len(problems) == 1 else 1,
            )
            for problem, coef, intercept in zip(problems, start.coef, start.intercept, strict=True)
        ]

    def _scores(self, X: Any) -> Vector:
        """Return the scores, one column per hyperplane."""
        matrix = check_prediction_data(self, X)
        planes = planes_of_model(self)
        return _core.data.scores(matrix, planes, self.intercept_, check_n_threads(self.n_jobs))
