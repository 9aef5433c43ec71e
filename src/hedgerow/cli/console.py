"""Where words go: results to standard output, notes and progress to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

__all__ = ["Page", "note", "progress_bar", "write_json"]

_WIDEST = 100
_LABEL_WIDTH = 9


class Page:
    """A report on standard output: a narrow column of labels, and what belongs to them."""

    def __init__(self) -> None:
        self.console = _console(sys.stdout)
        self.width = min(self.console.width, _WIDEST)
        self._is_first = True

    @property
    def body_width(self) -> int:
        """Columns of text right of the labels."""
        return self.width - _LABEL_WIDTH - 1

    @property
    def is_ascii(self) -> bool:
        """Whether the output can show nothing but ASCII."""
        return self.console.options.ascii_only

    def section(self, label: str, *parts: RenderableType) -> None:
        """Print a label and its parts below each other, after an empty line."""
        grid = Grid.grid(padding=0)
        grid.add_column(width=_LABEL_WIDTH, style="bold cyan")
        grid.add_column(width=self.body_width, overflow="fold")
        for i, part in enumerate(parts):
            grid.add_row(label if i == 0 else "", Text(part) if isinstance(part, str) else part)
        if not self._is_first:
            self.console.print()
        self._is_first = False
        self.console.print(grid)


def note(sentence: str) -> None:
    """Say something on standard error that is no result."""
    _console(sys.stderr).print(Text(sentence, style="dim"), soft_wrap=True)


def write_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(_jsonable(value), ensure_ascii=False, indent=2) + "\n")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that moves a bar, or None where nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _console(stream: TextIO) -> Console:
    return Console(file=stream, highlight=False, emoji=False, markup=False)


def _jsonable(value: Any) -> Any:
    """Return the value with infinities, which JSON lacks, as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_jsonable(item) for item in value]
    return value
