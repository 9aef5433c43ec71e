"""Two solvers of the dual of the smallest enclosing ball.

With weights alpha >= 0 of sum 1 and the centre c = sum_i alpha_i x_i, the dual is

    maximise  sum_i alpha_i |x_i|^2 - |c|^2  =  sum_i alpha_i |x_i - c|^2  <=  radius^2,

with equality if all points with positive alpha are the farthest from c. The active-set method moves
from ball to ball through few points and is exact; pairwise updates are for spheres with many points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.solvers.linear.ridge_system import cholesky_factor
from hedgerow.theory._ball_points import Points, Vector

__all__ = ["by_active_set", "by_pairs"]

_MOST_ACTIVE = 300
"""The most points through which a ball is computed exactly; adding one costs the cube of their number."""
_ROUNDING = 1e-14
"""A ball is optimal if its farthest point is outside by at most this fraction of the squared radius."""
_DEPENDENT = 1e-12
"""A point this close, in squared radii, to the affine hull of the active points lies in it."""
_PATIENCE = 10
"""The most iterations in which rounding may keep the dual from growing."""


def by_active_set(points: Points) -> Vector:
    """Return the weights of the ball, or of the last ball before there were too many points on it.

    Each iteration adds the farthest point and moves the centre towards the centre of the sphere
    through all active points, within their affine hull. A point whose weight becomes 0 is dropped.
    """
    active = _ActiveSet(points, int(points.diagonal.argmax()))
    best, n_stalled = -np.inf, 0
    while len(active.indices) < _MOST_ACTIVE and n_stalled < _PATIENCE:
        squares = active.square_distances()
        farthest = int(squares.argmax())
        lower = float(active.weights @ squares[active.indices])
        if squares[farthest] - lower <= _ROUNDING * squares[farthest] or farthest in active.indices:
            break
        n_stalled = 0 if lower > best else n_stalled + 1
        best = max(best, lower)
        active.take_in(farthest, float(squares[farthest]))
    alpha = np.zeros(len(points.diagonal))
    alpha[active.indices] = active.weights
    return alpha


class _ActiveSet:
    """Affinely independent points, their weights, and the inner products of all points with them."""

    def __init__(self, points: Points, first: int) -> None:
        self.indices = [first]
        self.weights = np.ones(1)
        self._points = points
        self._columns = [points.column(first)]
        self._gram = self._columns[0][None, [first]]

    def square_distances(self) -> Vector:
        """Return the squared distances of all points to the centre."""
        products = np.zeros(len(self._points.diagonal))
        for weight, column in zip(self.weights, self._columns, strict=True):
            products += weight * column
        return self._points.diagonal - 2.0 * products + self.weights @ products[self.indices]

    def take_in(self, i: int, square_radius: float) -> None:
        """Make a point active and move to the smallest ball of all active points."""
        n, column = len(self.indices), self._points.column(i)
        self.indices.append(i)
        self._columns.append(column)
        self.weights = np.append(self.weights, 0.0)
        self._gram = np.pad(self._gram, (0, 1))
        self._gram[n, :] = self._gram[:, n] = column[self.indices]
        others = self._last_from_the_others(square_radius)
        if others is not None:
            # Along this step the centre does not move, and the dual grows until a weight is 0.
            self._move(np.append(-others, 1.0), np.inf)
        while not self._move(self._weights_of_the_sphere() - self.weights, 1.0):
            pass

    def _move(self, step: Vector, longest: float) -> bool:
        """Move along a step until a weight is 0 and drop that point; return whether none was dropped."""
        falling = np.flatnonzero(step < 0)
        lengths = self.weights[falling] / -step[falling]
        length = float(lengths.min(initial=np.inf))
        if length >= longest:
            self.weights = self.weights + longest * step
            return True
        gone = int(falling[lengths.argmin()])
        self.weights = np.delete(np.maximum(self.weights + length * step, 0.0), gone)
        self.weights /= self.weights.sum()
        self._gram = np.delete(np.delete(self._gram, gone, axis=0), gone, axis=1)
        del self.indices[gone], self._columns[gone]
        return False

    def _weights_of_the_sphere(self) -> Vector:
        """Return the weights, summing to 1, whose mean is equally far from all active points."""
        table = self._differences()
        return _with_first(_solved(table, 0.5 * table.diagonal()))

    def _last_from_the_others(self, square_radius: float) -> Vector | None:
        """Return weights, summing to 1, whose mean is the last point; None if it is not in their affine hull."""
        table = self._differences()
        inner, length = table[-1, :-1], float(table[-1, -1])
        rest = _solved(table[:-1, :-1], inner)
        if length - float(inner @ rest) > _DEPENDENT * square_radius:
            return None
        return _with_first(rest)

    def _differences(self) -> NDArray[np.float64]:
        """Return the inner products of the active points minus the first."""
        K = self._gram
        table: NDArray[np.float64] = K[1:, 1:] - K[1:, :1] - K[:1, 1:] + K[0, 0]
        return table


def _with_first(rest: Vector) -> Vector:
    """Return weights that sum to 1, given all but the first."""
    return np.append(1.0 - rest.sum(), rest)


def _solved(table: NDArray[np.float64], right: Vector) -> Vector:
    """Return the solution of a positive definite system, with one step of iterative refinement."""
    if not len(right):
        return np.empty(0)
    lower = cholesky_factor(table, 1)
    found = _core.data.cholesky_solve(lower, right)
    return found + _core.data.cholesky_solve(lower, right - table @ found)


def by_pairs(points: Points, alpha: Vector, tol: float, max_iter: int) -> Vector:
    """Return weights whose relative gap is at most ``tol``, or the last after ``max_iter`` steps.

    A step moves weight to the farthest point from the point for which the dual grows most.
    """
    diagonal, alpha = points.diagonal, alpha.copy()
    products = np.zeros(len(alpha))
    for i in np.flatnonzero(alpha).tolist():
        products += alpha[i] * points.column(i)
    for _ in range(max_iter):
        slopes = diagonal - 2.0 * products
        i = int(slopes.argmax())
        squares = slopes + alpha @ products
        if squares[i] - alpha @ squares <= tol * squares[i]:
            break
        column = points.column(i)
        giver = np.flatnonzero((alpha > 0) & (slopes < slopes[i]))
        curvatures = np.maximum(
            diagonal[i] + diagonal[giver] - 2.0 * column[giver], np.finfo(float).tiny
        )
        rises = slopes[i] - slopes[giver]
        best = int(np.argmax(rises**2 / curvatures))
        j = int(giver[best])
        moved = min(0.5 * float(rises[best] / curvatures[best]), float(alpha[j]))
        alpha[i] += moved
        alpha[j] -= moved
        products += moved * (column - points.column(j))
    return alpha
