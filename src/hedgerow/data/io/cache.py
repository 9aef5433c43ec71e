"""Temporary files of a fit to files: a compact copy of its blocks, and vectors of one value per row."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.io.block import Block
from hedgerow.errors import FileAccessError

__all__ = ["BlockCache", "FileVector"]

Vector = NDArray[np.float64]

_ITEM = np.dtype(np.float64).itemsize
_TRIED = 1000
"""Values that are tried before all are."""


@dataclass(frozen=True)
class _Entry:
    """How the arrays of a block were written; the first ``n_parts`` of them are its rows."""

    layout: tuple[_StoredArray, ...]
    n_parts: int
    n_bytes: int


@dataclass(frozen=True)
class _StoredArray:
    """An array in the file: the type it is written in, its own type, and its shape."""

    written: np.dtype[Any]
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def read(self, stream: BinaryIO) -> NDArray[Any]:
        """Return the array as it was."""
        found = np.fromfile(stream, self.written, int(np.prod(self.shape)))
        return found.reshape(self.shape).astype(self.dtype, copy=False)


class BlockCache:
    """The arrays of blocks, one after the other in a file, for passes that need not parse again.

    Each is written in the narrowest type that holds its numbers, and read as it was.

    The memory of the file:: values | indices | row bounds | labels | weights | values | ...
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[_Entry] = []
        self._stream = path.open("wb")

    def add(self, block: Block) -> None:
        """Append a block."""
        arrays = [*block.parts, block.labels, *([] if block.weights is None else [block.weights])]
        narrow = [_narrowed(array) for array in arrays]
        try:
            for array in narrow:
                array.tofile(self._stream)
        except OSError as error:
            raise _no_room(self._path, error) from error
        pairs = zip(narrow, arrays, strict=True)
        layout = tuple(_StoredArray(new.dtype, array.dtype, array.shape) for new, array in pairs)
        self._entries.append(_Entry(layout, len(block.parts), block.n_bytes))

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks as they were added."""
        self._stream.close()
        with self._path.open("rb") as stream:
            for entry in self._entries:
                arrays = [layout.read(stream) for layout in entry.layout]
                parts, (labels, *weights) = arrays[: entry.n_parts], arrays[entry.n_parts :]
                yield Block(tuple(parts), labels, entry.n_bytes, *weights)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()


class FileVector:
    """A vector of one value per row, 0 at first, in a file; a slice of it is an array.

    Several threads may read and write different rows at the same time.
    """

    def __init__(self, path: Path, n_rows: int) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.ftruncate(self._file, n_rows * _ITEM)

    def __getitem__(self, rows: slice) -> Vector:
        n_bytes = (rows.stop - rows.start) * _ITEM
        found = bytearray(n_bytes)
        view, done = memoryview(found), 0
        while done < n_bytes:
            done += os.preadv(self._file, [view[done:]], rows.start * _ITEM + done)
        return np.frombuffer(found, dtype=np.float64)

    def __setitem__(self, rows: slice, values: Vector) -> None:
        view = np.ascontiguousarray(values).view(np.uint8).data
        done = 0
        try:
            while done < len(view):
                done += os.pwrite(self._file, view[done:], rows.start * _ITEM + done)
        except OSError as error:
            raise _no_room(self._path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in fewer bytes, if that is possible without a loss."""
    if array.dtype == np.float64:
        some = array.ravel()[:_TRIED]
        with np.errstate(over="ignore"):  # what is infinite then is not equal
            if not np.array_equal(some.astype(np.float32), some):
                return array
            single = array.astype(np.float32)
        return single if np.array_equal(single, array) else array
    if array.dtype.kind == "i" and array.size and array.min() >= 0:
        return array.astype(np.min_scalar_type(int(array.max())))
    return array


def _no_room(path: Path, error: OSError) -> FileAccessError:
    """Return the error for a file that cannot be written."""
    msg = (
        f"{path.parent} has no room for what the fit keeps there ({error.strerror}); name a folder on "
        "a larger disk by cache=, or parse the files in every pass by cache=False"
    )
    return FileAccessError(msg)
