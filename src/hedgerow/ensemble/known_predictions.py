"""Answers that were given before, to be asked for again by the numbers of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from hedgerow.errors import ParameterError

__all__ = ["KnownClassPredictions", "KnownValues", "class_labels", "scorer_named"]

Rows = NDArray[np.int64]
Values = NDArray[np.float64]


class KnownClassPredictions(ClassifierMixin, BaseEstimator):
    """To scikit-learn's scorers a classifier whose X is an array of row numbers."""

    def __init__(
        self, codes: NDArray[Any], shares: Values, classes: tuple[NDArray[Any], ...]
    ) -> None:
        self.codes = codes
        self.shares = shares
        self.classes = classes
        self.classes_ = classes[0] if len(classes) == 1 else list(classes)

    def predict(self, rows: Rows) -> NDArray[Any]:
        """Return the labels of some rows."""
        return class_labels(self.codes[rows], self.classes)

    def predict_proba(self, rows: Rows) -> Any:
        """Return the shares of the classes; a list of them if there are several outputs."""
        shares = self.shares[rows]
        found = [shares[:, k, : len(classes)] for k, classes in enumerate(self.classes)]
        return found[0] if len(found) == 1 else found


class KnownValues(RegressorMixin, BaseEstimator):
    """To scikit-learn's scorers a regressor whose X is an array of row numbers."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.is_fitted_ = True

    def predict(self, rows: Rows) -> Values:
        """Return the numbers predicted for some rows."""
        values = self.values[rows, :, 0]
        return values[:, 0] if values.shape[1] == 1 else values


def class_labels(codes: NDArray[Any], classes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    """Return the labels of numbers of classes, of shape (n_rows, n_outputs), or (n_rows,) for one."""
    columns = [labels[codes[:, k]] for k, labels in enumerate(classes)]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def scorer_named(
    name: str, answers: Any, rows: Rows, y: NDArray[Any]
) -> Callable[[Any, Rows, NDArray[Any]], float]:
    """Return one of scikit-learn's scorers, refusing one that these answers cannot serve."""
    try:
        scorer: Callable[[Any, Rows, NDArray[Any]], float] = get_scorer(name)
        scorer(answers, rows, y[rows])
    except (AttributeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).split(". ")[0].rstrip(".")
        msg = (
            f"the out-of-bag metric {name!r} cannot be computed here ({reason}); take another of "
            "sklearn.metrics.get_scorer_names(), or give a function of true and predicted targets"
        )
        raise ParameterError(msg) from error
    return scorer
