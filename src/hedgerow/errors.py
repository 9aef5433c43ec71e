"""Errors and warnings, as types that a user can catch.

Every error is a :class:`HedgerowError` and also the built-in type that a caller would expect, so both
``except hedgerow.HedgerowError`` and ``except ValueError`` work.
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
    *("hedgerow", "sklearn", "joblib", "distributed", "dask"),
    *("concurrent", "contextlib", "functools", "multiprocessing", "runpy", "threading"),
)
"""Packages that only forward a user's call: no warning points at their lines."""

_WORKERS = str(Path(joblib.__file__).parent)
"""The folder of the program of a worker process, which is named ``__main__``."""

_given: set[Hashable] = set()
"""The subjects of warnings that this process has issued and issues only once."""

_giving = threading.Lock()


class HedgerowError(Exception):
    """Base class of all errors that Hedgerow raises."""


class DataError(HedgerowError, ValueError):
    """The data are invalid; the message says what is wrong, where, and what to do."""


class DataTypeError(DataError, TypeError):
    """The data have a type that is not supported."""


class NotSeparableError(DataError):
    """No hyperplane separates the classes, as a hard margin requires.

    Attributes
    ----------
    proof : Overlap or OverlapCertificate
        Convex combinations of rows of each class that coincide; a fit raises it with their certificate.
    """

    def __init__(self, message: str, proof: Any) -> None:
        self.proof = proof
        super().__init__(message)

    def __reduce__(self) -> tuple[type[NotSeparableError], tuple[str, Any]]:
        return type(self), (str(self), self.proof)


class ParameterError(HedgerowError, ValueError):
    """A parameter has an invalid value, or contradicts another parameter."""


class UnavailableError(HedgerowError, AttributeError):
    """The model does not offer the requested method or attribute; the message says why."""


class FileAccessError(HedgerowError, OSError):
    """A file cannot be opened, read or written."""


class FileFormatError(DataError):
    """A file was read, but its content is invalid.

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
    """A task without partial results was stopped."""


class NotCertifiedWarning(ConvergenceWarning):
    """A fit ended above its tolerance; the message has the gap that was reached."""


class EdgeOfGridWarning(UserWarning):
    """The best value of a grid is its first or its last: a better one may lie outside."""


class ScaleWarning(UserWarning):
    """Features differ so much in scale that some hardly influence the kernel."""


class UnseenCategoryWarning(UserWarning):
    """Rows have a category that did not occur in training; trees treat it as missing."""


class ModelVersionWarning(InconsistentVersionWarning):
    """An estimator was pickled by another version of Hedgerow or scikit-learn.

    Attributes
    ----------
    estimator_name : str
        The class of the estimator.
    original_version, current_version : str
        The versions of Hedgerow; "unknown" if the pickle does not say.
    original_sklearn_version, current_sklearn_version : str
        The versions of scikit-learn.
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
            f"scikit-learn {self.current_sklearn_version}: it may fail or give other predictions; fit it "
            "again, or use hedgerow.save, whose files later versions can read"
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
    """Issue a warning that points at the line of the user's program.

    Parameters
    ----------
    message : str or Warning
        The text of the warning.
    category : type
        The class of the warning.
    once_for : hashable or None, default=None
        The subject of the warning. If given, a process warns about it only once, whatever the line,
        until :func:`forget_warnings` is called; a warning that was raised as an error does not count.
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
    """Allow all warnings to be issued again."""
    _given.clear()


def line_of_user() -> Line:
    """Return the innermost line of the stack outside this package and the libraries that call it.

    In a worker there is none; it is then the line that started the task or, if that is not known,
    the innermost line outside this package.
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
    """Let warnings in the block point at a line that is not on their own stack."""
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
    """Return whether a frame runs a module of one of the packages."""
    return _module_of(frame).partition(".")[0] in packages


def _module_of(frame: FrameType) -> str:
    """Return the name of the module that a frame runs; code run by ``exec`` may have none."""
    return str(frame.f_globals.get("__name__", ""))
