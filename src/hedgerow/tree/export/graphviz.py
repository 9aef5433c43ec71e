"""A tree in the language of Graphviz, in the layout of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._parameters import Rule, one_of, text, whole_number
from hedgerow.errors import FileAccessError, ParameterError
from hedgerow.tree.export._questions import Wording
from hedgerow.tree.export._subject import (
    DEPTH,
    FLAG,
    Subject,
    check_options,
    class_names_of,
    subject_of,
)
from hedgerow.tree.export._writing import dot, markup

__all__ = ["export_graphviz"]

_CUT_COLOR = "#C0C0C0"
_MOST_CATEGORIES = 8


def export_graphviz(
    model: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
    show_missing: bool = False,
) -> str | None:
    """Write a tree in DOT, the language of Graphviz.

    For trees of numbers the text is that of ``sklearn.tree.export_graphviz``. ``dot -Tsvg tree.dot``
    draws it; :func:`export_svg` needs no other program.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    out_file : str, path or file open for writing, default=None
        Where the text is to go; None returns it.
    max_depth : int, default=None
        Nodes below are replaced by "(...)"; None shows all.
    feature_names : list of str, default=None
        By default the columns' names of fit, or x[0], x[1] and so on.
    class_names : list or True, default=None
        What classes are called in the line that names the most frequent one, which is there only if
        this is given; True calls them y[0], y[1] and so on. Not for trees of several outputs.
    label : {"all", "root", "none"}, default="all"
        Which nodes say what their figures are.
    filled : bool, default=False
        Whether nodes are painted by class, by value, or by impurity if there are several outputs.
    leaves_parallel : bool, default=False
        Whether all leaves are drawn at the bottom.
    impurity, node_ids : bool, default=True, default=False
        Whether nodes show their impurity and their number.
    proportion : bool, default=False
        Whether rows and classes are shown as shares.
    rotate, rounded : bool, default=False
        Whether the tree grows from left to right, and boxes have round corners.
    special_characters : bool, default=False
        Whether signs such as ≤ are used.
    precision : int, default=3
        Digits behind the point.
    fontname : str, default="helvetica"
        The font.
    show_missing : bool, default=False
        Whether "or missing" is added to questions whose left side takes missing values.

    Returns
    -------
    str or None
        The text, if ``out_file`` is None.
    """
    subject = subject_of(model, "export_graphviz", feature_names)
    options = _Options(
        max_depth=max_depth,
        label=label,
        filled=filled,
        leaves_parallel=leaves_parallel,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        rotate=rotate,
        rounded=rounded,
        special_characters=special_characters,
        precision=precision,
        fontname=fontname,
        show_missing=show_missing,
    )
    check_options("export_graphviz", {k: (getattr(options, k), rule) for k, rule in _RULES.items()})
    look = _look(subject, options, class_names)
    return _deliver("".join([*_head(options), *_body(look), *_ranks(look), "}"]), out_file)


@dataclass(frozen=True)
class _Options:
    """What the caller asked for."""

    max_depth: int | None
    label: str
    filled: bool
    leaves_parallel: bool
    impurity: bool
    node_ids: bool
    proportion: bool
    rotate: bool
    rounded: bool
    special_characters: bool
    precision: int
    fontname: str
    show_missing: bool


_RULES: dict[str, Rule] = {field.name: FLAG for field in fields(_Options)} | {
    "max_depth": DEPTH,
    "label": one_of("all", "root", "none"),
    "precision": whole_number(0),
    "fontname": text,
}


@dataclass(frozen=True)
class _Signs:
    """What stands for signs in a label, and how names are made safe in it."""

    number: str
    subscript: str
    at_most: str
    newline: str
    start: str
    end: str
    escape: Callable[[object], str]


_QUOTED = _Signs("#", "[{}]", "<=", "\\n", '"', '"', dot)
_HTML = _Signs("&#35;", "<SUB>{}</SUB>", "&le;", "<br/>", "<", ">", markup)


@dataclass(frozen=True)
class _Look:
    """The tree and how its nodes are to look."""

    subject: Subject
    options: _Options
    signs: _Signs
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


def _look(subject: Subject, options: _Options, class_names: Any) -> _Look:
    """Return how nodes are to look."""
    signs = _HTML if options.special_characters else _QUOTED
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
    return _Look(
        subject, options, signs, wording, names, _painter(subject) if options.filled else None
    )


def _rounded(value: float, precision: int) -> str:
    """Return a number with at most so many digits behind the point."""
    return str(float(np.round(value, precision)))


def _class_names(subject: Subject, given: Any, signs: _Signs) -> tuple[str, ...] | None:
    """Return what classes are called, ready for a label; None if they are not to be shown."""
    if given is None or given is False or subject.classes is None:
        return None
    if given is not True:
        return tuple(signs.escape(name) for name in class_names_of(subject, given))
    if len(subject.classes) > 1:
        return None
    return tuple(f"y{signs.subscript.format(k)}" for k in range(len(subject.classes[0])))


def _head(options: _Options) -> Iterator[str]:
    """Yield what holds for the whole drawing."""
    font = dot(options.fontname)
    styles = ["filled"] * options.filled + ["rounded"] * options.rounded
    style = f', style="{", ".join(styles)}", color="black"' if styles else ""
    yield f'digraph Tree {{\nnode [shape=box{style}, fontname="{font}"] ;\n'
    if options.leaves_parallel:
        yield "graph [ranksep=equally, splines=polyline] ;\n"
    yield f'edge [fontname="{font}"] ;\n'
    if options.rotate:
        yield "rankdir=LR ;\n"


def _body(look: _Look) -> Iterator[str]:
    """Yield nodes, each with the edge that leads to it."""
    parents = look.subject.tree.parent.tolist()
    for node, depth in look.subject.walk(look.levels):
        is_cut = look.is_cut(depth)
        words = '"(...)"' if is_cut else look.text(node)
        paint = ""
        if look.paint is not None:
            paint = f', fillcolor="{_CUT_COLOR if is_cut else look.paint(node)}"'
        yield f"{node} [label={words}{paint}] ;\n"
        if node:
            yield f"{parents[node]} -> {node}{'' if is_cut else _edge(look, node)} ;\n"


def _edge(look: _Look, node: int) -> str:
    """Return the words at the two edges below the root."""
    tree = look.subject.tree
    if tree.parent[node]:
        return ""
    is_left = bool(node == tree.children_left[0])
    angle = 45 if is_left != look.options.rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{is_left}"]'


def _ranks(look: _Look) -> Iterator[str]:
    """Yield which nodes are drawn at one height, if leaves are to be in one line."""
    if not look.options.leaves_parallel:
        return
    ranks: dict[str, list[str]] = {"leaves": []}
    for node, depth in look.subject.walk(look.levels):
        is_end = look.subject.tree.is_leaf[node] or look.is_cut(depth)
        ranks.setdefault("leaves" if is_end else str(depth), []).append(str(node))
    for rank in sorted(ranks):
        yield "{rank=same ; " + "; ".join(ranks[rank]) + "} ;\n"


# ----------------------------------------------------------------------------------------- colours


def _painter(subject: Subject) -> Callable[[int], str]:
    """Return what gives each node its colour."""
    tree = subject.tree
    if tree.n_outputs > 1 or subject.classes is None:
        measure = -tree.impurity if tree.n_outputs > 1 else tree.value[:, 0, 0]
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


def _deliver(source: str, out_file: Any) -> str | None:
    """Return the text, or write it where it is to go."""
    if out_file is None:
        return source
    if hasattr(out_file, "write"):
        out_file.write(source)
        return None
    if not isinstance(out_file, str | os.PathLike):
        msg = f"out_file={out_file!r} is nothing to write to; give a path, a file open for writing, or None"
        raise ParameterError(msg)
    try:
        Path(out_file).write_text(source, encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"{out_file} cannot be written: {error.strerror}") from error
    return None
