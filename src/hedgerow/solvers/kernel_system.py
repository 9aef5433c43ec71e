"""The linear system behind an interior point of a kernel machine, whatever the rank of the Gram matrix.

A Newton step moves beta, the products p = K (sum of the betas of each point) and the levels of the sums by

    D d_beta + d_p + d_level = target         one line a variable, D > 0 diagonal
    p + d_p = K (own + d_own)                 own: the sum of the betas of each point
    sum of d_beta over each group = missing

Eliminating beta leaves, with V the sum of 1 / D over the variables of a point, one of two systems:

* K = L L' of low rank (`LowRankSystem`): I + L' V L, of as many unknowns as the rank. It stays well
  posed where D vanishes on more points than the rank, where K + D is singular to rounding.
* otherwise (`FullSystem`): I + V^1/2 K V^1/2, of as many unknowns as points.

Every sum is taken by the core in a fixed order, so no result depends on the number of threads.

Paper: Fine and Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR 2001.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems import inner
from hedgerow.solvers.ridge_system import cholesky_factor

__all__ = ["IndefiniteError", "KernelSystem", "centred", "kernel_system", "pivoted_cholesky"]

Vector = NDArray[np.float64]

NOISE = 16.0 * np.finfo(np.float64).eps
"""A kernel value, relative to the largest, that is nothing but rounding."""
INDEFINITE = 1e-6
"""How far below 0 rounding of the values, perhaps to float32, may bring an eigenvalue, relative to the largest."""
LOW = 0.5
"""A rank that is at most this share of the points is low."""


class IndefiniteError(ArithmeticError):
    """Kernel values are not those of a positive semi-definite kernel."""


def centred(values: Vector) -> tuple[Vector, Vector]:
    """Return K as seen from the mean of the points, and the u with K = that + u 1' + 1 u'.

    For coefficients of a given sum s, K beta is the centred K times beta, plus s u, plus a constant. The
    centred matrix is positive semi-definite even if K is so for coefficients of sum 0 only.
    """
    means = np.mean(values, axis=0)
    offset = means - 0.5 * float(np.mean(means))
    return values - offset[:, None] - offset, offset


def pivoted_cholesky(values: Vector, size: float, most: int) -> Vector | None:
    """Return L with K = L L' but for noise, one column a rank; None if it takes more columns than `most`.

    Raises
    ------
    IndefiniteError
        K is not positive semi-definite.
    """
    left = values.diagonal().copy()
    noise = NOISE * size
    columns = np.zeros((most, len(values)))
    for rank in range(most + 1):
        pivot, below = int(np.argmax(left)), -float(np.min(left))
        if below > INDEFINITE * size:
            raise IndefiniteError
        if left[pivot] <= max(noise, below):
            return np.ascontiguousarray(columns[:rank].T)
        if rank == most:
            break
        known = np.einsum("k,kn->n", columns[:rank, pivot], columns[:rank])
        columns[rank] = (values[pivot] - known) / np.sqrt(left[pivot])
        left -= columns[rank] ** 2
        left[pivot] = 0.0
    return None


class KernelSystem(Protocol):
    """Holds K in a form that can be solved with, and the factorised system."""

    def times(self, own: Vector) -> Vector:
        """Return K times a value of each point."""

    def factorise(self, v: Vector, sides: Vector) -> None:
        """Prepare for steps with these V, of which `sides` has the part of each group that keeps a sum."""

    def step(self, right: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """Return the step of own and that of the level of each group.

        Parameters
        ----------
        right : ndarray
            The targets divided by D, summed over the variables of each point.
        lacking : ndarray
            For each group, that summed over its points, less what its sum must change by.
        """


def kernel_system(values: Vector, size: float, n_threads: int) -> KernelSystem:
    """Return the better system for a matrix of kernel values."""
    factor = pivoted_cholesky(values, size, int(LOW * len(values)))
    if factor is not None:
        return LowRankSystem(factor, n_threads)
    raised = values.copy()
    np.fill_diagonal(raised, raised.diagonal() + INDEFINITE * size)
    if _core.cholesky(raised, n_threads) >= 0:
        raise IndefiniteError
    return FullSystem(values, n_threads)


class LowRankSystem:
    """The system in w = L' own and the levels: I + L' V L, with a border for each group."""

    def __init__(self, factor: Vector, n_threads: int) -> None:
        self.rows, self.n_threads = _core.Matrix.dense(factor), n_threads
        self.rank = factor.shape[1]

    def times(self, own: Vector) -> Vector:
        """Return L L' own."""
        return self._products(self._combined(own))

    def _products(self, w: Vector) -> Vector:
        return _core.scores(self.rows, w[None, :], np.zeros(1), self.n_threads)[:, 0]

    def _combined(self, own: Vector) -> Vector:
        return _core.weighted_row_sum(self.rows, own, self.n_threads)

    def factorise(self, v: Vector, sides: Vector) -> None:
        """Form and factorise the matrix."""
        self.v, self.sides, n = v, sides, self.rank
        self.matrix = np.zeros((n + len(sides), n + len(sides)))
        self.matrix[:n, :n] = _core.gram(self.rows, v, 0.0, self.n_threads) + np.eye(n)
        for g, side in enumerate(sides):
            self.matrix[n + g, :n] = self.matrix[:n, n + g] = self._combined(side)
            self.matrix[n + g, n + g] = np.sum(side)
        self.factor = cholesky_factor(self.matrix, self.n_threads)

    def step(self, right: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """Solve and read off the steps."""
        rights = np.append(self._combined(right), lacking)
        found = _core.cholesky_solve(self.factor, rights)
        view = _core.Matrix.dense(self.matrix)
        off = rights - _core.scores(view, found[None, :], np.zeros(1), 1)[:, 0]
        found = found + _core.cholesky_solve(self.factor, off)
        levels = found[self.rank :]
        change = self.v * self._products(found[: self.rank])
        return right - change - np.sum(levels[:, None] * self.sides, axis=0), levels


class FullSystem:
    """The system in R^-1 own, with R = V^1/2: I + R K R; the levels by their Schur complement."""

    def __init__(self, values: Vector, n_threads: int) -> None:
        self.values, self.n_threads = values, n_threads
        self.view = _core.Matrix.dense(values)

    def times(self, own: Vector) -> Vector:
        """Return K own."""
        return _core.scores(self.view, own[None, :], np.zeros(1), self.n_threads)[:, 0]

    def factorise(self, v: Vector, sides: Vector) -> None:
        """Form and factorise the matrix, and the complement of the levels."""
        self.v, self.root, self.sides = v, np.sqrt(v), sides
        matrix = self.values * self.root[:, None] * self.root
        np.fill_diagonal(matrix, matrix.diagonal() + 1.0)
        self.factor = cholesky_factor(matrix, self.n_threads)
        self.borders = sides / self.root
        self.solved = [_core.cholesky_solve(self.factor, border) for border in self.borders]
        joint = [[inner(a, b) for b in self.solved] for a in self.borders]
        self.complement = np.array(joint) + self._apart()

    def _apart(self) -> Vector | float:
        """Return the part of the complement of points that have a variable in each of two groups."""
        if len(self.sides) < 2:
            return 0.0
        return inner(self.sides[0], self.sides[1] / self.v) * np.array([[1.0, -1.0], [-1.0, 1.0]])

    def step(self, right: Vector, lacking: Vector) -> tuple[Vector, Vector]:
        """Solve for own without levels, then for the levels."""
        plain = _core.cholesky_solve(self.factor, right / self.root)
        if not len(lacking):
            return self.root * plain, lacking
        both = zip(self.sides, self.borders, strict=True)
        known = [inner(side, right / self.v) - inner(border, plain) for side, border in both]
        try:
            levels = np.linalg.solve(self.complement, lacking - np.array(known))
        except np.linalg.LinAlgError as error:  # as in the core's factorisations
            raise FloatingPointError from error
        for level, solved in zip(levels, self.solved, strict=True):
            plain = plain - level * solved
        return self.root * plain, levels
