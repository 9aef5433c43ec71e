"""The whole of a picture of a tree: where the cards stand, the lines between them, and the legend."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hedgerow.tree.export._svg_cards import CARD_HEIGHT, Card, Look, count, pixels
from hedgerow.tree.export._svg_style import (
    RAMP,
    STRONGEST,
    WEAKEST,
    shortened,
    style_sheet,
    text_width,
)
from hedgerow.tree.export._tidy import places
from hedgerow.tree.export._writing import markup, number

__all__ = ["Picture"]

_LEVEL = CARD_HEIGHT + 56
_GAP = 18
_MARGIN = 20
_HEADING, _LEGEND = 16, 12
_LEGEND_LINE = 22
_LEAST_WIDTH = 360
_MOST_IN_LEGEND = 16
_RAMP_WIDTH = 120
_THICKEST, _THINNEST = 11, 1
"""Pixels of the line that all rows go along, and of one that hardly any do."""


@dataclass(frozen=True)
class Picture:
    """A picture of a tree down to some depth.

    Attributes
    ----------
    look : Look
        The tree and how it is to look.
    max_depth : int or None
        The depth at which branches are cut.
    title : str or None
        A heading.
    theme : str
        "auto", "light" or "dark".
    """

    look: Look
    max_depth: int | None
    title: str | None
    theme: str

    def render(self) -> str:
        """Return the picture as SVG."""
        scope = self._scope
        name, description = f"{scope}-title", f"{scope}-desc"
        size = f'width="{pixels(self._width)}" height="{pixels(self._height)}"'
        view = f'viewBox="0 0 {pixels(self._width)} {pixels(self._height)}"'
        label = f'role="img" aria-labelledby="{name} {description}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{scope}" {size} {view} {label}>',
            f'<title id="{name}">{markup(self.title or self._facts)}</title>',
            f'<desc id="{description}">{markup(self._description)}</desc>',
            f"<style>{style_sheet(scope, self.theme)}</style>",
            '<rect class="paper" width="100%" height="100%"/>',
            *self._heading(),
            *self._legend(),
            *self._edges(),
            *self._drawn_cards(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    # ------------------------------------------------------------------------------------- places

    @cached_property
    def cards(self) -> list[Card]:
        """The cards, a parent's before those of its children."""
        is_leaf = self.look.subject.tree.is_leaf
        return [
            self.look.card(node, depth == self.max_depth and not is_leaf[node])
            for node, depth in sorted(self.look.subject.walk(self.max_depth))
        ]

    @cached_property
    def _children(self) -> tuple[list[int], list[int]]:
        """The places of the children among the cards; -1 for cards without."""
        tree = self.look.subject.tree
        place = {card.node: k for k, card in enumerate(self.cards)}
        left, right = (
            [place[int(side[card.node])] if card.kind == "question" else -1 for card in self.cards]
            for side in (tree.children_left, tree.children_right)
        )
        return left, right

    @cached_property
    def _middles(self) -> list[float]:
        """The middles of the cards; the leftmost edge is 0."""
        return places(*self._children, [card.width for card in self.cards], _GAP)

    @cached_property
    def _tree_width(self) -> float:
        return max(x + card.width / 2 for x, card in zip(self._middles, self.cards, strict=True))

    @cached_property
    def _width(self) -> float:
        heading = text_width(self.title or "", _HEADING)
        return max(self._tree_width, heading, _LEAST_WIDTH) + 2 * _MARGIN

    @cached_property
    def _top(self) -> float:
        """Where the root's card begins."""
        heading = _HEADING + 14 if self.title else 0
        return _MARGIN + heading + _LEGEND_LINE * (self._entries[-1][1] + 1) + 12

    @cached_property
    def _height(self) -> float:
        depth = self.look.subject.tree.depth
        deepest = max(int(depth[card.node]) for card in self.cards)
        return self._top + deepest * _LEVEL + CARD_HEIGHT + _MARGIN

    def _corner(self, place: int) -> tuple[float, float]:
        """Return the middle and the top of a card in the picture."""
        spare = self._width - 2 * _MARGIN - self._tree_width
        depth = int(self.look.subject.tree.depth[self.cards[place].node])
        return _MARGIN + spare / 2 + self._middles[place], self._top + depth * _LEVEL

    # -------------------------------------------------------------------------------------- words

    @cached_property
    def _facts(self) -> str:
        tree = self.look.subject.tree
        kind = "Regression" if self.look.subject.classes is None else "Classification"
        return f"{kind} tree with {count(tree.n_leaves, 'leaf', 'leaves')}"

    @cached_property
    def _description(self) -> str:
        """What the picture shows, for those who do not see it."""
        tree = self.look.subject.tree
        rows = count(int(tree.n_node_samples[0]), "row")
        words = [f"{self._facts}, {tree.max_depth} deep, grown on {rows}."]
        if not tree.is_leaf[0]:
            words.append(f"The first question: {self.look.wording.sides(0)[0]}.")
        n_cut = sum(card.kind == "cut" for card in self.cards)
        if n_cut:
            words.append(f"{count(n_cut, 'branch', 'branches')} not shown, marked with ….")
        return " ".join(words)

    @cached_property
    def _scope(self) -> str:
        """A name that another picture on the same page does not have."""
        told = repr((self.cards, self.look.class_names, self.title, self.theme))
        return "tree-" + hashlib.blake2s(told.encode(), digest_size=5).hexdigest()

    # ------------------------------------------------------------------------------------ drawing

    def _heading(self) -> Iterator[str]:
        if self.title:
            place = f'x="{_MARGIN}" y="{_MARGIN + _HEADING}" font-size="{_HEADING}"'
            yield f'<text class="ink b" {place}>{markup(self.title)}</text>'

    @cached_property
    def _entries(self) -> list[tuple[float, int, str, str]]:
        """The classes in the legend: how far to the right, on which line, the name, the colour."""
        names = list(self.look.class_names[:_MOST_IN_LEGEND])
        colors = self.look.colors[: len(names)]
        if len(self.look.class_names) > len(names):
            names.append(f"… {len(self.look.class_names) - len(names)} more")
            colors = [*colors, "none"]
        entries: list[tuple[float, int, str, str]] = []
        x, line = 0.0, 0
        for name, color in zip(names, colors, strict=True):
            shown = shortened(name, _LEGEND, self._width - 2 * _MARGIN - 40)
            room = text_width(shown, _LEGEND) + 36
            if x and x + room > self._width - 2 * _MARGIN:
                x, line = 0.0, line + 1
            entries.append((x, line, shown, color))
            x += room
        return entries or [(0.0, 0, "", "none")]

    def _legend(self) -> Iterator[str]:
        bottom = self._top - 12 - _LEGEND_LINE * (self._entries[-1][1] + 1)
        if not self.look.class_names:
            yield from self._ramp(bottom)
            return
        for x, line, name, color in self._entries:
            y = bottom + line * _LEGEND_LINE
            left = _MARGIN + x
            yield f'<rect x="{pixels(left)}" y="{pixels(y)}" width="12" height="12" rx="2" fill="{color}"/>'
            place = f'x="{pixels(left + 18)}" y="{pixels(y + 10.5)}" font-size="{_LEGEND}"'
            yield f'<text class="ink" {place}>{markup(name)}</text>'

    def _ramp(self, top: float) -> Iterator[str]:
        """Yield the scale of values, from the lowest to the highest."""
        low, high = map(number, self.look.span)
        left = _MARGIN + text_width(low, _LEGEND) + 6
        text = f'class="ink" y="{pixels(top + 10.5)}" font-size="{_LEGEND}"'
        shade = f"{self._scope}-ramp"
        yield (
            f'<defs><linearGradient id="{shade}">'
            f'<stop offset="0" stop-color="{RAMP}" stop-opacity="{WEAKEST}"/>'
            f'<stop offset="1" stop-color="{RAMP}" stop-opacity="{STRONGEST}"/>'
            "</linearGradient></defs>"
        )
        yield f'<text {text} x="{_MARGIN}">{markup(low)}</text>'
        box = f'x="{pixels(left)}" y="{pixels(top)}" width="{_RAMP_WIDTH}" height="12" rx="2"'
        yield f'<rect {box} fill="url(#{shade})" stroke="{RAMP}"/>'
        yield f'<text {text} x="{pixels(left + _RAMP_WIDTH + 6)}">{markup(high)}</text>'

    def _edges(self) -> Iterator[str]:
        """Yield lines that are as thick as many rows go along them, then the words on them."""
        rows = self.look.subject.tree.n_node_samples
        words = []
        for answer, children in zip(("yes", "no"), self._children, strict=True):
            for parent, child in enumerate(children):
                if child < 0:
                    continue
                (x, y), (to_x, to_y) = self._corner(parent), self._corner(child)
                y += CARD_HEIGHT
                half = pixels((y + to_y) / 2)
                share = float(rows[self.cards[child].node] / rows[0])
                width = pixels(max(_THINNEST, _THICKEST * share))
                curve = f"M{pixels(x)} {pixels(y)}C{pixels(x)} {half} {pixels(to_x)} {half} {pixels(to_x)} {pixels(to_y)}"
                yield f'<path class="edge" stroke-width="{width}" d="{curve}"/>'
                place = f'x="{pixels((x + to_x) / 2)}" y="{pixels((y + to_y) / 2 + 4)}"'
                words.append((place, answer))
        for look in ("halo", "soft"):  # not every reader of SVG paints outlines first
            for place, answer in words:
                yield f'<text class="{look} m" {place} font-size="11">{answer}</text>'

    def _drawn_cards(self) -> Iterator[str]:
        for place, card in enumerate(self.cards):
            yield from self.look.draw(card, *self._corner(place))
