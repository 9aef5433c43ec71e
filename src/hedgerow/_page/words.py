"""Numbers in words."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from hedgerow.resampling import Interval

__all__ = [
    "accuracy_words",
    "classes_words",
    "count",
    "percent",
    "saved_words",
    "seconds_words",
    "short",
    "size_words",
]


def percent(share: float) -> str:
    """Return a share as a percentage with one decimal, but nothing and everything without."""
    return f"{100 * share:.0f} %" if share in (0, 1) else f"{100 * share:.1f} %"


def short(number: float) -> str:
    """Return a number with three significant digits."""
    return f"{number:.3g}"


def count(n: int, noun: str) -> str:
    """Return a number and its noun, in the plural if need be."""
    ending = "" if n == 1 else "es" if noun.endswith("s") else "s"
    return f"{n:,} {noun}{ending}"


def accuracy_words(accuracy: Interval, rows: str) -> str:
    """Return an accuracy with its interval as a sentence about some rows."""
    level = f"{100 * accuracy.confidence_level:g} %"
    how = "" if accuracy.method == "bootstrap" else f" ({accuracy.method} bound)"
    return (
        f"{percent(accuracy.estimate)} of {count(accuracy.n, rows)} are predicted right; "
        f"{level} interval {percent(accuracy.low)} to {percent(accuracy.high)}{how}."
    )


def classes_words(classes: dict[Any, int], limit: int) -> str:
    """Return how many rows each class has, or the range where there are more than a few."""
    total = sum(classes.values())
    if len(classes) > limit:
        few, many = min(classes.values()), max(classes.values())
        return f"{len(classes)} classes of {few:,} to {count(many, 'row')}"
    shown = [f"{label} in {count(n, 'row')} ({percent(n / total)})" for label, n in classes.items()]
    return "the classes " + ", ".join(shown)


def saved_words(path: Path) -> tuple[str, str]:
    """Return where a model is, and the command that uses it."""
    size = size_words(path.stat().st_size)
    command = f"hedgerow predict {shlex.quote(str(path))} NEW_TABLE"
    return f"Saved in {path} ({size}). To use it on new rows:", command


def seconds_words(seconds: float) -> str:
    """Return a duration in the unit that fits it."""
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size_words(n_bytes: int) -> str:
    """Return the size of a file."""
    unit, scale = ("kB", 1e3) if n_bytes < 1e6 else ("MB", 1e6)
    return f"{n_bytes / scale:.1f} {unit}"
