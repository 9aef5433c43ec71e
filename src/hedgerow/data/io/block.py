"""A block: some rows of a file, as many as fit into a bounded number of bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import HUGE
from hedgerow.errors import FileFormatError

__all__ = ["Block", "BlockReader", "Parts", "checked_weights", "refuse_what_is_not_finite"]

Parts: TypeAlias = tuple[NDArray[Any], ...]
"""A dense array of rows, or the values, indices and row bounds of sparse ones."""


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

    parts: Parts
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


def refuse_what_is_not_finite(
    path: Path, names: list[str], X: NDArray[np.float64], n_before: int
) -> None:
    """Raise if a number of a block is missing or infinite; ``n_before`` rows of its file went before."""
    if np.isfinite(X).all():
        return
    i, j = np.argwhere(~np.isfinite(X))[0]
    what = "no value" if np.isnan(X[i, j]) else f"the value {X[i, j]}"
    problem = (
        f"row {n_before + i + 1} has {what} in column {names[j]!r}; fill it in or remove the row"
    )
    raise FileFormatError(path, None, problem)


def checked_weights(path: Path, weights: NDArray[Any], n_before: int) -> NDArray[np.float64]:
    """Return the weights of a block, or raise; ``n_before`` rows of its file went before."""
    numbers = weights.astype(np.float64)
    wrong = np.flatnonzero(~((numbers >= 0.0) & (numbers <= HUGE)))
    if len(wrong):
        problem = (
            f"row {n_before + wrong[0] + 1} has the weight {numbers[wrong[0]]}; weights must be "
            f"numbers from 0 to {HUGE:g}"
        )
        raise FileFormatError(path, None, problem)
    return numbers
