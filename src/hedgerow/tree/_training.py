"""y and weights at the door of a tree: labels or values of one output or several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.sparse import checked_sparse
from hedgerow.data.training_data import check_labels, check_targets, check_weights, class_factors
from hedgerow.errors import DataError
from hedgerow.tree._table import FeatureTable

__all__ = [
    "ClassTargets",
    "Targets",
    "ValueTargets",
    "class_targets",
    "row_factors",
    "value_targets",
]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Targets(ABC):
    """What a tree learns.

    Attributes
    ----------
    weights : ndarray of float64 or None
        One weight a row, class weights multiplied in; None if all are 1.
    """

    weights: Vector | None

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and outputs."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.shape[0]

    @property
    def n_outputs(self) -> int:
        """How many targets a row has."""
        return self.shape[1]

    @property
    def n_present(self) -> int:
        """How many rows have a positive weight."""
        return self.n_rows if self.weights is None else int(np.count_nonzero(self.weights))

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.n_rows) if self.weights is None else float(self.weights.sum())

    @abstractmethod
    def task(self, table: FeatureTable, criterion: str) -> _core.tree.TreeTask:
        """Return what trees are grown from."""

    @abstractmethod
    def retarget(self, task: _core.tree.TreeTask) -> _core.tree.TreeTask:
        """Return a task with these targets and weights instead of its own; it shares codes and memory."""


@dataclass(frozen=True, eq=False)
class ClassTargets(Targets):
    """The classes of rows.

    Attributes
    ----------
    classes : tuple of ndarray
        The sorted labels of each output.
    codes : ndarray of int32 of shape (n_rows, n_outputs)
        For every row the number of its class.
    """

    classes: tuple[NDArray[Any], ...]
    codes: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and outputs."""
        return self.codes.shape[0], self.codes.shape[1]

    def task(self, table: FeatureTable, criterion: str) -> _core.tree.TreeTask:
        """Return what trees are grown from."""
        n_classes = np.array([len(classes) for classes in self.classes], dtype=np.int32)
        return _core.tree.TreeTask.classification(
            table.codes, criterion, self.codes, n_classes, self.weights
        )

    def retarget(self, task: _core.tree.TreeTask) -> _core.tree.TreeTask:
        """Return a task with these classes and weights instead of its own."""
        return task.with_targets(self.codes, self.weights)


@dataclass(frozen=True, eq=False)
class ValueTargets(Targets):
    """The values of rows.

    Attributes
    ----------
    values : ndarray of float64 of shape (n_rows, n_outputs)
        Finite.
    """

    values: Vector

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and outputs."""
        return self.values.shape[0], self.values.shape[1]

    def task(self, table: FeatureTable, criterion: str) -> _core.tree.TreeTask:
        """Return what trees are grown from."""
        return _core.tree.TreeTask.regression(table.codes, criterion, self.values, self.weights)

    def retarget(self, task: _core.tree.TreeTask) -> _core.tree.TreeTask:
        """Return a task with these values and weights instead of its own."""
        return task.with_targets(self.values, self.weights)


def class_targets(
    estimator: Any,
    y: Any,
    sample_weight: Any,
    n_rows: int,
    *,
    instead: str = "a regressor",
) -> ClassTargets:
    """Turn y and the weights of a classifier's fit into ClassTargets; values are sent elsewhere."""
    encoded = [
        check_labels(column, n_rows, instead=instead)
        for column in _outputs(estimator, y, "label", n_rows)
    ]
    classes = tuple(found for found, _ in encoded)
    codes = np.stack([codes for _, codes in encoded], axis=1)
    weights = None if sample_weight is None else check_weights(sample_weight, n_rows)
    if estimator.class_weight is not None:
        given = np.ones(n_rows) if weights is None else weights
        weights = given * row_factors(estimator.class_weight, classes, codes, given)
        _refuse_no_weight(weights)
    return ClassTargets(weights, classes, np.ascontiguousarray(codes, dtype=np.int32))


def value_targets(estimator: Any, y: Any, sample_weight: Any, n_rows: int) -> ValueTargets:
    """Turn y and the weights of a regressor's fit into ValueTargets."""
    columns = [check_targets(column, n_rows) for column in _outputs(estimator, y, "number", n_rows)]
    weights = None if sample_weight is None else check_weights(sample_weight, n_rows)
    values = np.ascontiguousarray(np.stack(columns, axis=1))
    if estimator.criterion == "poisson":
        _refuse_no_counts(values, weights)
    return ValueTargets(weights, values)


def _outputs(estimator: Any, y: Any, what: str, n_rows: int) -> list[Any]:
    """Return the columns of y, one an output."""
    if y is None:
        msg = f"{type(estimator).__name__} requires y to be passed, but the target y is None; give one {what} a row"
        raise DataError(msg)
    if nw.dependencies.is_into_dataframe(y):
        columns = [
            series.to_numpy() for series in nw.from_native(y, eager_only=True).iter_columns()
        ]
    else:
        columns = _columns_of(y)
    if not columns:
        msg = f"y has no columns; give one {what} a row"
        raise DataError(msg)
    if len(columns) > 1 and len(columns[0]) != n_rows:
        msg = f"X has {n_rows} rows but y has {len(columns[0])}; give one row of {what}s a row"
        raise DataError(msg)
    return columns


def _columns_of(y: Any) -> list[Any]:
    """Return y itself if it is one output, else the columns of an array."""
    if getattr(y, "ndim", 2) < 2:
        return [y]
    if sp.issparse(y):
        return list(checked_sparse(y, "y").toarray().T)
    try:
        table = np.asanyarray(y)
    except ValueError:  # rows of different lengths; what reads labels says so
        return [y]
    return list(table.T) if table.ndim == 2 else [y]


def row_factors(
    class_weight: Any,
    classes: tuple[NDArray[Any], ...],
    codes: NDArray[np.int64],
    weights: Vector,
) -> Vector:
    """Return the factor of each row: the product of those of its classes."""
    given = class_weight if isinstance(class_weight, list) else [class_weight] * len(classes)
    if len(given) != len(classes):
        msg = f"class_weight has {len(given)} dictionaries for {len(classes)} outputs; give one an output"
        raise DataError(msg)
    if len(classes) > 1 and isinstance(class_weight, Mapping):
        msg = (
            f"class_weight is one dictionary for {len(classes)} outputs; "
            "give a list of dictionaries, one an output, or 'balanced'"
        )
        raise DataError(msg)
    factors = np.ones(len(codes))
    for one, labels, column in zip(given, classes, codes.T, strict=True):
        factors *= class_factors(one, labels, column, weights)[column]
    return factors


def _refuse_no_weight(weights: Vector) -> None:
    if not weights.any():
        msg = "class_weight leaves no row any weight, so there is nothing to learn from; give some class a positive one"
        raise DataError(msg)


def _refuse_no_counts(values: Vector, weights: Vector | None) -> None:
    """Refuse values that the Poisson criterion cannot take."""
    if (values < 0).any():
        row = int(np.argmax((values < 0).any(axis=1)))
        msg = (
            f"Some value(s) of y are negative which is not allowed for Poisson regression: row {row} has "
            f"{values[row].min():g}; use another criterion"
        )
        raise DataError(msg)
    totals = values.sum(axis=0) if weights is None else weights @ values
    if not (totals > 0).all():
        msg = "Sum of y is not positive which is necessary for Poisson regression; use another criterion"
        raise DataError(msg)
