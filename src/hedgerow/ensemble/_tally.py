"""Out-of-bag figures, taken while a tree is hot: no row is sent through it a second time.

A grown tree says into which leaf every row falls, also those that were not in its sample. For these,
and for these alone, the values of their leaves are added up. After every tree the error of the sums
is known, and so is the error of each tree by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.ensemble._judges import Judge
from hedgerow.ensemble._sampling import Counts

__all__ = ["Tally"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


class Tally:
    """What the trees whose samples lack a row say of it.

    Attributes
    ----------
    judge : Judge
        Knows what is true.
    is_judged : ndarray of bool
        The rows that errors are computed of: those with weight.
    votes : bool
        Whether trees vote for a class, instead of adding up shares.
    tree_losses : ndarray of float64
        Of every row, the sum of the losses of those trees one by one.
    curve : list of float
        The error of all trees so far, after each tree; NaN while no row was left out.
    """

    def __init__(
        self, judge: Judge, is_judged: NDArray[np.bool_], *, votes: bool, in_core: bool = True
    ) -> None:
        self.judge = judge
        self.votes = votes
        self.is_judged = is_judged
        self.tree_losses = np.zeros(judge.n_rows)
        self.curve: list[float] = []
        shape = (judge.n_rows, judge.n_outputs, judge.width)
        by_core = in_core and not votes
        self._sums: _InCore | _Plain = (
            _InCore(shape) if by_core else _Plain(judge, shape, votes=votes)
        )
        self._losses = np.zeros(judge.n_rows)

    @property
    def sums(self) -> Vector:
        """The sums of shares, votes or numbers, of shape (n_rows, n_outputs, width)."""
        return self._sums.sums

    @property
    def n_trees_of_row(self) -> NDArray[np.int32]:
        """How many trees each row was left out of."""
        return self._sums.n_trees_of_row

    def add(self, tree: Any, bag: Counts) -> None:
        """Take in a tree; rows of which ``bag`` is 0 are out of it."""
        out = np.flatnonzero(bag == 0)
        self._sums.add(tree, bag, out)
        answers = self.judge.answers(tree.value)
        self.tree_losses[out] += self.judge.losses(answers[tree.leaf_of_row[out]], out)
        self._judge_again(out)
        self.curve.append(self._error())

    def state(self) -> tuple[Vector, NDArray[np.int32], Vector, Vector]:
        """Return what :meth:`restore` takes."""
        return self.sums, self.n_trees_of_row, self.tree_losses, np.array(self.curve)

    def restore(
        self, sums: Vector, n_trees_of_row: NDArray[np.int32], tree_losses: Vector, curve: Vector
    ) -> None:
        """Go on from what an earlier tally found."""
        self._sums.restore(sums, n_trees_of_row)
        self.tree_losses[:] = tree_losses
        self.curve = curve.tolist()
        self._judge_again(np.flatnonzero(n_trees_of_row))

    def _judge_again(self, rows: Indices) -> None:
        """Compute the losses of rows of which the sums have changed."""
        answers = self.judge.answers(self.sums.take(rows, axis=0), self.n_trees_of_row[rows])
        self._losses[rows] = self.judge.losses(answers, rows)

    def _error(self) -> float:
        """Return the mean loss of the rows that have been left out."""
        judged = self.is_judged & (self.n_trees_of_row > 0)
        n = int(np.count_nonzero(judged))
        return float(self._losses[judged].sum() / n) if n else float("nan")


class _InCore:
    """Sums of the leaves' values, which the core adds up."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        self._core = _core.OutOfBag(*shape)

    @property
    def sums(self) -> Vector:
        return self._core.sums

    @property
    def n_trees_of_row(self) -> NDArray[np.int32]:
        return self._core.n_trees_of_row

    def add(self, tree: Any, bag: Counts, out: Indices) -> None:  # noqa: ARG002
        self._core.add(tree, bag)

    def restore(self, sums: Vector, n_trees_of_row: NDArray[np.int32]) -> None:
        self._core = _core.OutOfBag.of(sums, n_trees_of_row)


class _Plain:
    """Sums of votes, or of the values of leaves of trees that are packed already."""

    def __init__(self, judge: Judge, shape: tuple[int, int, int], *, votes: bool) -> None:
        self._judge = judge
        self._votes = votes
        self.sums = np.zeros(shape)
        self.n_trees_of_row = np.zeros(shape[0], dtype=np.int32)

    def add(self, tree: Any, bag: Counts, out: Indices) -> None:  # noqa: ARG002
        leaves = tree.leaf_of_row[out]
        self.n_trees_of_row[out] += 1
        if not self._votes:
            self.sums[out] += tree.value[leaves]
            return
        for output, classes in enumerate(self._judge.answers(tree.value)[leaves].T):
            self.sums[out, output, classes] += 1.0

    def restore(self, sums: Vector, n_trees_of_row: NDArray[np.int32]) -> None:
        self.sums, self.n_trees_of_row = sums.copy(), n_trees_of_row.copy()
