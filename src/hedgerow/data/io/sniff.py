"""The format of a text file, and the layout of a CSV file, inferred from the first lines."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from hedgerow.data.io.cells import is_missing, is_number, position_of
from hedgerow.errors import FileFormatError, ParameterError

__all__ = ["MOST_COLUMNS", "N_SAMPLED_LINES", "Layout", "check_format", "is_libsvm", "sniff_layout"]

N_SAMPLED_LINES = 100
"""How many lines are read to infer the format."""
MOST_COLUMNS = 2**20
"""The most columns of a CSV file: each takes some 500 bytes, even if it is empty."""

_LIBSVM_LINE = re.compile(rb"[^\s:,;]+(\s+qid:\d+)?(\s+\d+:[^\s:,;]+)+\s*(#.*)?")

# In this order where several fit: a decimal comma must not win against the semicolon around it.
_DELIMITERS = {"\t": "tab", ";": "semicolon", ",": "comma"}


@dataclass(frozen=True)
class Layout:
    """How the cells of a CSV file are separated, and whether its first line names the columns."""

    delimiter: str
    has_header: bool

    def note(self) -> str:
        """Say in one sentence what was inferred."""
        header = "the first line names the columns" if self.has_header else "no header line"
        return f"CSV, cells separated by {_DELIMITERS[self.delimiter]}, {header}."


def check_format(file_format: str, *known: str) -> None:
    """Refuse a format that is neither "auto" nor known."""
    if file_format not in ("auto", *known):
        choice = ", ".join(map(repr, ("auto", *known)))
        raise ParameterError(f"format={file_format!r} is not known; choose one of {choice}")


def is_libsvm(
    path: Path, head: list[bytes], file_format: str, target: str | int | None = None
) -> bool:
    """Say whether a file is in LIBSVM format, in which a target cannot be chosen."""
    if file_format != "libsvm" and not (file_format == "auto" and _looks_like_libsvm(head)):
        return False
    if target is not None:
        msg = (
            f"target={target!r} cannot be chosen in {path}: a LIBSVM file has its labels at the "
            "start of each line; leave target out"
        )
        raise ParameterError(msg)
    return True


def _looks_like_libsvm(head: list[bytes]) -> bool:
    """Say whether most lines are a label and index:value pairs."""
    lines = [line.strip() for line in head]
    lines = [line for line in lines if line and not line.startswith(b"#")]
    n_like = sum(_LIBSVM_LINE.fullmatch(line) is not None for line in lines)
    return 2 * n_like > len(lines)


def sniff_layout(path: Path, head: list[bytes], target: str | int | None) -> Layout:
    """Infer the layout from the first lines; a target found in the first one makes it a header."""
    for number, line in enumerate(head, start=1):
        _refuse_too_many_cells(path, number, line)
    text = b"".join(head).decode("utf-8", errors="replace")
    regularity = {delimiter: _regularity(text, delimiter) for delimiter in _DELIMITERS}
    delimiter = max(regularity, key=lambda candidate: regularity[candidate])
    delimiter = delimiter if regularity[delimiter] else ","
    rows = _rows(text, delimiter)
    has_header = bool(rows) and (_is_name(target, rows[0]) or _is_header(rows[0], rows[1:]))
    return Layout(delimiter, has_header)


def _refuse_too_many_cells(path: Path, number: int, line: bytes) -> None:
    """Refuse a line with too many cells before they are read."""
    if len(line) <= MOST_COLUMNS:
        return
    n_cells = 1 + max(line.count(delimiter.encode()) for delimiter in _DELIMITERS)
    if n_cells > MOST_COLUMNS:
        problem = (
            f"the line has {n_cells:,} cells, where a CSV file may have {MOST_COLUMNS:,} columns; "
            "give fewer columns, or a LIBSVM file, which needs no cell for a zero"
        )
        raise FileFormatError(path, number, problem)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the stripped cells of the rows up to the first that cannot be split into cells."""
    rows: list[list[str]] = []
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True
        )
        rows.extend([cell.strip() for cell in row] for row in reader if row)
    except csv.Error:
        return rows
    return rows


def _is_name(target: str | int | None, first: list[str]) -> bool:
    """Say whether the target is a cell of the first row and cannot be meant as a position."""
    if target not in first:
        return False
    return position_of(target, len(first)) is None


def _regularity(text: str, delimiter: str) -> float:
    """Return the share of rows that have the most frequent number of cells; 0 if that is one."""
    widths = Counter(len(row) for row in _rows(text, delimiter))
    if not widths:
        return 0.0
    width, count = widths.most_common(1)[0]
    return count / widths.total() if width > 1 else 0.0


def _is_header(first: list[str], rest: list[list[str]]) -> bool:
    """Say whether the first row names columns instead of holding values.

    Names are distinct texts, above a column of numbers or not repeated in any column.
    """
    # A number with a decimal comma is read as text, but is not the name of a column.
    numbers = [is_number(cell.replace(",", ".")) for cell in first]
    if any(numbers) or any(cell and is_missing(cell) for cell in first):
        return False
    if len(set(first)) < len(first):
        return False
    rest = [row for row in rest if len(row) == len(first)]
    columns = [
        [cell for cell in column if not is_missing(cell)] for column in zip(*rest, strict=True)
    ]
    if any(column and all(is_number(cell) for cell in column) for column in columns):
        return True
    return all(name not in column for name, column in zip(first, columns, strict=False))
