"""Non-linear conjugate gradients, preconditioned by the diagonal of the Hessian's bound.

Problem: LinearProblem with a smooth loss, any intercept. With M the diagonal (`columns.curvatures`)
each round goes along

    d = -g / M + beta d_before,    beta = max(0, <g / M, g - g_before> / <d_before, g - g_before>)

(Hestenes and Stiefel; where beta would be negative the method starts again from -g / M), to the lowest
point of that way.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: two passes over the data a round (`descent`); memory of three vectors of the features. Some tens to
hundreds of rounds, about the square root of what gradient descent takes.
Paper: Hestenes and Stiefel, Methods of conjugate gradients for solving linear systems, 1952; Gilbert and
Nocedal, Global convergence properties of conjugate gradient methods for optimization, SIAM J. Optim. 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import Status, inner
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.columns import curvatures
from hedgerow.solvers.first_order.descent import LineSearch, Step, descend
from hedgerow.solvers.solver import LinearSolver

__all__ = ["CONJUGATE_GRADIENT"]

Vector = NDArray[np.float64]


def conjugate_gradient(run: LinearRun) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    direction = partial(_direction, diagonal=curvatures(run.problem))
    return descend(run, LineSearch(direction, n_remembered=1))


def _direction(gradient: Vector, steps: Sequence[Step], diagonal: Vector) -> Vector:
    """Return -g / M + beta times the last step, whose length beta takes care of."""
    straight = -gradient / diagonal
    if not steps:
        return straight
    step, change = steps[-1]
    beta = max(0.0, -inner(straight, change) / inner(step, change))
    return straight + beta * step


CONJUGATE_GRADIENT = LinearSolver(
    name="conjugate_gradient",
    run=conjugate_gradient,
    needs=("loss.is_smooth",),
)
