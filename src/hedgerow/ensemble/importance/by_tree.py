"""A measure of features, or of groups of them, for each tree: its computation, mean and spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import in_blocks, in_threads, is_in_this_process, side_by_side
from hedgerow.monitor import current

__all__ = ["MeasureByTree", "TreeMeasure", "measure_trees"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TreeMeasure:
    """What a tree says of some columns of the table; of all others it says 0.

    A tree that ``has_say`` nothing, as no row is out of its bag, is not counted.
    """

    columns: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    values: Vector = field(default_factory=lambda: np.empty(0))
    has_say: bool = True


@dataclass(frozen=True, eq=False)
class MeasureByTree:
    """A measure tree by tree.

    Attributes
    ----------
    table : csr_array of shape (n_trees, n_columns)
        The measure before it is divided by ``total``.
    is_counted : ndarray of bool of shape (n_trees,)
        The trees that means are taken over.
    total : float
        What all figures are divided by.
    """

    table: sp.csr_array
    is_counted: NDArray[np.bool_]
    total: float = 1.0

    @staticmethod
    def of(trees: list[TreeMeasure], n_columns: int) -> MeasureByTree:
        """Return what the trees say, one per row."""
        ends = np.cumsum([0, *(len(tree.columns) for tree in trees)], dtype=np.int64)
        columns = np.concatenate([np.empty(0, np.int64), *(tree.columns for tree in trees)])
        values = np.concatenate([np.empty(0), *(tree.values for tree in trees)])
        table = sp.csr_array((values, columns, ends), shape=(len(trees), n_columns))
        return MeasureByTree(table, np.array([tree.has_say for tree in trees], dtype=bool))

    @property
    def n_counted(self) -> int:
        """How many trees are counted."""
        return int(np.count_nonzero(self.is_counted))

    @property
    def mean(self) -> Vector:
        """The mean over the trees that are counted; 0 if none is."""
        return self._mean / self.total

    @property
    def spread(self) -> Vector:
        """The standard deviation over these trees; 0 if there is but one."""
        n, mean = self.n_counted, self._mean
        if n < 2:
            return np.zeros_like(mean)
        table, width = self.table, len(mean)
        squares = np.bincount(table.indices, (table.data - mean[table.indices]) ** 2, width)
        n_said = np.bincount(table.indices, minlength=width)
        variance = (squares + (n - n_said) * mean**2) / (n - 1)
        return np.sqrt(variance) / self.total

    @property
    def scaled(self) -> sp.csr_array:
        """The table, divided by ``total``."""
        return self.table if self.total == 1.0 else self.table / self.total

    @property
    def _mean(self) -> Vector:
        table = self.table
        sums = np.bincount(table.indices, table.data, minlength=table.shape[1])
        return sums.astype(np.float64) / max(self.n_counted, 1)

    def columns(self, chosen: slice) -> MeasureByTree:
        """Return a stretch of the columns."""
        return MeasureByTree(self.table[:, chosen], self.is_counted, self.total)

    def added_up(self, membership: sp.csr_array) -> MeasureByTree:
        """Return the sums over groups of columns, of which ``membership`` has a 1 for each member."""
        summed = (self.table @ membership).tocsr()
        summed.sort_indices()
        return MeasureByTree(summed, self.is_counted, self.total)


def measure_trees(
    task: Callable[[int], TreeMeasure], n_trees: int, n_threads: int
) -> list[TreeMeasure]:
    """Return what a task finds of every tree; of the first ones only, if it must stop.

    Every thread takes the number of the next tree until there is none. A task asks between its steps
    whether it must stop, and leaves by Stopped.
    """
    if not is_in_this_process():
        return _measure_elsewhere(task, n_trees, n_threads)
    found: list[TreeMeasure | None] = [None] * n_trees
    numbers, n_done, whole = count(), count(1), current()

    def work(_: int) -> None:
        monitor = current()
        for number in numbers:
            if number >= n_trees or monitor.reason is not None:
                return
            try:
                found[number] = task(number)
            except _core.system.Stopped:
                return
            whole.report(next(n_done), n_trees)

    n_workers = min(n_threads, n_trees)
    for _ in in_threads(work, range(n_workers), n_workers):
        pass
    n_whole = next((i for i, each in enumerate(found) if each is None), n_trees)
    return [each for each in found[:n_whole] if each is not None]


def _measure_elsewhere(
    task: Callable[[int], TreeMeasure], n_trees: int, n_workers: int
) -> list[TreeMeasure]:
    """Do the same in other processes, each of which is sent the task once."""
    found: list[TreeMeasure] = []
    blocks, whole = in_blocks(range(n_trees)), current()
    results = side_by_side(partial(_measure_block, task), blocks, n_workers, is_one_task=True)
    for block, measures in zip(blocks, results, strict=False):
        found += measures
        whole.report(len(found), n_trees)
        if len(measures) < len(block):
            break
    return found


def _measure_block(task: Callable[[int], TreeMeasure], numbers: range) -> list[TreeMeasure]:
    """Return what a task finds of some trees, as far as it comes."""
    found: list[TreeMeasure] = []
    try:
        for number in numbers:
            current().check()
            found.append(task(number))
    except _core.system.Stopped:
        pass
    return found
