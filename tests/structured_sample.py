"""A tiny structured problem: all that is known of its outputs is an oracle, and it is solved by Frank-Wolfe steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow._base.parameters import generator_of
from hedgerow._base.rounding import UNIT, Rounding, growth_of_rounding
from hedgerow.problems.base import Measurement, PrimalDualProblem


@dataclass(frozen=True, eq=False)
class StructuredProblem(PrimalDualProblem):
    """1/2 |w|^2 + C sum_i max_y (cost(y_i, y) - <w, f(x_i, y_i) - f(x_i, y)>), with f(x, y) = x in block y.

    The dual is sum_i,y alpha_iy cost(y_i, y) - 1/2 |v|^2 over alpha_iy >= 0 with sum_y alpha_iy = C, where
    v = sum_i,y alpha_iy (f(x_i, y_i) - f(x_i, y)).
    """

    x: np.ndarray
    y: np.ndarray
    n_outputs: int
    C: float = 1.0

    @property
    def origin(self):
        alpha = np.zeros((len(self.x), self.n_outputs))
        return np.zeros((self.n_outputs, self.x.shape[1])), self.feasible(alpha)

    def augmented(self, w, i=slice(None)):
        """Return cost + score of every output, less the score of the right one, for some rows."""
        right = np.arange(self.n_outputs) == self.y[i][..., None]
        scores = self.x[i] @ w.T
        return ~right + scores - np.sum(np.where(right, scores, 0.0), axis=-1, keepdims=True)

    def oracle(self, w, i):
        """Return the output of row i that violates its margin most, at the cost of one argmax."""
        return int(np.argmax(self.augmented(w, i)))

    def combine(self, alpha):
        """Return v."""
        right = np.eye(self.n_outputs)[self.y]
        return (np.sum(alpha, axis=1)[:, None] * right - alpha).T @ self.x

    def objective(self, w, *_):
        return 0.5 * np.sum(w * w) + self.C * np.sum(np.max(self.augmented(w), axis=1))

    def dual_objective(self, alpha):
        wrong = np.arange(self.n_outputs) != self.y[:, None]
        return np.sum(alpha, where=wrong) - 0.5 * np.sum(self.combine(alpha) ** 2)

    def feasible(self, alpha):
        alpha = np.maximum(np.nan_to_num(alpha), 0.0)
        alpha *= self.C / np.maximum(np.sum(alpha, axis=1), self.C)[:, None]
        alpha[np.arange(len(alpha)), self.y] += np.maximum(self.C - np.sum(alpha, axis=1), 0.0)
        return alpha

    def measurements(self, solution):
        alpha = self.feasible(solution.alpha)
        augmented = self.augmented(self.combine(alpha))
        lowest = np.min(augmented, axis=1, initial=np.inf, where=alpha > 1e-9 * self.C)
        error = growth_of_rounding(self.x.size) * UNIT * self.C * np.sum(1.0 + np.abs(augmented))
        yield Measurement(
            primal=self.objective(solution.w, 0.0),
            dual=self.dual_objective(alpha),
            violation=float(np.max(np.max(augmented, axis=1) - lowest)),
            rounding=Rounding(violation=error, primal=error, dual=error),
            least_scale=self.least_scale,
        )


def block_frank_wolfe(run):
    """Visit rows in random order and move the alphas of each towards what its oracle says."""
    problem, left = run.problem, run.resume()
    alpha = run.alpha.copy() if left is None else left["alpha"]
    while run.n_iter < run.settings.max_iter:
        run.checkpoint(alpha=alpha.copy)
        w = problem.combine(alpha)
        for i in generator_of(run.settings.seed, run.n_iter).permutation(len(problem.y)):
            corner = np.zeros(problem.n_outputs)
            corner[problem.oracle(w, i)] = problem.C
            step = corner - alpha[i]
            slope = step @ problem.augmented(w, i)
            move = -np.outer(step, problem.x[i])
            move[problem.y[i]] += np.sum(step) * problem.x[i]
            length = np.clip(slope / max(np.sum(move * move), 1e-300), 0.0, 1.0)
            alpha[i] += length * step
            w += length * move
        run.n_iter += 1
        run.offer_primal(w, 0.0)
        run.offer_dual(alpha)
        if run.measure():
            break
