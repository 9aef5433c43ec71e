"""Reduced-error pruning: what does not help on rows the tree has not seen goes.

Bottom-up, a subtree becomes a leaf if the leaf's error on the given rows is no larger than that of what
the subtree has been pruned to. One pass does it, and what is left is the smallest of all pruned trees that
have the least error on these rows. Nodes that none of the rows reach become leaves: nothing speaks for them.

J. R. Quinlan, "Simplifying decision trees", 1987.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.training_data import check_weights
from hedgerow.errors import ParameterError
from hedgerow.tree.pruning._cut import cut
from hedgerow.tree.pruning._passing_rows import leaves_and_targets, node_errors
from hedgerow.tree.tree import Tree

__all__ = ["by_reduced_error", "prune_by_errors"]

Vector = NDArray[np.float64]

ROUNDING = 1e-12
"""Errors that differ by less, relative to the root's, are equal: sums in another order differ by as much."""


def prune_by_errors(tree: Tree, errors: Vector) -> Tree:
    """Return the smallest pruned tree whose leaves have the least sum of errors.

    Parameters
    ----------
    tree : Tree
        The tree.
    errors : ndarray of shape (n_nodes,)
        The error of each node if it is a leaf.
    """
    as_leaf, left, right = (
        errors.tolist(),
        tree.children_left.tolist(),
        tree.children_right.tolist(),
    )
    least, slack = list(as_leaf), ROUNDING * float(np.max(errors))
    becomes_leaf = np.zeros(tree.node_count, dtype=np.bool_)
    for node in tree.bottom_up():
        below = least[left[node]] + least[right[node]]
        becomes_leaf[node] = is_better = as_leaf[node] <= below + slack
        least[node] = as_leaf[node] if is_better else below
    return cut(tree, becomes_leaf)


def by_reduced_error(
    model: Any, *, X: Any = None, y: Any = None, sample_weight: Any = None
) -> Tree:
    """Return the tree of a model, pruned by its errors on given rows."""
    if X is None or y is None:
        msg = "method='reduced_error' judges by rows that the tree has not seen; give them as X= and y="
        raise ParameterError(msg)
    leaves, targets = leaves_and_targets(model, X, y)
    weight = check_weights(sample_weight, len(leaves))
    return prune_by_errors(model.tree_, node_errors(model, model.tree_, leaves, targets, weight))
