"""A block: some rows of a file, as many as fit into a bounded number of bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import HUGE
from hedgerow.errors import FileFormatError

__all__ = ["Block", "BlockReader", "RowColumns"]


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a file that follow each other.

    Attributes
    ----------
    parts : tuple of ndarray
        A C-contiguous array of rows, or values, indices (as written) and row bounds.
    labels : ndarray
        One per row: numbers or text.
    n_bytes : int
        How many bytes of the file it took.
    weights : ndarray or None
        One per row, where a column has them.
    """

    parts: tuple[NDArray[Any], ...]
    labels: NDArray[Any]
    n_bytes: int
    weights: NDArray[np.float64] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are compressed."""
        return len(self.parts) > 1

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.parts[2]) - 1 if self.is_sparse else len(self.parts[0])

    def some(self, rows: slice) -> Block:
        """Return some rows of a dense block."""
        X = np.ascontiguousarray(self.parts[0][rows])
        weights = None if self.weights is None else self.weights[rows]
        return Block((X,), self.labels[rows], X.nbytes, weights)


class BlockReader(Protocol):
    """A file of rows of numbers with labels, to be read as often as needed."""

    path: Path

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns but the target and the weights, if they have names."""

    def blocks(self, block_bytes: int) -> Iterator[Block]:
        """Yield all rows from the first on, about so many bytes at a time."""


@dataclass(frozen=True)
class RowColumns:
    """Makes blocks of the rows of a file from its columns.

    Attributes
    ----------
    path : Path
        The file, for errors.
    features : list of str
        The columns that are features.
    weight : str or None
        The column with the weights, if there is one.
    """

    path: Path
    features: list[str]
    weight: str | None

    @classmethod
    def of(cls, path: Path, names: list[str], target: str, weight: str | None) -> RowColumns:
        """Return the columns of a file by the names of all columns, of the target and of the weights."""
        features = [name for name in names if name not in (target, weight)]
        if not features or weight == target:
            problem = "there is no column but the target and the weights; add columns to learn from"
            raise FileFormatError(path, None, problem)
        return cls(path, features, weight)

    def block(
        self, numbers: Callable[[str], NDArray[Any]], labels: NDArray[Any], n_before: int
    ) -> Block:
        """Return the block of some rows, which ``n_before`` precede; ``numbers`` gives a column."""
        X = np.empty((len(labels), len(self.features)))
        for j, name in enumerate(self.features):
            X[:, j] = numbers(name)
        self._refuse_what_is_not_finite(X, n_before)
        weights = None if self.weight is None else self._weights(numbers(self.weight), n_before)
        return Block((X,), labels, X.nbytes, weights)

    def _refuse_what_is_not_finite(self, X: NDArray[np.float64], n_before: int) -> None:
        if np.isfinite(X).all():
            return
        i, j = np.argwhere(~np.isfinite(X))[0]
        what = "no value" if np.isnan(X[i, j]) else f"the value {X[i, j]}"
        problem = (
            f"row {n_before + i + 1} has {what} in column {self.features[j]!r}; fill it in or remove "
            "the row"
        )
        raise FileFormatError(self.path, None, problem)

    def _weights(self, weights: NDArray[Any], n_before: int) -> NDArray[np.float64]:
        numbers = weights.astype(np.float64)
        wrong = np.flatnonzero(~((numbers >= 0.0) & (numbers <= HUGE)))
        if len(wrong):
            problem = (
                f"row {n_before + wrong[0] + 1} has the weight {numbers[wrong[0]]}; weights must be "
                f"numbers from 0 to {HUGE:g}"
            )
            raise FileFormatError(self.path, None, problem)
        return numbers
