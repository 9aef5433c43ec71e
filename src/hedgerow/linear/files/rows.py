"""Rows in files as a fit needs them: surveyed once, then read in blocks, pass after pass."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import HUGE
from hedgerow.data.even_sample import EvenSample, SampledRows
from hedgerow.data.io import Block, RowFiles, RowNumbers, Spool, read_ahead
from hedgerow.data.training_data import check_weights
from hedgerow.errors import DataError, FileAccessError, FileFormatError, ParameterError
from hedgerow.linear.files.labels import Book
from hedgerow.monitor import current
from hedgerow.problems.base import inner

__all__ = ["Alphas", "FileRows", "RowBlock"]

Vector = NDArray[np.float64]
Alphas: TypeAlias = Vector | RowNumbers
"""A number for every row, in memory or in a file."""

SAMPLED_BLOCKS = 4
"""What a sample of the rows may take in memory, in blocks."""
KEPT_BLOCKS = 8
"""What the alphas of all rows may take in memory, in blocks; beyond, they are in a file."""


@dataclass(frozen=True)
class RowBlock:
    """A block as the solvers read it.

    Attributes
    ----------
    rows : slice
        Which of all rows it holds.
    matrix : _core.Matrix
        Those rows.
    codes : ndarray
        Their labels, as their book codes them.
    weights : ndarray or None
        Their weights, if they have any.
    n_bytes : int
        How many bytes of the files it took.
    """

    rows: slice
    matrix: _core.Matrix
    codes: NDArray[Any]
    weights: Vector | None
    n_bytes: int


class FileRows:
    """All rows of some files; a context, at whose end all that was kept of them on disk is removed.

    Parameters
    ----------
    files : RowFiles
        The files.
    book : LabelBook or ValueBook
        Takes down the labels.
    cache : bool or path
        Whether a compact copy is kept for later passes, in the folder for temporary files, or in a
        folder of its own within this one.
    sample_weight : array or None
        The weights of all rows, where no column has them.

    Attributes
    ----------
    n_rows, n_features : int
        What the survey found.
    n_bytes : int
        What a pass reads.
    mean_norm : float
        The mean of the squared norms of the rows.
    sample : SampledRows or None
        All rows if they fit into a few blocks, else some to start from; None if there are too many
        features for that.
    """

    def __init__(
        self, files: RowFiles, book: Book, cache: bool | str | Path, sample_weight: Any = None
    ) -> None:
        self.files = files
        self.n_rows = self.n_features = self.n_bytes = 0
        self.mean_norm = 0.0
        self.sample: SampledRows | None = None
        self._book = book
        self._cache = cache
        self._weights = sample_weight
        self._counted_from = 0
        self._spool: Spool | None = None
        self._open = ExitStack()

    def __enter__(self) -> FileRows:
        self._folder = Path(self._open.enter_context(_temporary_folder(self._cache)))
        if self._cache is not False:
            self._spool = Spool(self._folder / "blocks")
            self._open.callback(self._spool.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def survey(self, n_features: int | None, most_sampled: int, seed: int) -> None:
        """Read all files once: count rows and features, take down labels, and draw a sample.

        There is none with more features than ``most_sampled``, unless it holds all rows.
        """
        lowest, highest, squares, is_sparse = 1, -1, 0.0, False
        sample = EvenSample(SAMPLED_BLOCKS * self.files.block_bytes, most_sampled + 1, seed)
        monitor = current()
        for block in read_ahead(self._weighted(self.files.blocks())):
            coded = replace(block, labels=self._book.add(block.labels, block.weights))
            if self._spool is not None:
                self._spool.add(coded)
            sample.add(coded)
            lowest, highest = _index_range(block, lowest, highest)
            is_sparse = block.is_sparse
            squares += self._sum_of_squares(block)
            self.n_rows += block.n_rows
            self.n_bytes += block.n_bytes
            monitor.report(self.n_bytes)
            monitor.check()
        if self.n_rows == 0:
            msg = f"{self.files.paths[0]} has no rows; give a table with rows"
            raise DataError(msg)
        if self._weights is not None:
            check_weights(self._weights, self.n_rows)
        self._counted_from = 1 if lowest > 0 else 0
        self.n_features = self._width(highest + 1 - self._counted_from, n_features, is_sparse)
        self.mean_norm = squares / self.n_rows
        self.sample = sample.close(self._counted_from, self.n_features)

    def _sum_of_squares(self, block: Block) -> float:
        """Return the sum of the squared values of a block, none of which may be huge."""
        values = block.parts[0].ravel()
        with np.errstate(over="ignore"):
            squares = inner(values, values)
        if squares >= HUGE**2 and np.max(np.abs(values)) > HUGE:
            value = values[np.argmax(np.abs(values))]
            msg = (
                f"{self.files.paths[0]}, or a file with it, has the value {value}; values beyond "
                f"{HUGE:g} overflow when they are multiplied: scale the column, or remove the row"
            )
            raise DataError(msg)
        return squares

    def blocks(self) -> Generator[RowBlock]:
        """Yield the rows from the first on; the next block is read while this one is worked on."""
        return read_ahead(self._as_matrices())

    def has_room_for(self, n_planes: int) -> bool:
        """Say whether a number for all rows and every plane fits into memory."""
        return 8 * n_planes * self.n_rows <= KEPT_BLOCKS * self.files.block_bytes

    def numbers(self, n_planes: int) -> list[Alphas]:
        """Return a number for all rows and every plane, 0 at first: arrays, or files if they are many."""
        if self.has_room_for(n_planes):
            return list(np.zeros((n_planes, self.n_rows)))
        files = [RowNumbers(self._folder / f"alpha {k}", self.n_rows) for k in range(n_planes)]
        for file in files:
            self._open.callback(file.close)
        return list(files)

    def _as_matrices(self) -> Iterator[RowBlock]:
        begin = 0
        for block in self._coded_blocks():
            rows = slice(begin, begin + block.n_rows)
            if rows.stop > self.n_rows:
                break
            begin = rows.stop
            yield RowBlock(rows, self._matrix(block), block.labels, block.weights, block.n_bytes)
        if begin != self.n_rows:
            msg = f"{self.files.paths[0]}, or a file with it, changed while it was read; fit again"
            raise FileAccessError(msg)

    def _coded_blocks(self) -> Iterator[Block]:
        """Yield all blocks, with coded labels, from the copy or from the files."""
        if self._spool is not None:
            yield from self._spool.blocks()
            return
        for block in self._weighted(self.files.blocks()):
            yield replace(block, labels=self._book.codes(block.labels))

    def _weighted(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield blocks with the weights of their rows."""
        if self._weights is None:
            yield from blocks
            return
        begin = 0
        for block in blocks:
            weights = self._weights[begin : begin + block.n_rows]
            begin += block.n_rows
            if len(weights) < block.n_rows:
                check_weights(self._weights, begin)
            yield replace(block, weights=weights)

    def _matrix(self, block: Block) -> _core.Matrix:
        if not block.is_sparse:
            return _core.Matrix.dense(block.parts[0])
        values, indices, indptr = block.parts
        indices -= self._counted_from
        return _core.Matrix.csr(values, indices, indptr, self.n_features)

    def _width(self, found: int, asked: int | None, is_sparse: bool) -> int:
        """Return the number of features: as many as the files show, or as were asked for."""
        if asked not in (None, found) and not is_sparse:
            problem = f"there are {found} features where n_features={asked}; leave n_features out"
            raise FileFormatError(self.files.paths[0], None, problem)
        if asked is not None and asked < found:
            problem = (
                f"there are features up to number {found} where n_features={asked}; raise it, or "
                "leave it out"
            )
            raise FileFormatError(self.files.paths[0], None, problem)
        width = found if asked is None else asked
        if width < 1:
            raise FileFormatError(self.files.paths[0], None, "no row has a feature; add some")
        return width


def _index_range(block: Block, lowest: int, highest: int) -> tuple[int, int]:
    """Return the least and the largest index so far; a dense block counts from 0."""
    if not block.is_sparse:
        return 0, block.parts[0].shape[1] - 1
    indices = block.parts[1]
    return int(indices.min(initial=lowest)), int(indices.max(initial=highest))


def _temporary_folder(cache: bool | str | Path) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder that is removed in the end."""
    parent = None if isinstance(cache, bool) else str(cache)
    try:
        return tempfile.TemporaryDirectory(prefix="hedgerow-", dir=parent)
    except OSError as error:
        msg = f"cache={cache!r} is no folder to write in ({error.strerror}); name another"
        raise ParameterError(msg) from error
