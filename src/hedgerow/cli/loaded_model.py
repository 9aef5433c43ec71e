"""A model from a file, asked about tables: of any class, whether it was made for tables or not.

A :class:`TableClassifier` encodes a table by itself, and trees take categories as they are. Every other
model takes numbers. Columns go to a model by name if it was fitted on names, else in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from hedgerow.auto import TableClassifier
from hedgerow.auto.columns import Columns
from hedgerow.auto.matching import match_columns, unused_note
from hedgerow.data.io import Table, read_table
from hedgerow.describe.estimators import is_fitted
from hedgerow.errors import DataError, ParameterError
from hedgerow.persist import load

__all__ = [
    "BoundModel",
    "LoadedModel",
    "Reading",
    "load_classifier",
    "load_model",
]


@dataclass(frozen=True)
class Reading:
    """How a table is to be read for a model; see :func:`hedgerow.read_table`."""

    path: str
    target: str | int | None
    file_format: str
    n_features: int
    text_columns: frozenset[str]
    require_target: bool

    def read(self) -> Table:
        """Read the table."""
        return read_table(
            self.path,
            target=self.target,
            format=self.file_format,
            n_features=self.n_features,
            text_columns=self.text_columns,
            require_target=self.require_target,
        )


@dataclass(frozen=True)
class LoadedModel:
    """A fitted model that takes numbers, and the file it came from."""

    path: str
    estimator: Any

    @property
    def target(self) -> str | int | None:
        """The column that the model predicts, if it knows that."""
        return getattr(self.estimator, "target_", None)

    @property
    def classes(self) -> NDArray[Any] | None:
        """The labels that a classifier of one output can give."""
        classes = getattr(self.estimator, "classes_", None)
        return classes if isinstance(classes, np.ndarray) else None

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the columns the model was fitted on, if it knows them."""
        names = getattr(self.estimator, "feature_names_in_", None)
        return None if names is None else tuple(names)

    def reading(self, path: str, target: str | None, file_format: str) -> Reading:
        """Return how to read a table for this model; only a target that is given must be there."""
        column = self.target if target is None else target
        texts = set(self._text_columns())
        holds_text = self.classes is not None and self.classes.dtype.kind in "OU"
        if isinstance(column, str) and holds_text:
            texts.add(column)
        n_features, required = self.estimator.n_features_in_, target is not None
        return Reading(path, column, file_format, n_features, frozenset(texts), required)

    def inputs(self, columns: Columns) -> Any:
        """Return the columns of a table as what the estimator takes."""
        columns = self._matched(columns)
        n_columns, n_expected = columns.shape[1], self.estimator.n_features_in_
        if n_columns != n_expected:
            msg = (
                f"the table has {n_columns} columns to predict from where the {self._kind} in "
                f"{self.path} takes {n_expected}; give those it was fitted on, and name a column "
                "of labels by --target"
            )
            raise DataError(msg)
        if columns.is_text.any():
            column = columns.label(int(np.flatnonzero(columns.is_text)[0]))
            msg = (
                f"column {column!r} holds text, and the {self._kind} in {self.path} takes numbers; "
                "remove the column, or train a model that takes text by hedgerow train"
            )
            raise DataError(msg)
        return columns.numbers

    def scores(self, inputs: Any) -> Any:
        """Return the scores of rows in the form the estimator takes."""
        learner = getattr(self.estimator, "learner_", self.estimator)
        if not hasattr(learner, "decision_function"):
            kind = type(learner).__name__
            raise ParameterError(f"the {kind} in {self.path} gives no scores; leave --scores out")
        return self.estimator.decision_function(inputs)

    def notes(self, columns: Columns) -> tuple[str, ...]:
        """Say in sentences what the model leaves out of a table."""
        note = unused_note(columns, self._matched(columns))
        return () if note is None else (note,)

    @property
    def _kind(self) -> str:
        return type(self.estimator).__name__

    def _text_columns(self) -> list[str]:
        """Return the columns that are text even where every cell looks like a number."""
        return []

    def _matched(self, columns: Columns) -> Columns:
        """Return the columns the model was fitted on, where both sides have names."""
        names = self.feature_names
        if names is None or columns.names is None:
            return columns
        return match_columns(columns, names, np.zeros(len(names), np.bool_))


@dataclass(frozen=True)
class _LoadedTableClassifier(LoadedModel):
    """A fitted TableClassifier, which takes tables as they are."""

    def inputs(self, columns: Columns) -> Columns:
        """Return the columns as they are."""
        return columns

    def notes(self, columns: Columns) -> tuple[str, ...]:
        """Say in sentences what the model leaves out of a table."""
        notes: tuple[str, ...] = self.estimator.notes(columns)
        return notes

    def _text_columns(self) -> list[str]:
        is_text = self.estimator.encoder_.is_text_
        return [name for name, text in zip(self.feature_names or (), is_text, strict=False) if text]


@dataclass(frozen=True)
class _LoadedTree(LoadedModel):
    """A fitted tree, or several, that takes columns of categories beside those of numbers."""

    def inputs(self, columns: Columns) -> Any:
        """Return the columns by name; an array if all are numbers."""
        columns = self._matched(columns)
        if not columns.is_text.any():
            return columns.numbers
        return {columns.label(j): self._cells(columns, j) for j in range(columns.shape[1])}

    def _cells(self, columns: Columns, j: int) -> NDArray[Any]:
        """Return a column; truth values, which a file has as text, as what they are."""
        cells, known = columns.values(j), self._categories[j : j + 1]
        if not columns.is_text[j] or not known or known[0].dtype != np.bool_:
            return cells
        truths = [_TRUTHS.get(str(cell).casefold(), cell) for cell in cells]
        return np.array(truths, dtype=object)

    @property
    def _categories(self) -> tuple[NDArray[Any], ...]:
        categories: tuple[NDArray[Any], ...] = self.estimator.categories_
        return categories

    def _text_columns(self) -> list[str]:
        is_text = [values.dtype == object for values in self._categories]
        return [name for name, text in zip(self.feature_names or (), is_text, strict=False) if text]

    def _matched(self, columns: Columns) -> Columns:
        """Return the columns the model was fitted on, of whatever kind; the model looks at that."""
        names = self.feature_names
        if names is None or columns.names is None:
            return columns
        is_text = dict(zip(columns.names, columns.is_text.tolist(), strict=True))
        kinds = np.array([is_text.get(name, False) for name in names], dtype=np.bool_)
        return match_columns(columns, names, kinds)


_TRUTHS = {"true": True, "false": False}
_ANSWERS = ("predict", "decision_function", "predict_proba")


@dataclass(frozen=True)
class BoundModel:
    """A model and the rows it is asked about: an estimator that needs no X to answer.

    Two models that take one table in different forms can so be judged side by side.
    """

    estimator: Any
    rows: Any

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.estimator, name)
        return (lambda _=None: value(self.rows)) if name in _ANSWERS else value


def load_model(path: str) -> LoadedModel:
    """Return the model in a file, which must be fitted and predict something."""
    estimator = load(path)
    kind = type(estimator).__name__
    if not hasattr(estimator, "predict"):
        raise ParameterError(f"{path} holds a {kind}, which predicts nothing; give a classifier")
    if not is_fitted(estimator):
        msg = f"{path} holds a {kind} that is not fitted; fit it before you save it"
        raise ParameterError(msg)
    if not hasattr(estimator, "n_features_in_"):
        msg = f"{path} holds a {kind} that was fitted on objects, not on the columns of a table; load it in Python"
        raise ParameterError(msg)
    if isinstance(estimator, TableClassifier):
        return _LoadedTableClassifier(path, estimator)
    takes_categories = hasattr(estimator, "category_columns_")
    return (_LoadedTree if takes_categories else LoadedModel)(path, estimator)


def load_classifier(path: str) -> LoadedModel:
    """Return the model in a file, which must be a fitted classifier."""
    model = load_model(path)
    if not is_classifier(model.estimator):
        kind = type(model.estimator).__name__
        raise ParameterError(f"{path} holds a {kind}, which is no classifier; give one")
    return model
