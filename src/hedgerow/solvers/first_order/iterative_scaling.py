"""Iterative scaling: all features at once, each by the minimum of a bound that is its own.

Problem: LinearProblem with the logistic loss, any intercept. By log(1 + u) <= u and by Jensen's
inequality over the features of a row, with T >= sum_j |x_ij| for every row, moving w by d changes the
objective by at most

    sum_j  w_j d_j + 1/2 d_j^2 + P_j (e^(-d_j T) - 1) / T + N_j (e^(d_j T) - 1) / T

with P_j the sum of alpha_i |x_ij| over the rows with y_i x_ij > 0, N_j over those with y_i x_ij < 0. A
round takes the minimum in every d_j, so the objective never rises. A penalised intercept is a feature,
s in every row. A free one, which has no square, is set to the best of its kind after each round
(`descent`): no bound of it could do better.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: three passes over the data a round and a second matrix, of |x_ij|; hundreds to many thousands of
rounds, more for larger C and for long rows, as steps are about 1 / T.
Papers: Darroch and Ratcliff, Generalized iterative scaling for log-linear models, Ann. Math. Stat. 1972;
Della Pietra, Della Pietra and Lafferty, Inducing features of random fields, PAMI 1997; Collins, Schapire
and Singer, Logistic regression, AdaBoost and Bregman distances, Machine Learning 2002 (this bound);
Huang, Hsieh, Chang and Lin, Iterative scaling and coordinate descent methods for maximum entropy models,
JMLR 2010 (with the square).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import Json
from hedgerow.problems.base import Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.first_order.columns import mapped
from hedgerow.solvers.first_order.descent import Iterate, descend
from hedgerow.solvers.solver import LinearSolver

__all__ = ["ITERATIVE_SCALING"]

Vector = NDArray[np.float64]

NEWTON_STEPS = 100
"""Most steps for the minima of the bounds; some five are usual."""
PRECISE = 1e-12
"""A change of an exponent that ends them."""
FARTHEST = 700.0
"""An exponent whose power float64 still holds."""


class _Scaling:
    """Steps to the minimum of the bound."""

    def __init__(self, problem: LinearProblem) -> None:
        self.problem = problem
        self.sizes = mapped(problem.matrix, np.abs)
        ones = np.ones((1, problem.shape[1]))
        constant = np.array([np.sqrt(problem.rho)])
        lengths = _core.data.scores(self.sizes, ones, constant, problem.n_threads)
        self.longest = float(np.max(lengths)) or 1.0

    def advance(self, point: Iterate) -> bool:
        """Take the step of every unknown."""
        step = _minima(point.unknowns, *self._halves(point), self.longest)
        point.move(step, point.scores_of(step))
        return True

    def _halves(self, point: Iterate) -> tuple[Vector, Vector]:
        """Return P and N: their difference is in the gradient, their sum asks for |x_ij|."""
        problem = self.problem
        sums = _core.data.weighted_row_sum(self.sizes, point.alpha, problem.n_threads)
        if problem.intercept == "penalized":
            total = float(np.sum(point.alpha)) + abs(problem.pull)
            sums = np.append(sums, problem.intercept_scaling * total)
        difference = point.unknowns - point.gradient
        return 0.5 * np.maximum(0.0, sums + difference), 0.5 * np.maximum(0.0, sums - difference)

    def memory(self) -> Json:
        """Return nothing: a step depends on the point alone."""
        return None

    def recall(self, memory: Json) -> None:
        """Recall nothing."""


def _minima(w: Vector, positive: Vector, negative: Vector, longest: float) -> Vector:
    """Return the d_j that minimise the bound, by Newton's method between known signs of its slope."""
    d = np.zeros_like(w)
    first = w - positive + negative
    low, high = np.minimum(0.0, -first), np.maximum(0.0, -first)  # as the slope rises by 1 at least
    for _ in range(NEWTON_STEPS):
        exponent = np.clip(longest * d, -FARTHEST, FARTHEST)
        falling, rising = positive * np.exp(-exponent), negative * np.exp(exponent)
        slope = w + d - falling + rising
        low, high = np.where(slope < 0.0, d, low), np.where(slope < 0.0, high, d)
        ahead = d - slope / (1.0 + longest * (falling + rising))
        ahead = np.where((ahead < low) | (ahead > high), 0.5 * (low + high), ahead)
        change, d = float(np.max(np.abs(ahead - d))), ahead
        if longest * change <= PRECISE:
            break
    return d


def iterative_scaling(run: LinearRun) -> Status | None:
    """Solve a problem with the logistic loss to the tolerance of the settings."""
    return descend(run, _Scaling(run.problem))


ITERATIVE_SCALING = LinearSolver(
    name="iterative_scaling",
    run=iterative_scaling,
    needs=("loss.has_log_odds",),
)
