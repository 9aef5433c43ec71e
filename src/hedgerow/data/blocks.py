"""Rows that come in blocks, from memory, files or anywhere else, through one protocol.

A solver of rows in blocks asks for nothing but :class:`RowBlocks`. What it can know of the rows before it
starts is found by one pass over them, :func:`survey`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.even_sample import EvenSample, SampledRows
from hedgerow.data.rows import array_of, matrix_of, n_values, read_rows
from hedgerow.data.weights import check_weights

__all__ = [
    "MemoryBlocks",
    "RowBlock",
    "RowBlocks",
    "RowVector",
    "Survey",
    "sum_of_squares",
    "survey",
]

Vector = NDArray[np.float64]

_PIECE = 1 << 14
"""Values whose squares are summed at a time, in an order that depends on nothing else."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Some rows that follow each other.

    Attributes
    ----------
    rows : slice
        Which of all rows they are.
    matrix : _core.data.Matrix
        Their features.
    targets : ndarray
        Their targets, in the form that a task makes its problems from.
    weights : ndarray or None
        Their weights, if they have any.
    n_bytes : int
        The share of the block in a pass, for progress.
    """

    rows: slice
    matrix: _core.data.Matrix
    targets: NDArray[Any]
    weights: Vector | None = None
    n_bytes: int = 1


class RowBlocks(Protocol):
    """Rows that come in blocks, as often as they are asked for."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def n_features(self) -> int:
        """The number of features."""

    @property
    def n_bytes(self) -> int:
        """The sum of ``n_bytes`` of all blocks."""

    def blocks(self) -> Iterator[RowBlock]:
        """Yield all rows from the first on; every call yields the same blocks."""


class RowVector(Protocol):
    """One value per row, in memory or in a file; slices are read and written."""

    def __getitem__(self, rows: slice, /) -> Vector: ...
    def __setitem__(self, rows: slice, values: Vector, /) -> None: ...


class MemoryBlocks:
    """Rows in memory, in blocks.

    Parameters
    ----------
    X : array, dataframe or sparse matrix of shape (n_rows, n_features)
        The features.
    targets : array of shape (n_rows,)
        The targets.
    weights : array of shape (n_rows,) or None
        The weights of the rows.
    block_rows : int
        Rows in a block.
    """

    def __init__(self, X: Any, targets: Any, weights: Any = None, *, block_rows: int) -> None:
        rows, _ = read_rows(X)
        self._matrix = matrix_of(rows)
        self._targets = np.asarray(targets)
        self.n_rows, self.n_features = rows.shape
        self._weights = None if weights is None else check_weights(weights, self.n_rows)
        self._block_rows = block_rows
        self.n_bytes = 8 * n_values(self._matrix)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield all rows from the first on."""
        rows = array_of(self._matrix)
        for begin in range(0, self.n_rows, self._block_rows):
            here = slice(begin, min(begin + self._block_rows, self.n_rows))
            matrix = matrix_of(rows[here])
            weights = None if self._weights is None else self._weights[here]
            n_bytes = 8 * n_values(matrix)
            yield RowBlock(here, matrix, self._targets[here], weights, n_bytes)


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over all rows tells.

    Attributes
    ----------
    mean_sq_norm : float
        The mean of the squared norms of the rows.
    sample : SampledRows or None
        Rows in memory that represent all; None if there are too many features for that.
    """

    mean_sq_norm: float
    sample: SampledRows | None


def survey(rows: RowBlocks, most_bytes: int, most_features: int, seed: int = 0) -> Survey:
    """Read all rows once; the sample takes at most so many bytes.

    With more than ``most_features`` there is a sample only if it is all rows.
    """
    sample, squares = EvenSample(most_bytes, most_features, seed), 0.0
    for block in rows.blocks():
        sample.add(block.matrix, block.targets, block.weights)
        squares += sum_of_squares(block.matrix.parts[0].ravel())
    return Survey(squares / rows.n_rows, sample.close(0, rows.n_features))


def sum_of_squares(values: NDArray[Any]) -> float:
    """Return the sum of squared values."""
    parts = (values[begin : begin + _PIECE] for begin in range(0, len(values), _PIECE))
    return sum((float((part * part).sum()) for part in parts), 0.0)
