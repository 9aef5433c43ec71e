"""What the leaves of a forest say of rows: which of them are alike, and a space they lie in.

Two rows are as close as the share of trees in which they fall into the same leaf (L. Breiman, A.
Cutler, "Random forests manual", 2003). With a column for every leaf of every tree, and a 1 where a
row falls into it, that share is an inner product.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.memory import refuse_beyond_memory
from hedgerow._engine import check_n_threads
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.fit import ForestFit
from hedgerow.ensemble.sampling import known_sampler
from hedgerow.errors import DataError, ParameterError, UnavailableError
from hedgerow.tree._table import prediction_blocks

__all__ = ["LeafProximity", "out_of_bag_rows"]

Vector: TypeAlias = NDArray[np.float64]

_PAIRS_AT_ONCE = 2**22
"""Pairs of rows whose shared leaves are counted at a time: at most 64 MB of sparse entries."""


class LeafProximity(ForestFit):
    """A forest that is asked for leaves, not for answers."""

    def leaf_embedding(self, X: Any, *, normalize: bool = False) -> sp.csr_matrix:
        """Return rows as points of a space with one dimension for every leaf of every tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        normalize : bool, default=False
            Whether every row has length 1: then ``E @ E.T`` is :meth:`proximity`.

        Returns
        -------
        E : CSR matrix of float64 of shape (n_samples, n_leaves)
            For each tree a 1, or with ``normalize`` 1 / sqrt(n_trees), in the column of the leaf that
            the row falls into. Columns are in the order of the trees, and of their leaves by number.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import ExtraTreesClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> points = ExtraTreesClassifier(10, random_state=0).fit(X, y).leaf_embedding(X)
        >>> points.shape[0], points.nnz
        (150, 1500)
        """
        check_fitted(self)
        value = len(self.trees_) ** -0.5 if normalize else 1.0
        return self._leaf_table(X, np.float64(value))

    def proximity(self, X: Any, Y: Any = None, *, oob: bool = False) -> Vector:
        """Return the share of trees in which two rows fall into the same leaf.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : the same, of shape (m_samples, n_features), or None
            The rows they are compared with; None compares X with itself.
        oob : bool, default=False
            Whether only trees count whose samples lack both rows: trees keep the rows apart that they
            have learnt from. X must be the rows of the fit, in their order.

        Returns
        -------
        shares : ndarray of shape (n_samples, m_samples)
            Between 0 and 1. With ``oob``, NaN where no sample lacks both rows.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> shares = RandomForestClassifier(random_state=0).fit(X, y).proximity(X)
        >>> bool(shares[0, 1] > 0.9), float(shares[0, 100]), float(shares[7, 7])
        (True, 0.0, 1.0)
        """
        if oob and Y is not None:
            msg = "proximity(oob=True) compares the rows of the fit with each other; leave Y out"
            raise ParameterError(msg)
        check_fitted(self)
        X = view_table(X)
        Y = X if Y is None else view_table(Y)
        n, m = X.shape[0], Y.shape[0]
        refuse_beyond_memory(
            8 * n * m,
            f"the proximity of {n} and {m} rows",
            "take leaf_embedding(X, normalize=True), whose inner products are the same, or fewer rows",
        )
        out = out_of_bag_rows(self, n, "proximity(oob=True)") if oob else None
        table = self._leaf_table(X, np.int32(1))
        if out is not None:
            table.data[:] = out.reshape(-1)
            return _out_of_bag_shares(table, out)
        other = table if Y is X else self._leaf_table(Y, np.int32(1))
        return _shared(table, other) / len(self.trees_)

    def _leaf_table(self, X: Any, value: np.generic) -> sp.csr_matrix:
        """Return rows by leaves of all trees, the value where a row falls into a leaf."""
        columns, n_leaves = self._leaf_columns()
        n_threads = check_n_threads(self.n_jobs)
        blocks = []
        for rows in prediction_blocks(self, X):
            leaves = self.trees_.core.leaves(rows, n_threads)
            for tree, column_of_node in enumerate(columns):
                leaves[:, tree] = column_of_node[leaves[:, tree]]
            blocks.append(leaves)
        indices = np.concatenate(blocks)
        n_rows, n_trees = indices.shape
        starts = np.arange(0, (n_rows + 1) * n_trees, n_trees)
        data = np.full(indices.size, value)
        return sp.csr_matrix((data, indices.reshape(-1), starts), shape=(n_rows, n_leaves))

    def _leaf_columns(self) -> tuple[list[NDArray[np.int32]], int]:
        """Return for every tree the column of each node that is a leaf, and how many there are."""
        n_categories = self.category_columns_.n_categories
        columns, n_leaves = [], 0
        for number in range(len(self.trees_)):
            places = np.cumsum(self.trees_.tree(number, n_categories).is_leaf)
            columns.append((places - 1 + n_leaves).astype(np.int32))
            n_leaves += int(places[-1])
        return columns, n_leaves


def out_of_bag_rows(forest: ForestFit, n_rows: int, asked: str) -> NDArray[np.bool_]:
    """Return which samples lack which row of the fit, of shape (n_rows, n_trees)."""
    sampler = known_sampler(forest, asked)
    if not sampler.leaves_rows_out:
        msg = f"{asked} is not available: every tree has seen every row; fit with bootstrap=True"
        raise UnavailableError(msg)
    if n_rows != sampler.n_rows:
        msg = (
            f"X has {n_rows} rows and the forest was fitted to {sampler.n_rows}; "
            f"give {asked} the rows of the fit, in their order"
        )
        raise DataError(msg)
    out = np.empty((n_rows, len(forest.trees_)), dtype=bool)
    for tree in range(len(forest.trees_)):
        counts = sampler.counts(tree)
        assert counts is not None
        out[:, tree] = sampler.in_bag(counts) == 0
    return out


def _shared(table: sp.csr_matrix, other: sp.csr_matrix) -> Vector:
    """Return in how many trees rows of two tables share a leaf: whole numbers, so without rounding."""
    by_leaf = other.T.tocsr()
    shared = np.empty((table.shape[0], other.shape[0]))
    height = max(_PAIRS_AT_ONCE // max(other.shape[0], 1), 1)
    for start in range(0, table.shape[0], height):
        part = slice(start, start + height)
        shared[part] = (table[part] @ by_leaf).toarray()
    return shared


def _out_of_bag_shares(table: sp.csr_matrix, out: NDArray[np.bool_]) -> Vector:
    """Return shares of the trees whose samples lack both rows; NaN where there is none."""
    shares = _shared(table, table)
    is_out = out.astype(np.float32)  # sums of ones are exact up to 2^24 trees
    height = max(_PAIRS_AT_ONCE // max(len(out), 1), 1)
    for start in range(0, len(out), height):
        part = slice(start, start + height)
        with np.errstate(invalid="ignore"):
            shares[part] /= is_out[part] @ is_out.T
    return shares
