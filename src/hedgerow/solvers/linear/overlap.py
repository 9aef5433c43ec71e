"""A proof that no plane separates two classes: a point that their convex hulls share.

With an intercept the weights lambda_i >= 0 of such a point solve the linear program

    sum_i lambda_i y_i x_i = 0    sum of lambda_i over either class = 1

without one, 0 is in the hull of the y_i x_i: the same with sum_i lambda_i = 1. A corner of its solutions
has at most n_features + 2 rows. HiGHS finds one to its own tolerance; least squares on those rows then
brings it to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.rows import array_of
from hedgerow.monitor import current
from hedgerow.problems.hard_margin import MEETING, HardMarginProblem, Overlap

__all__ = ["find_overlap"]

Vector = NDArray[np.float64]

TIGHT = 1e-10
"""The tightest tolerance that HiGHS takes."""
POLISHES = 3
"""Corrections by least squares; each is as good as float64 lets it, and the next mends its rounding."""


def find_overlap(problem: HardMarginProblem, rows: NDArray[np.int64]) -> Overlap | None:
    """Return combinations of the given rows that meet, or None if there are none."""
    system, right = _equations(problem, rows)
    weights = _corner(system, right)
    if weights is None:
        return None
    involved = np.flatnonzero(weights > 0.0)
    weights, system = weights[involved], system[:, involved]
    concerned = np.unique(system.indices)  # of a wide table most features are 0 in so few rows
    system, right = system[concerned].toarray(), right[concerned]
    for _ in range(POLISHES):
        weights = weights + np.linalg.lstsq(system, right - system @ weights)[0]
    if not np.min(weights) >= -MEETING or not np.any(weights > 0.0):
        return None  # rounding has left nothing of them
    overlap = Overlap(rows[involved][weights > 0.0], weights[weights > 0.0])
    distance, size = problem.distance_of(overlap)
    return overlap if distance <= MEETING * size else None


def _equations(problem: HardMarginProblem, rows: NDArray[np.int64]) -> tuple[Any, Vector]:
    """Return the equations that the weights of the rows must meet, features scaled to size 1."""
    points, y = array_of(problem.matrix)[rows].astype(np.float64), problem.y[rows]
    has_intercept = problem.intercept != "none"
    if has_intercept and not sp.issparse(points):
        points = points - points[0]  # the sums do not change, and large offsets cannot hide a gap
    points = sp.csc_array(points)
    size = abs(points).max(axis=0).toarray().ravel()
    points = points[:, size > 0.0] / size[size > 0.0]
    features = (points * y[:, None]).T
    sides = [y > 0, y < 0] if has_intercept else [y != 0]
    system = sp.csc_array(
        sp.vstack([features, *(sp.csr_array(1.0 * side[None, :]) for side in sides)])
    )
    return system, np.append(np.zeros(features.shape[0]), np.ones(len(sides)))


def _corner(system: Any, right: Vector) -> Vector | None:
    """Return a corner of what meets the equations with weights that are not negative, or None."""
    from scipy.optimize import linprog

    options = {"primal_feasibility_tolerance": TIGHT}
    if math.isfinite(current().time_left):
        options["time_limit"] = max(current().time_left, 0.0)
    cost = np.zeros(system.shape[1])
    result = linprog(
        cost, A_eq=system, b_eq=right, bounds=(0, None), method="highs", options=options
    )
    return result.x if result.status == 0 else None
