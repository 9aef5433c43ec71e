"""The trees of a forest, packed: what it predicts with, and what is saved of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import record
from hedgerow.tree.tree import Tree

__all__ = ["PackedTrees"]

_VALUE = [field.name for field in fields(Tree)].index("value")

Parts: TypeAlias = dict[str, NDArray[Any]]
Vector: TypeAlias = NDArray[np.float64]

MOST = 2**31 - 1
"""Nodes of a tree, and categories of a feature, that the core has numbers for."""


def _arrays(value: Any) -> str | None:
    """Allow named arrays; whether they are a forest's is found out when they become one."""
    fine = isinstance(value, dict) and all(isinstance(part, np.ndarray) for part in value.values())
    if not fine:
        return "the arrays of packed trees"
    answers = [value[name] for name in ("lines", "leaf_weight") if name in value]
    fine = not any(part.dtype.kind == "f" and not np.isfinite(part).all() for part in answers)
    return None if fine else "the arrays of packed trees, whose leaves hold finite numbers"


def _refuse_vast_counts(parts: Parts) -> None:
    """Refuse more nodes of a tree or categories of a feature than the core can count."""
    counts = {
        "n_categories": parts["n_categories"],
        "begins": np.diff(parts["begins"], prepend=0),  # a wrapped difference is negative or vast
    }
    for name, found in counts.items():
        if found.size and not 0 <= found.min() <= found.max() <= MOST:
            raise ValueError(f"{name} has counts that are not from 0 to {MOST}")


@record(parts=_arrays)
@dataclass(frozen=True, eq=False, init=False, repr=False)
class PackedTrees:
    """Many trees, packed by the core.

    Attributes
    ----------
    parts : dict of str to ndarray
        The compact arrays that are saved. They are made when they are asked for and not kept, as the
        core holds the same trees in a form that is faster to predict with.
    """

    core: ClassVar[_core.tree.ForestTrees]  # of every object its own; no field, as it is not saved
    n_categories: ClassVar[NDArray[np.int64] | None] = None  # known of trees that were loaded
    is_used: ClassVar[NDArray[np.bool_] | None] = None  # of (1, n_outputs, width); likewise
    parts: Parts

    def __init__(self, parts: Parts) -> None:
        try:
            _refuse_vast_counts(parts)
            vars(self)["core"] = _core.tree.ForestTrees.of_parts(parts)
            vars(self)["n_categories"] = parts["n_categories"]
            lines = parts["lines"].reshape(-1, self.n_outputs, self.width)
            vars(self)["is_used"] = lines.any(axis=0, keepdims=True)
        except (LookupError, RuntimeError, TypeError, ValueError) as error:
            msg = f"the arrays of packed trees do not belong together ({error}); save the forest again"
            raise ValueError(msg) from error

    @staticmethod
    def of(core: _core.tree.ForestTrees) -> PackedTrees:
        """Return the trees that the core holds."""
        packed = PackedTrees.__new__(PackedTrees)
        vars(packed)["core"] = core
        return packed

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Return the parts; all other attributes are there."""
            if name == "parts":
                return self.core.parts()
            raise AttributeError(name)

    @property
    def n_features(self) -> int:
        """How many features the trees were grown on."""
        return self.core.n_features

    @property
    def n_outputs(self) -> int:
        """How many targets a row has."""
        return self.core.n_outputs

    @property
    def width(self) -> int:
        """The most classes of any output; 1 for numbers."""
        return self.core.width

    @cached_property
    def votes(self) -> list[NDArray[np.int64]]:
        """For every tree the class that each node is for, of shape (n_nodes, n_outputs)."""
        return [self.core.tree(i)[_VALUE].argmax(axis=2) for i in range(len(self))]

    def __len__(self) -> int:
        return self.core.n_trees

    def __repr__(self) -> str:
        return f"<{len(self)} trees of {self.core.n_nodes} nodes, {self.core.nbytes} bytes>"

    def __reduce__(self) -> tuple[type[PackedTrees], tuple[Parts]]:
        return PackedTrees, (self.parts,)

    def sums(self, rows: NDArray[Any], n_threads: int, weights: Vector | None = None) -> Vector:
        """Return the sums of all trees' values, each times its tree's weight, if there are weights.

        They are of shape (n_rows, n_outputs, width).
        """
        return self.core.sums(rows, 0, len(self), n_threads, weights)

    def values_by_tree(
        self, rows: NDArray[Any], n_threads: int, weights: Vector | None = None
    ) -> Iterator[Vector]:
        """Yield what :meth:`sums` adds up, tree by tree."""
        for i in range(len(self)):
            of_tree = None if weights is None else weights[i : i + 1]
            yield self.core.sums(rows, i, i + 1, n_threads, of_tree)

    def staged_sums(
        self, rows: NDArray[Any], n_threads: int, weights: Vector | None = None
    ) -> Iterator[Vector]:
        """Yield the sums of the first tree, of the first two, and so on."""
        return accumulate(self.values_by_tree(rows, n_threads, weights), np.add)

    def tree(self, number: int, n_categories: NDArray[np.int64]) -> Tree:
        """Return one of the trees; impurities, numbers of rows and of candidates are not kept, and 0."""
        names = [field.name for field in fields(Tree)]
        arrays = (*self.core.tree(number), n_categories)
        return Tree(**dict(zip(names, arrays, strict=False)))  # n_classes is known to the forest
