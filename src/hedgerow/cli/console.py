"""Where words go: results to standard output, notes and progress to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hedgerow._page.page import console_on
from hedgerow.describe.registry import jsonable

if TYPE_CHECKING:
    from hedgerow.monitor import Event

__all__ = ["long_work", "note", "write_json"]


def note(sentence: str) -> None:
    """Say something on standard error that is no result."""
    console_on(sys.stderr).print(Text(sentence, style="dim"), soft_wrap=True)


def write_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    sys.stdout.write(json.dumps(jsonable(value), ensure_ascii=False, indent=2) + "\n")


@contextmanager
def long_work(
    title: str,
    *,
    counted: tuple[str, ...] = (),
    max_time: float | None = None,
    checkpoint: str | None = None,
) -> Iterator[None]:
    """Run the block with a bar if somebody watches, a time limit, and checkpoints if asked for.

    The bar counts the steps of the task ``counted``; without one, it shows how near a fit is.
    """
    from hedgerow.monitor import watch
    from hedgerow.persist import checkpoint as checkpoints

    kept = nullcontext() if checkpoint is None else checkpoints(checkpoint)
    with _bar(title, counted) as report, watch(report, max_time=max_time):
        try:
            with kept:
                yield
        except KeyboardInterrupt:
            if checkpoint is not None and Path(checkpoint).exists():
                note(f"Interrupted; the same command goes on from {checkpoint}.")
            raise


@contextmanager
def _bar(title: str, counted: tuple[str, ...]) -> Iterator[Callable[[Event], None] | None]:
    """Give a function that moves a bar, or None where nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    words = ("{task.description}", BarColumn(), "{task.fields[step]}")
    columns = (*words, MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console_on(sys.stderr), transient=True) as bar:
        task = bar.add_task(title, total=None, step="")

        def move(event: Event) -> None:
            if event.path == counted:
                bar.update(task, completed=event.done, total=event.total)
            elif not counted:
                bar.update(task, completed=event.done, step=_step_words(event))
            elif event.path[: len(counted)] != counted:
                bar.update(task, step=_step_words(event))

        yield move


def _step_words(event: Event) -> str:
    """Say how far a fit has come, whose last step nobody knows."""
    gap = event.figures.get("relative_gap")
    return "" if gap is None else f"gap {max(gap, 0.0):.0e}"
