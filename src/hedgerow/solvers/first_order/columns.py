"""What first-order solvers ask of the features once, before they begin.

Both build a second matrix with as many values as the first: of squares, dropped at once, or of
absolute values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.linear import LinearProblem

__all__ = ["curvatures", "mapped"]

Vector = NDArray[np.float64]


def mapped(
    matrix: _core.data.Matrix, function: Callable[[NDArray[Any]], NDArray[Any]]
) -> _core.data.Matrix:
    """Return the matrix of function(x_ij), for a function that keeps 0."""
    parts = matrix.parts
    if len(parts) == 1:
        return _core.data.Matrix.dense(function(parts[0]))
    values, indices, indptr, n_cols = parts
    return _core.data.Matrix.csr(function(values), indices, indptr, n_cols)


def curvatures(problem: LinearProblem) -> Vector:
    """Return a bound on the second derivative of the objective in each unknown of `descent`.

    With k_i the largest second derivative of row i's loss, it is 1 + sum_i k_i x_ij^2; for a free
    intercept, which follows w, x_ij is taken from its mean weighted by k_i.
    """
    largest = _largest_second_derivatives(problem)
    squares = _core.data.weighted_row_sum(
        mapped(problem.matrix, np.square), largest, problem.n_threads
    )
    total = float(np.sum(largest))
    if problem.intercept == "free" and total > 0.0:
        sums = _core.data.weighted_row_sum(problem.matrix, largest, problem.n_threads)
        squares = squares - np.square(sums) / total
    elif problem.intercept == "penalized":
        squares = np.append(squares, problem.rho * total)
    return 1.0 + np.where(np.isfinite(squares), np.maximum(squares, 0.0), 0.0)


def _largest_second_derivatives(problem: LinearProblem) -> Vector:
    """Return the largest second derivative of each row's loss, 2 c for squares and c / 4 for logistic."""
    loss, weight = problem.loss, problem.weight
    middle, beyond = np.zeros_like(weight), np.full_like(weight, 1.0 + loss.epsilon)
    return np.maximum(
        loss.second_derivative(middle, weight), loss.second_derivative(beyond, weight)
    )
