"""The targets of rows that are read in blocks: classes, or values and their spread, found along the way."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import HUGE
from hedgerow.data.io.cells import labels_of, numbers_of, whole_where_possible
from hedgerow.errors import DataError

__all__ = ["StreamedClasses", "StreamedTargets", "StreamedValues"]

Vector = NDArray[np.float64]


class StreamedTargets(Protocol):
    """Reads the labels of all rows once, and keeps no array of them."""

    def add(self, labels: NDArray[Any], weights: Vector | None) -> NDArray[Any]:
        """Take in the labels of a block; return their codes."""

    def codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the codes of labels that were taken in: few bytes each."""


class StreamedClasses:
    """Classes, numbered in the order in which they first occur."""

    def __init__(self) -> None:
        self._known: NDArray[Any] | None = None
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._weights: Vector = np.empty(0)

    def add(self, labels: NDArray[Any], weights: Vector | None) -> NDArray[Any]:
        """Take in the labels of a block; return their numbers."""
        if self._known is None:
            self._known = np.unique(labels)
            self._numbers = np.arange(len(self._known))
        places = self._places(labels)
        if places is None:
            self._learn(labels)
            places = self._places(labels)
        assert places is not None
        codes = self._numbers_at(places)
        found = np.bincount(codes, weights, minlength=len(self._known)).astype(np.float64)
        found[: len(self._weights)] += self._weights
        self._weights = found
        return codes

    def codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers of known labels, in the smallest type that holds them."""
        places = self._places(labels)
        assert places is not None
        return self._numbers_at(places)

    def _numbers_at(self, places: NDArray[np.int64]) -> NDArray[Any]:
        numbers: NDArray[Any] = self._numbers.astype(np.min_scalar_type(len(self._numbers)))
        return numbers[places]

    def _places(self, labels: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return where the labels are among the known ones, or None if some are not."""
        assert self._known is not None
        places = np.searchsorted(self._known, labels).clip(max=len(self._known) - 1)
        return places if np.array_equal(self._known[places], labels) else None

    def _learn(self, labels: NDArray[Any]) -> None:
        """Add new labels to the known ones, which keep their numbers."""
        assert self._known is not None
        both = np.unique(np.concatenate([self._known, np.unique(labels)]))
        numbers = np.full(len(both), -1)
        numbers[np.searchsorted(both, self._known)] = self._numbers
        new = numbers < 0
        numbers[new] = len(self._known) + np.arange(new.sum())
        self._known, self._numbers = both, numbers

    def close(self) -> tuple[NDArray[Any], NDArray[np.intp], Vector]:
        """Return the sorted classes, the class of each number, and the sum of weights of each class."""
        assert self._known is not None
        by_number = self._known[np.argsort(self._numbers)]
        classes, ranks = np.unique(_plain_labels(by_number), return_inverse=True)
        if classes.dtype.kind == "f" and not np.isfinite(classes).all():
            msg = f"the target holds {classes[~np.isfinite(classes)][0]}, which is not a class; remove its rows or label them"
            raise DataError(msg)
        totals = np.bincount(ranks, self._weights, minlength=len(classes))
        return classes, ranks, totals.astype(np.float64)


def _plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as whole numbers if all are, else as numbers if all are, else as text."""
    if labels.dtype.kind in "USO":
        return labels_of(labels.astype(object), as_text=False)
    return whole_where_possible(labels) if labels.dtype.kind == "f" else labels


class StreamedValues:
    """Targets of a regression.

    Attributes
    ----------
    weight : float
        The sum of the weights of all rows.
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._n = 0
        self._mean = self._squares = self._size = 0.0

    def add(self, labels: NDArray[Any], weights: Vector | None) -> NDArray[Any]:
        """Take in the values of a block; return them as numbers."""
        values = self.codes(labels)
        wrong = np.flatnonzero(~(np.abs(values) <= HUGE))
        if len(wrong):
            msg = f"the target holds {values[wrong[0]]}, where values must be numbers up to {HUGE:g}; fill it in, scale the column or remove the row"
            raise DataError(msg)
        before, here = self._n, len(values)
        self._n += here
        apart = float(np.mean(values)) - self._mean
        self._mean += apart * here / self._n
        self._squares += float(np.var(values)) * here + apart * apart * before * here / self._n
        self._size += float(np.sum(np.abs(values)))
        self.weight += here if weights is None else float(np.sum(weights))
        return values

    def codes(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Return the values as numbers."""
        values = numbers_of(labels.tolist()) if labels.dtype.kind in "USO" else labels
        if values is None:
            msg = f"the target holds text such as {labels[0]!r}, where a regressor needs numbers; use a classifier"
            raise DataError(msg)
        return values.astype(np.float64)

    def unit(self, *, around_mean: bool) -> float:
        """Return the scale of scores: the spread of values around their mean, or around 0."""
        away = np.sqrt(self._squares / self._n) if around_mean else self._size / self._n
        return float(away) or 1.0
