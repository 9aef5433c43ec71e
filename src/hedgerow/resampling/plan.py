"""Bootstrap resamples as counts: how often each row is drawn, block by block.

A resample of n units is n draws with replacement, that is one multinomial vector of counts; no list
of drawn rows is ever made. Every block of resamples has random streams of its own and a shape that
depends on the data alone, so the resamples are the same whoever computes them, in any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.errors import DataError

__all__ = ["Counts", "Plan", "make_plan"]

Counts: TypeAlias = NDArray[np.uint8]
"""One row per resample and one column per row of the data, in C order."""

CELLS_PER_BLOCK = 1 << 20
"""Counts in a block: enough to make Python's overhead vanish, few enough to stay in the cache."""

MOST_DELETIONS = 2000
"""Above this many units the jackknife leaves out random groups of them instead of single ones."""

_STREAMS_PER_DRAW = 2
_STREAMS_PER_NESTING = 1 << 40
_JACKKNIFE_STREAM = (1 << 64) - 1


@dataclass(frozen=True)
class Plan:
    """What is drawn, and from where.

    Attributes
    ----------
    pool_sizes : tuple of int
        The number of units of each pool. As many units are drawn from a pool as it has, so strata
        and independent samples keep their sizes. Units are numbered pool after pool.
    unit_of_row : ndarray of int or None
        The unit each row belongs to: rows of one group come and go together. None if row i is
        unit i.
    n_rows : int
        The number of rows of the data.
    """

    pool_sizes: tuple[int, ...]
    unit_of_row: NDArray[np.int64] | None
    n_rows: int

    @property
    def n_units(self) -> int:
        """The number of units in all pools."""
        return sum(self.pool_sizes)

    @property
    def keeps_size(self) -> bool:
        """Whether every resample has as many rows as the data."""
        return self.n_units == self.n_rows

    @property
    def block_size(self) -> int:
        """The number of resamples in a block."""
        return max(1, CELLS_PER_BLOCK // self.n_rows)

    def blocks(self, n_resamples: int) -> list[range]:
        """Cut the resamples into blocks."""
        size = self.block_size
        return [range(a, min(a + size, n_resamples)) for a in range(0, n_resamples, size)]

    def draw(self, seed: int, block: range) -> Counts:
        """Return how often each unit is drawn in the resamples of a block."""
        return self._draw(seed, 0, block.start // self.block_size, len(block))

    def draw_nested(self, seed: int, resample: int, units: Counts, n_resamples: int) -> Counts:
        """Return how often each unit is drawn in resamples of one resample.

        A resample holds as many draws from a pool as the pool has units, so its draws, sorted, are
        the units of the same plan; what is drawn of them is added up unit by unit.
        """
        draws = self._draw(seed, resample + 1, 0, n_resamples)
        totals = np.zeros((n_resamples, self.n_units + 1), dtype=np.int64)
        np.cumsum(draws, axis=1, out=totals[:, 1:])
        ends = np.cumsum(units, dtype=np.int64)
        return (totals[:, ends] - totals[:, ends - units]).astype(np.uint8, order="C")

    def of_rows(self, units: Counts) -> Counts:
        """Spread the units' counts over the rows."""
        return units if self.unit_of_row is None else units.take(self.unit_of_row, axis=1)

    def deletions(self, seed: int) -> list[list[NDArray[np.int64]]]:
        """Return for each pool the parts that the jackknife leaves out, one at a time.

        A pool of one unit has nothing to leave out and is passed over.
        """
        starts = np.cumsum((0, *self.pool_sizes))
        pools = []
        for pool, size in enumerate(self.pool_sizes):
            share = max(2, round(MOST_DELETIONS * size / self.n_units))
            n_parts = size if self.n_units <= MOST_DELETIONS else min(size, share)
            if size > 1:
                order = _core.system.random_permutation(seed, _JACKKNIFE_STREAM - pool, size)
                pools.append(np.array_split(starts[pool] + order, n_parts))
        return pools

    def without(self, parts: Sequence[NDArray[np.int64]]) -> Counts:
        """Return counts of one, but zero for the units of one part in each row."""
        counts = np.ones((len(parts), self.n_units), dtype=np.uint8)
        for row, part in zip(counts, parts, strict=True):
            row[part] = 0
        return counts

    def _draw(self, seed: int, nesting: int, index: int, n_resamples: int) -> Counts:
        first = nesting * _STREAMS_PER_NESTING + index * len(self.pool_sizes) * _STREAMS_PER_DRAW
        pools = [
            _core.resample.multinomial_counts(
                seed, first + pool * _STREAMS_PER_DRAW, size, n_resamples
            )
            for pool, size in enumerate(self.pool_sizes)
        ]
        return pools[0] if len(pools) == 1 else np.concatenate(pools, axis=1)


def make_plan(n_rows: int, strata: Any = None, groups: Any = None) -> Plan:
    """Return the plan that keeps strata in size and groups whole; groups lie inside strata."""
    pool = np.zeros(n_rows, dtype=np.int64) if strata is None else _codes("strata", strata, n_rows)
    unit = np.arange(n_rows) if groups is None else _codes("groups", groups, n_rows)
    _, first_row = np.unique(unit, return_index=True)
    pool_of_unit = pool[first_row]
    astray = np.flatnonzero(pool_of_unit[unit] != pool)
    if len(astray):
        msg = f"row {astray[0]} is in a different stratum than the first row of its group; give every group one stratum"
        raise DataError(msg)
    order = np.argsort(pool_of_unit, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    unit_of_row = rank[unit]
    is_identity = np.array_equal(unit_of_row, np.arange(n_rows))
    sizes = tuple(int(size) for size in np.bincount(pool_of_unit))
    return Plan(sizes, None if is_identity else unit_of_row, n_rows)


def _codes(name: str, labels: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the labels as numbers from 0."""
    labels = np.asarray(labels)
    if labels.shape != (n_rows,):
        msg = f"{name} has shape {labels.shape}, but the data have {n_rows} rows; give one label per row"
        raise DataError(msg)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
