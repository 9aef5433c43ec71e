"""What is fitted to rows in files: the problems that each block of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import rows_of
from hedgerow.linear.files.rows import FileRows, RowBlock
from hedgerow.losses import Loss
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.streamed.block_newton import Start

__all__ = ["Facts", "StreamedTask"]

Vector = NDArray[np.float64]
Facts: TypeAlias = Callable[[int, NDArray[Any]], dict[str, Vector]]
"""Gives y, weight and, for a regression, targets of rows with these codes in the problem of a plane."""


@dataclass(frozen=True)
class StreamedTask:
    """What is to be fitted.

    Attributes
    ----------
    rows : FileRows
        Surveyed.
    n_planes : int
        How many problems share the rows.
    loss : Loss
        Theirs.
    facts : callable
        What is known of some rows.
    problem : callable
        Makes a problem of a matrix and facts.
    unit : float
        The size that scores are of.
    """

    rows: FileRows
    n_planes: int
    loss: Loss
    facts: Facts
    problem: Callable[..., LinearProblem]
    unit: float = 1.0

    def without_rows(self) -> LinearProblem:
        """Return what the problems of all blocks have in common."""
        nothing = _core.Matrix.dense(np.empty((0, self.rows.n_features)))
        none: NDArray[Any] = np.empty(0, dtype=np.int64)
        return self._of_rows(0, nothing, none, None)

    def block(self, k: int, block: RowBlock) -> LinearProblem:
        """Return the problem that a block is for a plane."""
        return self._of_rows(k, block.matrix, block.codes, block.weights)

    def whole(self, matrix: _core.Matrix) -> list[LinearProblem]:
        """Return the problem of every plane, where the sample is all rows; ``matrix`` has its rows."""
        sample = self.rows.sample
        assert sample is not None
        labels, weights = sample.labels, sample.weights
        return [self._of_rows(k, matrix, labels, weights) for k in range(self.n_planes)]

    def starts(self) -> list[Start]:
        """Return for every plane what the sample is, and the rows in it that stand for no others."""
        sample = self.rows.sample
        assert sample is not None
        is_rare = sample.stands_for == 1.0
        rare = rows_of(sample.matrix, np.flatnonzero(is_rare))
        weights = np.ones(len(is_rare)) if sample.weights is None else sample.weights
        return [
            Start(
                self._of_rows(k, sample.matrix, sample.labels, weights * sample.stands_for),
                self._of_rows(k, rare, sample.labels[is_rare], weights[is_rare]),
            )
            for k in range(self.n_planes)
        ]

    def _of_rows(
        self, k: int, matrix: _core.Matrix, codes: NDArray[Any], weights: Vector | None
    ) -> LinearProblem:
        facts = self.facts(k, codes)
        if weights is not None:
            facts["weight"] = facts["weight"] * weights
        return self.problem(matrix, loss=self.loss, **facts)
