"""How a tree's prediction depends on a few features, the others averaged out.

At a split on one of the target features a point goes to one side. At any other split it goes to both,
and the values of the two sides are averaged by their training weights. Values are computed from the
leaves upwards, for many points at a time; scikit-learn calls this the "recursion" method (Friedman 2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import read_column

if TYPE_CHECKING:
    from hedgerow.tree._categories import Categories
    from hedgerow.tree.tree import Tree

__all__ = ["partial_dependence", "read_points"]

Vector: TypeAlias = NDArray[np.float64]
Nodes: TypeAlias = NDArray[np.int64]

_VALUES_AT_ONCE = 2**22
"""Values of nodes that are held at a time: 32 MB."""


def read_points(
    categories: Categories, grid: Any, features: Any
) -> tuple[Vector, NDArray[np.int64]]:
    """Return points as numbers, the values of categories as their numbers, and the target features."""
    given = np.asarray(grid)
    columns = []
    for place, feature in enumerate(np.asarray(features).tolist()):
        column = read_column(given[:, place], str(feature))
        if feature in categories:
            found, _ = categories.numbers(feature, column.factorized())
        else:
            found = column.floats(str(feature))
        columns.append(found.astype(np.float64))
    return np.stack(columns, axis=1), np.asarray(features, dtype=np.int64)


def partial_dependence(tree: Tree, points: NDArray[Any], features: NDArray[Any]) -> Vector:
    """Return the values of a tree at some points, averaged over all features but the given ones.

    Parameters
    ----------
    tree : Tree
        The tree.
    points : ndarray of shape (n_points, n_target_features)
        Values of the target features: numbers, and numbers of categories; NaN where missing.
    features : ndarray of int of shape (n_target_features,)
        The target features.

    Returns
    -------
    values : ndarray of float64 of shape (n_points, n_outputs, max_n_classes or 1)
    """
    found = np.empty((len(points), *tree.value.shape[1:]))
    n_at_once = max(_VALUES_AT_ONCE // tree.value.size, 1)
    for start in range(0, len(points), n_at_once):
        part = slice(start, start + n_at_once)
        found[part] = _at_root(tree, points[part], features)
    return found


def _at_root(tree: Tree, points: NDArray[Any], features: NDArray[Any]) -> Vector:
    """Return the value of the root for every point."""
    values: Vector = np.repeat(tree.value[:, None], len(points), axis=1)
    weight = tree.weighted_n_node_samples
    for level in tree.levels_upwards():
        left, right = tree.children_left[level], tree.children_right[level]
        to_left = np.repeat((weight[left] / weight[level])[:, None], len(points), axis=1)
        for column, feature in enumerate(features.tolist()):
            is_asked = tree.feature[level] == feature
            to_left[is_asked] = _goes_left(tree, level[is_asked], points[:, column])
        share = to_left[:, :, None, None]
        values[level] = share * values[left] + (1.0 - share) * values[right]
    at_root: Vector = values[0]
    return at_root


def _goes_left(tree: Tree, nodes: Nodes, column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return, for each node and point, whether a value goes to the left."""
    goes_left: NDArray[np.bool_] = column <= tree.threshold[nodes, None]
    is_lost = np.repeat(np.isnan(column)[None], len(nodes), axis=0)
    for place in np.flatnonzero(tree.category_start[nodes] >= 0):
        node = int(nodes[place])
        goes_left[place] = np.isin(column, tree.categories_left(node))
        is_lost[place] = ~np.isin(column, np.arange(tree.n_categories[tree.feature[node]]))
    return np.where(is_lost, tree.missing_go_to_left[nodes, None], goes_left)
