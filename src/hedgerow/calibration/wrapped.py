"""Base of models around a classifier: the learner, and its scores for rows it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import Rule, repeatable_seed, short_text
from hedgerow._base.sparse import checked_sparse
from hedgerow._base.state.rules import AttributeRule, instance_of, labels
from hedgerow.data.rows import refuse_empty, some
from hedgerow.data.training_data import check_fitted, check_labels, check_weights, refuse_one_class
from hedgerow.errors import DataError, ParameterError
from hedgerow.linear import LinearSVC
from hedgerow.monitor import CallbackSupport, current, member_of, raising_at_once
from hedgerow.resampling.seeded import seeded_clone
from hedgerow.search.folds import class_folds, cv_rule
from hedgerow.search.out_of_fold import ScoredData, cross_scores, scores_of

__all__ = ["FITTED_AROUND", "WRAPPER_RULES", "Judged", "WrappedClassifier", "classifier_or_none"]

Values: TypeAlias = NDArray[np.float64]


def classifier_or_none(value: Any) -> str | None:
    """Allow None and any object with fit and predict."""
    fine = value is None or (hasattr(value, "fit") and hasattr(value, "predict"))
    return None if fine else "a classifier or None"


WRAPPER_RULES: dict[str, Rule] = {"learner": classifier_or_none, "cv": cv_rule}
"""Rules of the parameters that every model around a classifier has."""

FITTED_AROUND: dict[str, AttributeRule] = {
    "learner_": instance_of(
        BaseEstimator,
        features=lambda learner: getattr(learner, "n_features_in_", None),
        classes=lambda learner: len(learner.classes_),
    ),
    "classes_": labels("classes"),
    "status_": short_text,
}
"""Rules of its fitted attributes."""


@dataclass(frozen=True)
class Judged:
    """Rows that the learner had not seen, and its scores for them.

    Attributes
    ----------
    codes : ndarray of int64
        The class index of each row.
    weights : ndarray
        The weights of the rows.
    scores : ndarray
        The scores of the learner.
    """

    codes: NDArray[np.int64]
    weights: Values
    scores: Values


class WrappedClassifier(CallbackSupport, ClassifierMixin, Estimator):
    """A model that makes its decisions from the scores of another classifier."""

    learner: Any
    cv: Any
    random_state: Any
    n_jobs: int | None

    learner_: Any
    classes_: NDArray[Any]
    status_: str

    def _fit_learner(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ask: Callable[[Any, Any], Values] = scores_of,
    ) -> Judged:
        """Set the fitted learner, and return its scores for rows it has not seen."""
        X = _rows(X)
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None; give one label per row"
            raise DataError(msg)
        classes, codes = check_labels(y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0])
        if self.cv is None:
            return self._judge_fitted(X, classes[codes], weights, ask)
        refuse_one_class(classes, codes, weights)
        self._check_classes(classes)
        seed = repeatable_seed(self.random_state)
        learner = seeded_clone(LinearSVC() if self.learner is None else self.learner, seed)
        data = ScoredData(X, classes[codes], classes, _weights_for(learner, sample_weight, weights))
        splits = class_folds(self.cv, codes, classes, weights, seed, X=X)
        with current().part("", 1 / max(len(splits), 2)), member_of(self, learner):
            weight = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
            self._keep_learner(learner.fit(X, data.y, **weight))
        asks = isinstance(learner, CallbackSupport)
        with nullcontext() if asks else raising_at_once():
            found = cross_scores(clone(learner), data, splits, n_jobs=self.n_jobs, ask=ask)
        self.status_ = found.status(self.status_)
        return Judged(codes[found.rows], weights[found.rows], found.scores)

    def _judge_fitted(
        self, X: Any, y: NDArray[Any], weights: Values, ask: Callable[[Any, Any], Values]
    ) -> Judged:
        """Take the learner as it is; the rows are new to it."""
        if self.learner is None or not _is_fitted(self.learner):
            msg = (
                f"{type(self).__name__}(cv=None) needs a fitted learner, but "
                f"learner={self.learner!r} is not fitted; fit it first to other rows, or set cv=5"
            )
            raise NotFittedError(msg)
        self._check_classes(np.asarray(self.learner.classes_))
        self._keep_learner(self.learner)
        return Judged(_codes_among(self.classes_, y), weights, ask(self.learner_, X))

    def _check_classes(self, classes: NDArray[Any]) -> None:
        """Refuse classes that cannot be told apart; all can, if a class does not say otherwise."""

    def _keep_learner(self, learner: Any) -> None:
        """Set the fitted learner and what can be told of it."""
        self.learner_, self.classes_ = learner, np.asarray(learner.classes_)
        self.status_ = getattr(learner, "status_", "fitted")
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(learner, name):
                setattr(self, name, getattr(learner, name))
            elif hasattr(self, name):
                delattr(self, name)

    def _state_problem(self) -> str | None:
        """Say if the learner is one of other classes."""
        if not np.array_equal(self.classes_, self.learner_.classes_):
            return "classes_ are not those of the learner"
        is_of_labels = getattr(self.learner_, "multilabel_", False)
        return "the learner predicts several labels per row" if is_of_labels else None

    def __sklearn_tags__(self) -> Any:
        """Take what the learner takes."""
        tags = super().__sklearn_tags__()
        learner = LinearSVC() if self.learner is None else self.learner
        tags.input_tags = get_tags(learner).input_tags
        return tags


def _rows(X: Any) -> Any:
    """Return X as something whose rows can be picked."""
    rows = (
        checked_sparse(X).tocsr() if sp.issparse(X) else X if hasattr(X, "shape") else np.asarray(X)
    )
    if 0 in rows.shape:
        refuse_empty(rows.shape)
    return rows


def _weights_for(learner: Any, sample_weight: Any, weights: Values) -> Values | None:
    """Return the weights a learner is to be fitted with; None if none were given."""
    if sample_weight is None:
        return None
    if not has_fit_parameter(learner, "sample_weight"):
        msg = (
            f"sample_weight was given, but {type(learner).__name__} does not support it; "
            "omit it or use another learner"
        )
        raise ParameterError(msg)
    return weights


def _is_fitted(learner: Any) -> bool:
    try:
        check_fitted(learner)
    except NotFittedError:
        return False
    return True


def _codes_among(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number that each label has among the learner's classes."""
    strange = [label for label in np.unique(y).tolist() if label not in set(classes.tolist())]
    if strange:
        msg = (
            f"y contains {strange[0]!r}, which is not a class of the learner; "
            f"its classes are {some(classes.tolist())}"
        )
        raise DataError(msg)
    return np.searchsorted(classes, y).astype(np.int64)
