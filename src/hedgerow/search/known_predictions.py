"""Estimators whose predictions are known: what scikit-learn's scorers are given instead of a model.

Their X is an array of row numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.utils.metaestimators import available_if

from hedgerow.data.targets import class_labels
from hedgerow.errors import ParameterError

__all__ = ["KnownClassifier", "KnownRegressor", "first_sentence", "scorer_named"]

Rows: TypeAlias = NDArray[np.int64]
Values: TypeAlias = NDArray[np.float64]


class KnownClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of numbered rows whose labels, and maybe scores or probabilities, are known.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The predicted labels.
    classes : ndarray, or list of ndarray for several outputs
        The labels that there are.
    scores : ndarray or None
        What ``decision_function`` returns; without them there is no such method.
    probabilities : ndarray, list of ndarray for several outputs, or None
        What ``predict_proba`` returns; without them there is no such method.
    """

    def __init__(
        self,
        labels: NDArray[Any],
        classes: Any,
        scores: Values | None = None,
        probabilities: Any = None,
    ) -> None:
        self.labels = labels
        self.classes = classes
        self.scores = scores
        self.probabilities = probabilities
        self.classes_ = classes

    @classmethod
    def of_codes(
        cls, codes: NDArray[Any], shares: Values, classes: tuple[NDArray[Any], ...]
    ) -> KnownClassifier:
        """Return it for one or several outputs, from numbers of classes and shares, as a tree has them."""
        probabilities = [shares[:, k, : len(labels)] for k, labels in enumerate(classes)]
        labels = class_labels(codes, classes)
        if len(classes) == 1:
            return cls(labels, classes[0], probabilities=probabilities[0])
        return cls(labels, list(classes), probabilities=probabilities)

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the labels of some rows."""
        return self.labels[rows]

    @available_if(lambda self: self.scores is not None)  # type: ignore[untyped-decorator]
    def decision_function(self, rows: Rows) -> Values:
        """Return the scores of some rows."""
        assert self.scores is not None
        return self.scores[rows]

    @available_if(lambda self: self.probabilities is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Rows) -> Any:
        """Return the probabilities of the classes; a list of them if there are several outputs."""
        if isinstance(self.probabilities, list):
            return [of_output[rows] for of_output in self.probabilities]
        return self.probabilities[rows]


class KnownRegressor(RegressorMixin, BaseEstimator):
    """A regressor of numbered rows whose predictions are known: shape (n_rows,) or (n_rows, n_outputs)."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.is_fitted_ = True

    @classmethod
    def of_columns(cls, values: Values) -> KnownRegressor:
        """Return it for values of shape (n_rows, n_outputs), of which one column is one number per row."""
        return cls(values[:, 0] if values.shape[1] == 1 else values)

    def predict(self, rows: Rows) -> Values:
        """Return the predictions for some rows."""
        return self.values[rows]


def scorer_named(
    name: str, known: Any, rows: Rows, y: NDArray[Any]
) -> Callable[[Any, Rows, NDArray[Any]], float]:
    """Return one of scikit-learn's scorers; refuse one that cannot judge such predictions."""
    try:
        scorer: Callable[[Any, Rows, NDArray[Any]], float] = get_scorer(name)
        scorer(known, rows, y[rows])
    except (AttributeError, TypeError, ValueError) as error:
        msg = (
            f"the out-of-bag metric {name!r} cannot be computed here ({first_sentence(error)}); take another of "
            "sklearn.metrics.get_scorer_names(), or give a function of true and predicted targets"
        )
        raise ParameterError(msg) from error
    return scorer


def first_sentence(error: Exception) -> str:
    """Return the first sentence of an error's message, on one line and without its full stop."""
    return " ".join(str(error).split()).split(". ")[0].rstrip(".")
