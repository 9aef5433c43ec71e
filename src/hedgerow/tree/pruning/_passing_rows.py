"""What given rows say of the nodes they pass: counts of classes, moments, errors.

A row passes every node between the root and its leaf. Rows are counted in their leaves, and the counts
added up level by level: that costs as much as the rows and the nodes, not their product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow.data.training_data import check_labels, check_targets
from hedgerow.errors import DataError
from hedgerow.tree.tree import Tree

__all__ = ["Moments", "class_counts", "leaves_and_targets", "moments", "node_errors"]

Vector = NDArray[np.float64]
Codes = NDArray[np.int64]

NOT_KNOWN = -1
"""The code of a label that the model does not know."""


def leaves_and_targets(model: Any, X: Any, y: Any) -> tuple[Codes, NDArray[Any]]:
    """Return each row's leaf, and its targets: codes of classes, or numbers, of shape (rows, outputs)."""
    leaves = np.asarray(model.apply(X)).astype(np.int64)
    n_rows, n_outputs = len(leaves), model.tree_.n_outputs
    table = np.asanyarray(y)
    columns = [y] if table.ndim == 1 or table.shape[1:] == (1,) else list(table.T)
    if len(columns) != n_outputs:
        msg = f"y has {len(columns)} columns and the model {n_outputs} outputs; give one column an output"
        raise DataError(msg)
    if not is_classifier(model):
        return leaves, np.stack([check_targets(column, n_rows) for column in columns], axis=1)
    classes = [model.classes_] if n_outputs == 1 else model.classes_
    codes = [_codes(known, column, n_rows) for known, column in zip(classes, columns, strict=True)]
    return leaves, np.stack(codes, axis=1)


def _codes(known: NDArray[Any], column: Any, n_rows: int) -> Codes:
    """Return the number of each label among the known ones."""
    labels, places = check_labels(column, n_rows)
    numbers = {label: k for k, label in enumerate(known.tolist())}
    codes = [numbers.get(label, NOT_KNOWN) for label in labels.tolist()]
    return np.array(codes, dtype=np.int64)[places]


def class_counts(tree: Tree, leaves: Codes, codes: Codes, weight: Vector) -> Vector:
    """Return the weight of each class in each node, of shape (nodes, outputs, classes + 1).

    The last class stands for labels that the model does not know.
    """
    width = tree.max_n_classes + 1
    counts = np.empty((tree.node_count, codes.shape[1], width))
    for k, column in enumerate(codes.T):
        place = leaves * width + column % width
        counts[:, k] = np.bincount(place, weight, minlength=counts[:, k].size).reshape(-1, width)
    for nodes in tree.levels_upwards():
        counts[nodes] = counts[tree.children_left[nodes]] + counts[tree.children_right[nodes]]
    return counts


@dataclass(frozen=True, eq=False)
class Moments:
    """What the targets of the rows in each node are like.

    Attributes
    ----------
    weight : ndarray of shape (n_nodes, 1)
        The sum of the rows' weights.
    mean : ndarray of shape (n_nodes, n_outputs)
        The mean target; 0 where there is no row.
    squares : ndarray of shape (n_nodes, n_outputs)
        The sum of squared deviations from it.
    """

    weight: Vector
    mean: Vector
    squares: Vector


def moments(tree: Tree, leaves: Codes, targets: Vector, weight: Vector) -> Moments:
    """Return the moments of every node.

    Those of two children are joined about their common mean: a difference of sums of squares would
    have no digits left where the targets are large and close together.
    """

    def summed(values: Vector) -> Vector:
        return np.stack(
            [np.bincount(leaves, weight * v, minlength=tree.node_count) for v in values.T], axis=1
        )

    total = summed(np.ones((len(leaves), 1)))
    mean = _divided(summed(targets), total)
    squares = summed((targets - mean[leaves]) ** 2)
    for nodes in tree.levels_upwards():
        left, right = tree.children_left[nodes], tree.children_right[nodes]
        total[nodes] = total[left] + total[right]
        share = _divided(total[right], total[nodes])
        apart = mean[right] - mean[left]
        mean[nodes] = np.where(total[left] > 0, mean[left] + share * apart, mean[right])
        squares[nodes] = squares[left] + squares[right] + total[left] * share * apart**2
    return Moments(total, mean, squares)


def node_errors(
    model: Any, tree: Tree, leaves: Codes, targets: NDArray[Any], weight: Vector
) -> Vector:
    """Return the error that each node would make on the rows that pass it, if it were a leaf.

    It is the weight of the rows whose class it misses, or for regression the sum of their squared
    errors, of absolute ones if the tree was grown by these; with several outputs, the mean over them.
    """
    if is_classifier(model):
        counts = class_counts(tree, leaves, targets, weight)
        said = tree.value.argmax(axis=2)[:, :, None]
        missed = counts.sum(axis=2) - np.take_along_axis(counts, said, axis=2)[:, :, 0]
        return missed.mean(axis=1)  # type: ignore[no-any-return]
    if getattr(model, "criterion", None) == "absolute_error":
        return _absolute_errors(tree, leaves, targets, weight)
    found = moments(tree, leaves, targets, weight)
    errors = found.squares + found.weight * (found.mean - tree.value[:, :, 0]) ** 2
    return errors.mean(axis=1)  # type: ignore[no-any-return]


def _absolute_errors(tree: Tree, leaves: Codes, targets: Vector, weight: Vector) -> Vector:
    """Return the same for absolute errors, which have no moments: every row walks up to the root."""
    errors, rows, nodes = np.zeros(tree.node_count), np.arange(len(leaves)), leaves
    while len(rows):
        missed = np.abs(targets[rows] - tree.value[nodes, :, 0]).mean(axis=1)
        errors += np.bincount(nodes, weight[rows] * missed, minlength=tree.node_count)
        goes_on = nodes > 0
        rows, nodes = rows[goes_on], tree.parent[nodes[goes_on]]
    return errors


def _divided(a: Vector, b: Vector) -> Vector:
    """Return a / b; 0 where b is 0."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
