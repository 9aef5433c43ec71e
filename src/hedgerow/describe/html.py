"""A description as HTML: small, without scripts or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from hedgerow.describe.registry import Description
from hedgerow.describe.sections import ColumnTable, Listing, Section, sections_of

__all__ = ["summary_html"]

_BAR_WIDTH = 120
_STYLE = (
    "font: 13px/1.45 system-ui, sans-serif; max-width: 60em; margin-top: .6em; "
    "border-collapse: collapse; text-align: left"
)
_CELL = "vertical-align: top; text-align: left; padding: 2px 12px 2px 0; background: none"


def summary_html(found: Description) -> str:
    """Return a description for the page of a notebook."""
    rows = "".join(map(_row, sections_of(found)))
    return f'<table class="hedgerow-summary" style="{_STYLE}">{rows}</table>'


def _row(section: Section) -> str:
    parts = "".join(_DRAWN[type(part)](part) for part in section.parts)
    label = f'<th scope="row" style="{_CELL}; font-weight: 600">{escape(section.label)}</th>'
    return f'<tr>{label}<td style="{_CELL}">{parts}</td></tr>'


def _bars(listing: Listing) -> str:
    labels = listing.labels or ("",) * len(listing.names)
    rows = []
    bars = zip(listing.names, labels, listing.values, listing.shares, strict=True)
    for name, label, value, share in bars:
        width = max(1, round(abs(share) * _BAR_WIDTH))
        colour = "#4c78a8" if share >= 0 else "#e45756"
        bar = f'<div style="width: {width}px; height: 9px; background: {colour}"></div>'
        sign = "+" if listing.is_signed else ""
        cells = [escape(name), escape(label), f"{value:{sign}.4g}", bar]
        rows.append("".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells if cell))
    return _table(rows)


def _columns(columns: ColumnTable) -> str:
    rows = [columns.header, *(row[:4] for row in columns.rows)]
    return _table(
        ["".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in row) for row in rows]
    )


def _table(rows: list[str]) -> str:
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table style="border-collapse: collapse">{body}</table>'


_DRAWN: dict[type, Callable[[Any], str]] = {
    str: lambda sentence: f"<div>{escape(sentence)}</div>",
    Listing: _bars,
    ColumnTable: _columns,
}
"""How each kind of part is drawn."""
