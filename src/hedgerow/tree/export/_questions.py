"""How a split is put into words: "age <= 42.5", "colour in {red, green}", and where missing values go."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.tree.export._subject import Subject
from hedgerow.tree.export._writing import number, plain

__all__ = ["OR_MISSING", "Wording", "interval_words", "set_words"]

_NEEDS_QUOTES = frozenset(",{}'\"")
OR_MISSING = " or missing"

LARGEST = sys.float_info.max
"""A threshold that no number is above: it tells numbers from missing values."""


@dataclass(frozen=True)
class Wording:
    """A way to put the splits of a tree into words.

    Attributes
    ----------
    subject : Subject
    number : callable
        A threshold as text.
    pattern : str
        What a feature without a name is called.
    at_most, above : str
        The signs between a feature and a threshold.
    show_missing : bool
        Whether the side says so that takes missing values and categories not seen.
    most : int or None
        How many categories are listed before the rest is only counted.
    safe : callable
        Makes names and categories safe where the words are put; ``pattern`` and signs are so already.
    """

    subject: Subject
    number: Callable[[float], str] = number
    pattern: str = "feature_{}"
    at_most: str = "<="
    above: str = ">"
    show_missing: bool = False
    most: int | None = None
    safe: Callable[[object], str] = plain

    def name(self, node: int) -> str:
        """Return what the feature of a split is called."""
        feature = int(self.subject.tree.feature[node])
        names = self.subject.names
        return self.pattern.format(feature) if names is None else self.safe(names[feature])

    def sides(self, node: int) -> tuple[str, str]:
        """Return what holds for rows that go to the left, and for those that go to the right."""
        tree = self.subject.tree
        name = self.name(node)
        to_left = bool(tree.missing_go_to_left[node])
        if tree.splits_by_categories(node):
            left, right = self.subject.sides(node)
            return self._set(name, left, right, to_left), self._set(name, right, left, not to_left)
        threshold = float(tree.threshold[node])
        if threshold >= LARGEST and not to_left:
            return f"{name} is not missing", f"{name} is missing"
        words = self.number(threshold)
        yes, no = f"{name} {self.at_most} {words}", f"{name} {self.above} {words}"
        show = self.show_missing
        return yes + OR_MISSING * (show and to_left), no + OR_MISSING * (show and not to_left)

    def _set(self, name: str, inside: list[Any], outside: list[Any], missing: bool) -> str:
        return set_words(
            name,
            inside,
            outside,
            missing,
            show_missing=self.show_missing,
            most=self.most,
            safe=self.safe,
        )


def interval_words(name: str, low: float, high: float, missing: bool, *, show_missing: bool) -> str:
    """Return what holds for a number above ``low`` and at most ``high``, or perhaps missing."""
    if low >= min(high, LARGEST):
        return f"{name} is {'missing' if missing else 'nothing'}"
    if low == -math.inf and high >= LARGEST:
        return f"{name} is {'anything' if missing else 'not missing'}"
    if high >= LARGEST:
        words = f"{name} > {number(low)}"
    else:
        words = f"{name} <= {number(high)}"
        words = words if low == -math.inf else f"{number(low)} < {words}"
    return words + OR_MISSING * (show_missing and missing)


def set_words(
    name: str,
    inside: Sequence[Any],
    outside: Sequence[Any],
    missing: bool,
    *,
    show_missing: bool,
    most: int | None = None,
    safe: Callable[[object], str] = plain,
) -> str:
    """Return what holds for a category inside, naming those inside or outside, whichever are fewer."""
    if not inside:
        return f"{name} is {'missing' if missing else 'nothing'}"
    if not outside:
        return f"{name} is {'anything' if missing else 'not missing'}"
    is_negative = len(outside) < len(inside)
    listed = outside if is_negative else inside
    if len(listed) == 1:
        words = f"{name} {'!=' if is_negative else '='} {safe(_category(listed[0]))}"
    else:
        words = f"{name} {'not in' if is_negative else 'in'} {{{_listing(listed, most, safe)}}}"
    return words + OR_MISSING * (show_missing and missing)


def _listing(categories: Sequence[Any], most: int | None, safe: Callable[[object], str]) -> str:
    """Return the categories, or the first ones and how many there are more."""
    n_shown = len(categories) if most is None or len(categories) <= most + 1 else most
    shown = [safe(_category(value)) for value in categories[:n_shown]]
    rest = len(categories) - n_shown
    return ", ".join([*shown, f"… {rest} more"] if rest else shown)


def _category(value: Any) -> str:
    """Return a category as text, in quotes if it would be taken for something else."""
    text = plain(value)
    if isinstance(value, str) and (text != text.strip() or not text or _NEEDS_QUOTES & set(text)):
        return plain(repr(value))
    return text
