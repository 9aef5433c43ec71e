"""Splits that change no prediction, taken out: sibling leaves that say the same are made one."""

from __future__ import annotations

import numpy as np

from hedgerow.tree.pruning._cut import cut
from hedgerow.tree.tree import Tree

__all__ = ["merge_equal_leaves"]


def merge_equal_leaves(tree: Tree) -> Tree:
    """Return the tree without splits below which every leaf predicts the same.

    For classification the most frequent class of every output must be the same: predictions do not change,
    but class proportions do. For regression the value must be the same.

    Parameters
    ----------
    tree : Tree
        The tree.

    Returns
    -------
    Tree
        The pruned tree.
    """
    said = tree.value.argmax(axis=2) if tree.max_n_classes > 1 else tree.value[:, :, 0]
    children = tree.children_left, tree.children_right
    # a leaf's "children" are the last node, which is compared and not used
    as_parent = [np.all(said == said[child], axis=1) for child in children]
    says_the_same = (as_parent[0] & as_parent[1]).tolist()
    left, right = (child.tolist() for child in children)
    is_one = tree.is_leaf.tolist()
    for node in tree.bottom_up():
        is_one[node] = says_the_same[node] and is_one[left[node]] and is_one[right[node]]
    return cut(tree, np.array(is_one))
