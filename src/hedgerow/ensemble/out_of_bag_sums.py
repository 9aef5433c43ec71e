"""What the members of an ensemble say of the rows that their samples lack, added up member by member.

A grown tree says into which leaf every row falls, also those that were not in its sample, so that no row is
sent through it a second time. Other members give their values for all rows. After every member the error
of the sums is known, and so is the error of each member by itself.
"""

from __future__ import annotations

from functools import singledispatch
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.ensemble.combining import ClassCombiner, Combiner, MeanCombiner
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import Counts

__all__ = ["OutOfBagSums"]

Vector = NDArray[np.float64]


class OutOfBagSums:
    """What the members whose samples lack a row say of it.

    Attributes
    ----------
    judge : Combiner
        Knows what is true.
    is_judged : ndarray of bool
        The rows that errors are computed of: those with weight.
    votes : bool
        Whether members vote for a class, instead of adding up shares.
    curve : list of float
        The error of all members so far, after each member; NaN while no row was left out.

    With ``in_core``, which only trees may be added to, the core adds up shares and numbers.
    """

    def __init__(
        self, judge: Combiner, is_judged: NDArray[np.bool_], *, votes: bool, in_core: bool = True
    ) -> None:
        self.judge = judge
        self.votes = votes
        self.is_judged = is_judged
        self.curve: list[float] = []
        by_core = in_core and not votes
        self._book: _core.tree.OutOfBag | _Book = (
            _sums_in_core(judge, is_judged) if by_core else _Book(judge, is_judged, votes=votes)
        )

    def add(self, tree: Any, bag: Counts) -> None:
        """Take in a tree; rows of which ``bag`` is 0 are out of it."""
        self.curve.append(self._book.add(tree, bag))

    def add_values(self, values: Vector, bag: Counts) -> None:
        """Take in a member by its values for all rows, of shape (n_rows, n_outputs, width)."""
        assert isinstance(self._book, _Book)
        self.curve.append(self._book.add_values(values, bag))

    def add_packed(self, trees: PackedTrees, leaf_of_row: NDArray[np.int32], bag: Counts) -> None:
        """Take in a tree that is packed, the first of these, of which the leaf of each row is known."""
        if isinstance(self._book, _core.tree.OutOfBag):
            self.curve.append(self._book.add_packed(trees.core, 0, leaf_of_row, bag))
        else:
            value = trees.tree(0, np.zeros(trees.n_features, dtype=np.int64)).value
            self.add(SimpleNamespace(value=value, leaf_of_row=leaf_of_row), bag)

    def state(self) -> tuple[Vector, NDArray[np.int32], Vector, Vector]:
        """Return sums, trees of each row, their losses one by one, and the curve."""
        book = self._book
        return book.sums, book.n_trees_of_row, book.tree_losses, np.array(self.curve)

    def restore(
        self, sums: Vector, n_trees_of_row: NDArray[np.int32], tree_losses: Vector, curve: Vector
    ) -> None:
        """Go on from what an earlier tally found."""
        self._book.restore(sums, n_trees_of_row, tree_losses)
        self.curve = curve.tolist()


@singledispatch
def _sums_in_core(judge: Combiner, is_judged: NDArray[np.bool_]) -> _core.tree.OutOfBag:
    """Return what takes in trees and judges them as a combiner does, fast."""
    raise NotImplementedError(f"the core has no sums for {type(judge).__name__}")


@_sums_in_core.register
def _(judge: ClassCombiner, is_judged: NDArray[np.bool_]) -> _core.tree.OutOfBag:
    y = np.ascontiguousarray(judge.y, dtype=np.int32)
    return _core.tree.OutOfBag.of_classification(y, judge.width, is_judged)


@_sums_in_core.register
def _(judge: MeanCombiner, is_judged: NDArray[np.bool_]) -> _core.tree.OutOfBag:
    return _core.tree.OutOfBag.of_regression(
        np.ascontiguousarray(judge.y, dtype=np.float64), is_judged
    )


class _Book:
    """What the core does, for votes, for trees that are packed already, and for members that are no trees.

    Attributes
    ----------
    sums : ndarray of float64 of shape (n_rows, n_outputs, width)
        Sums of shares, votes or numbers.
    n_trees_of_row : ndarray of int32
        How many trees each row was left out of.
    tree_losses : ndarray of float64
        Of every row, the sum of the losses of those trees one by one.
    """

    def __init__(self, judge: Combiner, is_judged: NDArray[np.bool_], *, votes: bool) -> None:
        self._judge = judge
        self._is_judged = is_judged
        self._votes = votes
        self.sums = np.zeros((judge.n_rows, judge.n_outputs, judge.width))
        self.n_trees_of_row = np.zeros(judge.n_rows, dtype=np.int32)
        self.tree_losses = np.zeros(judge.n_rows)
        self._losses = np.zeros(judge.n_rows)

    def add(self, tree: Any, bag: Counts) -> float:
        """Take in a tree, and return the error of all so far."""
        out = np.flatnonzero(bag == 0)
        leaves = tree.leaf_of_row[out]
        answers = self._judge.answers(tree.value)[leaves]
        return self._take_in(out, answers, answers if self._votes else tree.value[leaves])

    def add_values(self, values: Vector, bag: Counts) -> float:
        """Take in a member that is no tree, and return the error of all so far."""
        out = np.flatnonzero(bag == 0)
        values = values[out]
        return self._take_in(out, self._judge.answers(values), values)

    def _take_in(
        self, out: NDArray[np.int64], answers: NDArray[Any], values: NDArray[Any]
    ) -> float:
        """Add the answers of a member, or their values, for rows that its sample lacks."""
        self.n_trees_of_row[out] += 1
        if self._votes:
            for output, classes in enumerate(answers.T):
                self.sums[out, output, classes] += 1.0
        else:
            self.sums[out] += values
        self.tree_losses[out] += self._judge.losses(answers, out)
        self._judge_again(out)
        return self._error()

    def restore(self, sums: Vector, n_trees_of_row: NDArray[np.int32], tree_losses: Vector) -> None:
        """Go on from other sums."""
        self.sums, self.n_trees_of_row = sums.copy(), n_trees_of_row.copy()
        self.tree_losses = tree_losses.copy()
        self._judge_again(np.flatnonzero(n_trees_of_row))

    def _judge_again(self, rows: NDArray[np.int64]) -> None:
        """Compute the losses of rows of which the sums have changed."""
        answers = self._judge.answers(self.sums.take(rows, axis=0), self.n_trees_of_row[rows])
        self._losses[rows] = self._judge.losses(answers, rows)

    def _error(self) -> float:
        """Return the mean loss of the rows that have been left out."""
        judged = self._is_judged & (self.n_trees_of_row > 0)
        n = int(np.count_nonzero(judged))
        return float(self._losses[judged].sum() / n) if n else float("nan")
