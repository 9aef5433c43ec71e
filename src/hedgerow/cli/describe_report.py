"""How ``hedgerow describe`` shows a description."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence

from rich.text import Text

from hedgerow._page.drawing import Marks, aligned, bar, marks_for
from hedgerow._page.page import Page
from hedgerow._page.words import count, size_words
from hedgerow.describe import Description
from hedgerow.describe.model_file import FileFacts
from hedgerow.describe.sections import ColumnTable, Listing, Section, sections_of

__all__ = ["show_model", "show_table"]

_LONGEST_NAME = 36
_LONGEST_BAR = 24
_KIND_AND_MISSING = 20


def show_model(path: str, facts: FileFacts, found: Description) -> None:
    """Print what a model file holds."""
    page = Page()
    model, *others = sections_of(found, path)
    page.section(model.label, *model.sentences, _file_words(facts))
    for section in others:
        page.section(section.label, *_drawn(page, section))


def show_table(path: str, found: Description, top: int) -> None:
    """Print what a table is like, with some of its columns."""
    page, n_columns = Page(), len(found["columns"])
    shown = Description(found | {"columns": found["columns"][:top], "advice": []})
    more = f"And {count(n_columns - top, 'column')} more; --top {n_columns} shows all."
    for section in sections_of(shown, path):
        is_cut = section.label == "Columns" and n_columns > top
        page.section(section.label, *_drawn(page, section), *([more] if is_cut else []))
    target = "COLUMN" if found["target"] is None else shlex.quote(str(found["target"]))
    option = f" --target {target}" if found["profile"]["density"] is None else ""
    command = Text(f"  hedgerow auto {shlex.quote(path)}{option}", style="bold")
    words = [hint["sentence"] for hint in found["advice"]]
    page.section("Next", *words, "To learn from it:", command)


def _file_words(facts: FileFacts) -> str:
    version = "" if facts.format_version is None else f", model format {facts.format_version}"
    writer = facts.hedgerow_version
    written = "" if writer is None else f", saved by Hedgerow {writer}"
    return f"{size_words(facts.n_bytes)}{version}{written}."


def _drawn(page: Page, section: Section) -> Iterator[str | Text]:
    """Yield sentences as they are, and lists as lines of text."""
    for part in section.parts:
        if isinstance(part, Listing):
            yield from _bars(page, part)
        elif isinstance(part, ColumnTable):
            yield from _columns(page, part)
        else:
            yield part


def _bars(page: Page, listing: Listing) -> Iterator[Text]:
    """Yield a line for each feature: its name, its value, and a bar."""
    marks = marks_for(page.is_ascii)
    cells = [_fitting(marks, listing.names)]
    if listing.labels is not None:
        cells = [_padded(cells[0]), _fitting(marks, listing.labels)]
    names = ["  ".join(row) for row in zip(*cells, strict=True)]
    figures = _figures(listing.values, "+" if listing.is_signed else "")
    lines = aligned(list(zip(names, figures, strict=True)))
    room = min(page.body_width - len(lines[0]) - 2, _LONGEST_BAR)
    for line, share in zip(lines, listing.shares, strict=True):
        drawn = bar(marks, share, room) if room > 0 else ""
        yield Text(f"{line}  {drawn}".rstrip())


def _columns(page: Page, columns: ColumnTable) -> Iterator[Text]:
    """Yield a line for each column: its kind, its missing values, its range or its values."""
    names = _padded(_fitting(marks_for(page.is_ascii), [row[0] for row in columns.rows]))
    room = page.body_width - len(names[0]) - _KIND_AND_MISSING
    _, kind, missing, holds = columns.header
    yield Text(f"{'':<{len(names[0])}}  {kind:<7}  {missing:>7}  {holds}", style="dim")
    for name, (_, kind, missing, most, least) in zip(names, columns.rows, strict=True):
        yield Text(f"{name}  {kind:<7}  {missing:>7}  {most if len(most) <= room else least}")


def _figures(values: Sequence[float], sign: str) -> list[str]:
    """Return numbers with as many decimals as give the first four digits of the largest."""
    largest = abs(values[0])
    if not 1e-3 <= largest < 1e5:
        return [f"{value:{sign}.3e}" for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:{sign}.{decimals}f}" for value in values]


def _fitting(marks: Marks, names: Sequence[str]) -> list[str]:
    """Return the names, cut where they are very long."""
    short_enough = _LONGEST_NAME - len(marks.more)
    return [n if len(n) <= _LONGEST_NAME else n[:short_enough] + marks.more for n in names]


def _padded(names: Sequence[str]) -> list[str]:
    width = max(map(len, names))
    return [name.ljust(width) for name in names]
