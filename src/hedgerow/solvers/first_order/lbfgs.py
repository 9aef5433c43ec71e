"""L-BFGS: the inverse Hessian from the last few steps, on top of a diagonal.

Problem: LinearProblem with a smooth loss, any intercept. Every step s and change t of the gradient tell
what the Hessian does along s; two loops over the last ones apply the inverse that fits them all to the
gradient. Where nothing is known it is the inverse of a diagonal (`columns.curvatures`), scaled to fit
the last step. As the objective is strongly convex, <s, t> >= |s|^2 and no step need be left out.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: two passes over the data a round (`descent`), and 4 ``memory`` operations on vectors of the
features. Some tens to hundreds of rounds.
Paper: Liu and Nocedal, On the limited memory BFGS method for large scale optimization, Mathematical
Programming 1989.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import whole_number
from hedgerow.problems.base import Status, inner
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.columns import curvatures
from hedgerow.solvers.first_order.descent import LineSearch, Step, descend
from hedgerow.solvers.solver import LinearSolver, Option

__all__ = ["LBFGS"]

Vector = NDArray[np.float64]


def lbfgs(run: LinearRun) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    direction = partial(_direction, diagonal=curvatures(run.problem))
    return descend(run, LineSearch(direction, n_remembered=run.option("memory")))


def _direction(gradient: Vector, steps: Sequence[Step], diagonal: Vector) -> Vector:
    """Return minus the inverse Hessian times the gradient, by two loops over the last steps."""
    d = -gradient
    shares = []
    for step, change in reversed(steps):
        shares.append(inner(step, d) / inner(step, change))
        d = d - shares[-1] * change
    d = d / diagonal
    if steps:
        step, change = steps[-1]
        d = d * (inner(step, change) / inner(change, change / diagonal))
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        d = d + (share - inner(change, d) / inner(step, change)) * step
    return d


LBFGS = LinearSolver(
    name="lbfgs",
    run=lbfgs,
    needs=("loss.is_smooth",),
    options={"memory": Option(10, whole_number(1), "how many of the last steps are remembered")},
)
