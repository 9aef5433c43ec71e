"""A sample of rows that come in blocks, in which all features have about equally many rows.

A row is kept with the probability

    p_i = min(1, k max_j 1 / n_j)      over the features j that it has

where n_j counts the rows that have feature j, so that every feature has about k rows, or all of its
rows if there are fewer; a feature that every row has represents the constant. The row then represents
1 / p_i rows. Whether it is kept is drawn once: a number u_i is drawn, and the row kept while
u_i < p_i. Counts only rise, and k only falls when the sample exceeds its bytes, so no row that was
dropped would be kept later. Until then k is infinite, and the sample is all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import generator_of
from hedgerow.data.rows import array_of, matrix_of, rows_of

__all__ = ["EvenSample", "SampledRows"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The rows of a sample.

    Attributes
    ----------
    matrix : _core.data.Matrix
        Their features.
    labels : ndarray
        Their labels, as they were given.
    weights : ndarray or None
        Their own weights.
    stands_for : ndarray
        How many rows each represents: 1 if all rows with one of its features are here.
    is_whole : bool
        Whether the sample is all rows.
    """

    matrix: _core.data.Matrix
    labels: NDArray[Any]
    weights: Vector | None
    stands_for: Vector
    is_whole: bool


@dataclass(frozen=True, eq=False)
class _Chunk:
    """What is kept of a block; its column numbers are as they were given."""

    matrix: _core.data.Matrix
    labels: NDArray[Any]
    weights: Vector | None
    draws: Vector

    @property
    def n_bytes(self) -> int:
        """The bytes that the rows take."""
        arrays = [part for part in self.matrix.parts if isinstance(part, np.ndarray)]
        return sum(array.nbytes for array in arrays)

    def where(self, kept: NDArray[np.bool_]) -> _Chunk:
        """Return some of the rows, copied."""
        rows = np.flatnonzero(kept)
        weights = None if self.weights is None else self.weights[rows]
        return _Chunk(rows_of(self.matrix, rows), self.labels[rows], weights, self.draws[rows])


class EvenSample:
    """Draws a sample while blocks are read.

    Parameters
    ----------
    most_bytes : int
        The most bytes that the features of the sample may take.
    most_features : int
        With more features, the sample is given up when it exceeds its bytes.
    seed : int
        Seed of the draws.
    """

    def __init__(self, most_bytes: int, most_features: int, seed: int) -> None:
        self._most_bytes, self._most_features = most_bytes, most_features
        self._seed = seed
        self._chunks: list[_Chunk] = []
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._n_rows = self._n_blocks = 0
        self._k = np.inf
        self._is_given_up = False

    def add(self, matrix: _core.data.Matrix, labels: NDArray[Any], weights: Vector | None) -> None:
        """Take in the rows of a block; a later block may have more columns."""
        if self._is_given_up:
            return
        draws = generator_of(self._seed, self._n_blocks).random(matrix.shape[0])
        chunk = _Chunk(matrix, labels, weights, draws)
        self._count(chunk.matrix)
        self._chunks.append(self._thinned(chunk))
        if sum(chunk.n_bytes for chunk in self._chunks) > self._most_bytes:
            self._thin_out()
        if np.isfinite(self._k) and len(self._counts) > self._most_features:
            self._is_given_up, self._chunks = True, []

    def close(self, counted_from: int, n_features: int) -> SampledRows | None:
        """Return the sample, or None if it was given up; ``counted_from`` is the first column's number."""
        if self._is_given_up:
            return None
        chunks = [self._thinned(chunk) for chunk in self._chunks]
        self._chunks = []
        weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
        probabilities = [np.minimum(1.0, self._k * self._rates(chunk.matrix)) for chunk in chunks]
        return SampledRows(
            _joined([array_of(chunk.matrix) for chunk in chunks], counted_from, n_features),
            np.concatenate([chunk.labels for chunk in chunks]),
            np.concatenate(weights) if weights else None,
            1.0 / np.concatenate(probabilities),
            is_whole=bool(np.isinf(self._k)),
        )

    def _count(self, matrix: _core.data.Matrix) -> None:
        """Count the rows of each feature."""
        self._n_rows += matrix.shape[0]
        self._n_blocks += 1
        found = _core.data.column_counts(matrix)
        found[: len(self._counts)] += self._counts
        self._counts = found

    def _rates(self, matrix: _core.data.Matrix) -> Vector:
        """Return max_j 1 / n_j of each row, by the counts so far."""
        rates = 1.0 / np.maximum(self._counts, 1)
        largest = _core.data.row_maxima(matrix, rates[: matrix.shape[1]])
        return np.maximum(largest, 1.0 / self._n_rows)

    def _thinned(self, chunk: _Chunk) -> _Chunk:
        if np.isinf(self._k):
            return chunk
        return chunk.where(chunk.draws < self._k * self._rates(chunk.matrix))

    def _thin_out(self) -> None:
        """Drop about half of the rows by a lower k; at least one stays."""
        keys = np.concatenate([chunk.draws / self._rates(chunk.matrix) for chunk in self._chunks])
        if len(keys) < 2:
            return
        self._k = min(self._k, float(np.quantile(keys, 0.5)))
        self._chunks = [self._thinned(chunk) for chunk in self._chunks]


def _joined(pieces: list[Any], counted_from: int, n_features: int) -> _core.data.Matrix:
    """Return the rows of all pieces as one matrix, whose features are counted from 0."""
    if not sp.issparse(pieces[0]):
        return matrix_of(np.concatenate(pieces))
    values = np.concatenate([rows.data for rows in pieces])
    indices = np.concatenate([rows.indices for rows in pieces]) - np.int32(counted_from)
    lengths = np.concatenate([np.diff(rows.indptr) for rows in pieces])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return matrix_of(sp.csr_array((values, indices, indptr), shape=(len(lengths), n_features)))
