"""A tree in DOT, the language of Graphviz, in the layout of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hedgerow.errors import FileAccessError, ParameterError
from hedgerow.tree.export._look import CUT_COLOR, HTML, QUOTED, Look, Options, look_of
from hedgerow.tree.export._subject import subject_of
from hedgerow.tree.export._writing import dot

__all__ = ["export_graphviz"]


def export_graphviz(
    decision_tree: Any,
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

    For trees of numeric features the text is that of ``sklearn.tree.export_graphviz``. ``dot -Tsvg
    tree.dot`` draws it; :func:`export_svg` needs no other program.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    out_file : str, path or file open for writing, default=None
        Where to write the text; None returns it.
    max_depth : int, default=None
        The maximum depth; nodes below are replaced by "(...)". None shows all.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or x[0], x[1] and so on.
    class_names : list or True, default=None
        The names of the classes. If given, nodes name their most frequent class; True uses y[0],
        y[1] and so on. Not for trees with several outputs.
    label : {"all", "root", "none"}, default="all"
        Which nodes have labels for their figures.
    filled : bool, default=False
        Whether nodes are coloured by class, by prediction, or by impurity if there are several
        outputs.
    leaves_parallel : bool, default=False
        Whether to draw all leaves at the bottom.
    impurity, node_ids : bool, default=True, default=False
        Whether to show the impurity and the number of each node.
    proportion : bool, default=False
        Whether to show rows and classes as proportions.
    rotate, rounded : bool, default=False
        Whether to draw the tree from left to right, and boxes with rounded corners.
    special_characters : bool, default=False
        Whether to use signs such as ≤.
    precision : int, default=3
        The number of decimal places.
    fontname : str, default="helvetica"
        The font.
    show_missing : bool, default=False
        Whether to add "or missing" to conditions whose left side takes missing values.

    Returns
    -------
    str or None
        The text, if ``out_file`` is None.
    """
    subject = subject_of(decision_tree, "export_graphviz", feature_names)
    options = Options(
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
    signs = HTML if special_characters else QUOTED
    look = look_of("export_graphviz", subject, options, class_names, signs)
    return _deliver("".join([*_head(options), *_body(look), *_ranks(look), "}"]), out_file)


def _head(options: Options) -> Iterator[str]:
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


def _body(look: Look) -> Iterator[str]:
    """Yield nodes, each with the edge that leads to it."""
    parents = look.subject.tree.parent.tolist()
    for node, depth in look.subject.walk(look.levels):
        is_cut = look.is_cut(depth)
        words = '"(...)"' if is_cut else look.text(node)
        paint = ""
        if look.paint is not None:
            paint = f', fillcolor="{CUT_COLOR if is_cut else look.paint(node)}"'
        yield f"{node} [label={words}{paint}] ;\n"
        if node:
            yield f"{parents[node]} -> {node}{'' if is_cut else _edge(look, node)} ;\n"


def _edge(look: Look, node: int) -> str:
    """Return the words at the two edges below the root."""
    tree = look.subject.tree
    if tree.parent[node]:
        return ""
    is_left = bool(node == tree.children_left[0])
    angle = 45 if is_left != look.options.rotate else -45
    return f' [labeldistance=2.5, labelangle={angle}, headlabel="{is_left}"]'


def _ranks(look: Look) -> Iterator[str]:
    """Yield which nodes are drawn at one height, if leaves are to be in one line."""
    if not look.options.leaves_parallel:
        return
    ranks: dict[str, list[str]] = {"leaves": []}
    for node, depth in look.subject.walk(look.levels):
        is_end = look.subject.tree.is_leaf[node] or look.is_cut(depth)
        ranks.setdefault("leaves" if is_end else str(depth), []).append(str(node))
    for rank in sorted(ranks):
        yield "{rank=same ; " + "; ".join(ranks[rank]) + "} ;\n"


def _deliver(source: str, out_file: Any) -> str | None:
    """Return the text, or write it where it is to go."""
    if out_file is None:
        return source
    if hasattr(out_file, "write"):
        out_file.write(source)
        return None
    if not isinstance(out_file, str | os.PathLike):
        msg = f"out_file={out_file!r} cannot be written to; give a path, a file open for writing, or None"
        raise ParameterError(msg)
    try:
        Path(out_file).write_text(source, encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"{out_file} cannot be written: {error.strerror}") from error
    return None
