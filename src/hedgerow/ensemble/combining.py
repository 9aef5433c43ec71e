"""What the trees of a forest are to tell, and how far an answer is from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core

__all__ = ["ClassCombiner", "Combiner", "MeanCombiner"]

Values: TypeAlias = NDArray[np.float64]
"""Of some rows or nodes, for every output: shares of the classes, or one number."""


@dataclass(frozen=True, eq=False)
class Combiner(ABC):
    """Knows the targets of all rows, of shape (n_rows, n_outputs), and judges answers by them."""

    y: NDArray[Any]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.y.shape[0])

    @property
    def n_outputs(self) -> int:
        """How many targets a row has."""
        return int(self.y.shape[1])

    @property
    @abstractmethod
    def width(self) -> int:
        """How many values a tree has for an output: the most classes of any, or 1."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """What a loss is measured in."""

    @abstractmethod
    def answers(self, sums: Values, n_trees: NDArray[Any] | int = 1) -> NDArray[Any]:
        """Return what so many trees predict together, of whose values these are the sums.

        Sums are of shape (n, n_outputs, width), answers of shape (n, n_outputs).
        """

    @abstractmethod
    def out_of_bag(self, is_judged: NDArray[np.bool_]) -> _core.OutOfBag:
        """Return what takes in trees and judges in the same way, fast."""

    @abstractmethod
    def losses(self, answers: NDArray[Any], rows: NDArray[np.int64]) -> Values:
        """Return the loss of one answer for each of the rows."""


@dataclass(frozen=True, eq=False)
class ClassCombiner(Combiner):
    """Numbers of classes; a row is right or wrong, and right only if every output is."""

    n_classes: NDArray[np.int32]

    @property
    def width(self) -> int:
        """The most classes of any output."""
        return int(self.n_classes.max())

    @property
    def scale(self) -> float:
        """One wrong row in one."""
        return 1.0

    def answers(self, sums: Values, n_trees: NDArray[Any] | int = 1) -> NDArray[Any]:  # noqa: ARG002
        """Return the class with the largest sum, the first of several; it is that of the largest mean."""
        classes: NDArray[np.int64] = sums.argmax(axis=2)
        return classes

    def out_of_bag(self, is_judged: NDArray[np.bool_]) -> _core.OutOfBag:
        """Return what adds up shares of classes."""
        y = np.ascontiguousarray(self.y, dtype=np.int32)
        return _core.OutOfBag.of_classes(y, self.width, is_judged)

    def losses(self, answers: NDArray[Any], rows: NDArray[np.int64]) -> Values:
        """Return 1 for rows that are wrong, else 0."""
        wrong: NDArray[np.bool_] = np.any(answers != self.y[rows], axis=1)
        return wrong.astype(np.float64)


@dataclass(frozen=True, eq=False)
class MeanCombiner(Combiner):
    """Numbers; the loss is the squared error, the mean of the outputs'."""

    @property
    def width(self) -> int:
        """One number."""
        return 1

    @cached_property
    def scale(self) -> float:
        """The variance of the targets."""
        return float(self.y.var(axis=0).mean())

    def answers(self, sums: Values, n_trees: NDArray[Any] | int = 1) -> NDArray[Any]:
        """Return the means."""
        means: Values = sums[:, :, 0] / np.reshape(n_trees, (-1, 1))
        return means

    def out_of_bag(self, is_judged: NDArray[np.bool_]) -> _core.OutOfBag:
        """Return what adds up numbers."""
        y = np.ascontiguousarray(self.y, dtype=np.float64)
        return _core.OutOfBag.of_numbers(y, is_judged)

    def losses(self, answers: NDArray[Any], rows: NDArray[np.int64]) -> Values:
        """Return the squared error of every row."""
        losses: Values = np.mean((answers - self.y[rows]) ** 2, axis=1)
        return losses
