"""Evaluate a fitted model, or compare two, on rows they have not seen."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from hedgerow._base.parameters import check_seed, one_of, whole_number
from hedgerow._engine import check_n_threads
from hedgerow.data.rows import refuse_masked
from hedgerow.data.training_data import check_targets
from hedgerow.errors import DataError
from hedgerow.evaluation.metrics import Answers, Metrics, joint_metrics, read_metrics
from hedgerow.evaluation.results import Comparison, Difference, Evaluation, Measurement
from hedgerow.monitor import monitored, raising_at_once
from hedgerow.resampling import accuracy_interval
from hedgerow.resampling import interval_methods as methods
from hedgerow.resampling.bootstrapping import (
    check,
    check_level,
    interval,
    is_constant,
    refuse_undefined,
)
from hedgerow.resampling.plan import Counts, Plan, make_plan
from hedgerow.resampling.runs import Run
from hedgerow.resampling.statistics import WeightedStatistic

__all__ = ["compare", "evaluate"]

Values: TypeAlias = NDArray[np.float64]
IntervalMethod: TypeAlias = Literal["BCa", "percentile", "basic"]


@monitored("evaluate")
@raising_at_once()
def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    metrics: Metrics = None,
    confidence_level: float = 0.95,
    method: IntervalMethod = "percentile",
    n_resamples: int = 2000,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Evaluation:
    """Return the metrics of a fitted model on new rows, each with an interval.

    Parameters
    ----------
    model : estimator
        A fitted model; it predicts once.
    X, y : array, sparse matrix or data frame; array-like
        Rows that were not used to fit the model, and their targets.
    metrics : str, callable, list of str, dict, or None
        Names of scikit-learn's scorers, a callable ``metric(y_true, y_pred)``, or a dictionary of
        names to either. None means accuracy and balanced accuracy for classifiers, and R2, mean
        absolute and mean squared error (negative, as scorers are) for other models.
    confidence_level : float
        The confidence level of the intervals, between 0 and 1.
    method : {"percentile", "BCa", "basic"}
        The kind of bootstrap interval.
    n_resamples : int
        The number of resamples of the rows.
    strata, groups : array-like or None
        One label per row: resamples keep the size of every stratum and draw groups as a whole.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    n_jobs : int or None
        The number of threads; None means all cores. The result does not depend on it.

    Returns
    -------
    Evaluation
        ``evaluation["accuracy"].low`` and so on; it prints as a table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import LinearSVC
    >>> from hedgerow.evaluation import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC().fit(X[:300], y[:300])
    >>> evaluation = evaluate(model, X[300:], y[300:], random_state=0)
    >>> round(evaluation["accuracy"].estimate, 2)
    0.96
    """
    target = _target(y, model)
    answers = Answers(model, X, len(target))
    scores = joint_metrics(read_metrics(metrics, model), answers, target)
    run = _run(make_plan(len(target), strata, groups), n_resamples, random_state, n_jobs)
    spans = _spans(run, scores, check_level(confidence_level), method)
    measurements = [
        _exact_if_constant(Measurement(name, *span), answers, target, confidence_level)
        for name, span in zip(scores.names, spans, strict=True)
    ]
    return Evaluation(tuple(measurements), float(confidence_level), len(target), n_resamples)


@monitored("compare")
@raising_at_once()
def compare(
    a: Any,
    b: Any,
    X: Any,
    y: Any,
    *,
    metrics: Metrics = None,
    confidence_level: float = 0.95,
    method: IntervalMethod = "percentile",
    n_resamples: int = 2000,
    strata: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Return the differences of two fitted models on the same rows, metric by metric.

    Both models are evaluated on the same resamples. The effect of rows that are hard for both cancels
    out, so the interval of the difference is narrower than two separate intervals would suggest.

    Parameters
    ----------
    a, b : estimator
        The first and the second model, both fitted.
    X, y, metrics, confidence_level, method, n_resamples, strata, groups, random_state, n_jobs
        As for :func:`evaluate`.

    Returns
    -------
    Comparison
        ``comparison["accuracy"].estimate`` is that of the first minus that of the second.
    """
    target = _target(y, a, b)
    chosen = read_metrics(metrics, a)
    first, second = (
        joint_metrics(chosen, Answers(model, X, len(target)), target) for model in (a, b)
    )
    run = _run(make_plan(len(target), strata, groups), n_resamples, random_state, n_jobs)

    def difference(counts: Counts) -> Values:
        return first(counts) - second(counts)

    spans = _spans(run, difference, check_level(confidence_level), method)
    each = zip(first.names, run.estimate(first), run.estimate(second), spans, strict=True)
    differences = [
        Difference(name, float(one), float(other), *span) for name, one, other, span in each
    ]
    return Comparison(tuple(differences), float(confidence_level), len(target), n_resamples)


def _target(y: Any, *models: Any) -> NDArray[Any]:
    """Return the true targets; for regressors, check that they are finite."""
    refuse_masked(y, "y")
    target = np.asarray(y)
    if target.ndim == 1 and len(target) > 1:
        return check_targets(target, len(target)) if any(map(is_regressor, models)) else target
    msg = f"y has shape {target.shape}; give one target per row, and at least 2 rows"
    raise DataError(msg)


def _run(plan: Plan, n_resamples: Any, random_state: Any, n_jobs: Any) -> Run:
    check("n_resamples", n_resamples, whole_number(2))
    return Run(plan, check_seed(random_state), n_resamples, check_n_threads(n_jobs))


def _spans(
    run: Run, statistic: WeightedStatistic, level: float, method: IntervalMethod
) -> list[tuple[float, float, float, float]]:
    """Return estimate, low, high and standard error of every component."""
    check("method", method, one_of(*get_args(IntervalMethod)))
    estimate, distribution = run.estimate(statistic), run.distribution(statistic)
    refuse_undefined(distribution, estimate)
    constant = is_constant(distribution)
    low, high = estimate.copy(), estimate.copy()
    if not constant.all():
        varying = np.flatnonzero(~constant)
        probabilities = methods.tails(level, "two-sided")
        low[varying], high[varying] = interval(
            run,
            (lambda counts: statistic(counts)[:, varying], None),
            distribution[:, varying],
            method,
            probabilities,
        )
    error = distribution.std(axis=0, ddof=1)
    columns = (values.tolist() for values in (estimate, low, high, error))
    return list(zip(*columns, strict=True))


def _exact_if_constant(
    measured: Measurement, answers: Answers, y: NDArray[Any], level: float
) -> Measurement:
    """Explain an interval of width zero; replace it by the exact interval for an accuracy of 0 or 1."""
    if measured.low < measured.high:
        return measured
    if measured.metric != "accuracy" or measured.estimate not in (0, 1):
        note = "it is the same on every resample, so its uncertainty is unknown"
        return Measurement(measured.metric, *(measured.estimate,) * 3, 0.0, note)
    exact = accuracy_interval(
        answers.predict(np.arange(len(y))) == y, confidence_level=level, seed=0
    )
    note = "exact binomial interval, as all rows agree"
    return Measurement("accuracy", measured.estimate, exact.low, exact.high, 0.0, note)
