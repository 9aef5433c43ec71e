"""A tree as a dictionary for JSON, with all that is needed to predict."""

from __future__ import annotations

import math
from typing import Any

from hedgerow.tree.export._subject import Subject, subject_of

__all__ = ["export_json"]

_VERSION = 1


def export_json(model: Any, *, feature_names: Any = None) -> dict[str, Any]:
    """Return a tree as a dictionary of plain values, with all that is needed to predict.

    ``json.dumps(export_json(model))`` can be read in any language. Node 0 is the root. A node with
    a ``threshold`` sends values up to and including it to its ``left`` child; a node with
    ``left_categories`` sends those categories there. Everything else goes to the ``right`` child,
    except missing values and unknown categories, which go where ``missing`` says. A node without
    children is a leaf, and its ``prediction`` has one entry per output.

    Infinite numbers are the strings "inf" and "-inf". Categories and labels that JSON cannot
    represent, such as dates, are strings.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or feature_0, feature_1 and
        so on.

    Returns
    -------
    dict
        The tree, with the keys format, version, kind, criterion, features, outputs and nodes.
    """
    subject = subject_of(model, "export_json", feature_names)
    classes = subject.classes
    return {
        "format": "hedgerow tree",
        "version": _VERSION,
        "kind": "regressor" if classes is None else "classifier",
        "criterion": subject.criterion,
        "features": [_feature(subject, k) for k in range(subject.tree.n_features)],
        "outputs": [
            {} if classes is None else {"classes": [_plain(label) for label in classes[k]]}
            for k in range(subject.tree.n_outputs)
        ],
        "nodes": [_node(subject, node) for node in range(subject.tree.node_count)],
    }


def _feature(subject: Subject, feature: int) -> dict[str, Any]:
    """Return the name and the kind of a feature."""
    categories = [_plain(value) for value in subject.categories[feature]]
    kind = {"kind": "category", "categories": categories} if categories else {"kind": "number"}
    return {"name": subject.name(feature), **kind}


def _node(subject: Subject, node: int) -> dict[str, Any]:
    """Return what a node asks for, if it does, and what it knows."""
    tree = subject.tree
    facts = {
        "n_rows": int(tree.n_node_samples[node]),
        "weight": _plain(float(tree.weighted_n_node_samples[node])),
        "impurity": _plain(float(tree.impurity[node])),
        "prediction": [_plain(value) for value in subject.predictions(node)],
    }
    if subject.classes is not None:
        facts["class_shares"] = subject.shares(node)
    if tree.is_leaf[node]:
        return facts
    if tree.splits_by_categories(node):
        question = {"left_categories": [_plain(value) for value in subject.sides(node)[0]]}
    else:
        question = {"threshold": _plain(float(tree.threshold[node]))}
    return {
        "feature": int(tree.feature[node]),
        **question,
        "missing": "left" if tree.missing_go_to_left[node] else "right",
        "left": int(tree.children_left[node]),
        "right": int(tree.children_right[node]),
        **facts,
    }


def _plain(value: Any) -> Any:
    """Return a value that JSON has, or its text."""
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return value if isinstance(value, str | bool | int | float) and is_finite else str(value)
