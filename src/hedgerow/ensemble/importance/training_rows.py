"""The training rows of a forest, given again: which are out of bag for each tree, and their leaves.

A forest keeps neither its rows nor its samples. The samples are drawn again; the rows must be given
again, the same ones in the same order, and as far as can be told from the first tree they are checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.rows import Rows, check_columns, matrix_of, read_rows
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.sampling import Counts, known_sampler
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.tree._routing import router_of
from hedgerow.tree._table import prediction_rows
from hedgerow.tree._training import ClassTargets, ValueTargets, row_factors
from hedgerow.tree.tree import Tree

__all__ = ["GIVE_TRAINING_ROWS", "TrainingRows", "on_used_features", "read_training_rows"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

_BLOCK = 2**23
"""Values of a sparse matrix that are made dense at a time: 64 MB."""

GIVE_TRAINING_ROWS = "give the X, y and sample_weight of the fit, the same rows in the same order"
"""What to do if rows cannot be those of the fit."""


def read_training_rows(forest: Any, X: Any) -> Rows:
    """Return X as rows of numbers, checked against the columns of fit; what is sparse stays so."""
    if not sp.issparse(X):
        return prediction_rows(forest, X)
    check_fitted(forest)
    rows, names = read_rows(X)
    check_columns(forest, names, rows.shape[1])
    matrix_of(rows, may_miss=True)
    return rows


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """The rows that a forest was fitted to.

    Attributes
    ----------
    forest : Forest
        The forest.
    rows : ndarray or CSR array
        The features, as the core takes them.
    targets : ClassTargets or ValueTargets
        What was learnt, and the weights of the rows.
    """

    forest: Any
    rows: Rows
    targets: ClassTargets | ValueTargets

    @staticmethod
    def of(forest: Any, kind: str, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Return the rows of a fit; refuse what cannot be them."""
        sampler = known_sampler(forest, f"importances({kind!r})")
        if not sampler.leaves_rows_out:
            msg = (
                f"importances of the kind {kind!r} need rows that a tree has not seen, and every tree of "
                "this forest has seen all; set bootstrap=True and fit again, or ask for 'impurity'"
            )
            raise UnavailableError(msg)
        if X is None or y is None:
            msg = f"importances of the kind {kind!r} need the X and y of the fit; give both"
            raise ParameterError(msg)
        rows = read_training_rows(forest, X)
        n_rows = sampler.n_rows
        if rows.shape[0] != n_rows:
            msg = f"X has {rows.shape[0]} rows and the forest was fitted to {n_rows}; {GIVE_TRAINING_ROWS}"
            raise DataError(msg)
        found = TrainingRows(forest, rows, forest._targets(y, sample_weight, n_rows))
        found._refuse_other_targets()
        found._refuse_other_rows()
        return found

    def __reduce__(self) -> tuple[type[TrainingRows], tuple[Any, ...]]:
        # Another process needs the trees and their samples, and not all that a forest keeps.
        names = ("trees_", "sampler_", "category_columns_", "class_weight")
        needed = {name: value for name, value in vars(self.forest).items() if name in names}
        return TrainingRows, (SimpleNamespace(**needed), self.rows, self.targets)

    @property
    def weights(self) -> Vector:
        """The weight of each row, class weights multiplied in."""
        weights = self.targets.weights
        return np.ones(self.targets.n_rows) if weights is None else weights

    def tree(self, number: int) -> Tree:
        """Return one of the trees."""
        found: Tree = self.forest.trees_.tree(number, self.forest.category_columns_.n_categories)
        return found

    def counts(self, number: int) -> Counts:
        """Return how often each row is in the sample of a tree."""
        counts: Counts = self.forest.sampler_.counts(number)
        return counts

    def out(self, counts: Counts) -> Indices:
        """Return the rows with weight that a sample lacks, and of whose groups it lacks all."""
        return np.flatnonzero((self.forest.sampler_.in_bag(counts) == 0) & (self.weights > 0))

    def weights_in(self, counts: Counts) -> Vector:
        """Return the weight of each row by which the tree of a sample learns."""
        given = self.weights
        by_sample = getattr(self.forest, "class_weight", None)
        if not (isinstance(by_sample, str) and by_sample == "balanced_subsample"):
            return given
        assert isinstance(self.targets, ClassTargets)
        codes = self.targets.codes.astype(np.int64)
        return given * row_factors("balanced", self.targets.classes, codes, given * counts)

    def cells(self, rows: Indices, features: Indices) -> NDArray[Any]:
        """Return some columns of some rows, dense."""
        if sp.issparse(self.rows):
            return np.ascontiguousarray(self.rows[rows][:, features].toarray())
        if len(features) == self.rows.shape[1]:
            return np.ascontiguousarray(self.rows.take(rows, axis=0))
        return np.ascontiguousarray(self.rows[np.ix_(rows, features)])

    def leaves(self, tree: Tree) -> NDArray[np.int32]:
        """Return the leaf of every row."""
        if not sp.issparse(self.rows):
            return router_of(tree).leaves(self.rows, 1)
        used, narrow = on_used_features(tree)
        height = max(_BLOCK // max(len(used), 1), 1)
        every = np.arange(self.targets.n_rows)
        parts = [every[i : i + height] for i in range(0, len(every), height)]
        return np.concatenate(
            [router_of(narrow).leaves(self.cells(part, used), 1) for part in parts]
        )

    def _refuse_other_targets(self) -> None:
        """Refuse targets that differ from those of fit in what is known of these."""
        targets, forest = self.targets, self.forest
        known = forest._known_classes()
        classes = targets.classes if isinstance(targets, ClassTargets) else ()
        same = targets.n_outputs == forest.n_outputs_ and all(map(np.array_equal, classes, known))
        oob = vars(forest).get("oob_")
        if same and oob is not None:
            given = targets.codes if isinstance(targets, ClassTargets) else targets.values
            same = np.array_equal(oob.y, given)
        if not same:
            msg = f"y is not the y that the forest was fitted to; {GIVE_TRAINING_ROWS}"
            raise DataError(msg)

    def _refuse_other_rows(self) -> None:
        """Refuse rows that leave a leaf of the first tree empty, or bring it a class it has not."""
        tree, bag = self.tree(0), self.counts(0)
        rows = np.flatnonzero((bag > 0) & (self.weights > 0))
        used, narrow = on_used_features(tree)
        leaves = router_of(narrow).leaves(self.cells(rows, used), 1)
        fits = bool(np.bincount(leaves, minlength=tree.node_count)[tree.is_leaf].all())
        if isinstance(self.targets, ClassTargets):
            outputs = np.arange(self.targets.n_outputs)
            fits = fits and bool(
                (tree.value[leaves[:, None], outputs, self.targets.codes[rows]] > 0).all()
            )
        if not fits:
            msg = f"the rows do not fall into the first tree as those of its sample did; {GIVE_TRAINING_ROWS}"
            raise DataError(msg)


def on_used_features(tree: Tree) -> tuple[Indices, Tree]:
    """Return the features that a tree uses, and the same tree on these columns alone."""
    inner = ~tree.is_leaf
    used, places = np.unique(tree.feature[inner], return_inverse=True)
    if not len(used):
        used = np.zeros(
            1, dtype=np.int64
        )  # a table has a column, even for a tree that asks nothing
    feature = tree.feature.copy()
    feature[inner] = places
    return used, replace(tree, feature=feature, n_categories=tree.n_categories[used])
