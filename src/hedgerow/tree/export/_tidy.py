"""Where the nodes of a drawn tree stand: as close as they can, a parent between its children.

The algorithm is Reingold and Tilford's (1981): subtrees are placed next to each other so that their
outlines just do not touch. An outline is kept as two lists, the left and the right edge of every level,
deepest first. When two subtrees are joined only the levels that both have are looked at, and only the
lists of the deeper one are kept, so that all joins together take linear time; no call is nested.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["places"]


class _Outline:
    """The edges of a subtree on every level, deepest first, relative to its root."""

    __slots__ = ("left", "right", "shift")

    def __init__(self, width: float) -> None:
        self.left = [-width / 2]
        self.right = [width / 2]
        self.shift = 0.0  # to be added to both lists

    def crown(self, width: float) -> None:
        """Put a root of that width on top."""
        self.left.append(-width / 2 - self.shift)
        self.right.append(width / 2 - self.shift)


def places(
    left: Sequence[int], right: Sequence[int], widths: Sequence[float], gap: float
) -> list[float]:
    """Return the middle of every node; the leftmost edge of the drawing is 0.

    ``left`` and ``right`` are the children, which come after their parents; -1 for those without.
    """
    n = len(widths)
    outlines: dict[int, _Outline] = {}
    half = [0.0] * n  # how far the children stand from their parent
    for node in reversed(range(n)):
        if left[node] < 0:
            outlines[node] = _Outline(widths[node])
            continue
        outline, apart = _join(outlines.pop(left[node]), outlines.pop(right[node]), gap)
        outline.crown(widths[node])
        outlines[node] = outline
        half[node] = apart / 2
    middle = [0.0] * n
    for node in range(n):
        if left[node] >= 0:
            middle[left[node]] = middle[node] - half[node]
            middle[right[node]] = middle[node] + half[node]
    start = min(x - width / 2 for x, width in zip(middle, widths, strict=True))
    return [x - start for x in middle]


def _join(first: _Outline, second: _Outline, gap: float) -> tuple[_Outline, float]:
    """Return the outline of two subtrees side by side, and how far their roots are apart."""
    n = min(len(first.left), len(second.left))
    touching = max(a - b for a, b in zip(first.right[-n:], second.left[-n:], strict=True))
    apart = touching + first.shift - second.shift + gap
    first.shift -= apart / 2
    second.shift += apart / 2
    if len(first.left) >= len(second.left):
        offset = second.shift - first.shift
        first.right[-n:] = [x + offset for x in second.right[-n:]]
        return first, apart
    offset = first.shift - second.shift
    second.left[-n:] = [x + offset for x in first.left[-n:]]
    return second, apart
