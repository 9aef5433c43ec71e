"""The error of a learner by the bootstrap: out-of-bag, .632 and .632+.

A learner is fitted to resamples and evaluated on the rows that each of them leaves out. This error
is too high, as a resample contains only 63.2 % of the rows; the training error is too low. The .632
method combines the two with fixed weights, and .632+ shifts the weight towards the first if the
learner overfits.

Efron, Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method", JASA 92.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.parameters import check_seed, one_of, whole_number
from hedgerow._base.sparse import checked_sparse
from hedgerow._engine import check_n_threads, engine, side_by_side
from hedgerow.data.rows import refuse_masked
from hedgerow.errors import DataError, ParameterError, StoppedError
from hedgerow.monitor import current, monitored, raising_at_once
from hedgerow.resampling.bootstrapping import ConfidenceInterval, bootstrap, check, check_level
from hedgerow.resampling.plan import make_plan
from hedgerow.resampling.samples import drawn_rows, take_rows
from hedgerow.resampling.seeded import LEARNER_STREAM, seeded_clone

__all__ = ["ErrorEstimate", "bootstrap_error"]

Values: TypeAlias = NDArray[np.float64]
RowLoss: TypeAlias = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
ErrorMethod: TypeAlias = Literal[".632+", ".632", "out_of_bag"]

SHARE_DRAWN = 1 - np.exp(-1)
"""The proportion of the rows that a resample contains, .632."""

_MOST_SHIFTS = 1000


def _squared_error(y: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
    error: NDArray[Any] = (y - prediction) ** 2
    return error


def _absolute_error(y: NDArray[Any], prediction: NDArray[Any]) -> NDArray[Any]:
    error: NDArray[Any] = np.abs(y - prediction)
    return error


_ROW_LOSSES: dict[str, RowLoss] = {
    "misclassification": operator.ne,
    "squared_error": _squared_error,
    "absolute_error": _absolute_error,
}


@dataclass(frozen=True)
class ErrorEstimate:
    """The estimated error of a learner, fitted to these rows, on new rows.

    Attributes
    ----------
    error : float
        The estimate by ``method``.
    confidence_interval : ConfidenceInterval or None
        The interval; None if all rows have the same error. It reflects which rows are evaluated,
        not that other rows would have trained another model.
    training_error : float
        The error on the training rows.
    out_of_bag_error : float
        For each row the error of the fits whose resample leaves it out, averaged over rows.
    no_information_error : float
        The error if features and target were independent.
    method : {".632+", ".632", "out_of_bag"}
        The method of ``error``.
    confidence_level : float
        The proportion of such intervals that contain the true value.
    n_resamples : int
        The number of resamples the learner was fitted to.
    """

    error: float
    confidence_interval: ConfidenceInterval | None
    training_error: float
    out_of_bag_error: float
    no_information_error: float
    method: ErrorMethod
    confidence_level: float
    n_resamples: int

    def __str__(self) -> str:
        ends = self.confidence_interval
        interval = (
            "every row has the same error, so there is no interval"
            if ends is None
            else f"{100 * self.confidence_level:g} % interval {ends.low:.4g} to {ends.high:.4g}"
        )
        return (
            f"{self.method} error {self.error:.4g} ({interval}); on the training rows "
            f"{self.training_error:.4g}, out of bag {self.out_of_bag_error:.4g}, without any "
            f"information {self.no_information_error:.4g}; {self.n_resamples} resamples"
        )


@monitored("bootstrap_error")
@raising_at_once()
def bootstrap_error(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: ErrorMethod = ".632+",
    n_resamples: int = 200,
    metric: str | RowLoss | None = None,
    confidence_level: float = 0.95,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ErrorEstimate:
    """Estimate the error of a learner on new rows by the bootstrap.

    Parameters
    ----------
    learner : estimator
        Any estimator with ``fit`` and ``predict``; it is cloned, never fitted in place.
    X : array, sparse matrix or data frame
        The features.
    y : array-like
        The target.
    method : {".632+", ".632", "out_of_bag"}
        ".632+" also suits learners that overfit, for which ".632" is too low.
    n_resamples : int
        The number of resamples the learner is fitted to.
    metric : {"misclassification", "squared_error", "absolute_error"}, callable or None
        The loss of every row: a callable takes targets and predictions and returns one number per
        row. None means misclassification for classifiers and squared error for other learners.
    confidence_level : float
        The confidence level, between 0 and 1.
    strata, groups : array-like or None
        One label per row: resamples keep the size of every stratum and draw groups as a whole.
    random_state : int, RandomState, Generator or None
        Seed of the resamples, and of every fit if the learner has no seed.
    n_jobs : int or None
        The number of fits that run in parallel; None means all cores. The result does not depend on
        it.

    Returns
    -------
    ErrorEstimate
        The error, its interval and its components.

    Raises
    ------
    StoppedError
        If a time limit or a callback stopped it: part of the fits is not enough for an estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from hedgerow import bootstrap_error
    >>> X, y = load_iris(return_X_y=True)
    >>> estimate = bootstrap_error(KNeighborsClassifier(1), X, y, n_resamples=100, random_state=0)
    >>> round(estimate.error, 2), estimate.training_error
    (0.03, 0.0)
    """
    check("method", method, one_of(*get_args(ErrorMethod)))
    check("n_resamples", n_resamples, whole_number(2))
    check_level(confidence_level)
    refuse_masked(y, "y")
    X, y = _rows_of(X), np.asarray(y)
    if y.shape != (X.shape[0],):
        msg = f"y has shape {y.shape}, but X has {X.shape[0]} rows; give one target per row"
        raise DataError(msg)
    seed = check_seed(random_state)
    trial = _Trial(learner, X, y, _row_loss(metric, learner), seed)
    plan = make_plan(len(y), strata, groups)
    counts = np.concatenate(
        [plan.of_rows(plan.draw(seed, block)) for block in plan.blocks(n_resamples)]
    )
    out_of_bag = _mean_out_of_bag(trial, counts, check_n_threads(n_jobs))
    fitted = trial.fitted(np.arange(len(y)), n_resamples)
    prediction = np.asarray(fitted.predict(X))
    training = trial.loss(y, prediction)
    no_information = _no_information(trial, prediction)
    weight = _weight(method, float(training.mean()), float(out_of_bag.mean()), no_information)
    rows = (1 - weight) * training + weight * out_of_bag
    return ErrorEstimate(
        error=float(rows.mean()),
        confidence_interval=_interval(rows, confidence_level, seed),
        training_error=float(training.mean()),
        out_of_bag_error=float(out_of_bag.mean()),
        no_information_error=no_information,
        method=method,
        confidence_level=float(confidence_level),
        n_resamples=n_resamples,
    )


@dataclass(frozen=True)
class _Trial:
    """A learner, its rows, and the loss of its predictions."""

    learner: Any
    X: Any
    y: NDArray[Any]
    row_loss: RowLoss
    seed: int

    def fitted(self, rows: NDArray[np.int64], number: int) -> Any:
        """Return a clone fitted to some rows; ``number`` picks the seed of a learner without one."""
        learner = seeded_clone(self.learner, self.seed, number)
        y = self.y[rows]
        if is_classifier(learner) and len(np.unique(y)) < 2:
            msg = "a resample contains only one class; keep class sizes with strata=y"
            raise DataError(msg)
        return learner.fit(take_rows(self.X, rows), y)

    def losses_left_out(
        self, resample: tuple[int, NDArray[np.uint8]]
    ) -> tuple[NDArray[np.int64], Values]:
        """Return the rows that a numbered resample leaves out, and the losses of its fit on them."""
        number, counts = resample
        left_out = np.flatnonzero(counts == 0)
        if not len(left_out):
            return left_out, np.empty(0)
        fitted = self.fitted(drawn_rows(counts), number)
        prediction = np.asarray(fitted.predict(take_rows(self.X, left_out)))
        return left_out, self.loss(self.y[left_out], prediction)

    def loss(self, y: NDArray[Any], prediction: NDArray[Any]) -> Values:
        """Return the loss of every row."""
        values = np.asarray(self.row_loss(y, prediction), dtype=np.float64)
        if values.shape != y.shape:
            msg = f"metric returned shape {values.shape} for {len(y)} rows; return one loss per row"
            raise ParameterError(msg)
        return values


def _rows_of(X: Any) -> Any:
    return checked_sparse(X) if hasattr(X, "shape") else np.asarray(X)


def _row_loss(metric: Any, learner: Any) -> RowLoss:
    if metric is None:
        metric = "misclassification" if is_classifier(learner) else "squared_error"
    if callable(metric):
        loss: RowLoss = metric
        return loss
    check("metric", metric, one_of(*_ROW_LOSSES))
    return _ROW_LOSSES[metric]


def _mean_out_of_bag(trial: _Trial, counts: NDArray[np.uint8], n_threads: int) -> Values:
    """Return for every row the mean loss of the fits whose resample leaves it out."""
    total, n_fits = np.zeros(len(trial.y)), np.zeros(len(trial.y))
    monitor = current()
    key = None if monitor.store is None else fingerprint("bootstrap_error", trial, counts)
    results = side_by_side(trial.losses_left_out, list(enumerate(counts)), n_threads, key=key)
    for number, (left_out, losses) in enumerate(results, start=1):
        if monitor.reason is not None:
            msg = f"bootstrap_error was stopped ({monitor.reason}) after {number - 1} of {len(counts)} fits; let it run to the end, or draw fewer resamples"
            raise StoppedError(msg)
        total[left_out] += losses
        n_fits[left_out] += 1
        monitor.report(number, len(counts))
    never = np.flatnonzero(n_fits == 0)
    if len(never):
        msg = f"row {never[0]} is in all {len(counts)} resamples; draw more of them, or use smaller groups"
        raise DataError(msg)
    mean: Values = total / n_fits
    return mean


def _no_information(trial: _Trial, prediction: NDArray[Any]) -> float:
    """Return the mean loss of targets against predictions for other rows, all pairs alike.

    The pairs of a cyclic shift hold every target and every prediction once. All shifts are all
    pairs; of many rows, put into random order, a thousand shifts are enough.
    """
    n = len(prediction)
    order = _core.system.random_permutation(trial.seed, LEARNER_STREAM - 1, n)
    y, prediction = trial.y[order], prediction[order]
    shifts = range(min(n, _MOST_SHIFTS))
    return float(np.mean([trial.loss(y, np.roll(prediction, k)).mean() for k in shifts]))


def _weight(
    method: ErrorMethod, training: float, out_of_bag: float, no_information: float
) -> float:
    """Return the weight of the out-of-bag error against the training error."""
    if method == "out_of_bag":
        return 1.0
    if method == ".632":
        return float(SHARE_DRAWN)
    # The relative overfitting rate: 0 without overfitting, 1 if nothing learnt generalises.
    capped = min(out_of_bag, no_information)
    overfits = capped > training
    rate = (capped - training) / (no_information - training) if overfits else 0.0
    weight = SHARE_DRAWN / (1 - (1 - SHARE_DRAWN) * rate)
    if out_of_bag > no_information and overfits:
        # The estimate never exceeds the no-information error.
        weight *= (capped - training) / (out_of_bag - training)
    return float(weight)


def _interval(rows: Values, confidence_level: float, seed: int) -> ConfidenceInterval | None:
    if np.ptp(rows) == 0:
        return None
    with engine(None):
        result = bootstrap(rows, "mean", confidence_level=confidence_level, random_state=seed)
    return result.confidence_interval
