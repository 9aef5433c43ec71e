"""Metrics of a fitted model as functions of the row counts of a resample."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.utils import get_tags

from hedgerow.errors import DataError, ParameterError
from hedgerow.evaluation.from_sums import has_formula, score_from_sums
from hedgerow.resampling.plan import Counts
from hedgerow.resampling.samples import drawn_rows
from hedgerow.resampling.statistics import Auc, WeightedStatistic

__all__ = ["Answers", "Joint", "Metrics", "joint_metrics", "read_metrics"]

Values: TypeAlias = NDArray[np.float64]
Metric: TypeAlias = str | Callable[[NDArray[Any], NDArray[Any]], float]
Metrics: TypeAlias = Metric | Sequence[str] | Mapping[str, Metric] | None


class Answers:
    """A fitted model that has already answered: predictions are made once, and rows picked from them.

    To scikit-learn's scorers it is an estimator whose X is an array of row numbers.
    """

    def __init__(self, model: Any, X: Any, n_rows: int) -> None:
        self._model = model
        self._X = X
        self._n_rows = n_rows
        self._known: dict[str, Any] = {}
        self._lock = threading.Lock()

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._model)

    def __getattr__(self, name: str) -> Any:
        if name not in ("predict", "predict_proba", "decision_function"):
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(self._model, name)
        answer = getattr(self._model, name)

        def pick(rows: NDArray[np.int64]) -> Any:
            with self._lock:
                if name not in self._known:
                    self._known[name] = self._checked(np.asarray(answer(self._X)))
            return self._known[name][rows]

        pick.__name__ = name
        return pick

    def _checked(self, found: NDArray[Any]) -> NDArray[Any]:
        """Return answers if there is one for each target."""
        if len(found) == self._n_rows:
            return found
        msg = f"X has {len(found)} rows but y has {self._n_rows} targets; give one target per row"
        raise DataError(msg)


@dataclass(frozen=True)
class Joint:
    """Several statistics of the same resamples as one, with one column each."""

    names: tuple[str, ...]
    parts: tuple[WeightedStatistic, ...]

    def __call__(self, counts: Counts) -> Values:
        """Return one row per resample and one column per statistic."""
        return np.column_stack([part(counts) for part in self.parts])


def joint_metrics(metrics: Mapping[str, Metric], answers: Answers, y: NDArray[Any]) -> Joint:
    """Return all metrics of a model's answers as one statistic."""
    parts = tuple(_statistic(metric, answers, y) for metric in metrics.values())
    return Joint(tuple(metrics), parts)


def read_metrics(metrics: Metrics, model: Any) -> Mapping[str, Metric]:
    """Return the metrics by name; None means the defaults for this type of model."""
    if metrics is None:
        regression = ("r2", "neg_mean_absolute_error", "neg_mean_squared_error")
        metrics = ("accuracy", "balanced_accuracy") if is_classifier(model) else regression
    if isinstance(metrics, Mapping):
        return metrics
    if callable(metrics):
        return {getattr(metrics, "__name__", "metric"): metrics}
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    return {name: name for name in names}


def _statistic(metric: Metric, answers: Answers, y: NDArray[Any]) -> WeightedStatistic:
    """Return the metric as a function of counts, by a formula if there is one."""
    if callable(metric):
        return _of_rows(lambda rows: metric(y[rows], answers.predict(rows)))
    try:
        scorer = get_scorer(metric)
    except ValueError as error:
        near, *_ = [*get_close_matches(metric, get_scorer_names(), 1), "accuracy"]
        msg = (
            f"metric {metric!r} is not one of scikit-learn's scorers; try {near!r}, "
            "or see sklearn.metrics.get_scorer_names()"
        )
        raise ParameterError(msg) from error
    rows = np.arange(len(y))
    prediction = answers.predict(rows)
    if np.ndim(prediction) != np.ndim(y):
        msg = f"the model predicts an array of shape {np.shape(prediction)} but y has shape {np.shape(y)}; give the targets it was fitted for"
        raise DataError(msg)
    if has_formula(metric, y, prediction):
        return score_from_sums(metric, y, prediction)
    _refuse_unfit(metric, scorer, answers, y)
    classes: Any = getattr(answers, "classes_", ())
    if metric == "roc_auc" and len(classes) == 2 and len(np.unique(y)) == 2:
        return Auc(y == classes[1], _positive_score(answers, rows), gini=False)
    return _of_rows(lambda rows: scorer(answers, rows, y[rows]))


def _refuse_unfit(name: str, scorer: Any, answers: Answers, y: NDArray[Any]) -> None:
    """Refuse a scorer that does not work with this model or these labels, before resampling."""
    try:
        scorer(answers, np.arange(len(y)), y)
    except (AttributeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).split(". ")[0].rstrip(".")
        msg = (
            f"metric {name!r} cannot be computed for this model and these labels ({reason}); "
            "use another, such as 'accuracy' or 'f1_macro'"
        )
        raise ParameterError(msg) from error


def _positive_score(answers: Answers, rows: NDArray[np.int64]) -> Values:
    if hasattr(answers, "decision_function"):
        return np.asarray(answers.decision_function(rows), dtype=np.float64)
    return np.asarray(answers.predict_proba(rows)[:, 1], dtype=np.float64)


def _of_rows(score: Callable[[NDArray[np.int64]], Any]) -> WeightedStatistic:
    """Return a score of drawn rows as a function of counts."""
    return lambda counts: np.array([float(score(drawn_rows(row))) for row in counts])
