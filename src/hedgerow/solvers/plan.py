"""Which solvers "auto" tries, in which order: by the time that each is likely to take.

The estimates are made from the numbers of rows, features and stored values, from C and from the loss.
Their constants, nanoseconds and numbers of rounds, were read off fits of the benchmark's data sets; only
what they say of one solver beside another matters.
"""

from __future__ import annotations

import numpy as np

from hedgerow import _core
from hedgerow._rows import n_values, rows_of
from hedgerow.problems import HardMarginProblem, LinearProblem
from hedgerow.solvers.active_set import is_cheap

__all__ = ["plan"]

MOST_UNKNOWNS = 6000
"""Unknowns of a linear system (8 n^2 bytes, twice) up to which one is factorised."""
VISIT, PASS, PRODUCT, SPARSE_PRODUCT = 1.5, 0.5, 0.06, 0.6
"""Nanoseconds for a value in a sweep, for one in a pass by all threads, and for a multiplication in a
product of matrices, dense or sparse."""
MANY_ROWS, ROWS_PER_UNKNOWN = 200, 50
"""Rows a feature from which a sample of them is solved first, and that second derivatives need."""
SAMPLE = 1000
"""Rows whose norms tell what all are like."""


def plan(problem: LinearProblem) -> list[str]:
    """Return the names of the solvers to try, the likely fastest first."""
    if problem.penalty.bounds_dual:
        return ["proximal_newton"]
    if isinstance(problem, HardMarginProblem):
        return ["hard_margin"]
    if is_cheap(problem):
        return ["newton" if problem.loss.is_smooth else "interior_point"]
    work = _work(problem)
    return sorted(work, key=lambda solver: work[solver])


def _work(problem: LinearProblem) -> dict[str, float]:
    """Return the solvers that can take the problem, each with the time it is likely to need."""
    n_samples, n_features = problem.shape
    values = n_values(problem.matrix)
    unknowns = min(n_samples, n_features + 1)
    time = {"dual_coordinate_descent": VISIT * values * _sweeps(problem)}
    pass_, factor = PASS * values, PRODUCT * unknowns**3 / 3.0
    product = PRODUCT if values == n_samples * n_features else SPARSE_PRODUCT
    gram = 0.5 * product * values * min(values / n_samples, unknowns)
    if unknowns > MOST_UNKNOWNS:
        if problem.loss.is_smooth:
            time["newton"] = 100.0 * pass_
        return time
    many_rows = n_samples >= MANY_ROWS * n_features
    if problem.loss.is_smooth:
        counted = min(1.0, ROWS_PER_UNKNOWN * unknowns / n_samples)
        time["newton"] = 7.0 * (pass_ + counted * gram + factor)
        return time
    time["interior_point"] = 25.0 * (8.0 * pass_ + gram + factor)
    if n_features < n_samples and not problem.pull:
        steps = 15.0 if many_rows else 40.0
        time["augmented_lagrangian"] = steps * (pass_ + 0.15 * gram + factor)
    return time


def _sweeps(problem: LinearProblem) -> float:
    """Return about how many sweeps coordinate descent needs: many if the weights hold w back little."""
    used = np.flatnonzero(problem.weight)
    some = used[:: max(1, len(used) // SAMPLE)]
    norms = _core.row_sq_norms(rows_of(problem.matrix, some), problem.n_threads)
    freedom = float(np.mean(problem.weight[used]) * np.mean(norms))
    return float(np.clip(4.0 * freedom, 15.0, 3000.0))
