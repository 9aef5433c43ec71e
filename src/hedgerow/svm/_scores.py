"""Scores of rows: sums of kernel values with support vectors, for which these are made ready once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import Rows, compact, matrix_view
from hedgerow.kernels import Kernel, Linear, Precomputed
from hedgerow.svm._coefficients import Coefficients
from hedgerow.svm._space import compiled

__all__ = ["Scorer", "scorer_of"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]
Scorer: TypeAlias = Callable[[Rows, Any, int], Vector]
"""Takes rows, the core's view of them (None of objects), and threads; returns a sum for each plane, without the intercept."""

MOST_PACKED = 2**25
"""Values of sparse support vectors, zeros included, up to which a dense copy is kept: 256 MB."""
WORTH_LOOKING = 64
"""Rows from which on it is cheap, beside their scores, to see whether most of their values are zeros."""
WORTH_COMPACTING = 0.25
"""Dense rows of which at most this share is not zero are multiplied faster as compressed rows."""
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
    if sp.issparse(vectors) and vectors.shape[0] * vectors.shape[1] > MOST_PACKED:
        return _BySums(core, vectors, coef)
    return partial(_by_core, _packed(core, matrix_view(vectors), coef))


def _by_planes(planes: Vector, _: Rows, matrix: _core.data.Matrix, n_threads: int) -> Vector:
    """Return the scores by planes among the features, which few kernels have."""
    return _core.data.scores(matrix, planes, np.zeros(len(planes)), n_threads)


def _packed(
    kernel: _core.kernel.Kernel, vectors: _core.data.Matrix, coef: Coefficients
) -> _core.kernel.KernelScorer:
    """Return the core's scorer."""
    sizes = [some.stop - some.start for some in coef.segments]
    planes = coef.planes_of_lines()
    return _core.kernel.KernelScorer(
        kernel,
        vectors,
        coef=np.ascontiguousarray(coef.values),
        segments=np.array(sizes, dtype=np.int64),
        hyperplanes=planes,
        n_hyperplanes=int(planes.max()) + 1,
    )


def _by_core(
    scorer: _core.kernel.KernelScorer, rows: Rows, matrix: _core.data.Matrix, n_threads: int
) -> Vector:
    """Return the scores by a kernel that the core knows."""
    if rows.shape[0] >= WORTH_LOOKING:
        matrix = compact(matrix, n_threads, WORTH_COMPACTING)
    return scorer.scores(matrix, n_threads)


@dataclass(frozen=True, eq=False)
class _BySums:
    """Scores by sparse support vectors of which a dense copy has no room: made ready at each call."""

    kernel: _core.kernel.Kernel
    vectors: Rows
    coef: Coefficients

    def __call__(self, rows: Rows, matrix: _core.data.Matrix, n_threads: int) -> Vector:
        """Return the scores, one segment of support vectors after the other."""
        exact = rows.dtype == np.float64
        places = self.coef.planes_of_lines()
        scores = np.zeros((rows.shape[0], int(places.max()) + 1))
        for some, planes in zip(self.coef.segments, places, strict=True):
            lines = np.ascontiguousarray(self.coef.values[:, some].T)
            vectors = matrix_view(self.vectors[some])
            scores[:, planes] += _core.kernel.kernel_sums(
                self.kernel, vectors, matrix, lines, exact, n_threads
            )
        return scores


@dataclass(frozen=True, eq=False)
class _ByFunction:
    """Scores by a kernel that only Python knows, of vectors or objects, or by some columns of a given table."""

    kernel: Kernel
    vectors: Rows
    columns: Indices | None
    planes: Vector

    def __call__(self, rows: Rows, _: Any, n_threads: int) -> Vector:  # noqa: ARG002
        """Return the scores, from as many kernel values at a time as there is room for."""
        size = max(1, VALUES // max(1, self.planes.shape[1]))
        parts = [self._some(rows[first : first + size]) for first in range(0, rows.shape[0], size)]
        return np.concatenate(parts)

    def _some(self, rows: Rows) -> Vector:
        rows = rows if self.columns is None else rows[:, self.columns]
        values = self.kernel.block(rows, self.vectors)
        return np.stack([np.sum(values * plane, axis=1) for plane in self.planes], axis=1)
