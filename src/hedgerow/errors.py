"""What can go wrong, as types a user can catch.

Every error is a :class:`HedgerowError` and also the built-in type a caller would expect, so that
both ``except hedgerow.HedgerowError`` and ``except ValueError`` work.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import joblib
from sklearn.exceptions import ConvergenceWarning, InconsistentVersionWarning

__all__ = [
    "DataError",
    "DataTypeError",
    "EdgeOfGridWarning",
    "FileAccessError",
    "FileFormatError",
    "HedgerowError",
    "Line",
    "ModelFormatError",
    "ModelVersionWarning",
    "NotCertifiedWarning",
    "NotSeparableError",
    "ParameterError",
    "ScaleWarning",
    "StoppedError",
    "UnavailableError",
    "UnseenCategoryWarning",
    "forget_warnings",
    "line_of_user",
    "warn_user",
    "warning_at",
]

_PASSING_ON = (
    *("hedgerow", "sklearn", "joblib"),
    *("concurrent", "contextlib", "functools", "multiprocessing", "runpy", "threading"),
)
"""Packages that only pass a user's call on: no warning points at their lines."""

_WORKERS = str(Path(joblib.__file__).parent)
"""Where the program of a worker process is, which calls itself ``__main__``."""

_given: set[Hashable] = set()
"""What the warnings of this process that are given once were about."""

_giving = threading.Lock()


class HedgerowError(Exception):
    """Base class of every error Hedgerow raises on purpose."""


class DataError(HedgerowError, ValueError):
    """The data cannot be used: the message says what, where, and what to do."""


class DataTypeError(DataError, TypeError):
    """The data are of a kind that is not understood at all."""


class NotSeparableError(DataError):
    """No plane separates the classes, as a hard margin asks for.

    Attributes
    ----------
    proof : Overlap or OverlapCertificate
        Convex combinations of rows of either class that meet; a fit has them certified.
    """

    def __init__(self, message: str, proof: Any) -> None:
        self.proof = proof
        super().__init__(message)

    def __reduce__(self) -> tuple[type[NotSeparableError], tuple[str, Any]]:
        return type(self), (str(self), self.proof)


class ParameterError(HedgerowError, ValueError):
    """A parameter has a value it cannot have, or contradicts another one."""


class UnavailableError(HedgerowError, AttributeError):
    """A model of this kind does not have what was asked for; the message says why."""


class FileAccessError(HedgerowError, OSError):
    """A file cannot be opened, read or written."""


class FileFormatError(DataError):
    """A file was read but a line of it makes no sense.

    Attributes
    ----------
    path : Path
        The file.
    line : int or None
        The line, counted from 1.
    """

    def __init__(self, path: str | Path, line: int | None, problem: str) -> None:
        self.path = Path(path)
        self.line = line
        self.problem = problem
        where = f"{path}, line {line}" if line is not None else str(path)
        super().__init__(f"{where}: {problem}")

    def __reduce__(self) -> tuple[type[FileFormatError], tuple[Path, int | None, str]]:
        return type(self), (self.path, self.line, self.problem)


class ModelFormatError(HedgerowError, ValueError):
    """A model file is damaged, incomplete, or not a Hedgerow model."""


class StoppedError(HedgerowError, RuntimeError):
    """A task that has no half result was told to stop."""


class NotCertifiedWarning(ConvergenceWarning):
    """A fit ended above its tolerance; the message carries the gap it reached."""


class EdgeOfGridWarning(UserWarning):
    """The best of the values tried is the first or the last: a better one may lie beyond."""


class ScaleWarning(UserWarning):
    """Features differ so much in scale that a kernel hardly sees some of them."""


class UnseenCategoryWarning(UserWarning):
    """Rows have a category that was not there in fit; trees take it for a missing value."""


class ModelVersionWarning(InconsistentVersionWarning):
    """An estimator was pickled by another version of Hedgerow or scikit-learn.

    Attributes
    ----------
    estimator_name : str
        The class of the estimator.
    original_version, current_version : str
        Hedgerow's versions, then and now; "unknown" in pickles that do not say.
    original_sklearn_version, current_sklearn_version : str
        The same of scikit-learn.
    """

    def __init__(
        self, estimator_name: str, original: tuple[str, str], current: tuple[str, str]
    ) -> None:
        super().__init__(
            estimator_name=estimator_name,
            original_sklearn_version=original[1],
            current_sklearn_version=current[1],
        )
        self.original_version, self.current_version = original[0], current[0]

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was pickled with Hedgerow {self.original_version} and scikit-learn "
            f"{self.original_sklearn_version}, and is read with Hedgerow {self.current_version} and "
            f"scikit-learn {self.current_sklearn_version}: it may fail or predict otherwise; fit it again, "
            "or keep models with hedgerow.save, whose files later versions read"
        )

    def __reduce__(self) -> tuple[type[ModelVersionWarning], tuple[Any, ...]]:
        original = self.original_version, self.original_sklearn_version
        current = self.current_version, self.current_sklearn_version
        return type(self), (self.estimator_name, original, current)


class Line(NamedTuple):
    """A line of a program that a warning can point at."""

    filename: str
    number: int
    module: str


_line_of_caller: ContextVar[Line | None] = ContextVar("line_of_caller", default=None)


def warn_user(
    message: str | Warning, category: type[Warning], *, once_for: Hashable = None
) -> None:
    """Warn at the line of the user's program that led here, however deep it called.

    Parameters
    ----------
    message : str or Warning
        What to say.
    category : type
        The class of the warning.
    once_for : hashable or None, default=None
        What the warning is about. If given, a process warns once of it, whatever the line, until
        :func:`forget_warnings`; but not if the warning was raised as an error.
    """
    subject = (category, once_for)
    with _giving:
        if subject in _given:
            return
        if once_for is not None:
            _given.add(subject)
    line = line_of_user()
    module = getattr(sys.modules.get(line.module), "__dict__", {})
    try:
        warnings.warn_explicit(
            message,
            category,
            line.filename,
            line.number,
            module=line.module,
            registry=module.setdefault("__warningregistry__", {}),
        )
    except Warning:
        _given.discard(subject)
        raise


def forget_warnings() -> None:
    """Give warnings again that have been given once."""
    _given.clear()


def line_of_user() -> Line:
    """Return the innermost line of the stack that is neither ours nor of a library that called us.

    In a worker, where there is none, it is the line that started the task or, if that is not known,
    the innermost one that is not ours.
    """
    stack = list(_outwards(sys._getframe(1)))
    users = next((frame for frame in stack if not _passes_on(frame)), None)
    started_at = _line_of_caller.get()
    if users is None and started_at is not None:
        return started_at
    others = (frame for frame in stack if not _is_of(frame, ("hedgerow",)))
    frame = users or next(others, stack[-1])
    return Line(frame.f_code.co_filename, frame.f_lineno, _module_of(frame))


@contextmanager
def warning_at(line: Line) -> Iterator[None]:
    """Let tasks of the block point their warnings at a line that is not on their own stack."""
    handle = _line_of_caller.set(line)
    try:
        yield
    finally:
        _line_of_caller.reset(handle)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame, the one that called it, and so on."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _passes_on(frame: FrameType) -> bool:
    return _is_of(frame, _PASSING_ON) or frame.f_code.co_filename.startswith(_WORKERS)


def _is_of(frame: FrameType, packages: tuple[str, ...]) -> bool:
    """Say whether a frame runs a module of one of the packages."""
    return _module_of(frame).partition(".")[0] in packages


def _module_of(frame: FrameType) -> str:
    """Return the name of the module that a frame runs; code run by ``exec`` may have none."""
    return str(frame.f_globals.get("__name__", ""))
