"""A tree as indented text, in the layout of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._base.parameters import whole_number
from hedgerow.errors import ParameterError
from hedgerow.tree.export._questions import Wording
from hedgerow.tree.export._subject import (
    DEPTH,
    FLAG,
    Subject,
    check_options,
    class_names_of,
    subject_of,
)
from hedgerow.tree.export._writing import plain

__all__ = ["export_text"]

_LONGEST = 500_000_000
"""The most characters of indentation of a useful text."""


def export_text(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
    show_missing: bool = False,
) -> str:
    """Return a tree as indented text, with a line for each side of a split and for each leaf.

    For trees of numeric features with one output, the text is that of ``sklearn.tree.export_text``,
    except for splits that only test for missing values.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or feature_0, feature_1 and
        so on.
    class_names : list, default=None
        The names of the classes; by default ``classes_``. Not for trees with several outputs.
    max_depth : int or None, default=10
        The maximum depth; deeper branches are replaced by a line that gives their depth. None shows
        all.
    spacing : int, default=3
        The number of spaces per level.
    decimals : int, default=2
        The number of decimal places.
    show_weights : bool, default=False
        Whether to show the weight of each class in the leaves.
    show_missing : bool, default=False
        Whether to mark the side that takes missing values and unknown categories with "or missing".

    Returns
    -------
    str
        The text.

    See Also
    --------
    export_rules : One line per leaf.
    """
    subject = subject_of(decision_tree, "export_text", feature_names)
    check_options(
        "export_text",
        {
            "max_depth": (max_depth, DEPTH),
            "spacing": (spacing, whole_number(1)),
            "decimals": (decimals, whole_number(0)),
            "show_weights": (show_weights, FLAG),
            "show_missing": (show_missing, FLAG),
        },
    )
    names = () if subject.classes is None else class_names_of(subject, class_names)
    layout = _Layout(subject, names, max_depth, spacing, decimals, show_weights)
    _refuse_too_long(layout)
    wording = Wording(
        subject, lambda value: f"{value:.{decimals}f}", above="> ", show_missing=show_missing
    )
    return "".join(f"{line}\n" for line in _lines(layout, wording))


@dataclass(frozen=True)
class _Layout:
    """The tree and how its lines are to look."""

    subject: Subject
    class_names: tuple[Any, ...]
    max_depth: int | None
    spacing: int
    decimals: int
    show_weights: bool

    def indent(self, depth: int) -> str:
        """Return what stands before the words of a line."""
        return ("|" + " " * self.spacing) * depth + "|" + "-" * self.spacing

    def leaf(self, node: int) -> str:
        """Return the words of a leaf."""
        if self.subject.classes is None:
            return f" value: {self._vector(self.subject.predictions(node))}"
        labels = self.subject.predictions(node)
        if len(labels) == 1:
            called = plain(self.class_names[self.subject.winners[node, 0]])
        else:
            called = f"[{', '.join(map(plain, labels))}]"
        return f"{self._weights(node) if self.show_weights else ''} class: {called}"

    def _weights(self, node: int) -> str:
        weight = float(self.subject.tree.weighted_n_node_samples[node])
        each = [self._vector([v * weight for v in row]) for row in self.subject.shares(node)]
        return f" weights: {each[0] if len(each) == 1 else '[' + ', '.join(each) + ']'}"

    def _vector(self, values: list[float]) -> str:
        return "[" + ", ".join(f"{value:.{self.decimals}f}" for value in values) + "]"


def _lines(layout: _Layout, wording: Wording) -> list[str]:
    """Return the lines of the text."""
    tree = layout.subject.tree
    lines: list[str] = []
    stack: list[tuple[int, int, str | None]] = [(0, 0, None)]
    while stack:
        node, depth, heading = stack.pop()
        if heading is not None:
            lines.append(f"{layout.indent(depth - 1)} {heading}")
        if tree.is_leaf[node]:
            lines.append(layout.indent(depth) + layout.leaf(node))
        elif layout.max_depth is not None and depth > layout.max_depth:
            levels = layout.subject.height[node] + 1  # counted as scikit-learn counts them
            lines.append(f"{layout.indent(depth)} truncated branch of depth {levels}")
        else:
            yes, no = wording.sides(node)
            stack.append((int(tree.children_right[node]), depth + 1, no))
            stack.append((int(tree.children_left[node]), depth + 1, yes))
    return lines


def _refuse_too_long(layout: _Layout) -> None:
    """Refuse a text with too much indentation."""
    depth = layout.subject.tree.depth
    shown = depth if layout.max_depth is None else depth[depth <= layout.max_depth + 1]
    length = float(np.sum(shown + 1.0)) * (layout.spacing + 1)
    if length > _LONGEST:
        msg = (
            f"the text of this tree, {int(depth.max())} levels deep, would have over {length:.0e} characters, "
            "as each level is indented; set a smaller max_depth, or use export_rules"
        )
        raise ParameterError(msg)
