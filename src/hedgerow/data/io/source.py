"""The decompressed bytes of a file, read from the start as often as needed."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from hedgerow.errors import FileAccessError, FileFormatError

__all__ = ["DAMAGE", "LONGEST_LINE", "Source", "open_regular"]

DAMAGE = (EOFError, OSError, zlib.error)
"""What the decompressors raise for a file that is truncated or damaged."""

_DECOMPRESSORS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FOLDER = "it is a folder; name a file in it"

LONGEST_LINE = 2**28
"""The most bytes, or characters, of a line: compressed data can be a thousand times as long as the
file, and must not fill the memory."""
_MOST_OF_A_HEAD = 2**26
"""The most bytes of the first lines together, after which no further line is read."""


class Source:
    """A readable file; "-" is standard input, which is kept in memory to be read again."""

    def __init__(self, path: str | Path) -> None:
        from_stdin = str(path) == "-"
        self.path = Path("standard input") if from_stdin else Path(path)
        self._memory = sys.stdin.buffer.read() if from_stdin else None

    def open(self) -> BinaryIO:
        """Return the decompressed bytes from the start, without a byte order mark."""
        stream = self._open_plain()
        magic = stream.read(3)
        stream.seek(0)
        for start, decompress in _DECOMPRESSORS.items():
            if magic.startswith(start):
                stream = decompress(self._reopen(stream))
        return _without_byte_order_mark(stream)

    def head(self, n_lines: int) -> list[bytes]:
        """Return the first lines; damage is reported when the whole file is read."""
        lines: list[bytes] = []
        n_bytes = 0
        with self.open() as stream, suppress(*DAMAGE):
            while len(lines) < n_lines and n_bytes < _MOST_OF_A_HEAD:
                line = stream.readline(LONGEST_LINE)
                if not line:
                    break
                lines.append(line)
                n_bytes += len(line)
        return lines

    def starts_with(self, start: bytes) -> bool:
        """Say whether a file starts with these bytes; a damaged one does not."""
        with self.open() as stream, suppress(*DAMAGE):
            return stream.read(len(start)) == start
        return False

    def too_long(self, line: int) -> FileFormatError:
        """Return the error for a line that is too long."""
        problem = f"the line is longer than {LONGEST_LINE:,} bytes; give a table with shorter lines"
        return FileFormatError(self.path, line, problem)

    def damaged(self, line: int) -> FileFormatError:
        """Return the error for compressed data that are damaged in a line."""
        problem = "the compressed data are damaged or cut short; copy or compress the file again"
        return FileFormatError(self.path, line, problem)

    def _open_plain(self) -> BinaryIO:
        if self._memory is not None:
            return io.BytesIO(self._memory)
        return open_regular(self.path)

    def _reopen(self, plain: BinaryIO) -> BinaryIO | Path:
        """Return what a decompressor opens; given a path, it also closes the file."""
        if self._memory is not None:
            return plain
        plain.close()
        return self.path


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading; a pipe, device or folder is refused without waiting for its other end."""
    try:
        # Without O_NONBLOCK, a pipe is opened only when somebody writes to it; files do not care.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # a ValueError if there is a NUL in the name
        raise FileAccessError(f"cannot read {path}: {_reason(error)}") from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    what = _FOLDER if stat.S_ISDIR(mode) else "it is not a regular file; copy its content into one"
    raise FileAccessError(f"cannot read {path}: {what}")


def _without_byte_order_mark(stream: BinaryIO) -> BinaryIO:
    """Step over a byte order mark, if the bytes start with one."""
    try:
        marked = stream.read(3) == _BYTE_ORDER_MARK
        if not marked:
            stream.seek(0)
    except DAMAGE:
        stream.seek(0)
    return stream


def _reason(error: OSError | ValueError) -> str:
    """Say why a file cannot be opened, and what to do."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file; check its name and folder"
    if isinstance(error, PermissionError):
        return "permission is denied; ask its owner for access, or for a copy"
    return f"{getattr(error, 'strerror', None) or error}; check the disk and the name"
