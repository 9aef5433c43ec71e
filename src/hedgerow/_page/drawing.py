"""Lines of characters that stand for numbers: points with intervals, and bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Axis", "Marks", "aligned", "bar", "marks_for"]


@dataclass(frozen=True)
class Marks:
    """The characters that drawings are made of."""

    line: str = "─"
    left: str = "├"
    right: str = "┤"
    point: str = "●"
    zero: str = "┊"
    chosen: str = "▸"
    error: str = "±"
    bar: str = "█"
    negative_bar: str = "░"
    more: str = "…"


_ASCII = Marks("-", "|", "|", "o", ":", ">", "+", "#", "=", "~")


def marks_for(is_ascii: bool) -> Marks:
    """Return the characters that can be shown."""
    return _ASCII if is_ascii else Marks()


@dataclass(frozen=True)
class Axis:
    """A line of characters that stands for the numbers from low to high."""

    low: float
    high: float
    width: int

    def ends(self, figure: Callable[[float], str]) -> str:
        """Return the two ends in figures."""
        left, right = figure(self.low), figure(self.high)
        if self.low == self.high:
            return left
        return left + right.rjust(self.width - len(left))

    def whisker(
        self, marks: Marks, low: float, point: float, high: float, zero: float | None = None
    ) -> str:
        """Draw a point and its interval, and where zero is if that is asked for."""
        left, right = self._place(low), self._place(high)
        line = [" "] * self.width
        line[left : right + 1] = [marks.line] * (right - left + 1)
        if zero is not None:
            line[self._place(zero)] = marks.zero
        line[left], line[right] = marks.left, marks.right
        line[self._place(point)] = marks.point
        return "".join(line).rstrip()

    def _place(self, number: float) -> int:
        if self.high <= self.low:
            return 0
        share = (min(number, self.high) - self.low) / (self.high - self.low)
        return round(share * (self.width - 1))


def bar(marks: Marks, share: float, width: int) -> str:
    """Draw a bar of a share of the width, never quite nothing; a negative share looks different."""
    return (marks.bar if share >= 0 else marks.negative_bar) * max(1, round(abs(share) * width))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines of one width: the first cell to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])])
        for first, *others in rows
    ]
