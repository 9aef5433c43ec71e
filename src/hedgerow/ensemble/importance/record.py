"""The importances of the features of a forest, as a record."""

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
"""Kinds that are measured on out-of-bag rows."""

KINDS = ("occurrences", "impurity", "node_average", *OUT_OF_BAG)
"""All kinds."""

_MEANINGS = {
    "occurrences": "nodes that split on it",
    "impurity": "share of the impurity decrease",
    "node_average": "mean score of the nodes that split on it, as a share",
    "permutation": "increase of the out-of-bag error when shuffled",
    "impurity_debiased": "impurity decrease, out of bag",
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
    """The importances of features, or of groups of features, to a forest; prints as a table.

    Attributes
    ----------
    kind : str
        The measure: "occurrences", "impurity", "node_average", "permutation" or "impurity_debiased".
    names : ndarray of str of shape (n_names,)
        The features; with groups, the groups followed by the features that are in none.
    values : ndarray of shape (n_names,)
        The importances, as means over trees. The out-of-bag kinds may be negative, which is noise around
        0.
    spread : ndarray of shape (n_names,)
        Their standard deviation over trees.
    standard_error : ndarray of shape (n_names,)
        ``spread / sqrt(n_trees)``: the uncertainty due to the limited number of trees. It does not include
        that other rows would give other values.
    n_trees : int
        The number of trees in the means. Kinds that are read from the trees do not count trees without a
        split, and the out-of-bag kinds do not count trees without out-of-bag rows.
    by_tree : csr_array of shape (n_trees_measured, n_names)
        The importances for each tree.
    correlated : tuple of tuple of str
        Groups of features that are pairwise correlated, and so share their importance. Known only if X was
        given.
    note : str or None
        A remark that is needed to interpret the values.
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
        """The standard error of the values over trees."""
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
