"""How much work a linear problem is: what solvers estimate the time by that they are likely to take.

The estimates are made from the numbers of rows, features and stored values, from C and from the loss.
Their constants, nanoseconds and numbers of rounds, were read off fits of the benchmark's data sets; only
what they say of one solver beside another matters.
"""

from __future__ import annotations

from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from hedgerow import _core
from hedgerow.data.rows import n_values, rows_of
from hedgerow.problems.linear import LinearProblem

__all__ = ["MOST_UNKNOWNS", "VISIT", "Workload"]

MOST_UNKNOWNS = 6000
"""Unknowns of a linear system (8 n^2 bytes, twice) up to which a loss with kinks has one factorised."""
VISIT, PASS, PRODUCT, SPARSE_PRODUCT = 1.5, 0.5, 0.06, 0.6
"""Nanoseconds for a value in a sweep, for one in a pass by all threads, and for a multiplication in a
product of matrices, dense or sparse."""
SAMPLE = 1000
"""Rows whose norms tell what all are like."""


class Workload:
    """The size of a problem, and the times that parts of its solution take.

    Attributes
    ----------
    problem : LinearProblem
        The problem.
    n_samples, n_features : int
        Its shape.
    unknowns : int
        Those of a linear system, in the features or in the rows.
    """

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.n_samples, self.n_features = problem.shape
        self.unknowns = min(self.n_samples, self.n_features + 1)

    @cached_property
    def values(self) -> int:
        """Stored values."""
        return n_values(self.problem.matrix)

    @property
    def pass_(self) -> float:
        """The time of a pass over the data."""
        return PASS * self.values

    @property
    def factor(self) -> float:
        """The time of a factorisation."""
        return PRODUCT * self.unknowns**3 / 3.0

    @property
    def gram(self) -> float:
        """The time that a product of the rows with themselves takes."""
        is_dense = self.values == self.n_samples * self.n_features
        product = PRODUCT if is_dense else SPARSE_PRODUCT
        return 0.5 * product * self.values * min(self.values / self.n_samples, self.unknowns)

    @cached_property
    def freedom(self) -> float:
        """How little the weights hold w back: what iterations grow with that see one row at a time."""
        weight = self.problem.weight
        return float(np.mean(weight[weight > 0])) * _mean_norm(self.problem.matrix)


def _mean_norm(matrix: _core.data.Matrix) -> float:
    """Return the mean squared norm of some of the rows; that of a matrix is computed once."""
    known = _known_norms.get(matrix)
    if known is None:
        n_rows = matrix.shape[0]
        some = np.arange(0, n_rows, max(1, n_rows // SAMPLE))
        known = float(np.mean(_core.data.row_sq_norms(rows_of(matrix, some), 1)))
        _known_norms[matrix] = known
    return known


_known_norms: WeakKeyDictionary[_core.data.Matrix, float] = WeakKeyDictionary()
