"""From the values of an ensemble's members to one answer per row, and how far that is from the target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
        """How many values a member has for an output: the most classes of any, or 1."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """What a loss is measured in."""

    @abstractmethod
    def answers(self, sums: Values, n_members: NDArray[Any] | int = 1) -> NDArray[Any]:
        """Return what so many members predict together, of whose values these are the sums.

        Sums are of shape (n, n_outputs, width), answers of shape (n, n_outputs).
        """

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

    def answers(self, sums: Values, n_members: NDArray[Any] | int = 1) -> NDArray[Any]:  # noqa: ARG002
        """Return the class with the largest sum, the first of several; it is that of the largest mean."""
        classes: NDArray[np.int64] = sums.argmax(axis=2)
        return classes

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

    def answers(self, sums: Values, n_members: NDArray[Any] | int = 1) -> NDArray[Any]:
        """Return the means."""
        means: Values = sums[:, :, 0] / np.reshape(n_members, (-1, 1))
        return means

    def losses(self, answers: NDArray[Any], rows: NDArray[np.int64]) -> Values:
        """Return the squared error of every row."""
        losses: Values = np.mean((answers - self.y[rows]) ** 2, axis=1)
        return losses
