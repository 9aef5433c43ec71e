"""A tree as a picture: one SVG text, with nothing outside of it."""

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
    """Return a picture of a tree as SVG, in one text that refers to nothing outside of it.

    Questions are on the nodes; rows for which they hold go to the left. Lines are as thick as many rows
    go along them. Bars show the shares of the classes, and leaves have the colour of what they
    predict; for regression it is the stronger the higher the value. A pointer that rests on a node
    is shown all its figures.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str, default=None
        By default the columns' names of fit, or feature_0, feature_1 and so on.
    class_names : list, default=None
        By default ``classes_``.
    max_depth : int or None, default=6
        Branches that go deeper are replaced by "…" and the number of their leaves; None draws all.
    output : int, default=None
        Which output is shown of a tree that has several.
    show_missing : bool, default=False
        Whether "or missing" is added to questions whose left side takes missing values.
    title : str, default=None
        A heading. Without it there is only a title for those who do not see the picture.
    theme : {"auto", "light", "dark"}, default="auto"
        Colours; "auto" follows the reader's device.

    Returns
    -------
    str
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
        msg = f"a picture shows one output, and this tree has {n}; give export_svg output= a number from 0 to {n - 1}"
        raise ParameterError(msg)
    if output is not None and output >= n:
        raise ParameterError(f"output={output} is not there; the tree's outputs are 0 to {n - 1}")
    return output or 0


def _names(subject: Subject, output: int, class_names: Any) -> tuple[str, ...]:
    """Return what the classes of the output are called; nothing for regression."""
    if subject.classes is None:
        return ()
    given = class_names is not None
    labels = class_names_of(subject, class_names) if given else subject.classes[output]
    return tuple(map(plain, labels))
