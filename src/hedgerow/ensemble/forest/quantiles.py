"""Quantile forests: the distribution of a row's target, by the targets in the leaves it falls into.

N. Meinshausen, "Quantile regression forests", Journal of Machine Learning Research 7, 2006. Every
tree has one unit of weight, which the targets of its sample in the leaf share by their weights. Of
all trees together, the quantile q is the least target up to which the weights come to a share of at
least q.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import is_number
from hedgerow._engine import check_n_threads, in_threads
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.base import Forest
from hedgerow.ensemble.forest.jackknife import tree_answers
from hedgerow.ensemble.forest.leaf_targets import LeafTargets
from hedgerow.ensemble.forest.proximity import out_of_bag_rows
from hedgerow.errors import ParameterError, UnavailableError
from hedgerow.tree._table import prediction_blocks

__all__ = ["QuantileForest"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Truths: TypeAlias = NDArray[np.bool_]

_SLACK = 1e-12
"""How far a sum of shares may be below q and still reach it: sums are rounded."""

_LEAVES_AT_ONCE = 2**19
"""Rows times trees whose leaves are looked up at a time: 4 MB of numbers each way."""

_TARGETS_AT_ONCE = 2**20
"""Targets of rows that are sorted at a time: 8 MB of numbers each way."""


class QuantileForest(Forest):
    """A forest for numbers that knows how targets are spread."""

    leaf_targets_: LeafTargets

    def predict_quantiles(
        self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95), *, oob: bool = False
    ) -> Vector:
        """Return quantiles of the targets that rows like these have.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        quantiles : sequence of float, default=(0.05, 0.5, 0.95)
            Between 0 and 1.
        oob : bool, default=False
            Whether for each row only the trees answer whose samples lack it. X must be the rows of
            the fit, in their order: their own targets would make quantiles too narrow.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles) or (n_samples, n_outputs, n_quantiles)
            Each one of the targets of the fit. With ``oob``, NaN for rows that are in every sample.

        Examples
        --------
        >>> from sklearn.datasets import make_friedman1
        >>> from hedgerow import RandomForestRegressor
        >>> X, y = make_friedman1(200, random_state=0)
        >>> forest = RandomForestRegressor(min_samples_leaf=5, keep_targets=True, random_state=0).fit(X, y)
        >>> low, middle, high = forest.predict_quantiles(X, [0.1, 0.5, 0.9]).T
        >>> bool((low <= middle).all() and (middle <= high).all())
        True
        """
        check_fitted(self)
        asked = _read_quantiles(quantiles)
        targets = self._kept_targets()
        source = view_table(X)
        out = out_of_bag_rows(self, source.shape[0], "oob=True") if oob else None
        found = np.empty((source.shape[0], self.n_outputs_, len(asked)))
        ask = partial(self._fill, targets, asked, found, out)
        for start, rows in _with_starts(prediction_blocks(self, source)):
            height = max(_LEAVES_AT_ONCE // len(self.trees_), 1)
            parts = [(start + i, rows[i : i + height]) for i in range(0, len(rows), height)]
            for _ in in_threads(ask, parts, check_n_threads(self.n_jobs)):
                pass
        return found[:, 0] if self.n_outputs_ == 1 else found

    def predict_interval(self, X: Any, level: float = 0.9, *, oob: bool = False) -> Vector:
        """Return an interval that holds the target of a row with a given probability.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        level : float, default=0.9
            The probability, above 0 and below 1; as much is left out below as above.
        oob : bool, default=False
            As in :meth:`predict_quantiles`.

        Returns
        -------
        bounds : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            The quantiles (1 - level) / 2 and (1 + level) / 2.

        Examples
        --------
        >>> from sklearn.datasets import make_friedman1
        >>> from hedgerow import RandomForestRegressor
        >>> X, y = make_friedman1(500, noise=1.0, random_state=0)
        >>> forest = RandomForestRegressor(min_samples_leaf=5, keep_targets=True, random_state=0)
        >>> low, high = forest.fit(X, y).predict_interval(X, 0.8, oob=True).T
        >>> bool(0.7 < ((low <= y) & (y <= high)).mean() < 0.95)
        True
        """
        if not is_number(level) or not 0 < level < 1:
            msg = f"level={level!r} is no probability; give a number above 0 and below 1"
            raise ParameterError(msg)
        return self.predict_quantiles(X, [(1 - level) / 2, (1 + level) / 2], oob=oob)

    def _kept_targets(self) -> LeafTargets:
        if "leaf_targets_" not in vars(self):
            msg = (
                f"{type(self).__name__} has not kept the targets of its leaves, which would take more "
                "memory than its trees, or was told not to, or its estimators_ hold trees without them; "
                "set keep_targets=True and fit again"
            )
            raise UnavailableError(msg)
        return self.leaf_targets_

    def _fill(
        self,
        targets: LeafTargets,
        asked: Vector,
        found: Vector,
        out: Truths | None,
        part: tuple[int, NDArray[Any]],
    ) -> None:
        """Put down the quantiles of some rows, of which the first has that number."""
        start, rows = part
        where = slice(start, start + len(rows))
        leaves = self.trees_.core.leaves(rows, 1)
        answers = tree_answers(self, rows, n_threads=1)
        counts = np.ones(leaves.shape, dtype=bool) if out is None else out[where]
        for output in range(self.n_outputs_):
            cells = targets.cells_of(leaves, output)
            told = answers[:, :, output, 0].T
            found[where, output] = _Leaves(targets, cells, told, counts).quantiles(asked)


class _Leaves:
    """The leaves of some rows in all trees, of shape (n_rows, n_trees).

    ``cells`` are those with the targets of a leaf, or -1 where all have the value ``told``;
    ``counts`` says which trees are asked.
    """

    def __init__(self, targets: LeafTargets, cells: Indices, told: Vector, counts: Truths) -> None:
        self._targets = targets
        self._cells = cells
        self._told = told
        self._counts = counts
        self._sizes = np.ones(cells.shape, dtype=np.int64)
        self._sizes[cells >= 0] = targets.sizes[cells[cells >= 0]]

    def quantiles(self, asked: Vector) -> Vector:
        """Return the quantiles of each row; NaN where no tree is asked."""
        n_rows = len(self._cells)
        lengths = self._sizes.sum(axis=1)
        found = np.empty((n_rows, len(asked)))
        is_long = lengths > np.maximum(len(self._targets.values), self._cells.shape[1])
        for row in np.flatnonzero(is_long).tolist():
            found[row] = self._by_value(row, asked)
        short = np.flatnonzero(~is_long)
        height = max(_TARGETS_AT_ONCE // int(lengths[short].max(initial=1)), 1)
        for start in range(0, len(short), height):
            rows = short[start : start + height]
            found[rows] = self._by_sorting(rows, asked)
        found[~self._counts.any(axis=1)] = np.nan
        return found

    def _by_sorting(self, rows: Indices, asked: Vector) -> Vector:
        """Return quantiles of rows with few targets: those of each row are sorted.

        A row does the same whatever the others are: what fills it up comes last and weighs nothing.
        """
        values, weights = self._table(rows)
        order = np.argsort(values, axis=1, kind="stable")
        sums = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
        found = np.empty((len(rows), len(asked)))
        goals = np.outer(self._counts[rows].sum(axis=1), asked) - _SLACK * self._cells.shape[1]
        for k, goal in enumerate(goals.T):
            places = np.argmax(sums >= goal[:, None], axis=1)[:, None]
            found[:, k : k + 1] = np.take_along_axis(
                values, np.take_along_axis(order, places, axis=1), axis=1
            )
        return found

    def _table(self, rows: Indices) -> tuple[Vector, Vector]:
        """Return the targets of rows side by side, and their weights."""
        cells, counts, sizes = self._cells[rows], self._counts[rows], self._sizes[rows]
        ends = np.cumsum(sizes, axis=1)
        values = np.full((len(rows), int(ends[:, -1].max())), np.inf)
        weights = np.zeros(values.shape)
        row, tree = np.nonzero((cells < 0) & counts)
        values[row, ends[row, tree] - 1] = self._told[rows[row], tree]
        weights[row, ends[row, tree] - 1] = 1.0
        row, tree = np.nonzero((cells >= 0) & counts)
        cell, n = cells[row, tree], sizes[row, tree]
        step = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        entry = np.repeat(self._targets.starts[cell], n) + step
        place = np.repeat(ends[row, tree] - n, n) + step
        row = np.repeat(row, n)
        values[row, place] = self._targets.values[self._targets.ranks[entry]]
        weights[row, place] = self._targets.weights[entry] / np.repeat(
            self._targets.totals[cell], n
        )
        return values, weights

    def _by_value(self, row: int, asked: Vector) -> Vector:
        """Return quantiles of a row with more targets than there are distinct ones: one sum for each."""
        kept, sums = self._targets, np.zeros(len(self._targets.values))
        for tree in np.flatnonzero(self._counts[row]):
            cell = self._cells[row, tree]
            if cell < 0:
                # A target of the fit, which are all there; the last one if a file was tampered with.
                place = np.searchsorted(kept.values, self._told[row, tree])
                sums[min(place, len(sums) - 1)] += 1.0
                continue
            entries = slice(kept.starts[cell], kept.starts[cell] + kept.sizes[cell])
            sums[kept.ranks[entries]] += kept.weights[entries] / kept.totals[cell]
        sums = np.cumsum(sums)
        goals = asked * np.count_nonzero(self._counts[row]) - _SLACK * self._cells.shape[1]
        places = np.searchsorted(sums, np.maximum(goals, np.nextafter(0.0, 1.0)))
        found: Vector = kept.values[np.minimum(places, len(sums) - 1)]
        return found


def _read_quantiles(quantiles: Any) -> Vector:
    """Return the quantiles that are asked for, if they are such."""
    given = np.asarray(quantiles)
    fine = given.ndim == 1 and given.dtype.kind in "iuf" and len(given) > 0
    if not fine or not ((given >= 0) & (given <= 1)).all():
        msg = f"quantiles={quantiles!r} are none; give a list of numbers between 0 and 1"
        raise ParameterError(msg)
    asked: Vector = given.astype(np.float64)
    return asked


def _with_starts(blocks: Iterator[NDArray[Any]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield blocks of rows with the number of their first row."""
    start = 0
    for rows in blocks:
        yield start, rows
        start += len(rows)
