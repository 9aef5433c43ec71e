"""A tree as the source of a Python function of one row without dependencies."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Any

from hedgerow._base.parameters import text
from hedgerow.errors import ParameterError
from hedgerow.tree.export._subject import Subject, check_options, subject_of
from hedgerow.tree.export._writing import literal

__all__ = ["export_python"]

_DEEPEST_NEST = 50
"""Python reads at most 100 levels of indentation."""

_OWN_NAMES = {"row", "named", "number"}

_HEAD = '''\
def {name}(row):
    """Return the {what} of one row.

    The row is {rows}.
    None and NaN are missing values.
    """
'''
_NUMBER = """\

    def number(value):
        is_missing = value is None or type(value).__name__ == "NAType"
        return float("nan") if is_missing else float(value)

"""
_NAMED = '    named = hasattr(row, "keys")\n'
_LOOP = """\
    values = {{
{values}
    }}
    node = {nodes}[0]
    while len(node) > 1:
        feature, question, yes, no, missing = node
        value = values[feature]
        if value != value:
            node = {nodes}[missing]
        elif value in question if isinstance(question, set) else value <= question:
            node = {nodes}[yes]
        else:
            node = {nodes}[no]
    return node[0]
"""


def export_python(model: Any, name: str = "predict", *, feature_names: Any = None) -> str:
    """Return the source of a Python function that predicts one row like the tree.

    The function imports nothing. It takes a row as a sequence in the order of the features or, if
    these have names, as a mapping from names to values; None and NaN are missing. It returns a
    label or a number, or a list of them for several outputs. Trees of at most 50 levels become
    nested conditions, deeper ones a table and a loop.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    name : str, default="predict"
        The name of the function.
    feature_names : list of str, default=None
        By default the columns' names of fit.

    Returns
    -------
    str
        The source code.
    """
    check_options("export_python", {"name": (name, text)})
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ParameterError(f"name={name!r} cannot name a function; give a Python identifier")
    if hasattr(builtins, name):
        raise ParameterError(f"name={name!r} is a function of Python itself; give another name")
    subject = subject_of(model, "export_python", feature_names)
    head = _HEAD.format(
        name=name,
        what="value" if subject.classes is None else "class",
        rows="a sequence of the features in their order"
        + ("" if subject.names is None else ", or a mapping from their names"),
    )
    is_shallow = subject.tree.max_depth <= _DEEPEST_NEST
    return _nested(subject, head) if is_shallow else _table(subject, name, head)


def _used(subject: Subject) -> list[int]:
    """Return the features that the tree asks for."""
    return sorted({int(k) for k in subject.tree.feature[~subject.tree.is_leaf]})


def _preparation(subject: Subject) -> str:
    """Return the lines that the reading of values needs."""
    named = _NAMED if subject.names is not None and _used(subject) else ""
    has_numbers = any(not subject.categories[feature] for feature in _used(subject))
    return (_NUMBER if has_numbers else "") + named


def _reading(subject: Subject, feature: int) -> str:
    """Return the code that reads a feature of the row."""
    place = str(feature)
    if subject.names is not None:
        place = f"{subject.names[feature]!r} if named else {feature}"
    return f"row[{place}]" if subject.categories[feature] else f"number(row[{place}])"


def _answer(subject: Subject, leaf: int) -> str:
    """Return the code of what a leaf predicts."""
    values = [literal(value) for value in subject.predictions(leaf)]
    return values[0] if len(values) == 1 else f"[{', '.join(values)}]"


def _categories(values: list[Any]) -> str:
    """Return the code of a set of categories; empty braces would be a mapping."""
    return "{" + ", ".join(map(literal, values)) + "}" if values else "set()"


# ------------------------------------------------------------------------------- nested questions


def _nested(subject: Subject, head: str) -> str:
    """Return a function of nested questions."""
    variables = _variables(subject)
    lines = [
        f"    {variable} = {_reading(subject, feature)}" for feature, variable in variables.items()
    ]
    tree = subject.tree
    stack: list[tuple[int, int, bool]] = [(0, 0, False)]
    while stack:
        node, depth, is_second = stack.pop()
        if is_second:
            lines.append(f"{'    ' * depth}else:")
        indent = "    " * (depth + 1)
        if tree.is_leaf[node]:
            rows = int(tree.n_node_samples[node])
            lines.append(f"{indent}return {_answer(subject, node)}  # {rows} rows")
            continue
        variable = variables[int(tree.feature[node])]
        lines.append(f"{indent}if {_question(subject, node, variable)}:")
        stack.append((int(tree.children_right[node]), depth + 1, True))
        stack.append((int(tree.children_left[node]), depth + 1, False))
    return head + _preparation(subject) + "\n".join(lines) + "\n"


def _question(subject: Subject, node: int, variable: str) -> str:
    """Return the code of what holds for rows that go to the left, missing ones among them or not."""
    to_left = bool(subject.tree.missing_go_to_left[node])
    if subject.tree.splits_by_categories(node):
        left, right = subject.sides(node)
        sign, named = ("not in", right) if to_left else ("in", left)
        return f"{variable} {sign} {_categories(named)}"  # what was not seen is in neither set
    below = f"{variable} <= {literal(float(subject.tree.threshold[node]))}"
    return f"{below} or {variable} != {variable}" if to_left else below


def _variables(subject: Subject) -> dict[int, str]:
    """Return a variable for each feature that the tree asks for, near to its name."""
    variables: dict[int, str] = {}
    taken = {*_OWN_NAMES, *keyword.kwlist, *keyword.softkwlist, *dir(builtins)}
    for feature in _used(subject):
        word = re.sub(r"[^0-9A-Za-z]+", "_", subject.name(feature, "x{}")).strip("_")
        if not word.isidentifier() or word in taken:
            word = f"{word}_{feature}" if word[:1].isalpha() else f"x{feature}"
        while word in taken:
            word += "_"
        taken.add(word)
        variables[feature] = word
    return variables


# ------------------------------------------------------------------------------------------ table


def _table(subject: Subject, name: str, head: str) -> str:
    """Return a table of the nodes, and a function that walks through it."""
    nodes = f"_{name.upper()}_NODES"
    rows = [f"    {_row(subject, node)}," for node in range(subject.tree.node_count)]
    values = [f"        {feature}: {_known(subject, feature)}," for feature in _used(subject)]
    table = [
        "# feature, threshold or categories, and the next nodes: if yes, if no, if missing; or the answer",
        f"{nodes} = [",
        *rows,
        "]",
    ]
    loop = _LOOP.format(values="\n".join(values), nodes=nodes)
    return "\n".join(table) + "\n\n\n" + head + _preparation(subject) + loop


def _row(subject: Subject, node: int) -> str:
    """Return the code of a node in the table."""
    tree = subject.tree
    if tree.is_leaf[node]:
        return f"({_answer(subject, node)},)"
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if tree.splits_by_categories(node):
        question = _categories(subject.sides(node)[0])
    else:
        question = literal(float(tree.threshold[node]))
    missing = left if tree.missing_go_to_left[node] else right
    return f"({int(tree.feature[node])}, {question}, {left}, {right}, {missing})"


def _known(subject: Subject, feature: int) -> str:
    """Return the code that reads a feature, categories that were not seen as NaN."""
    reading = _reading(subject, feature)
    if not subject.categories[feature]:
        return reading
    seen = _categories(list(subject.categories[feature]))
    return f'value if (value := {reading}) in {seen} else float("nan")'
