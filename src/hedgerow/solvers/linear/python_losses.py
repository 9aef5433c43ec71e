"""Losses that the core does not know, evaluated in Python: what `_core.loss.loss_at` and `_core.loss.loss_along` return."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import blocks, inner
from hedgerow.problems.linear import LinearProblem

__all__ = ["derivatives_in_python", "sums_in_python"]

Vector = NDArray[np.float64]


class LossSums(NamedTuple):
    """What the losses of all rows add up to; see _core.loss.LossSums."""

    balance: float
    smooth: float
    value: float
    gain: float


def sums_in_python(
    problem: LinearProblem, residual: Vector, alpha: Vector, second: Vector
) -> LossSums:
    """Write the derivatives of the losses into `alpha` and `second`; return the sums."""
    loss, value = problem.loss, 0.0
    for rows in blocks(len(residual)):
        r, weight = residual[rows], problem.weight[rows]
        alpha[rows] = loss.alpha_at(r, weight)
        second[rows] = loss.second_derivative(r, weight)
        value += inner(weight, loss.value(r))
    return LossSums(inner(problem.y, alpha), value, value, problem.gain(alpha))


def derivatives_in_python(
    problem: LinearProblem, residual: Vector, change: Vector, length: float
) -> tuple[float, float]:
    """Return the first and second derivative of the losses along a change of the residuals."""
    loss, slope, rise = problem.loss, 0.0, 0.0
    for rows in blocks(len(residual)):
        d, weight = change[rows], problem.weight[rows]
        there = residual[rows] + length * d
        slope += inner(d, loss.alpha_at(there, weight))
        rise += inner(np.square(d), loss.second_derivative(there, weight))
    return slope, rise
