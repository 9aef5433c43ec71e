"""What can go wrong, as types a user can catch.

Every error is a :class:`HedgerowError` and also the built-in type a caller would expect, so that
both ``except hedgerow.HedgerowError`` and ``except ValueError`` work.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "DataError",
    "DataTypeError",
    "EdgeOfGridWarning",
    "FileAccessError",
    "FileFormatError",
    "HedgerowError",
    "ModelFormatError",
    "NotCertifiedWarning",
    "NotSeparableError",
    "ParameterError",
    "ScaleWarning",
    "StoppedError",
    "UnavailableError",
    "UnseenCategoryWarning",
    "warn_user",
]

_NOT_THE_USER = ("hedgerow", "sklearn.callback")


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


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line of the user's program that led here, however deep it called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in _NOT_THE_USER)
