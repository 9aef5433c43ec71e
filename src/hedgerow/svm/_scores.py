"""Scores of rows: sums of kernel values with support vectors, for which these are made ready once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._rows import Rows, matrix_of
from hedgerow.kernels import Kernel, Linear, Precomputed
from hedgerow.svm._coefficients import Coefficients
from hedgerow.svm._space import compiled

__all__ = ["Scorer", "scorer_of"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
Scorer: TypeAlias = Callable[[Rows, int], Vector]
"""Takes rows and threads; returns the sum of each row for each plane, without an intercept."""

VALUES = 2**22
"""Kernel values that a function of Python's is asked for at a time: 32 MB."""


def scorer_of(
    kernel: Kernel, support: Indices, vectors: Rows, n_features: int, coef: Coefficients
) -> Scorer:
    """Return what scores rows by some support vectors.

    Parameters
    ----------
    kernel : Kernel
        With numbers for all its parameters.
    support : ndarray of int64
        Which training rows the support vectors are; they are columns of a given table.
    vectors : Rows
        The support vectors themselves.
    n_features : int
        Columns of the rows to come.
    coef : Coefficients
        Of the support vectors.
    """
    core = compiled(kernel)
    if isinstance(kernel, Linear):
        return partial(_by_planes, np.ascontiguousarray(coef.planes() @ vectors))
    if isinstance(kernel, Precomputed):
        planes = np.zeros((len(coef.planes()), n_features))
        planes[:, support] = coef.planes()
        return partial(_by_planes, planes)
    if core is None or core.is_given:
        return _ByFunction(kernel, vectors, None if core is None else support, coef.planes())
    return partial(_by_core, core, _parts(vectors, coef), coef)


def _by_planes(planes: Vector, rows: Rows, n_threads: int) -> Vector:
    """Return the scores by planes among the features, which few kernels have."""
    return _core.scores(matrix_of(rows), planes, np.zeros(len(planes)), n_threads)


Part: TypeAlias = tuple[_core.Matrix, Vector]
"""Support vectors that have the same planes, and their coefficients, a line each."""


def _parts(vectors: Rows, coef: Coefficients) -> list[Part]:
    return [
        (matrix_of(vectors[some]), np.ascontiguousarray(coef.values[:, some].T))
        for some in coef.segments
    ]


def _by_core(
    kernel: _core.Kernel, parts: list[Part], coef: Coefficients, rows: Rows, n_threads: int
) -> Vector:
    """Return the scores by a kernel that the core knows, its values in the precision of the rows."""
    exact = rows.dtype == np.float64
    matrix = matrix_of(rows)
    return coef.joined(
        [
            _core.kernel_sums(kernel, vectors, matrix, lines, exact, n_threads)
            for vectors, lines in parts
        ]
    )


@dataclass(frozen=True, eq=False)
class _ByFunction:
    """Scores by a kernel that only Python knows, or by some columns of a given table."""

    kernel: Kernel
    vectors: Rows
    columns: Indices | None
    planes: Vector

    def __call__(self, rows: Rows, n_threads: int) -> Vector:  # noqa: ARG002 - the form of all scorers
        """Return the scores, from as many kernel values at a time as there is room for."""
        size = max(1, VALUES // max(1, self.planes.shape[1]))
        parts = [self._some(rows[first : first + size]) for first in range(0, rows.shape[0], size)]
        return np.concatenate(parts)

    def _some(self, rows: Rows) -> Vector:
        rows = rows if self.columns is None else rows[:, self.columns]
        values = self.kernel(rows, self.vectors)
        return np.stack([np.sum(values * plane, axis=1) for plane in self.planes], axis=1)
