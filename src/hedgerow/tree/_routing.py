"""Trees as routers: made once for each tree, kept as long as it lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core

if TYPE_CHECKING:
    from hedgerow.tree.tree import Tree

__all__ = ["leaves_of", "router_of"]

_routers: WeakKeyDictionary[Tree, _core.tree.TreeRouter] = WeakKeyDictionary()


def router_of(tree: Tree) -> _core.tree.TreeRouter:
    """Return what finds the leaves of rows; a ValueError if the arrays are no tree."""
    router = _routers.get(tree)
    if router is None:
        router = _core.tree.TreeRouter(
            tree.feature,
            tree.threshold,
            tree.children_left,
            tree.children_right,
            tree.missing_go_to_left,
            tree.category_start,
            tree.category_words,
            tree.n_categories,
        )
        _routers[tree] = router
    return router


def leaves_of(trees: Sequence[Tree], X: NDArray[Any], n_threads: int) -> NDArray[np.int32]:
    """Return the leaf of every row in every tree.

    X is C-contiguous, float32 or float64; its columns of categories hold their numbers, and NaN for
    what is missing or was not seen in fit.
    """
    return np.stack([router_of(tree).leaves(X, n_threads) for tree in trees], axis=1)
