"""Export a fitted tree as text, rules, JSON, Graphviz, pictures, Python code, or for shap."""

from __future__ import annotations

from hedgerow.tree.export.graphviz import export_graphviz
from hedgerow.tree.export.json_form import export_json
from hedgerow.tree.export.plot import plot_tree
from hedgerow.tree.export.python_code import export_python
from hedgerow.tree.export.rules import InSet, Interval, Rule, export_rules
from hedgerow.tree.export.shap import shap_trees
from hedgerow.tree.export.svg import export_svg
from hedgerow.tree.export.text import export_text

__all__ = [
    "InSet",
    "Interval",
    "Rule",
    "export_graphviz",
    "export_json",
    "export_python",
    "export_rules",
    "export_svg",
    "export_text",
    "plot_tree",
    "shap_trees",
]
