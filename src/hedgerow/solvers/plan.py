"""Which solvers "auto" tries, in which order: by the work that each is likely to take.

The estimates are multiplications, made from the numbers of rows, features and stored values, from C and
from the loss. Their constants were read off fits of the benchmark's data sets.
"""

from __future__ import annotations

import numpy as np

from hedgerow import _core
from hedgerow._rows import rows_of
from hedgerow.problems import LinearProblem
from hedgerow.solvers.active_set import is_cheap

__all__ = ["plan"]

MOST_UNKNOWNS = 6000
"""Unknowns of a linear system (8 n^2 bytes, twice) up to which one is factorised."""
SAMPLE = 1000
"""Rows whose norms tell what all are like."""


def plan(problem: LinearProblem) -> list[str]:
    """Return the names of the solvers to try, the likely fastest first."""
    if problem.penalty.bounds_dual:
        return ["proximal_newton"]
    if is_cheap(problem):
        return ["newton" if problem.loss.is_smooth else "interior_point"]
    work = _work(problem)
    return sorted(work, key=lambda solver: work[solver])


def _work(problem: LinearProblem) -> dict[str, float]:
    """Return the solvers that can take the problem, each with the work it is likely to be."""
    n_samples, n_features = problem.shape
    stored = _stored(problem.matrix)
    unknowns = min(n_samples, n_features + 1)
    work = {"dual_coordinate_descent": 3.0 * stored * _sweeps(problem)}
    if unknowns <= MOST_UNKNOWNS:
        gram = 0.5 * stored * min(stored / n_samples, unknowns)
        factor = unknowns**3 / 3.0
        if problem.loss.is_smooth:
            work["newton"] = 8.0 * (3.0 * stored + gram + factor)
        else:
            work["interior_point"] = 25.0 * (8.0 * stored + gram + factor)
        if not problem.loss.is_smooth and n_features < n_samples and not problem.pull:
            work["augmented_lagrangian"] = 40.0 * (3.0 * stored + 0.15 * gram + factor)
    elif problem.loss.is_smooth:
        work["newton"] = 400.0 * stored
    return work


def _sweeps(problem: LinearProblem) -> float:
    """Return about how many sweeps coordinate descent needs: many if the weights hold w back little."""
    used = np.flatnonzero(problem.weight)
    some = used[:: max(1, len(used) // SAMPLE)]
    norms = _core.row_sq_norms(rows_of(problem.matrix, some), problem.n_threads)
    freedom = float(np.mean(problem.weight[used]) * np.mean(norms))
    return float(np.clip(4.0 * freedom, 15.0, 3000.0))


def _stored(matrix: _core.Matrix) -> float:
    """Return the number of stored values."""
    return float(matrix.parts[0].size)
