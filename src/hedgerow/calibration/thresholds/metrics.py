"""Metrics of two classes at many thresholds: by a formula in one pass, or by evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import is_number
from hedgerow.calibration.thresholds.curve import Intervals, ThresholdCurve
from hedgerow.errors import DataError, ParameterError
from hedgerow.search.known_predictions import KnownClassifier, first_sentence

__all__ = ["PRECISION_AT_RECALL", "cost_curve", "metric_curve", "metric_rule"]

Values: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = str | tuple[str, float] | Callable[..., float]

PRECISION_AT_RECALL = "precision_at_recall"
_MOST_EVALUATIONS = 200


@dataclass(frozen=True)
class _Counts:
    """The weighted confusion matrix, with one entry per threshold."""

    true_p: Values
    false_p: Values
    false_n: Values
    true_n: Values


def _ratio(part: Values, whole: Values) -> Values:
    """Return part / whole, and 0 where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


def _precision(c: _Counts) -> Values:
    return _ratio(c.true_p, c.true_p + c.false_p)


def _recall(c: _Counts) -> Values:
    return _ratio(c.true_p, c.true_p + c.false_n)


def _accuracy(c: _Counts) -> Values:
    return _ratio(c.true_p + c.true_n, c.true_p + c.true_n + c.false_p + c.false_n)


def _balanced_accuracy(c: _Counts) -> Values:
    return (_recall(c) + _ratio(c.true_n, c.true_n + c.false_p)) / 2


def _f1(c: _Counts) -> Values:
    return _ratio(2 * c.true_p, 2 * c.true_p + c.false_p + c.false_n)


def _jaccard(c: _Counts) -> Values:
    return _ratio(c.true_p, c.true_p + c.false_p + c.false_n)


def _matthews_corrcoef(c: _Counts) -> Values:
    both = (c.true_p + c.false_p) * (c.true_n + c.false_n)
    sides = (c.true_p + c.false_n) * (c.true_n + c.false_p)
    return _ratio(c.true_p * c.true_n - c.false_p * c.false_n, np.sqrt(both) * np.sqrt(sides))


_FORMULAS: dict[str, Callable[[_Counts], Values]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1": _f1,
    "jaccard": _jaccard,
    "matthews_corrcoef": _matthews_corrcoef,
    "precision": _precision,
    "recall": _recall,
}


def metric_rule(metric: Any) -> str | None:
    """Allow what ``metric`` may be."""
    is_pair = isinstance(metric, tuple) and len(metric) == 2 and metric[0] == PRECISION_AT_RECALL
    fine = metric is None or isinstance(metric, str) or callable(metric)
    fine = fine or (is_pair and is_number(metric[1]) and 0 < metric[1] <= 1)
    return (
        None
        if fine
        else (
            f"the name of a metric, ('{PRECISION_AT_RECALL}', share), a function of true and "
            "predicted labels, or None"
        )
    )


def cost_curve(
    costs: Values, scores: Values, is_positive: NDArray[np.bool_], weights: Values
) -> ThresholdCurve:
    """Return the mean cost of a row at every threshold."""
    gaps = Intervals.between(scores)
    c = _counts(gaps, is_positive, weights)
    total = costs[0, 0] * c.true_n + costs[0, 1] * c.false_p
    total = total + costs[1, 0] * c.false_n + costs[1, 1] * c.true_p
    return ThresholdCurve(gaps.low, gaps.high, total / weights.sum(), lower_is_better=True)


def metric_curve(
    metric: Metric,
    scores: Values,
    is_positive: NDArray[np.bool_],
    weights: Values | None,
    classes: NDArray[Any],
) -> ThresholdCurve:
    """Return a metric at every threshold, or at 200 of them if it has no formula here."""
    gaps = Intervals.between(scores)
    each = np.ones(len(scores)) if weights is None else weights
    counts = _counts(gaps, is_positive, each)
    if isinstance(metric, tuple):
        reached = _recall(counts) >= metric[1]
        return ThresholdCurve(gaps.low, gaps.high, np.where(reached, _precision(counts), 0.0))
    if isinstance(metric, str) and metric in _FORMULAS:
        return ThresholdCurve(gaps.low, gaps.high, _FORMULAS[metric](counts))
    score = metric if callable(metric) else _by_scorer(metric, classes)
    extra = {} if weights is None else {"sample_weight": weights}
    y = classes[is_positive.astype(np.int64)]

    def value_at(threshold: float) -> float:
        return float(score(y, classes[(scores > threshold).astype(np.int64)], **extra))

    return _evaluated(value_at, gaps, each)


def _counts(gaps: Intervals, is_positive: NDArray[np.bool_], weights: Values) -> _Counts:
    """Return the counts at every gap, by sums over the rows in the order of their scores."""
    n_scores = len(gaps.low) - 1

    def below(of_class: NDArray[np.bool_]) -> Values:
        each = np.bincount(gaps.place[of_class], weights[of_class], minlength=n_scores)
        return np.concatenate([[0.0], np.cumsum(each)])

    false_n, true_n = below(is_positive), below(~is_positive)
    return _Counts(false_n[-1] - false_n, true_n[-1] - true_n, false_n, true_n)


def _evaluated(
    value_at: Callable[[float], float], gaps: Intervals, weights: Values
) -> ThresholdCurve:
    """Return a metric at up to 200 gaps, spread evenly over the weights of the rows."""
    chosen = np.arange(len(gaps.low))
    if len(chosen) > _MOST_EVALUATIONS:
        up_to_score = np.cumsum(np.bincount(gaps.place, weights))
        shares = np.linspace(0.0, up_to_score[-1], _MOST_EVALUATIONS - 1)[:-1]
        passed = np.searchsorted(up_to_score, shares, side="right")
        chosen = np.unique(np.append(passed, chosen[-2:]))
    low, high = gaps.low[chosen], gaps.high[chosen]
    thresholds = ThresholdCurve(low, high, np.zeros(len(low))).thresholds.tolist()
    values = np.array([value_at(threshold) for threshold in thresholds])
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        where, found = thresholds[wrong[0]], values[wrong[0]]
        msg = (
            f"the metric is {found} at the threshold {where:g}; use a metric that is always defined"
        )
        raise DataError(msg)
    return ThresholdCurve(low, high, values)


def _by_scorer(name: str, classes: NDArray[Any]) -> Callable[..., float]:
    """Return one of scikit-learn's scorers as a function of true and predicted labels."""
    from sklearn.metrics import get_scorer, get_scorer_names

    try:
        scorer = get_scorer(name)
    except ValueError as error:
        near, *_ = [*get_close_matches(name, [*_FORMULAS, *get_scorer_names()], 1), "f1"]
        msg = (
            f"metric={name!r} is not known; try {near!r}, or see sklearn.metrics.get_scorer_names()"
        )
        raise ParameterError(msg) from error

    def score(y: NDArray[Any], prediction: NDArray[Any], **extra: Any) -> float:
        try:
            return float(
                scorer(KnownClassifier(prediction, classes), np.arange(len(y)), y, **extra)
            )
        except (AttributeError, TypeError, ValueError) as error:
            msg = f"metric={name!r} cannot be computed from labels of two classes ({first_sentence(error)}); use another, such as 'f1'"
            raise ParameterError(msg) from error

    return score
