"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hedgerow.errors import FileAccessError, HedgerowError

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | Path) -> Iterator[BinaryIO]:
    """Give a file to write to; it takes the place of ``path`` only if the block ends well.

    The bytes go to a new file in the same folder, which is flushed to the disk and then renamed.
    Whatever happens before the renaming, an older file stays as it was and nothing is left behind;
    only a process that is killed leaves its unfinished file, and the next write to the same path
    removes it.
    """
    try:
        target = Path(os.path.realpath(path))
    except ValueError as error:  # there is a NUL in the name
        raise FileAccessError(f"cannot write {path!r}: {error}; choose another name") from error
    if target.exists() and not target.is_file():
        raise FileAccessError(f"cannot write {path}: it is not a regular file; choose another name")
    temporary = None
    try:
        _remove_leftovers(target)
        temporary, opened = _new_file(target)
        with opened as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            _keep_mode(target, temporary)
            temporary.replace(target)
        _flush_folder(target.parent)
    except HedgerowError:
        raise
    except OSError as error:
        raise FileAccessError(f"cannot write {path}: {_reason(error)}") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


# ------------------------------------------------------------------------------ temporary files
#
# Who writes a temporary file holds a lock on it, which the kernel drops when the process ends, in
# whatever way. A temporary file that can be locked has no writer any more.


def _prefix(target: Path) -> str:
    """Return how the names of the temporary files of a target begin, of one length for all."""
    return f".hedgerow-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _new_file(target: Path) -> tuple[Path, BinaryIO]:
    """Return a new file in the target's folder, locked."""
    while True:
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp")
        stream = temporary.open("xb")
        try:
            _lock(stream)
        except BlockingIOError:
            is_ours = False
        except OSError:
            is_ours = True  # where nothing can be locked, nothing is taken for a leftover
        else:
            is_ours = os.fstat(stream.fileno()).st_nlink > 0
        if is_ours:
            return temporary, stream
        stream.close()  # another writer took it for a leftover before it was locked


def _remove_leftovers(target: Path) -> None:
    """Remove the unfinished files of writers of the same target that are no more."""
    for leftover in target.parent.glob(f"{_prefix(target)}*.tmp"):
        with suppress(OSError), leftover.open("rb") as stream:
            _lock(stream)
            leftover.unlink()


def _lock(stream: BinaryIO) -> None:
    """Lock a file until it is closed; BlockingIOError if another process has."""
    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _keep_mode(target: Path, temporary: Path) -> None:
    """Give the new file the permissions of the one it replaces."""
    with suppress(FileNotFoundError):
        temporary.chmod(target.stat().st_mode & 0o777)


def _flush_folder(folder: Path) -> None:
    """Make the renaming survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    """Say why a file cannot be written, and what to do."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "its folder does not exist; make the folder first"
    if isinstance(error, PermissionError):
        return "permission is denied; choose a folder you may write to"
    return f"{error.strerror or error}; free some space or choose another folder"
