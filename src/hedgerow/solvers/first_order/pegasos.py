"""Stochastic subgradient descent with steps 1 / t and the mean of all its planes (Pegasos).

Problem: LinearProblem with the hinge loss, without an intercept or with a penalised one, which is the
constant feature s. With l = 1 / sum_i c_i, which is 1 / (m C) for m rows of weight C, the objective times
l is l/2 |w|^2 + the weighted mean of the hinge. From theta_0 = 0, at step t = 0, 1, ...

    w_t = theta_t / (l t)  (w_0 = 0)       draw row i with a chance proportional to c_i
    theta_{t+1} = theta_t + y_i x_i        if its functional margin y_i <w_t, x_i> is below 1, else theta_t

What is returned is the plain mean of w_0, ..., w_{T-1}. One iteration is as many draws as there are rows
with weight; ``tol`` or ``max_iter`` iterations end it.

Given: the problem. Offered: the mean and the alpha of `epochs`. Approximate: the gap falls like log T / T
in theory, and more slowly than any exact solver's in practice.
Cost: a draw costs the features of its row; a measurement of the gap three passes over the data.
Papers: Shalev-Shwartz, Singer, Srebro and Cotter, Pegasos: primal estimated sub-gradient solver for SVM,
Mathematical Programming 2011; Shalev-Shwartz and Ben-David, Understanding machine learning, 2014, ch. 15.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import Json
from hedgerow.problems.base import Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.epochs import in_epochs, used_rows
from hedgerow.solvers.solver import LinearSolver

__all__ = ["PEGASOS"]

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Averaging:
    """theta, and what the mean of all planes is made of (cpp solver/stochastic_descent.hpp)."""

    def __init__(self, problem: LinearProblem, seed: int) -> None:
        self.problem = problem
        self.seed = seed
        self.rows = used_rows(problem)
        self.chances = np.cumsum(problem.weight[self.rows])
        self.total = float(self.chances[-1])
        self.constant = float(np.sqrt(problem.rho))
        self.n_steps, self.harmonic = 0, 0.0
        self.theta, self.lagged = np.zeros((2, problem.shape[1] + 1))

    def order(self, epoch: int) -> Rows:
        """Draw rows, each time anew."""
        drawn = self.total * _core.system.random_uniform(self.seed, epoch, len(self.rows))
        position = np.searchsorted(self.chances, drawn, side="right")
        return self.rows[np.minimum(position, len(self.rows) - 1)]

    def visit(self, order: Rows, violations: Rows) -> int:
        """Make a step for each row."""
        n_made, self.harmonic = _core.solver.averaged_steps(
            self.problem.matrix,
            self.problem.y,
            self.problem.target,
            order,
            self.total,
            self.constant,
            self.n_steps,
            self.harmonic,
            self.theta,
            self.lagged,
            violations,
        )
        self.n_steps += n_made
        return n_made

    def plane(self) -> tuple[Vector, float]:
        """Return the mean of w_0 to the last."""
        sums = self.harmonic * self.theta - self.lagged
        mean = sums * (self.total / max(self.n_steps, 1))
        return mean[:-1], self.constant * float(mean[-1])

    def state(self) -> Json:
        """Return a copy of all that changes."""
        return self.n_steps, self.harmonic, self.theta.copy(), self.lagged.copy()

    def restore(self, state: Json) -> None:
        """Go on from such a state."""
        self.n_steps, self.harmonic, theta, lagged = state
        self.theta, self.lagged = theta.copy(), lagged.copy()


def pegasos(run: LinearRun) -> Status:
    """Come near the solution, and say how near."""
    return in_epochs(run, _Averaging(run.problem, run.settings.seed))


PEGASOS = LinearSolver(
    name="pegasos",
    run=pegasos,
    needs=("loss.has_step_slope",),
    intercepts=("penalized", "none"),
    is_exact=False,
    takes_pull=False,
)
