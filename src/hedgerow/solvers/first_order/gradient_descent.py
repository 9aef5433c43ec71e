"""Gradient descent (steepest descent), the plainest of the exact solvers.

Problem: LinearProblem with a smooth loss, any intercept. Each round goes against the gradient to the
lowest point of that way. Nothing is rescaled and nothing remembered: it is the method of the lecture.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: two passes over the data a round (`descent`). The gap falls by a constant share a round, which is
about 4 / condition number of the objective: thousands of rounds for large C or features of unlike scales.
Paper: Cauchy, Méthode générale pour la résolution des systèmes d'équations simultanées, 1847.
"""

from __future__ import annotations

from hedgerow.problems.base import Status
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.descent import LineSearch, descend
from hedgerow.solvers.solver import LinearSolver

__all__ = ["GRADIENT_DESCENT"]


def gradient_descent(run: LinearRun) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    return descend(run, LineSearch(lambda gradient, _: -gradient, n_remembered=0))


GRADIENT_DESCENT = LinearSolver(
    name="gradient_descent",
    run=gradient_descent,
    needs=("loss.is_smooth",),
)
