"""A tree as a self-contained SVG picture."""

from __future__ import annotations

from typing import Any

from hedgerow._base.parameters import any_of, none, one_of, text, whole_number
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
from hedgerow.tree.export._svg_cards import Look
from hedgerow.tree.export._svg_picture import Picture
from hedgerow.tree.export._writing import plain

__all__ = ["export_svg"]


def export_svg(
    model: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int | None = 6,
    output: int | None = None,
    show_missing: bool = False,
    title: str | None = None,
    theme: str = "auto",
) -> str:
    """Return a self-contained SVG picture of a tree.

    Rows that satisfy the condition of a node go to the left. The width of a line shows how many rows
    take it, bars are class proportions, and the colour of a leaf is that of its prediction; for
    regression it is stronger for larger predictions. Hovering over a node shows all its figures.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or feature_0, feature_1 and
        so on.
    class_names : list, default=None
        The names of the classes; by default ``classes_``.
    max_depth : int or None, default=6
        The maximum depth; deeper branches are replaced by "…" and the number of their leaves. None
        draws all.
    output : int, default=None
        The output to show, if the tree has several.
    show_missing : bool, default=False
        Whether to add "or missing" to conditions whose left side takes missing values.
    title : str, default=None
        A heading. Without it there is only a title for screen readers.
    theme : {"auto", "light", "dark"}, default="auto"
        The colours; "auto" follows the reader's device.

    Returns
    -------
    str
        The SVG source.
    """
    subject = subject_of(model, "export_svg", feature_names)
    check_options(
        "export_svg",
        {
            "max_depth": (max_depth, DEPTH),
            "output": (output, any_of(whole_number(0), none)),
            "show_missing": (show_missing, FLAG),
            "title": (title, any_of(text, none)),
            "theme": (theme, one_of("auto", "light", "dark")),
        },
    )
    shown = _shown_output(subject, output)
    names = _names(subject, shown, class_names)
    wording = Wording(subject, at_most="≤", show_missing=show_missing)
    return Picture(Look(subject, wording, shown, names), max_depth, title, theme).render()


def _shown_output(subject: Subject, output: int | None) -> int:
    """Return the output that is to be shown."""
    n = subject.tree.n_outputs
    if output is None and n > 1:
        msg = f"a picture shows one output, but this tree has {n}; set output= to a number from 0 to {n - 1}"
        raise ParameterError(msg)
    if output is not None and output >= n:
        raise ParameterError(
            f"output={output} does not exist; the outputs of the tree are 0 to {n - 1}"
        )
    return output or 0


def _names(subject: Subject, output: int, class_names: Any) -> tuple[str, ...]:
    """Return the class names of the output; none for regression."""
    if subject.classes is None:
        return ()
    given = class_names is not None
    labels = class_names_of(subject, class_names) if given else subject.classes[output]
    return tuple(map(plain, labels))
