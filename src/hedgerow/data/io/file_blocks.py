"""Rows in files as RowBlocks: surveyed once, then read in blocks, pass after pass."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow._base.parameters import HUGE
from hedgerow.data.blocks import RowBlock, RowVector, Survey, sum_of_squares
from hedgerow.data.even_sample import EvenSample
from hedgerow.data.io.ahead import read_ahead
from hedgerow.data.io.block import Block
from hedgerow.data.io.cache import BlockCache, FileVector
from hedgerow.data.io.row_files import RowFiles
from hedgerow.data.io.targets import StreamedTargets
from hedgerow.data.weights import check_weights
from hedgerow.errors import DataError, FileAccessError, FileFormatError, ParameterError
from hedgerow.monitor import current

__all__ = ["FileBlocks"]

SAMPLED_BLOCKS = 4
"""Memory that a sample of the rows may take, in blocks."""
KEPT_BLOCKS = 8
"""Memory that the alphas of all rows may take, in blocks; beyond that, they are in a file."""


class FileBlocks:
    """All rows of some files, in blocks; a context that removes its temporary files at its end.

    Parameters
    ----------
    files : RowFiles
        The files.
    targets : StreamedTargets
        Encodes the labels.
    cache : bool or path
        Whether a compact copy is kept for later passes, in the folder for temporary files, or in a
        new folder within this one.
    sample_weight : array or None
        The weights of all rows, where no column has them.

    Attributes
    ----------
    n_rows, n_features, n_bytes : int
        What the survey found.
    """

    def __init__(
        self,
        files: RowFiles,
        targets: StreamedTargets,
        cache: bool | str | Path,
        sample_weight: Any = None,
    ) -> None:
        self.files = files
        self.n_rows = self.n_features = self.n_bytes = 0
        self._targets = targets
        self._cache = cache
        self._weights = sample_weight
        self._counted_from = 0
        self._copy: BlockCache | None = None
        self._open = ExitStack()

    def __enter__(self) -> FileBlocks:
        self._folder = Path(self._open.enter_context(_temporary_folder(self._cache)))
        if self._cache is not False:
            self._copy = BlockCache(self._folder / "blocks")
            self._open.callback(self._copy.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def survey(self, n_features: int | None, most_features: int, seed: int) -> Survey:
        """Read all files once: count rows and features, encode labels, and draw a sample.

        With more than ``most_features`` there is a sample only if it is all rows.
        """
        lowest, highest, squares, is_sparse = 1, -1, 0.0, False
        # Where features are counted from 1, there is one more column until the last block is read.
        sample = EvenSample(SAMPLED_BLOCKS * self.files.block_bytes, most_features + 1, seed)
        monitor = current()
        for block in read_ahead(self._weighted(self.files.blocks())):
            coded = replace(block, labels=self._targets.add(block.labels, block.weights))
            if self._copy is not None:
                self._copy.add(coded)
            lowest, highest = _index_range(block, lowest, highest)
            sample.add(_matrix(block, highest + 1), coded.labels, coded.weights)
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
        return Survey(squares / self.n_rows, sample.close(self._counted_from, self.n_features))

    def _sum_of_squares(self, block: Block) -> float:
        """Return the sum of the squared values of a block, none of which may be huge."""
        values = block.parts[0].ravel()
        with np.errstate(over="ignore"):
            squares = sum_of_squares(values)
        if squares >= HUGE**2 and np.max(np.abs(values)) > HUGE:
            value = values[np.argmax(np.abs(values))]
            msg = (
                f"{self.files.paths[0]}, or a file read with it, has the value {value}; values beyond "
                f"{HUGE:g} overflow when they are multiplied: scale the column, or remove the row"
            )
            raise DataError(msg)
        return squares

    def blocks(self) -> Generator[RowBlock]:
        """Yield the rows from the first on; the next block is read while this one is worked on."""
        return read_ahead(self._row_blocks())

    def vectors(self, n: int, *, only_in_memory: bool = False) -> list[RowVector]:
        """Return vectors of one value per row, 0 at first: arrays, or files if they take much memory.

        With ``only_in_memory`` there are none where arrays would take too much.
        """
        if 8 * n * self.n_rows <= KEPT_BLOCKS * self.files.block_bytes:
            return list(np.zeros((n, self.n_rows)))
        if only_in_memory:
            return []
        files = [FileVector(self._folder / f"alpha {k}", self.n_rows) for k in range(n)]
        for file in files:
            self._open.callback(file.close)
        return list(files)

    def _row_blocks(self) -> Iterator[RowBlock]:
        begin = 0
        for block in self._coded_blocks():
            rows = slice(begin, begin + block.n_rows)
            if rows.stop > self.n_rows:
                break
            begin = rows.stop
            if block.is_sparse:
                np.subtract(block.parts[1], self._counted_from, out=block.parts[1])
            matrix = _matrix(block, self.n_features)
            yield RowBlock(rows, matrix, block.labels, block.weights, block.n_bytes)
        if begin != self.n_rows:
            msg = f"{self.files.paths[0]}, or a file read with it, changed while it was read; fit again"
            raise FileAccessError(msg)

    def _coded_blocks(self) -> Iterator[Block]:
        """Yield all blocks, with coded labels, from the copy or from the files."""
        if self._copy is not None:
            yield from self._copy.blocks()
            return
        for block in self._weighted(self.files.blocks()):
            yield replace(block, labels=self._targets.codes(block.labels))

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


def _matrix(block: Block, n_columns: int) -> _core.data.Matrix:
    """Return the rows of a block, whose indices stay as they are."""
    if not block.is_sparse:
        return _core.data.Matrix.dense(block.parts[0])
    values, indices, indptr = block.parts
    return _core.data.Matrix.csr(values, indices, indptr, n_columns)


def _index_range(block: Block, lowest: int, highest: int) -> tuple[int, int]:
    """Return the smallest and the largest index so far; those of a dense block start from 0."""
    if not block.is_sparse:
        return 0, block.parts[0].shape[1] - 1
    indices = block.parts[1]
    return int(indices.min(initial=lowest)), int(indices.max(initial=highest))


def _temporary_folder(cache: bool | str | Path) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder that is removed at the end."""
    parent = None if isinstance(cache, bool) else str(cache)
    try:
        return tempfile.TemporaryDirectory(prefix="hedgerow-", dir=parent)
    except OSError as error:
        msg = f"cache={cache!r} is not a folder that can be written to ({error.strerror}); name another"
        raise ParameterError(msg) from error
