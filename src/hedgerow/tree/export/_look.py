"""What the box of a node says and how it is coloured, in Graphviz and in Matplotlib alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import Rule, one_of, text, whole_number
from hedgerow.tree.export._questions import Wording
from hedgerow.tree.export._subject import DEPTH, FLAG, Subject, check_options, class_names_of
from hedgerow.tree.export._writing import dot, markup, plain

__all__ = ["CUT_COLOR", "HTML", "PLAIN", "QUOTED", "Look", "Options", "look_of"]

CUT_COLOR = "#C0C0C0"
"""Of nodes that only say that there is more below."""

_MOST_CATEGORIES = 8


@dataclass(frozen=True)
class Options:
    """What the caller asked for."""

    max_depth: int | None
    label: str
    filled: bool
    impurity: bool
    node_ids: bool
    proportion: bool
    rounded: bool
    precision: int
    show_missing: bool
    leaves_parallel: bool = False
    rotate: bool = False
    special_characters: bool = False
    fontname: str = "helvetica"


_RULES: dict[str, Rule] = {field.name: FLAG for field in fields(Options)} | {
    "max_depth": DEPTH,
    "label": one_of("all", "root", "none"),
    "precision": whole_number(0),
    "fontname": text,
}


@dataclass(frozen=True)
class Signs:
    """What stands for signs in a label, and how names are made safe in it."""

    number: str
    subscript: str
    at_most: str
    newline: str
    start: str
    end: str
    escape: Callable[[object], str]


QUOTED = Signs("#", "[{}]", "<=", "\\n", '"', '"', dot)
PLAIN = Signs("#", "[{}]", "<=", "\n", "", "", plain)
HTML = Signs("&#35;", "<SUB>{}</SUB>", "&le;", "<br/>", "<", ">", markup)


@dataclass(frozen=True)
class Look:
    """The tree and how its nodes are to look."""

    subject: Subject
    options: Options
    signs: Signs
    wording: Wording
    class_names: tuple[str, ...] | None
    paint: Callable[[int], str] | None

    def text(self, node: int) -> str:
        """Return the label of a node."""
        tree, asked = self.subject.tree, self.options
        is_told = asked.label == "all" or (asked.label == "root" and node == 0)
        lines = []
        if asked.node_ids:
            lines.append("node " * is_told + f"{self.signs.number}{node}")
        if not tree.is_leaf[node]:
            lines.append(self.wording.sides(node)[0])
        if asked.impurity:
            impurity = _rounded(tree.impurity[node], asked.precision)
            lines.append(f"{self.signs.escape(self.subject.criterion)} = " * is_told + impurity)
        lines.append("samples = " * is_told + self.rows(node))
        lines.append("value = " * is_told + self.values(node))
        if self.class_names is not None:
            winner = self.class_names[self.subject.winners[node, 0]]
            lines.append("class = " * is_told + winner)
        return self.signs.start + self.signs.newline.join(lines) + self.signs.end

    def rows(self, node: int) -> str:
        """Return how many rows came to a node."""
        rows = self.subject.tree.n_node_samples
        if not self.options.proportion:
            return str(int(rows[node]))
        return f"{_rounded(100.0 * rows[node] / rows[0], 1)}%"

    def values(self, node: int) -> str:
        """Return the weights or shares of classes, or the values predicted."""
        value = self.subject.tree.value[node]
        if self.subject.classes is not None and not self.options.proportion:
            value = value * self.subject.tree.weighted_n_node_samples[node]
            if np.all(np.mod(value, 1) == 0):
                return self._table(value.astype(np.int64))
        value = np.around(value, self.options.precision)
        if self.subject.classes is None and value.size == 1:
            return str(value.item())
        return self._table(value)

    def _table(self, value: NDArray[Any]) -> str:
        rows = [f"[{', '.join(map(str, row))}]" for row in value.tolist()]
        return rows[0] if len(rows) == 1 else f"[{self.signs.newline.join(rows)}]"

    @property
    def levels(self) -> int | None:
        """The depth of the deepest nodes that are drawn, if only as a mark."""
        return None if self.options.max_depth is None else self.options.max_depth + 1

    def is_cut(self, depth: int) -> bool:
        """Say whether nodes of this depth are only marked."""
        return self.options.max_depth is not None and depth > self.options.max_depth


def look_of(
    function: str, subject: Subject, options: Options, class_names: Any, signs: Signs
) -> Look:
    """Return how the export of that name draws nodes; refuse options that cannot be."""
    check_options(function, {k: (getattr(options, k), rule) for k, rule in _RULES.items()})
    wording = Wording(
        subject,
        number=lambda value: _rounded(value, options.precision),
        pattern=f"x{signs.subscript}",
        at_most=signs.at_most,
        show_missing=options.show_missing,
        most=_MOST_CATEGORIES,
        safe=signs.escape,
    )
    names = _class_names(subject, class_names, signs)
    return Look(
        subject, options, signs, wording, names, _painter(subject) if options.filled else None
    )


def _rounded(value: float, precision: int) -> str:
    """Return a number with at most so many digits behind the point."""
    return str(float(np.round(value, precision)))


def _class_names(subject: Subject, given: Any, signs: Signs) -> tuple[str, ...] | None:
    """Return what classes are called, ready for a label; None if they are not to be shown."""
    if given is None or given is False or subject.classes is None:
        return None
    if given is not True:
        return tuple(signs.escape(name) for name in class_names_of(subject, given))
    if len(subject.classes) > 1:
        return None
    return tuple(f"y{signs.subscript.format(k)}" for k in range(len(subject.classes[0])))


# ----------------------------------------------------------------------------------------- colours


def _painter(subject: Subject) -> Callable[[int], str]:
    """Return what gives each node its colour."""
    tree = subject.tree
    if tree.n_outputs > 1 or subject.classes is None:
        measure = np.nan_to_num(-tree.impurity) if tree.n_outputs > 1 else tree.value[:, 0, 0]
        low, high = float(np.min(measure)), float(np.max(measure))
        color = _hues(1)[0]
        return lambda node: _mixed(color, (measure[node] - low) / (high - low) if high > low else 0)
    colors = _hues(len(subject.classes[0]))

    def paint(node: int) -> str:
        first, *rest = sorted(tree.value[node, 0].tolist(), reverse=True)
        strength = (first - rest[0]) / (1 - rest[0]) if rest else 0.0
        return _mixed(colors[int(subject.winners[node, 0])], strength)

    return paint


def _mixed(color: tuple[int, int, int], strength: float) -> str:
    """Return the colour in that strength over white."""
    mixed = (round(strength * part + (1 - strength) * 255) for part in color)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _hues(n: int) -> list[tuple[int, int, int]]:
    """Return colours of evenly spread hues, those of scikit-learn."""
    chroma, base = 0.75 * 0.9, 0.9 - 0.75 * 0.9
    colors = []
    for hue in np.arange(25, 385, 360.0 / n).astype(int).tolist():
        middle = chroma * (1 - abs(hue / 60 % 2 - 1))
        sixths = (
            (chroma, middle, 0.0),
            (middle, chroma, 0.0),
            (0.0, chroma, middle),
            (0.0, middle, chroma),
            (middle, 0.0, chroma),
            (chroma, 0.0, middle),
        )
        red, green, blue = (int(255 * (part + base)) for part in sixths[hue // 60 % 6])
        colors.append((red, green, blue))
    return colors
