"""Checkpoints: where long tasks stand, in a file, to go on from after a crash."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import Any

import hedgerow
from hedgerow._base.parameters import is_number
from hedgerow.errors import HedgerowError, ModelFormatError, ParameterError
from hedgerow.monitor import keeping_in
from hedgerow.persist.state_file import damaged, read_state, write_state

__all__ = ["checkpoint"]

_OF_WRONG_STATES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What a loop raises that is handed a state which is none of its own."""

_LIBRARIES = frozenset({"numpy", "scipy", "sklearn", "joblib", "threading", "concurrent"})
_MOST_SHOWN = 200

_SHARE_OF_TIME = 0.05
"""The most of a task's time that writing may take: large states are written more seldom."""


@contextmanager
def checkpoint(path: str | Path, *, every: float = 60.0) -> Iterator[None]:
    """Leave where the fits and searches of the block stand in a file, and go on from it.

    If the program is killed, running it again goes on from the last checkpoint, with the result it
    would have had, to the last bit. What is in the file counts only for the same data, parameters
    and version of Hedgerow; other fits in the block begin anew. The file is removed when the block
    ends well, and stays when it ends by an exception.

    Parameters
    ----------
    path : str or Path
        The file; the suffix ``.checkpoint`` is the custom.
    every : float, default=60.0
        Seconds between checkpoints of a fit; more if writing one takes long.

    Raises
    ------
    ModelFormatError
        The file is damaged, is no checkpoint, or is of another version.
    FileAccessError
        The file cannot be read or written.

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> with hedgerow.checkpoint("fit.checkpoint"):
    ...     model = hedgerow.LinearSVC().fit(X, y)
    """
    if not (is_number(every) and every >= 0):
        msg = f"every={every!r} is no time; give a number of seconds"
        raise ParameterError(msg)
    file = CheckpointFile(Path(path), float(every))
    try:
        with keeping_in(file):
            yield
    except _OF_WRONG_STATES as error:
        if file.is_used and _is_ours(error):
            msg = (
                f"{path} holds states that these fits cannot go on from "
                f"({type(error).__name__}: {' '.join(str(error).split())[:_MOST_SHOWN]}); remove the file to begin anew"
            )
            raise ModelFormatError(msg) from error
        file.flush()
        raise
    except BaseException:
        file.flush()
        raise
    file.remove()


def _is_ours(error: Exception) -> bool:
    """Say whether an error comes out of Hedgerow and is none that it raises on purpose.

    It does if the last function that is not a library's is Hedgerow's, and not the user's: a kernel
    or a callback may raise whatever it likes.
    """
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    packages = [name.partition(".")[0] for name in names]
    last = next((name for name in reversed(packages) if name not in _LIBRARIES), "")
    return last == "hedgerow" and not isinstance(error, HedgerowError)


class CheckpointFile:
    """States and results under their keys, in memory and, a little later, in a file.

    Attributes
    ----------
    is_used : bool
        Whether something that was in the file from the start has been asked for.
    """

    def __init__(self, path: Path, every: float) -> None:
        self._path = path
        self._every = every
        self._entries = _read(path) if path.exists() else {}
        self._unproved = set(self._entries)
        self.is_used = False
        self._lock = threading.RLock()
        self._taken: dict[str, float] = {}
        self._began = self._written = time.monotonic()
        self._is_dirty = False

    def recall(self, key: str) -> Any:
        """Return what is remembered under the key, or None."""
        with self._lock:
            self.is_used = self.is_used or key in self._unproved
            # The task changes the arrays it is given; what is remembered must stay as it was.
            return copy.deepcopy(self._entries.get(key))

    def remember(self, key: str, state: Callable[[], Any]) -> None:
        """Take down a state if the last one under this key is old."""
        with self._lock:
            if time.monotonic() - self._taken.get(key, self._began) < self._every:
                return
            # The same the other way round: the file may be written later, on behalf of another task.
            self._entries[key] = copy.deepcopy(state())
            self._unproved.discard(key)
            self._write()
            self._taken[key] = time.monotonic()

    def keep(self, key: str, result: Any, *, instead_of: Collection[str]) -> None:
        """Remember a result, and forget the states that led to it."""
        with self._lock:
            for old in instead_of:
                self._entries.pop(old, None)
            self._entries[key] = result
            self._is_dirty = True
            if time.monotonic() - self._written >= self._every:
                self._write()

    def flush(self) -> None:
        """Write what is not yet written."""
        with self._lock:
            if self._is_dirty:
                self._write()

    def remove(self) -> None:
        """Remove the file, as all is done."""
        self._path.unlink(missing_ok=True)

    def _write(self) -> None:
        began = time.monotonic()
        contents = {"hedgerow_version": hedgerow.__version__, "entries": self._entries}
        write_state(self._path, "checkpoint", contents)
        self._written = time.monotonic()
        self._is_dirty = False
        self._every = max(self._every, (self._written - began) / _SHARE_OF_TIME)


def _read(path: Path) -> dict[str, Any]:
    import hedgerow.ensemble
    import hedgerow.linear
    import hedgerow.svm
    import hedgerow.tree

    contents = read_state(path, "checkpoint")
    version = contents.get("hedgerow_version") if isinstance(contents, dict) else None
    if version != hedgerow.__version__:
        msg = (
            f"{path} was written by Hedgerow {version} and this is {hedgerow.__version__}, which may "
            "compute other digits; finish it with that version, or remove the file to begin anew"
        )
        raise ModelFormatError(msg)
    entries = contents.get("entries")
    if not isinstance(entries, dict) or not all(isinstance(key, str) for key in entries):
        raise damaged(path, "checkpoint", "its entries are not states under their names")
    return entries
