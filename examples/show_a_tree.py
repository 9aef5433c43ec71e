"""Grow a small tree, and write it out in every form: text, rules, a picture, and Python code.

python examples/show_a_tree.py                    flowers: text and rules
python examples/show_a_tree.py --svg tree.svg     a picture too
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sklearn.datasets import load_iris

from hedgerow.tree import DecisionTreeClassifier
from hedgerow.tree.export import export_python, export_rules, export_svg, export_text


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description="Grow a tree on Fisher's irises, and show it.")
    parser.add_argument("--leaves", type=int, default=4, help="how many leaves (default: 4)")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="save a picture")
    parser.add_argument("--python", type=Path, metavar="FILE", help="save a function that predicts")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> str | None:
    """Run the program; return what went wrong, if anything did."""
    asked = arguments(argv)
    if asked.leaves < 2:
        return f"--leaves {asked.leaves} makes no tree; give 2 or more"
    iris = load_iris(as_frame=True)
    model = DecisionTreeClassifier(max_leaf_nodes=asked.leaves, random_state=0)
    model.fit(iris.data, iris.target_names[iris.target])
    print(export_text(model))
    print(*export_rules(model, sort_by_coverage=True), sep="\n")
    files = (
        (asked.svg, lambda: export_svg(model, title="Fisher's irises")),
        (asked.python, lambda: export_python(model)),
    )
    for path, export in files:
        if path is None:
            continue
        try:
            path.write_text(export(), encoding="utf-8")
        except OSError as error:
            return f"{path} cannot be written: {error.strerror}"
        print(f"\n{path} is written.")
    return None


if __name__ == "__main__":
    sys.exit(main())
