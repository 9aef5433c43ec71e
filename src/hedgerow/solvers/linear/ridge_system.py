"""The linear system at the heart of every second-order step: a weighted ridge regression.

Newton's method and the interior point both move by the solution of

    d_w     = sum_i (alpha_i + d_alpha_i) y_i x_i - w          w becomes what alpha says
    d_alpha = v * (target - d_margin)                          v_i >= 0, one weight per row
    d_margin_i = y_i (<d_w, x_i> + d_b)

with the intercept's equation beside the first: sum_i (alpha_i + d_alpha_i) y_i = q if it is free,
b + d_b = s^2 times (that sum - q) if it is penalised. Eliminating d_alpha gives a system of n_features
unknowns (`NarrowSystem`); eliminating d_w gives one of n_samples unknowns (`WideSystem`).

Cost: n d^2 + d^3/3 a factorisation for the first, n^3/3 for the second, whose X X' is made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import inner
from hedgerow.problems.linear import LinearProblem

__all__ = [
    "Direction",
    "NarrowSystem",
    "RidgeSystem",
    "WideSystem",
    "cholesky_factor",
    "ridge_system",
]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Direction:
    """A step: of alpha, of the margins, and of the system's own coordinates of (w, b)."""

    alpha: Vector
    margin: Vector
    point: Vector
    intercept: float


class RidgeSystem(Protocol):
    """Holds the primal point (w, b) and the factorised system."""

    @property
    def w(self) -> Vector:
        """The normal vector."""

    @property
    def intercept(self) -> float:
        """The intercept b."""

    def point(self) -> tuple[Vector, float]:
        """Return the system's own coordinates of (w, b)."""

    def place(self, point: Vector, intercept: float) -> None:
        """Move to given coordinates."""

    def margins(self) -> Vector:
        """Return the functional margin of every row."""

    def factorise(self, v: Vector) -> None:
        """Prepare for directions with row weights v."""

    def direction(self, alpha: Vector, target: Vector) -> Direction:
        """Solve for the step that makes d_alpha = v (target - d_margin)."""

    def move(self, step: Direction, length: float) -> None:
        """Add length times the step to (w, b)."""

    def penalty_along(self, step: Direction) -> tuple[float, float]:
        """Return slope and curvature, along the step, of 1/2 |w|^2 and a penalised intercept's part."""


def ridge_system(problem: LinearProblem) -> RidgeSystem:
    """Return the cheaper system for the problem's shape, at w = 0, b = 0."""
    n_samples, n_features = problem.shape
    return NarrowSystem(problem) if n_features < n_samples else WideSystem(problem)


def cholesky_factor(matrix: NDArray[np.float64], n_threads: int) -> NDArray[np.float64]:
    """Return the Cholesky factor of a positive definite matrix.

    Rounding can push a tiny pivot below zero when the row weights span many decades; then the
    diagonal is raised, by a relative 1e-15 first, until the factorisation goes through.
    """
    diagonal = matrix.diagonal().copy()
    relative = 0.0
    while True:
        lower = matrix.copy()
        np.fill_diagonal(lower, diagonal * (1.0 + relative))
        if _core.data.cholesky(lower, n_threads) < 0:
            return lower
        relative = max(1e-15, 10.0 * relative)
        if relative > 1.0:
            msg = "the numbers of a linear system overflow"
            raise FloatingPointError(msg)


class NarrowSystem:
    """Normal equations in (w, b), for fewer features than rows."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        scaling = {"free": 1.0, "penalized": problem.intercept_scaling, "none": 0.0}
        self.constant = scaling[problem.intercept]
        self.place(np.zeros(problem.shape[1]), 0.0)

    def point(self) -> tuple[Vector, float]:
        """Return (w, b)."""
        return self.w, self.intercept

    def place(self, point: Vector, intercept: float) -> None:
        """Move to a given (w, b)."""
        self.w, self.intercept = point, intercept

    def margins(self) -> Vector:
        """Return the functional margin of every row."""
        return self.problem.y * self.problem.scores(self.w, self.intercept)

    def factorise(self, v: Vector) -> None:
        """Form and factorise X' V X + I."""
        problem = self.problem
        self.v = v
        self.matrix = _core.data.gram(problem.matrix, v, self.constant, problem.n_threads)
        diagonal = self.matrix.diagonal() + 1.0
        if problem.intercept == "free":
            # A free intercept has no penalty; if no row has weight nothing moves it.
            diagonal[-1] = self.matrix[-1, -1] or 1.0
        np.fill_diagonal(self.matrix, diagonal)
        self.factor = cholesky_factor(self.matrix, problem.n_threads)

    def direction(self, alpha: Vector, target: Vector) -> Direction:
        """Solve, refine once, and read off the steps of the margins and of alpha."""
        problem = self.problem
        wanted = alpha + self.v * target
        right = problem.combine(wanted) - self.w
        if self.constant:
            pull = self.constant * (float(np.sum(problem.y * wanted)) - problem.pull)
            held = self.intercept / self.constant if problem.intercept == "penalized" else 0.0
            right = np.append(right, pull - held)
        point = self._solve(right)
        d_w = point[: len(self.w)]
        d_b = self.constant * float(point[-1]) if self.constant else 0.0
        d_margin = problem.y * problem.scores(d_w, d_b)
        return Direction(self.v * (target - d_margin), d_margin, d_w, d_b)

    def _solve(self, right: Vector) -> Vector:
        point = _core.data.cholesky_solve(self.factor, right)
        matrix = _core.data.Matrix.dense(self.matrix)
        residual = right - _core.data.scores(matrix, point[None, :], np.zeros(1), 1)[:, 0]
        return point + _core.data.cholesky_solve(self.factor, residual)

    def move(self, step: Direction, length: float) -> None:
        """Add length times the step to (w, b)."""
        self.w = self.w + length * step.point
        self.intercept += length * step.intercept

    def penalty_along(self, step: Direction) -> tuple[float, float]:
        """Return slope and curvature of the penalty along the step."""
        linear, quadratic = inner(self.w, step.point), inner(step.point, step.point)
        linear += self.problem.pull * step.intercept
        if self.problem.intercept == "penalized":
            linear += self.intercept * step.intercept / self.problem.rho
            quadratic += step.intercept**2 / self.problem.rho
        return linear, quadratic


class WideSystem:
    """The n_samples x n_samples system, for fewer rows than features.

    w is kept as sum_i beta_i y_i x_i. With S = sqrt(V), signs folded into K_ij = y_i y_j <x_i, x_j>
    and h = S (target - d_margin), so that d_alpha = S h:

        (I + S K S) h = S target - S K (alpha - beta) - S y d_b
    """

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.kernel = _core.data.row_gram(problem.matrix, problem.n_threads) + problem.rho
        self.view = _core.data.Matrix.dense(self.kernel)
        self.place(np.zeros(problem.shape[0]), 0.0)

    def point(self) -> tuple[Vector, float]:
        """Return beta and the intercept's own coordinate."""
        return self.beta, self.free_intercept

    def place(self, point: Vector, intercept: float) -> None:
        """Move to given coordinates."""
        self.beta, self.free_intercept = point, intercept

    @property
    def w(self) -> Vector:
        """The normal vector."""
        return self.problem.combine(self.beta)

    @property
    def intercept(self) -> float:
        """The intercept b: a coordinate of its own if it is free, else made of beta like w."""
        balance = inner(self.problem.y, self.beta) - self.problem.pull
        return self.free_intercept + self.problem.rho * balance

    def margins(self) -> Vector:
        """Return the functional margin of every row."""
        constant = self.free_intercept - self.problem.rho * self.problem.pull
        return self._times_kernel(self.beta) + self.problem.y * constant

    def _times_kernel(self, alpha: Vector) -> Vector:
        """Return K alpha; K includes a penalised intercept's s^2."""
        y, n_threads = self.problem.y, self.problem.n_threads
        return y * _core.data.scores(self.view, (y * alpha)[None, :], np.zeros(1), n_threads)[:, 0]

    def factorise(self, v: Vector) -> None:
        """Form and factorise I + S K S."""
        self.root = np.sqrt(v)
        signed = self.root * self.problem.y
        matrix = self.kernel * signed[:, None] * signed[None, :]
        np.fill_diagonal(matrix, matrix.diagonal() + 1.0)
        self.factor = cholesky_factor(matrix, self.problem.n_threads)

    def direction(self, alpha: Vector, target: Vector) -> Direction:
        """Solve for h and, if the intercept is free, for d_b so that alpha is balanced."""
        y = self.problem.y
        missing = alpha - self.beta
        right = self.root * (target - self._times_kernel(missing))
        h = _core.data.cholesky_solve(self.factor, right)
        d_b = 0.0
        if self.problem.intercept == "free":
            signs = self.root * y
            pull = _core.data.cholesky_solve(self.factor, signs)
            stiffness = float(np.sum(signs * pull))
            if stiffness > 0:
                excess = float(np.sum(y * alpha) + np.sum(signs * h)) - self.problem.pull
                d_b = excess / stiffness
                h = h - d_b * pull
        d_alpha = self.root * h
        d_beta = missing + d_alpha
        return Direction(d_alpha, self._times_kernel(d_beta) + y * d_b, d_beta, d_b)

    def move(self, step: Direction, length: float) -> None:
        """Add length times the step to (w, b)."""
        self.beta = self.beta + length * step.point
        self.free_intercept += length * step.intercept

    def penalty_along(self, step: Direction) -> tuple[float, float]:
        """Return slope and curvature of the penalty along the step."""
        change = step.margin - self.problem.y * step.intercept
        linear = inner(self.beta, change) + self.problem.pull * step.intercept
        return linear, inner(step.point, change)
