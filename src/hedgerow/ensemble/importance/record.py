"""How much the features of a forest matter: one record for every way to measure it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.parameters import any_of, none, one_of, text, whole_number
from hedgerow._base.state import record
from hedgerow._base.state.rules import Shaped, Sizes, numbers, rows, several, texts

__all__ = ["KINDS", "OUT_OF_BAG", "Importances"]

Vector: TypeAlias = NDArray[np.float64]

OUT_OF_BAG = ("permutation", "impurity_debiased")
"""Kinds that are measured on rows a tree has not seen."""

KINDS = ("occurrences", "impurity", "node_average", *OUT_OF_BAG)
"""All kinds."""

_MEANINGS = {
    "occurrences": "nodes that split by it",
    "impurity": "share of the decrease of impurity",
    "node_average": "mean score of the nodes that split by it, as a share",
    "permutation": "what shuffling it costs a tree, out of bag",
    "impurity_debiased": "decrease of impurity, out of bag",
}

_SHOWN = 10


def _named_groups(value: Any, _: Sizes) -> str | None:
    """Allow tuples of names."""
    fine = isinstance(value, tuple) and all(
        isinstance(group, tuple) and all(isinstance(name, str) for name in group) for group in value
    )
    return None if fine else "tuples of names"


@record(
    kind=one_of(*KINDS),
    names=texts("names"),
    values=numbers("names"),
    spread=numbers("names", low=0.0),
    n_trees=whole_number(0),
    by_tree=rows("trees", "names"),
    correlated=several(
        tuple, "groups", Shaped(lambda value, sizes: _named_groups((value,), sizes))
    ),
    note=any_of(none, text),
)
@dataclass(frozen=True, eq=False, repr=False)
class Importances:
    """How much each feature, or each group of features, matters to a forest; printed as a table.

    Attributes
    ----------
    kind : str
        How it was measured: "occurrences", "impurity", "node_average", "permutation" or
        "impurity_debiased".
    names : ndarray of str of shape (n_names,)
        The features, or the groups and then the features that are in none.
    values : ndarray of shape (n_names,)
        The importances: means over trees. Those of the kinds that are measured out of bag may be
        negative, which is noise around 0.
    spread : ndarray of shape (n_names,)
        Their standard deviation over trees.
    standard_error : ndarray of shape (n_names,)
        ``spread / sqrt(n_trees)``: how far off a value is because there are no more trees. That other
        rows would give another value is not in it.
    n_trees : int
        How many trees the means are over. Trees without a split have no say in the kinds that are read
        off the trees, and trees without an out-of-bag row none in those that are measured there.
    by_tree : csr_array of shape (n_trees_measured, n_names)
        The importances tree by tree.
    correlated : tuple of tuple of str
        Groups of features that are correlated, and so share their importance: every two features of a
        group are. Known only if X was given.
    note : str or None
        What must be known to read the values, in a sentence or two.
    """

    kind: str
    names: NDArray[Any]
    values: Vector
    spread: Vector
    n_trees: int
    by_tree: sp.csr_array
    correlated: tuple[tuple[str, ...], ...] = ()
    note: str | None = None

    @property
    def standard_error(self) -> Vector:
        """The standard error of the values, by the number of trees."""
        error: Vector = self.spread / np.sqrt(max(self.n_trees, 1))
        return error

    def __repr__(self) -> str:
        head = f"Importances: {self.kind} ({_MEANINGS[self.kind]}), {self.n_trees} trees"
        order = np.argsort(-self.values, kind="stable")
        cells = [["", "value", "standard error", "spread"]]
        errors = self.standard_error
        for j in order[:_SHOWN]:
            figures = (self.values[j], errors[j], self.spread[j])
            cells.append([str(self.names[j]), *(f"{figure:.4g}" for figure in figures)])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            f"  {row[0].ljust(widths[0])}  "
            + "  ".join(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
            for row in cells
        ]
        if len(order) > _SHOWN:
            lines.append(f"  and {len(order) - _SHOWN} more")
        return "\n".join([head, *lines, *([] if self.note is None else [self.note])])
