"""The impurity decrease, estimated with the out-of-bag rows of each tree.

X. Li, Y. Wang, S. Basu, K. Kumbier, B. Yu, "A debiased MDI feature importance measure for random
forests", NeurIPS 2019. The decrease of impurity that the splits by a feature k bring is

    1/n sum over rows i, over nodes on the path of i that split by k, of
        < mean(child that i goes to) - mean(node), y_i >

with means of y over the rows of the sample, and the same rows i; y is the number, or 1 for the class
of the row and 0 for all others. So written, the rows i may be others than those of the means: with
rows that are out of the bag the expectation is 0 for a feature without influence, however many values
it has to choose a threshold from.

Here y_i is measured from its mean over the sample. In the sample that changes nothing; out of it, what
is found no longer depends on where the zero of y is, and the noise is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.ensemble.importance.by_tree import TreeMeasure
from hedgerow.ensemble.importance.node_rows import add_up_to_root, nodes_by_depth
from hedgerow.ensemble.importance.training_rows import GIVE_TRAINING_ROWS, TrainingRows
from hedgerow.errors import DataError
from hedgerow.monitor import current
from hedgerow.tree._training import ClassTargets, ValueTargets
from hedgerow.tree.tree import Tree

__all__ = ["DebiasedImpurity", "decreases"]

Vector: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DebiasedImpurity:
    """Judges the splits of trees by their out-of-bag rows."""

    seen: TrainingRows

    def __call__(self, number: int) -> TreeMeasure:
        """Return the importance of the features to a tree."""
        seen = self.seen
        counts = seen.counts(number)
        out = seen.out(counts)
        if not len(out):
            return TreeMeasure(has_say=False)
        current().check()
        tree, weights = seen.tree(number), seen.weights_in(counts)
        weights_out = np.zeros(len(weights))
        weights_out[out] = weights[out]
        found = decreases(tree, seen.leaves(tree), seen.targets, weights * counts, weights_out)
        used = np.unique(tree.feature[~tree.is_leaf])
        return TreeMeasure(used, found[used])


def decreases(
    tree: Tree,
    leaves: NDArray[np.int32],
    targets: ClassTargets | ValueTargets,
    weights_in: Vector,
    weights_out: Vector,
) -> Vector:
    """Return, for every feature, the decrease by means of some rows as others, or the same, tell it."""
    levels = nodes_by_depth(tree)
    n_in, n_out = (np.bincount(leaves, w, tree.node_count) for w in (weights_in, weights_out))
    if not n_in[tree.is_leaf].all():
        msg = f"a leaf holds no row of its tree's sample; {GIVE_TRAINING_ROWS}"
        raise DataError(msg)
    columns = _columns(leaves, targets, weights_in)
    sums_in, sums_out = (_leaf_sums(columns, w, tree.node_count) for w in (weights_in, weights_out))
    for figures in (n_in, n_out, sums_in, sums_out):
        add_up_to_root(tree, levels, figures)
    means = sums_in / n_in[:, None]
    below = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[below]
    centred = sums_out[below] - n_out[below, None] * means[0]
    told = ((means[below] - means[above]) * centred).sum(axis=1)
    total = np.bincount(tree.feature[above], told, minlength=tree.n_features)
    of_feature: Vector = total / (n_out[0] * targets.n_outputs)
    return of_feature


def _columns(
    leaves: NDArray[np.int32],
    targets: ClassTargets | ValueTargets,
    weights_in: Vector,
) -> list[tuple[NDArray[Any], Vector | None, int]]:
    """Return for every output where each row is counted, with what factor, and how wide the table is."""
    if isinstance(targets, ClassTargets):
        return [
            (leaves * np.int64(len(labels)) + codes, None, len(labels))
            for labels, codes in zip(targets.classes, targets.codes.T, strict=True)
        ]
    # Of large numbers that differ little the sums would lose what matters.
    total = (weights_in[:, None] * targets.values).sum(axis=0)
    centred = targets.values - total / weights_in.sum()
    return [(leaves, y, 1) for y in centred.T]


def _leaf_sums(
    columns: list[tuple[NDArray[Any], Vector | None, int]], weights: Vector, n_nodes: int
) -> Vector:
    """Return the weighted sums of y in every leaf, with one column per class, or one for regression."""
    tables = [
        np.bincount(places, weights if y is None else weights * y, n_nodes * width)
        for places, y, width in columns
    ]
    return np.concatenate([table.reshape(n_nodes, -1) for table in tables], axis=1)
