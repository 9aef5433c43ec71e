"""Which solvers "auto" tries, in which order: by the time that each is likely to take.

The estimates are made from the numbers of rows, features and stored values, from C and from the loss.
Their constants, nanoseconds and numbers of rounds, were read off fits of the benchmark's data sets; only
what they say of one solver beside another matters.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from hedgerow import _core
from hedgerow.data.rows import n_values, rows_of
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.all_classes.active_set import is_small
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.newton import DIRECT_UNKNOWNS
from hedgerow.solvers.linear.smooth_objective import ROWS_PER_UNKNOWN, WORTH_A_START

__all__ = ["plan"]

MOST_UNKNOWNS = 6000
"""Unknowns of a linear system (8 n^2 bytes, twice) up to which a loss with kinks has one factorised."""
VISIT, PASS, PRODUCT, SPARSE_PRODUCT = 1.5, 0.5, 0.06, 0.6
"""Nanoseconds for a value in a sweep, for one in a pass by all threads, and for a multiplication in a
product of matrices, dense or sparse."""
SAMPLE = 1000
"""Rows whose norms tell what all are like."""


def plan(problem: LinearProblem) -> list[str]:
    """Return the names of the solvers to try, the likely fastest first."""
    if problem.penalty.bounds_dual:
        return ["proximal_newton"]
    if isinstance(problem, HardMarginProblem):
        return ["hard_margin"]
    if isinstance(problem, CrammerSingerProblem):
        return ["class_interior_point"] * is_small(problem) + ["sequential_dual"]
    if is_cheap(problem):
        return ["newton" if problem.loss.is_smooth else "interior_point"]
    work = _work(problem)
    return sorted(work, key=lambda solver: work[solver])


def _work(problem: LinearProblem) -> dict[str, float]:
    """Return the solvers that can take the problem, each with the time it is likely to need."""
    n_samples, n_features = problem.shape
    values = n_values(problem.matrix)
    unknowns = min(n_samples, n_features + 1)
    freedom = _freedom(problem)
    time = {"dual_coordinate_descent": VISIT * values * float(np.clip(4.0 * freedom, 15.0, 3000.0))}
    pass_, factor = PASS * values, PRODUCT * unknowns**3 / 3.0
    product = PRODUCT if values == n_samples * n_features else SPARSE_PRODUCT
    gram = 0.5 * product * values * min(values / n_samples, unknowns)
    sampled = ROWS_PER_UNKNOWN * unknowns
    if problem.loss.is_smooth:
        direct = 7.0 * (pass_ + min(1.0, sampled / n_samples) * gram + factor)
        truncated = 250.0 * max(freedom, 1.0) * pass_
        time["newton"] = direct if unknowns <= DIRECT_UNKNOWNS else truncated
        return time
    if unknowns > MOST_UNKNOWNS:
        return time
    time["interior_point"] = 25.0 * (8.0 * pass_ + gram + factor)
    if n_features < n_samples and not problem.pull:
        steps = 15.0 if n_samples >= WORTH_A_START * sampled else 40.0
        time["augmented_lagrangian"] = steps * (pass_ + 0.15 * gram + factor)
    return time


def _freedom(problem: LinearProblem) -> float:
    """Return how little the weights hold w back: what iterations grow with that see one row at a time."""
    used = problem.weight[problem.weight > 0]
    return float(np.mean(used)) * _mean_norm(problem.matrix)


def _mean_norm(matrix: _core.Matrix) -> float:
    """Return the mean squared norm of some of the rows; that of a matrix is computed once."""
    known = _known_norms.get(matrix)
    if known is None:
        n_rows = matrix.shape[0]
        some = np.arange(0, n_rows, max(1, n_rows // SAMPLE))
        known = float(np.mean(_core.row_sq_norms(rows_of(matrix, some), 1)))
        _known_norms[matrix] = known
    return known


_known_norms: WeakKeyDictionary[_core.Matrix, float] = WeakKeyDictionary()
