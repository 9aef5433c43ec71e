"""The cards of a picture of a tree, one a node: what is written on them, and how they look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from hedgerow.tree.export._questions import Wording
from hedgerow.tree.export._subject import Subject
from hedgerow.tree.export._svg_style import (
    BOLDER,
    RAMP,
    STRONGEST,
    WEAKEST,
    class_colors,
    shortened,
    text_width,
)
from hedgerow.tree.export._writing import markup, number, plain

__all__ = ["CARD_HEIGHT", "Card", "Look", "count", "pixels"]

CARD_HEIGHT = 60
_BIG, _SMALL = 13, 11
_PAD, _BAR = 10, 6
_NARROWEST, _WIDEST = 92, 240
_ROOM = _WIDEST - 2 * _PAD
_SHORTER = (
    (None, _ROOM),
    (5, _ROOM),
    (3, _ROOM),
    (2, _ROOM),
    (1, _ROOM),
    (1, 140),
    (1, 90),
    (0, 90),
    (0, 60),
)
"""Categories that are listed, and the room for a name, in the order in which they are tried."""
_LEAF_TINT = 0.2


@dataclass(frozen=True)
class Card:
    """What is written on the card of a node.

    Attributes
    ----------
    node : int
        The node's number in the tree.
    kind : str
        "question", "leaf", or "cut" where a branch is left out.
    head, foot : str
        The two lines.
    """

    node: int
    kind: str
    head: str
    foot: str

    @cached_property
    def width(self) -> float:
        """How wide the card is."""
        size = _BIG * BOLDER if self.kind == "leaf" else _BIG
        widest = max(text_width(self.head, size), text_width(self.foot, _SMALL))
        return min(max(_NARROWEST, widest + 2 * _PAD), _WIDEST)


@dataclass(frozen=True)
class Look:
    """A tree and how it is to look.

    Attributes
    ----------
    subject : Subject
    wording : Wording
        How questions are put.
    output : int
        The output that is shown.
    class_names : tuple of str
        What its classes are called; empty for regression.
    """

    subject: Subject
    wording: Wording
    output: int
    class_names: tuple[str, ...]

    @cached_property
    def colors(self) -> list[str]:
        """The colours of the classes."""
        return class_colors(len(self.class_names))

    @cached_property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest value of a leaf."""
        values = self.subject.tree.value[self.subject.tree.is_leaf, self.output, 0]
        return float(values.min()), float(values.max())

    def card(self, node: int, is_cut: bool) -> Card:
        """Return what is written on the card of a node."""
        rows = count(int(self.subject.tree.n_node_samples[node]), "row")
        if is_cut:
            leaves = count(int(self.subject.n_leaves_below[node]), "leaf", "leaves")
            return Card(node, "cut", "…", f"{leaves}, {rows}")
        if not self.subject.tree.is_leaf[node]:
            return Card(node, "question", self._question(node), rows)
        head = shortened(self._prediction(node), _BIG * BOLDER, _ROOM)
        if self.class_names:
            rows += f" · {number(100 * max(self._shares(node)), 3)} %"
        return Card(node, "leaf", head, rows)

    def _question(self, node: int) -> str:
        """Return what is asked: if there is no room, fewer categories, then shorter names."""
        for most, longest in _SHORTER:
            safe = partial(_name_within, longest)
            words = replace(self.wording, most=most, safe=safe).sides(node)[0]
            if text_width(words, _BIG) <= _ROOM:
                break
        return shortened(words, _BIG, _ROOM)

    def _prediction(self, node: int) -> str:
        if self.class_names:
            return self.class_names[int(self.subject.winners[node, self.output])]
        return number(self._value(node))

    def _shares(self, node: int) -> list[float]:
        return self.subject.shares(node)[self.output]

    def _value(self, node: int) -> float:
        return float(self.subject.tree.value[node, self.output, 0])

    def _height(self, node: int) -> float:
        """Return where the node's value lies between the lowest and the highest of a leaf."""
        low, high = self.span
        return min(max((self._value(node) - low) / (high - low), 0.0), 1.0) if high > low else 0.5

    def details(self, node: int) -> str:
        """Return all that is known of a node, a line each."""
        tree = self.subject.tree
        lines = [f"node {node}"]
        if not tree.is_leaf[node]:
            lines.append(replace(self.wording, show_missing=True).sides(node)[0])
        lines.append(count(int(tree.n_node_samples[node]), "row"))
        weight = float(tree.weighted_n_node_samples[node])
        if weight != tree.n_node_samples[node]:
            lines.append(f"weight {number(weight)}")
        lines.append(f"{self.subject.criterion} {number(float(tree.impurity[node]))}")
        lines.append(f"predicts {self._prediction(node)}")
        if self.class_names:
            shares = zip(self.class_names, self._shares(node), strict=True)
            lines += [f"{name}: {number(100 * share, 3)} %" for name, share in shares if share > 0]
        return "\n".join(lines)

    def draw(self, card: Card, middle: float, top: float) -> Iterator[str]:
        """Yield the elements of a card."""
        width = card.width
        left = middle - width / 2
        box = f'x="{pixels(left)}" y="{pixels(top)}" width="{pixels(width)}" height="{CARD_HEIGHT}" rx="6"'
        yield f"<g><title>{markup_lines(self.details(card.node))}</title>"
        dashes = ' stroke-dasharray="4 3"' if card.kind == "cut" else ""
        yield f'<rect class="card" {box}{dashes}/>'
        if card.kind == "leaf":
            color, strength = self._paint(card.node)
            yield f'<rect {box} fill="{color}" fill-opacity="{strength:.2f}" stroke="{color}" stroke-width="1.5"/>'
        at = f'x="{pixels(middle)}"'
        head, foot = ("ink m b", "ink m") if card.kind == "leaf" else ("ink m", "soft m")
        yield f'<text class="{head}" {at} y="{pixels(top + 20)}" font-size="{_BIG}">{markup(card.head)}</text>'
        yield f'<text class="{foot}" {at} y="{pixels(top + 36)}" font-size="{_SMALL}">{markup(card.foot)}</text>'
        bar = self._share_bar if self.class_names else self._value_bar
        yield from bar(
            card.node, left + _PAD, top + CARD_HEIGHT - _PAD - _BAR + 2, width - 2 * _PAD
        )
        yield "</g>"

    def _paint(self, leaf: int) -> tuple[str, float]:
        """Return the colour of a leaf and how strong it is."""
        if self.class_names:
            return self.colors[self.subject.winners[leaf, self.output]], _LEAF_TINT
        return RAMP, WEAKEST + (STRONGEST - WEAKEST) * self._height(leaf)

    def _share_bar(self, node: int, left: float, top: float, width: float) -> Iterator[str]:
        """Yield a bar of the shares of the classes."""
        for color, share in zip(self.colors, self._shares(node), strict=True):
            if share > 0:
                yield _rect(left, top, share * width, _BAR, f'fill="{color}"')
                left += share * width

    def _value_bar(self, node: int, left: float, top: float, width: float) -> Iterator[str]:
        """Yield a line from the lowest to the highest value, and a dot where the node's is."""
        yield _rect(left, top + _BAR / 2 - 1, width, 2, 'class="track"')
        x = left + width * self._height(node)
        yield f'<circle cx="{pixels(x)}" cy="{pixels(top + _BAR / 2)}" r="4" fill="{RAMP}"/>'


def _name_within(room: float, value: object) -> str:
    """Return a name, cut where the room ends."""
    return shortened(plain(value), _BIG, room)


def _rect(left: float, top: float, width: float, height: float, look: str) -> str:
    place = f'x="{pixels(left)}" y="{pixels(top)}"'
    return f'<rect {place} width="{pixels(width)}" height="{pixels(height)}" {look}/>'


def count(n: int, one: str, many: str = "") -> str:
    """Return how many there are of something."""
    return f"{n:,} {one if n == 1 else many or one + 's'}".replace(",", " ")


def pixels(value: float) -> str:
    """Return a length to the tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def markup_lines(lines: str) -> str:
    """Return lines as text inside an element, still as lines."""
    return "\n".join(map(markup, lines.split("\n")))
