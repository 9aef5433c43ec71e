"""A report: a narrow column of labels, and what belongs to them."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.console import Console
from rich.text import Text

__all__ = ["Page", "console_on"]

_WIDEST = 100
_LABEL_WIDTH = 9


class Page:
    """A report on standard output, or as text."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console_on(sys.stdout) if console is None else console
        self._is_first = True
        self.body_width = min(self._console.width, _WIDEST) - _LABEL_WIDTH
        self.is_ascii = self._console.options.ascii_only

    @staticmethod
    def as_text() -> Page:
        """Return a page whose :attr:`text` can be asked for, in characters that print can show."""
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        stream = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
        return Page(console_on(stream))

    @property
    def text(self) -> str:
        """What was written to a page made by :meth:`as_text`, without the last line break."""
        stream = self._console.file
        assert isinstance(stream, io.TextIOWrapper)
        stream.seek(0)
        return stream.read().rstrip("\n")

    def section(self, label: str, *parts: str | Text) -> None:
        """Print a label and its parts: sentences, which are wrapped, and lines of text as is."""
        if not self._is_first:
            self._console.print()
        self._is_first = False
        margin = Text(label.ljust(_LABEL_WIDTH), style="bold cyan")
        for line in self._lines(parts):
            self._console.print(Text.assemble(margin, line), soft_wrap=True)
            margin = Text(" " * _LABEL_WIDTH)

    def _lines(self, parts: Iterable[str | Text]) -> Iterator[Text]:
        for part in parts:
            if isinstance(part, Text):
                yield part
            else:
                yield from map(Text, _wrapped(part, self.body_width))


def console_on(stream: TextIO) -> Console:
    """Return a console that shows text as it is, with colours where the stream is a terminal.

    In a notebook too it writes to the stream, and not to the cell.
    """
    return Console(file=stream, highlight=False, emoji=False, markup=False, force_jupyter=False)


def _wrapped(sentence: str, width: int) -> list[str]:
    """Return a sentence as lines that part neither a number from its percent sign nor a path."""
    glued = sentence.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.wrap(glued, width, break_on_hyphens=False, break_long_words=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
