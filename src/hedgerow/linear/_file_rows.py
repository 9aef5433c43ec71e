"""Rows in files as a fit needs them: surveyed once, then read in blocks, pass after pass."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import DataError, FileAccessError, FileFormatError, ParameterError
from hedgerow.io import Block, RowFiles, Spool, read_ahead
from hedgerow.io.cells import labels_of, numbers_of, whole_where_possible
from hedgerow.monitor import current
from hedgerow.problems import inner

__all__ = ["FileRows", "LabelBook", "RowBlock", "ValueBook"]


@dataclass(frozen=True)
class RowBlock:
    """A block as the solvers read it.

    Attributes
    ----------
    rows : slice
        Which of all rows it holds.
    matrix : _core.Matrix
        Those rows.
    n_bytes : int
        How many bytes of the files it took.
    """

    rows: slice
    matrix: _core.Matrix
    n_bytes: int


class FileRows:
    """All rows of some files; a context, at whose end the compact copy is removed.

    Parameters
    ----------
    files : RowFiles
        The files.
    cache : None, True or path
        Where a compact copy is kept for later passes: nowhere, in the folder for temporary files, or
        in a folder of its own within that one.

    Attributes
    ----------
    n_rows, n_features, n_values : int
        What the survey found; the values are those stored.
    n_bytes : int
        What a pass reads.
    mean_norm : float
        The mean of the squared norms of the rows.
    """

    def __init__(self, files: RowFiles, cache: str | Path | bool | None) -> None:
        self.files = files
        self.n_rows = self.n_features = self.n_values = self.n_bytes = 0
        self.mean_norm = 0.0
        self._cache = cache
        self._counted_from = 0
        self._spool: Spool | None = None
        self._open = ExitStack()

    def __enter__(self) -> FileRows:
        if self._cache is not None and self._cache is not False:
            folder = self._open.enter_context(_temporary_folder(self._cache))
            self._spool = Spool(Path(folder) / "blocks")
            self._open.callback(self._spool.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def survey(self, take_labels: Callable[[NDArray[Any]], None], n_features: int | None) -> None:
        """Read all files once: count rows and features, and hand out the labels."""
        lowest, highest, squares = 1, -1, 0.0
        monitor = current()
        for block in read_ahead(self.files.blocks()):
            take_labels(block.labels)
            if self._spool is not None:
                self._spool.add(block)
            lowest, highest = _index_range(block, lowest, highest)
            squares += inner(block.parts[0].ravel(), block.parts[0].ravel())
            self.n_rows += block.n_rows
            self.n_values += block.parts[0].size
            self.n_bytes += block.n_bytes
            monitor.report(self.n_bytes)
            monitor.check()
        if self.n_rows == 0:
            msg = f"{self.files.paths[0]} has no rows; give a table with rows"
            raise DataError(msg)
        self._counted_from = 1 if lowest > 0 else 0
        self.n_features = self._width(highest + 1 - self._counted_from, n_features)
        self.mean_norm = squares / self.n_rows

    def blocks(self) -> Generator[RowBlock]:
        """Yield the rows from the first on; the next block is read while this one is worked on."""
        return read_ahead(self._as_matrices())

    def _as_matrices(self) -> Iterator[RowBlock]:
        begin = 0
        for block in self.files.blocks() if self._spool is None else self._spool.blocks():
            rows = slice(begin, begin + block.n_rows)
            if rows.stop > self.n_rows:
                break
            begin = rows.stop
            yield RowBlock(rows, self._matrix(block), block.n_bytes)
        if begin != self.n_rows:
            msg = f"{self.files.paths[0]}, or a file with it, changed while it was read; fit again"
            raise FileAccessError(msg)

    def _matrix(self, block: Block) -> _core.Matrix:
        if not block.is_sparse:
            return _core.Matrix.dense(block.parts[0])
        values, indices, indptr = block.parts
        indices -= self._counted_from
        return _core.Matrix.csr(values, indices, indptr, self.n_features)

    def _width(self, found: int, asked: int | None) -> int:
        """Return the number of features: as many as the files show, or as were asked for."""
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


def _temporary_folder(cache: str | Path | bool) -> tempfile.TemporaryDirectory[str]:
    """Return a new folder that is removed in the end."""
    parent = None if cache is True else str(cache)
    try:
        return tempfile.TemporaryDirectory(prefix="hedgerow-", dir=parent)
    except OSError as error:
        msg = f"cache={cache!r} is no folder to write in ({error.strerror}); name another"
        raise ParameterError(msg) from error


class LabelBook:
    """The classes of all rows, found as they come; a row costs as many bytes as there are classes for."""

    def __init__(self) -> None:
        self._known: NDArray[Any] | None = None
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._codes: list[NDArray[np.unsignedinteger[Any]]] = []

    def add(self, labels: NDArray[Any]) -> None:
        """Take in the labels of a block."""
        if self._known is None:
            self._known = np.unique(labels)
            self._numbers = np.arange(len(self._known))
        places = self._places(labels)
        if places is None:
            self._learn(labels)
            places = self._places(labels)
            assert places is not None
        kind = np.min_scalar_type(len(self._known))
        self._codes.append(self._numbers.astype(kind)[places])

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

    def close(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
        """Return the sorted classes, the class number of every row, and the rows of each class."""
        assert self._known is not None
        by_number = self._known[np.argsort(self._numbers)]
        classes, ranks = np.unique(_plain_labels(by_number), return_inverse=True)
        ranks = ranks.astype(np.min_scalar_type(len(classes)))
        # A block at a time, as NumPy indexes and counts by copies of eight bytes a row.
        codes = [ranks[codes] for codes in self._codes]
        self._codes = []
        counts = np.sum([np.bincount(part, minlength=len(classes)) for part in codes], axis=0)
        return classes, np.concatenate(codes), counts


def _plain_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as whole numbers if all are, else as numbers if all are, else as text."""
    if labels.dtype.kind in "US":
        return labels_of(labels.astype(object), as_text=False)
    return whole_where_possible(labels) if labels.dtype.kind == "f" else labels


class ValueBook:
    """The values of all rows, for a regression."""

    def __init__(self) -> None:
        self._values: list[NDArray[np.float64]] = []

    def add(self, labels: NDArray[Any]) -> None:
        """Take in the values of a block."""
        values = numbers_of(labels.tolist()) if labels.dtype.kind in "US" else labels
        if values is None:
            msg = f"the target holds text such as {labels[0]!r}, where a regressor needs numbers; use a classifier"
            raise DataError(msg)
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            msg = "the target holds a value that is not finite; remove the row or fill it in"
            raise DataError(msg)
        self._values.append(values)

    def close(self) -> NDArray[np.float64]:
        """Return the value of every row."""
        values = np.concatenate(self._values)
        self._values = []
        return values
