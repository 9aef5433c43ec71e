"""A tree with some nodes made leaves, and the ways of walking over a tree that pruning needs.

No walk recurses, and none takes steps by the level where it can do without: a tree may be a chain of
100 000 nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import ParameterError
from hedgerow.tree.tree import NO_CHILD, UNDEFINED, WORD, Tree

__all__ = ["cut", "over_ancestors"]

Nodes = NDArray[np.int64]
Flags = NDArray[np.bool_]


def cut(tree: Tree, nodes: Any) -> Tree:
    """Return the tree in which some nodes are leaves and all that was below them is gone.

    Parameters
    ----------
    tree : Tree
        The tree, which stays as it is.
    nodes : array of int, or of bool of shape (n_nodes,)
        The nodes that become leaves, by their numbers or as a flag for every node. Leaves, and nodes
        below others that are named, may be among them.

    Returns
    -------
    tree : Tree
        A new one. The nodes that stay keep their order, and with it all that is known of them; their
        numbers are new. Sets of categories that no split asks for any more are dropped.
    """
    becomes_leaf = _flags(tree, nodes)
    is_gone = over_ancestors(tree, becomes_leaf, np.logical_or)[np.maximum(tree.parent, 0)]
    is_gone[0] = False
    stays = np.flatnonzero(~is_gone)
    number = np.full(tree.node_count + 1, NO_CHILD)  # the last one is that of no child
    number[stays] = np.arange(len(stays))
    is_leaf = (becomes_leaf | tree.is_leaf)[stays]
    starts, words = _categories(tree, stays[~is_leaf])

    def of_splits(values: NDArray[Any], of_leaf: Any) -> NDArray[Any]:
        return np.where(is_leaf, np.asarray(of_leaf, dtype=values.dtype), values[stays])

    category_start = np.full(len(stays), NO_CHILD)
    category_start[~is_leaf] = starts
    return Tree(
        feature=of_splits(tree.feature, UNDEFINED),
        threshold=of_splits(tree.threshold, UNDEFINED),
        children_left=number[of_splits(tree.children_left, NO_CHILD)],
        children_right=number[of_splits(tree.children_right, NO_CHILD)],
        missing_go_to_left=of_splits(tree.missing_go_to_left, False),
        impurity=tree.impurity[stays],
        n_node_samples=tree.n_node_samples[stays],
        weighted_n_node_samples=tree.weighted_n_node_samples[stays],
        value=tree.value[stays],
        n_candidates=of_splits(tree.n_candidates, 0),
        category_start=category_start,
        category_words=words,
        n_categories=tree.n_categories,
        n_classes=tree.n_classes,
    )


def over_ancestors(tree: Tree, values: NDArray[Any], combine: np.ufunc) -> NDArray[Any]:
    """Return, for every node, its value combined with those of all its ancestors.

    After step k a node has seen 2^k nodes of its way to the root, so that a chain costs no more than
    its logarithm; what combines (a minimum, an "or") must not mind seeing the root twice.
    """
    seen, ancestor = values.copy(), np.maximum(tree.parent, 0)
    while np.any(ancestor):
        seen = combine(seen, seen[ancestor])
        ancestor = ancestor[ancestor]
    return combine(seen, seen[0])  # type: ignore[no-any-return]


def _flags(tree: Tree, nodes: Any) -> Flags:
    """Return a flag for every node that was named."""
    given = np.asarray(nodes)
    if given.dtype == np.bool_:
        if given.shape == (tree.node_count,):
            return given
        msg = f"nodes has shape {given.shape} and the tree {tree.node_count} nodes; give one flag a node"
        raise ParameterError(msg)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        msg = f"nodes={nodes!r} are no nodes; give a list of their numbers"
        raise ParameterError(msg)
    strange = given[(given < 0) | (given >= tree.node_count)]
    if len(strange):
        msg = f"the tree has no node {strange[0]}; its nodes are 0 to {tree.node_count - 1}"
        raise ParameterError(msg)
    flags = np.zeros(tree.node_count, dtype=np.bool_)
    flags[given.astype(np.int64)] = True
    return flags


def _categories(tree: Tree, splits: Nodes) -> tuple[Nodes, NDArray[np.uint64]]:
    """Return where the sets of these splits begin among the words that stay, and those words."""
    begin = tree.category_start[splits]
    has_set = begin != NO_CHILD
    sizes = np.where(has_set, -(-tree.n_categories[tree.feature[splits]] // WORD), 0)
    ends = np.cumsum(sizes)
    place = np.arange(int(sizes.sum())) + np.repeat(begin - (ends - sizes), sizes)
    return np.where(has_set, ends - sizes, NO_CHILD), tree.category_words[place]
