"""What is fitted to rows in blocks: problems that share the rows, each block a problem of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.blocks import RowBlock, RowBlocks, Survey
from hedgerow.data.even_sample import SampledRows
from hedgerow.data.rows import rows_of
from hedgerow.losses import Loss
from hedgerow.problems.linear import LinearProblem

__all__ = ["RowArrays", "SampledProblem", "StreamedTask"]

Vector = NDArray[np.float64]
RowArrays: TypeAlias = Callable[[int, NDArray[Any]], dict[str, Vector]]
"""From the number of a problem and the targets of some rows to their y, weight and, for a regression, targets."""


@dataclass(frozen=True, eq=False)
class SampledProblem:
    """The rows of a problem that are in memory.

    Attributes
    ----------
    sample : LinearProblem
        Rows that represent all.
    rare : LinearProblem
        All rows that have a rare feature.
    """

    sample: LinearProblem
    rare: LinearProblem


@dataclass(frozen=True)
class StreamedTask:
    """Problems over rows that come in blocks.

    Attributes
    ----------
    rows : RowBlocks
        The rows.
    survey : Survey
        What a first pass over them found.
    n_problems : int
        How many problems share the rows.
    loss : Loss
        The loss of all of them.
    arrays : callable
        Gives y, weight and targets of some rows in one of the problems.
    problem : callable
        Makes a problem of a matrix, a loss and these arrays.
    weight : ndarray
        The weight of a row, or of a row of each class.
    unit : float
        The scale of the scores.
    """

    rows: RowBlocks
    survey: Survey
    n_problems: int
    loss: Loss
    arrays: RowArrays
    problem: Callable[..., LinearProblem]
    weight: Vector
    unit: float = 1.0

    def without_rows(self) -> LinearProblem:
        """Return what the problems of all blocks have in common."""
        nothing = _core.data.Matrix.dense(np.empty((0, self.rows.n_features)))
        none: NDArray[Any] = np.empty(0, dtype=np.int64)
        return self._of_rows(0, nothing, none, None)

    def block(self, k: int, block: RowBlock) -> LinearProblem:
        """Return the part of a problem that a block is."""
        return self._of_rows(k, block.matrix, block.targets, block.weights)

    def whole(self, matrix: _core.data.Matrix) -> list[LinearProblem]:
        """Return every problem, where the sample is all rows; ``matrix`` has its rows."""
        labels, weights = self._sample.labels, self._sample.weights
        return [self._of_rows(k, matrix, labels, weights) for k in range(self.n_problems)]

    def sampled(self) -> list[SampledProblem]:
        """Return every problem for the sample, and for its rows that represent no others."""
        sample = self._sample
        is_rare = sample.stands_for == 1.0
        rare = rows_of(sample.matrix, np.flatnonzero(is_rare))
        weights = np.ones(len(is_rare)) if sample.weights is None else sample.weights
        return [
            SampledProblem(
                self._of_rows(k, sample.matrix, sample.labels, weights * sample.stands_for),
                self._of_rows(k, rare, sample.labels[is_rare], weights[is_rare]),
            )
            for k in range(self.n_problems)
        ]

    @property
    def _sample(self) -> SampledRows:
        assert self.survey.sample is not None
        return self.survey.sample

    def _of_rows(
        self, k: int, matrix: _core.data.Matrix, targets: NDArray[Any], weights: Vector | None
    ) -> LinearProblem:
        arrays = self.arrays(k, targets)
        if weights is not None:
            arrays["weight"] = arrays["weight"] * weights
        return self.problem(matrix, loss=self.loss, **arrays)
