"""Hints at what to do next, and those that a table alone gives rise to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hedgerow.describe.profile import Profile

__all__ = ["TABLE_RULES", "Hint", "table_hints"]

_FEW_ROWS = 5


@dataclass(frozen=True)
class Hint:
    """Something worth trying.

    Attributes
    ----------
    name : str
        A fixed name, for programs.
    sentence : str
        What was seen and what to do, for people.
    learner : str
        A learner to try instead, as an expression of Python, or nothing.
    """

    name: str
    sentence: str
    learner: str = ""


def table_hints(profile: Profile) -> tuple[Hint, ...]:
    """Return the hints that a table alone gives rise to, before any model."""
    hints = [Hint(name, rule(profile)) for name, rule in TABLE_RULES.items()]
    return tuple(hint for hint in hints if hint.sentence)


def _row_numbers(profile: Profile) -> str:
    return _about(
        profile.row_numbers,
        "only counts the rows",
        "remove it, because it can leak the order of the file",
    )


def _identifiers(profile: Profile) -> str:
    return _about(
        profile.identifiers,
        "has nearly as many texts as rows",
        "remove it if it only names the row, and write numbers with a decimal point",
    )


def _mostly_missing(profile: Profile) -> str:
    return _about(
        profile.mostly_missing,
        "is missing in more than half of the rows",
        "remove it or find its values",
    )


def _rare_classes(profile: Profile) -> str:
    rare = [repr(label) for label, count in profile.classes.items() if count < _FEW_ROWS]
    if not rare:
        return ""
    return (
        f"Fewer than {_FEW_ROWS} rows have the label {', '.join(rare[:5])}"
        f"{' or others' if len(rare) > 5 else ''}: add rows or join classes."
    )


def _about(columns: tuple[str, ...], what: str, remedy: str) -> str:
    """Return a sentence about the first of some columns, and how many more there are."""
    if not columns:
        return ""
    more = f" (and {len(columns) - 1} more like it)" if len(columns) > 1 else ""
    return f"Column {columns[0]!r}{more} {what}: {remedy}."


TABLE_RULES: dict[str, Callable[[Profile], str]] = {
    "row_numbers": _row_numbers,
    "identifiers": _identifiers,
    "mostly_missing": _mostly_missing,
    "rare_classes": _rare_classes,
}
"""For each hint a function of the profile that returns its sentence, or nothing."""
