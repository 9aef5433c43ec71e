"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

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
    Whatever happens before the renaming, an older file stays as it was and nothing is left behind.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise FileAccessError(f"cannot write {path}: it is not a regular file; choose another name")
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as stream:
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
        with suppress(OSError):
            temporary.unlink()


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
