"""The linear system behind an interior point of a kernel machine, whatever the rank of the Gram matrix.

A Newton step moves beta, the products p = K (sum of the betas of each point) and the levels of the sums by

    D d_beta + d_p + d_level = target         one line per variable, D > 0 diagonal
    d_p = K d_own                             own: the sum of the betas of each point
    sum of d_beta over each group = missing

With V the sum of 1 / D over the variables of a point this is a system in 1 / V + K, of one unknown a point, and
one more for each sum. D spans many decades, and K may be singular to rounding:

* K = L L' of low rank (`LowRankSystem`): a column of L at a time updates the factors of 1 / V + K, which
  starts as a diagonal. That is stable whatever V is, also where 1 / V is nothing beside K on more points than
  the rank.
* otherwise (`FullSystem`): a Cholesky factor.

Every sum is taken in a fixed order, so no result depends on the number of threads.

Papers: Fine and Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR 2001; Goldfarb and
Scheinberg, A product-form Cholesky factorization method for handling dense columns in interior point methods
for linear programming, Math. Program. 2004.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from hedgerow import _core
from hedgerow.kernels.gram import Gram
from hedgerow.problems.base import inner
from hedgerow.solvers.linear.ridge_system import cholesky_factor

__all__ = [
    "IndefiniteError",
    "KernelSystem",
    "centred",
    "has_negative_direction",
    "is_semidefinite",
    "kernel_system",
    "pivoted_cholesky",
]

Vector = NDArray[np.float64]

NOISE = 16.0 * np.finfo(np.float64).eps
"""A kernel value, relative to the largest, that is nothing but rounding."""
LANCZOS_STEPS = 20
"""Products with all kernel values that the search for a negative eigenvalue takes."""
INDEFINITE = 1e-6
"""How far below 0 rounding of the values, perhaps to float32, may bring an eigenvalue, relative to the largest."""
MOST_COLUMNS = 100
"""A rank up to which it counts as low."""


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


class KernelSystem(ABC):
    """K in a form that can be solved with, and the factorised system."""

    @abstractmethod
    def times(self, own: Vector) -> Vector:
        """Return K times a value of each point."""

    @abstractmethod
    def _prepare(self) -> None:
        """Factorise 1 / V + K."""

    @abstractmethod
    def _solve_once(self, right: Vector) -> Vector:
        """Return (1 / V + K)^-1 times a value of each point."""

    def factorise(self, v: Vector, sides: Vector) -> None:
        """Prepare for steps with these V, of which `sides` has the part of each group that keeps a sum."""
        self.v, self.sides = v, sides
        self._prepare()
        self.borders = sides / v
        self.solved = np.array([self._solve(border) for border in self.borders])
        joint = [[inner(a, b) for b in self.solved] for a in self.borders]
        self.complement = np.array(joint) + self._apart()

    def _solve(self, right: Vector) -> Vector:
        """Solve, and once more for what that leaves."""
        own = self._solve_once(right)
        return own + self._solve_once(right - own / self.v - self.times(own))

    def _apart(self) -> Vector | float:
        """Return the part of the complement of points that have a variable in each of two groups."""
        if len(self.sides) < 2:
            return 0.0
        shared = inner(self.sides[0], self.sides[1] / self.v)
        return shared * np.array([[1.0, -1.0], [-1.0, 1.0]])

    def step(self, target: Vector, excess: Vector) -> tuple[Vector, Vector]:
        """Return the step of own and that of the level of each group.

        Parameters
        ----------
        target : ndarray
            The target of each point: the mean over its variables, weighted by 1 / D.
        excess : ndarray
            For each group, by how much its sum would change too much if own did not.
        """
        own = self._solve(target)
        if not len(excess):
            return own, excess
        changes = [inner(border, own) for border in self.borders]
        try:
            levels = np.linalg.solve(self.complement, excess + np.array(changes))
        except np.linalg.LinAlgError as error:  # as in the core's factorisations
            raise FloatingPointError from error
        return own - np.sum(levels[:, None] * self.solved, axis=0), levels


def kernel_system(values: Vector, size: float, n_threads: int) -> KernelSystem:
    """Return the better system for a matrix of kernel values whose largest is `size`."""
    factor = pivoted_cholesky(values, size, min(MOST_COLUMNS, len(values) - 1))
    if factor is not None:
        return LowRankSystem(factor, n_threads)
    if not is_semidefinite(values, size, n_threads):
        raise IndefiniteError
    return FullSystem(values, n_threads)


def is_semidefinite(values: Vector, size: float, n_threads: int) -> bool:
    """Say whether a matrix of kernel values whose largest is `size` has no negative eigenvalue but for rounding."""
    raised = values.copy()
    np.fill_diagonal(raised, raised.diagonal() + INDEFINITE * size)
    return _core.data.cholesky(raised, n_threads) < 0


def has_negative_direction(gram: Gram, *, of_differences: bool) -> bool:
    """Say whether a few of Lanczos' steps find a direction in which kernel values are indefinite.

    For tables too large to be factorised. Negative eigenvalues that are small beside the largest may stay
    unfound. With `of_differences` only directions of sum 0 count.
    """
    v = np.random.default_rng(0).standard_normal(gram.n_points)
    basis: list[Vector] = []
    steps = min(LANCZOS_STEPS, gram.n_points)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    for k in range(steps):
        v = v - np.mean(v) if of_differences else v
        for other in basis:
            v = v - inner(other, v) * other
        length = np.sqrt(inner(v, v))
        if k > 0:
            beside[k - 1] = length
        if length <= INDEFINITE * np.max(np.abs(diagonal)):
            steps = k
            break
        basis.append(v / length)
        v = gram.sums(basis[-1])
        diagonal[k] = inner(basis[-1], v)
    if steps == 0:
        return False
    found = eigh_tridiagonal(diagonal[:steps], beside[: steps - 1], eigvals_only=True)
    return bool(found[0] < -INDEFINITE * np.max(np.abs(found)))


class LowRankSystem(KernelSystem):
    """With 1 / V + L L' = L_1 .. L_r D L_r' .. L_1', each L_k made of two vectors.

    L_k is 1 on its diagonal and p_i p_j / (d_j t_j) below it, with t_j = 1 + sum_{i <= j} p_i^2 / d_i, d and p
    the diagonal and the column that it takes in. What it is solved with are running sums.
    """

    def __init__(self, factor: Vector, n_threads: int) -> None:
        self.columns, self.n_threads = np.ascontiguousarray(factor.T), n_threads
        self.rows = _core.data.Matrix.dense(factor)

    def times(self, own: Vector) -> Vector:
        """Return L L' own."""
        w = _core.data.weighted_row_sum(self.rows, own, self.n_threads)
        return _core.data.scores(self.rows, w[None, :], np.zeros(1), self.n_threads)[:, 0]

    def _prepare(self) -> None:
        columns, diagonal = self.columns.copy(), 1.0 / self.v
        self.steps = []
        for k, column in enumerate(columns):
            quotient = column / diagonal
            total = 1.0 + np.cumsum(column * quotient)
            before = np.concatenate([[1.0], total[:-1]])
            self.steps.append((column, quotient, before))
            diagonal = diagonal * (total / before)
            _pass_down(columns[k + 1 :], column, quotient, before)
        self.diagonal = diagonal

    def _solve_once(self, right: Vector) -> Vector:
        own = right.copy()
        for column, quotient, before in self.steps:
            _pass_down(own[None, :], column, quotient, before)
        own /= self.diagonal
        for column, quotient, before in reversed(self.steps):
            later = np.cumsum((column * own / before)[::-1])[::-1]
            own[:-1] -= quotient[:-1] * later[1:]
        return own


def _pass_down(rows: Vector, column: Vector, quotient: Vector, before: Vector) -> None:
    """Multiply each row, as a column, by the inverse of an L_k, in place."""
    earlier = np.cumsum(rows * quotient, axis=1)
    rows[:, 1:] -= (column[1:] / before[1:]) * earlier[:, :-1]


class FullSystem(KernelSystem):
    """By a Cholesky factor of I + R K R, with R = V^1/2."""

    def __init__(self, values: Vector, n_threads: int) -> None:
        self.values, self.n_threads = values, n_threads
        self.view = _core.data.Matrix.dense(values)

    def times(self, own: Vector) -> Vector:
        """Return K own."""
        return _core.data.scores(self.view, own[None, :], np.zeros(1), self.n_threads)[:, 0]

    def _prepare(self) -> None:
        self.root = np.sqrt(self.v)
        matrix = self.values * self.root[:, None] * self.root
        np.fill_diagonal(matrix, matrix.diagonal() + 1.0)
        self.factor = cholesky_factor(matrix, self.n_threads)

    def _solve_once(self, right: Vector) -> Vector:
        return self.root * _core.data.cholesky_solve(self.factor, self.root * right)
