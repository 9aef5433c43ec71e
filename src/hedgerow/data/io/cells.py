"""What a cell of a CSV file can be: missing, a number, or text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MISSING",
    "is_missing",
    "is_number",
    "labels_of",
    "numbers_of",
    "position_of",
    "shortened",
    "text_array",
    "whole_where_possible",
]

MISSING = frozenset({"", "NA", "N/A", "nan", "NaN", "null", "?"})
"""The texts that mean a missing value in a cell."""
_LARGEST_EXACT = 2.0**53
_MOST_SHOWN = 100
"""Characters of a cell that a message shows."""
_MOST_FIXED = 64
"""Characters of a text up to which arrays of them have a fixed width."""


def is_missing(cell: str) -> bool:
    """Say whether a stripped cell means a missing value."""
    return cell in MISSING


def is_number(cell: str) -> bool:
    """Say whether a stripped cell is a number."""
    try:
        _number(cell)
    except ValueError:
        return False
    return True


def numbers_of(cells: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the cells as numbers, NaN where missing, or None if some cell is text."""
    try:
        # Cells repeat far more often than not, and looking one up is cheaper than parsing it.
        values = {cell: _number_or_nan(cell.strip()) for cell in set(cells)}
    except ValueError:
        return None
    return np.fromiter(map(values.__getitem__, cells), np.float64, len(cells))


def _number_or_nan(cell: str) -> float:
    return math.nan if cell in MISSING else _number(cell)


def _number(cell: str) -> float:
    """Return the number in a cell; Python's 1_000 is not a number in a file."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell)


def labels_of(cells: NDArray[np.object_], *, as_text: bool) -> NDArray[Any]:
    """Return labels as whole numbers if all are, else as numbers if all are, else as text."""
    values: list[str] = sorted(set(cells.tolist()))
    numbers = {value: number for number, value in enumerate(values)}
    codes = np.fromiter(map(numbers.__getitem__, cells.tolist()), np.int64, len(cells))
    if as_text or not all(is_number(value) and _is_exact(value) for value in values):
        return text_array(values)[codes]
    return whole_where_possible(np.array([float(value) for value in values]))[codes]


def text_array(texts: Sequence[str]) -> NDArray[Any]:
    """Return texts as an array: of fixed width, or of objects if some are long.

    In an array of fixed width each takes as much memory as the longest.
    """
    is_long = max(map(len, texts), default=0) > _MOST_FIXED
    return np.array(texts, dtype=object if is_long else np.str_)


def _is_exact(cell: str) -> bool:
    """Say whether a float holds a number exactly, or it is not an integer."""
    return not cell.lstrip("+-").isdigit() or abs(float(cell)) < _LARGEST_EXACT


def whole_where_possible(numbers: NDArray[np.float64]) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the numbers as integers if all are whole and small enough to be exact."""
    if np.all((numbers == np.floor(numbers)) & (np.abs(numbers) < _LARGEST_EXACT)):
        return numbers.astype(np.int64)
    return numbers


def shortened(cell: str) -> str:
    """Return a cell that fits into a message."""
    return cell if len(cell) <= _MOST_SHOWN else f"{cell[:_MOST_SHOWN]}..."


def position_of(target: str | int | None, n_columns: int) -> int | None:
    """Return a target given as a position, also from the end or as text, counted from 0."""
    try:
        position = int(str(target))
    except ValueError:
        return None
    return position % n_columns if -n_columns <= position < n_columns else None
