"""CSV files: read in pieces, so that memory holds numbers and not text.

A column starts as numbers. If its first piece holds text, it is a text column from then on; if text
occurs later, the file is read once more with that column as text, so that cells such as 007 are kept
as they are written.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.io.cells import is_missing, labels_of, numbers_of, position_of
from hedgerow.data.io.sniff import Layout, sniff_layout
from hedgerow.data.io.source import DAMAGE, LONGEST_LINE, Source
from hedgerow.data.io.table import Table, missing_mask
from hedgerow.data.rows import some
from hedgerow.errors import FileFormatError

__all__ = [
    "CsvRequest",
    "column_names",
    "csv_pieces",
    "read_csv",
    "refuse_missing_target",
    "target_position",
]

_CELLS_IN_A_PIECE = 200_000


@dataclass(frozen=True)
class CsvRequest:
    """The arguments of read_table that concern CSV files; see there."""

    target: str | int | None
    require_target: bool
    n_features: int | None
    text_columns: frozenset[str]


@dataclass
class _Column:
    """One column while it is read."""

    name: str
    is_text: bool
    pieces: list[NDArray[Any]] = field(default_factory=list)
    turned_to_text: bool = False
    _known: dict[str, str | None] = field(default_factory=dict)

    def add(self, cells: tuple[str, ...]) -> None:
        """Append a piece; once text occurs in a later piece, nothing more is kept."""
        if self.turned_to_text:
            return
        numbers = None if self.is_text else numbers_of(cells)
        if numbers is not None:
            self.pieces.append(numbers)
        elif self.is_text or not self.pieces:
            self.is_text = True
            self.pieces.append(self._texts(cells))
        else:
            self.turned_to_text = True

    def values(self) -> NDArray[Any]:
        """Return the whole column."""
        return np.concatenate(self.pieces)

    def _texts(self, cells: tuple[str, ...]) -> NDArray[np.object_]:
        """Return stripped texts, None where missing; equal texts share one object."""
        known = self._known
        for cell in set(cells).difference(known):
            text = cell.strip()
            known[cell] = None if is_missing(text) else text
        return np.array([known[cell] for cell in cells], dtype=object)


def read_csv(source: Source, head: list[bytes], request: CsvRequest) -> Table:
    """Read a CSV file whose first lines are known."""
    layout = sniff_layout(source.path, head, request.target)
    names = column_names(source, layout)
    position = target_position(source, layout, names, request)
    if not layout.has_header:
        names = _numbered_names(len(names), position)
    columns = _read_columns(source, layout, names, position, request.text_columns)
    if not columns[0].pieces:
        raise FileFormatError(source.path, None, "there is a header but no row; add rows")
    return _table(columns, layout, position, request)


def _table(
    columns: list[_Column], layout: Layout, position: int | None, request: CsvRequest
) -> Table:
    features = {c.name: c.values() for i, c in enumerate(columns) if i != position}
    notes = (layout.note(), *_column_notes(features))
    if position is None:
        return Table(features, notes=notes)
    target = columns[position]
    y = labels_of(target.values(), as_text=target.name in request.text_columns)
    return Table(features, y, target.name if layout.has_header else position, notes)


def _column_notes(features: dict[str, NDArray[Any]]) -> Iterator[str]:
    """Say how many columns are text and how many cells are missing."""
    texts = [name for name, values in features.items() if values.dtype == object]
    if texts:
        columns = "1 column is" if len(texts) == 1 else f"{len(texts)} columns are"
        yield f"{columns} text: {some(texts)}."
    n_missing = sum(int(missing_mask(values).sum()) for values in features.values())
    if n_missing:
        yield f"{n_missing:,} missing {'value' if n_missing == 1 else 'values'}."


# ------------------------------------------------------------------------------ names and target


def column_names(source: Source, layout: Layout) -> list[str]:
    """Return the names in the first row, or its cells if it is not a header."""
    first = next(_rows(source, layout), None)
    if first is None:
        raise FileFormatError(source.path, None, "the file is empty; give a table with rows")
    line, cells = first
    if not layout.has_header:
        return cells
    names = [cell.strip() or f"column {i + 1}" for i, cell in enumerate(cells)]
    if len(set(names)) < len(names):
        name, _ = Counter(names).most_common(1)[0]
        problem = f"two columns are called {name!r}; give every column a different name"
        raise FileFormatError(source.path, line, problem)
    return names


def _numbered_names(n_columns: int, position: int | None) -> list[str]:
    """Name the columns of a file without a header; the target does not count."""
    names = [f"x{i}" for i in range(n_columns)]
    if position is not None:
        names = [*names[:position], "target", *names[position:-1]]
    return names


def target_position(
    source: Source, layout: Layout, names: list[str], request: CsvRequest
) -> int | None:
    """Return where the target is, or None if none is asked for or it may be missing and is."""
    target = request.target
    if target is None:
        return None
    if layout.has_header and target in names:
        return names.index(str(target))
    if not request.require_target and (layout.has_header or len(names) == request.n_features):
        return None
    position = position_of(target, len(names))
    if position is None:
        raise FileFormatError(source.path, None, _no_target(layout, names, target))
    if len(names) == 1:
        problem = "the only column is the target; add columns to learn from"
        raise FileFormatError(source.path, None, problem)
    return position


def _no_target(layout: Layout, names: list[str], target: str | int) -> str:
    if not layout.has_header:
        return (
            f"there is no column {target!r} among {len(names)} without names; "
            f"give a position from 0 to {len(names) - 1}, or -1 for the last"
        )
    return f"there is no column {target!r}; choose the target among {some(names, 12)}"


# ------------------------------------------------------------------------------------------ rows


def _read_columns(
    source: Source,
    layout: Layout,
    names: list[str],
    position: int | None,
    text_columns: frozenset[str],
) -> list[_Column]:
    """Read the whole file, a second time if a column turned out to be text late."""
    kept = text_columns if position is None else text_columns | {names[position]}
    while True:
        columns = [_Column(name, name in kept) for name in names]
        for lines, rows in csv_pieces(source, layout, len(names)):
            pieces = list(zip(*rows, strict=True))
            for column, cells in zip(columns, pieces, strict=True):
                column.add(cells)
            if position is not None:
                refuse_missing_target(source, lines, pieces[position])
        late = {column.name for column in columns if column.turned_to_text}
        if not late:
            return columns
        kept |= late


def csv_pieces(
    source: Source, layout: Layout, width: int
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield the rows in pieces of bounded size, with their line numbers."""
    n_rows = max(1, _CELLS_IN_A_PIECE // width)
    lines: list[int] = []
    rows: list[list[str]] = []
    everything = _rows(source, layout)
    if layout.has_header:
        next(everything)
    for line, row in everything:
        if len(row) != width:
            raise FileFormatError(source.path, line, _wrong_width(len(row), width))
        lines.append(line)
        rows.append(row)
        if len(rows) == n_rows:
            yield lines, rows
            lines, rows = [], []
    if rows:
        yield lines, rows


def _wrong_width(n_cells: int, width: int) -> str:
    cells = "1 cell" if n_cells == 1 else f"{n_cells} cells"
    return (
        f"the row has {cells} where the first row has {width}; "
        "add or remove cells, or quote a cell that holds the separator"
    )


def _rows(source: Source, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield every row that is not blank with the line it starts on."""
    with source.open() as stream, io.TextIOWrapper(stream, encoding="utf-8", newline="") as text:
        lines = _lines(source, text)
        reader = csv.reader(lines, delimiter=layout.delimiter, skipinitialspace=True, strict=True)
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                problem = f"the row cannot be split into cells ({error}); check its quotes"
                raise FileFormatError(source.path, line, problem) from error
            except UnicodeDecodeError as error:
                problem = "the bytes are not UTF-8; save the file in UTF-8"
                raise FileFormatError(source.path, _undecodable_line(source), problem) from error
            except DAMAGE as error:
                raise source.damaged(line) from error
            if row is None:
                return
            if row:
                yield line, row


def _lines(source: Source, text: io.TextIOBase) -> Iterator[str]:
    """Yield the lines; refuse a line that is too long for memory."""
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
            raise source.too_long(number)
        yield line


def _undecodable_line(source: Source) -> int | None:
    """Return the first line that is not UTF-8."""
    with source.open() as stream, suppress(*DAMAGE):
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return None


def refuse_missing_target(source: Source, lines: list[int], cells: tuple[str, ...]) -> None:
    """Refuse a row without a label, naming its line."""
    for line, cell in zip(lines, cells, strict=True):
        if is_missing(cell.strip()):
            problem = f"the target is missing ({cell!r}); fill it in or remove the row"
            raise FileFormatError(source.path, line, problem)
