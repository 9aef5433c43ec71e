"""Hard margins in the space of a kernel, as the nearest points of two convex hulls.

Problem: Classes with infinite weights. With an intercept its solution is that of

    minimise   1/2 |p - q|^2    over convex combinations p of one class and q of the other

divided by rho = |p - q|^2 / 2. That program is bounded whether a margin exists or not; where the hulls meet,
p and q are the proof. Its tolerance is tol rho, which is known only at the end: it is tightened as rho falls.

Without an intercept, soft margins of growing C are solved until none of their bounds holds; if there is no
margin the dual grows beyond all bounds, and what it is made of is the proof.

Given: the problem, a tolerance for the largest violation. Returned: beta, or a NotSeparableError.
Paper: Keerthi, Shevade, Bhattacharyya, Murthy, A fast iterative nearest point algorithm for support vector
machine classifier design, 2000.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSeparableError
from hedgerow.kernel_machines import Classes, NuClasses
from hedgerow.kernel_problems import KernelPoint, KernelSolution
from hedgerow.problems import Overlap, Status
from hedgerow.solvers.decomposition import SharedRows, decompose
from hedgerow.solvers.kernel_run import KernelSettings

__all__ = ["solve_hard_margin"]

Vector = NDArray[np.float64]

MEETS = 5e-8
"""A distance, relative to the size of the points, at which combinations of them meet."""
TIGHTENINGS = 8
FIRST_TOLERANCE = 1e-2
"""Of the nearest points, relative to the largest K(x, x)."""
LEAST_TOLERANCE = 1e-15
"""Of the nearest points, on the same scale: below that there is nothing but rounding."""
STEPS_PER_POINT = 1000
"""Steps after which nearest points have not been found, and will not be soon."""
FIRST_C, LARGEST_C, GROWTH = 1e3, 1e15, 1e6


def solve_hard_margin(
    problem: Classes,
    settings: KernelSettings,
    start: Vector | None = None,
    shared: SharedRows | None = None,
) -> KernelSolution:
    """Solve a problem with a hard margin.

    Raises
    ------
    NotSeparableError
        Convex combinations of the classes meet; they are its proof.
    """
    if problem.has_intercept:
        return _by_nearest_points(problem, settings, shared or SharedRows())
    return _by_growing_bounds(problem, settings, start, shared or SharedRows())


def _by_nearest_points(
    problem: Classes, settings: KernelSettings, shared: SharedRows
) -> KernelSolution:
    """Return the hard margin between the nearest points of the hulls."""
    n = len(problem.y)
    # Each class has a sum of 1, so that bounds of 2 never hold.
    bounds = np.full(n, 2.0)
    hulls = NuClasses(problem.gram, problem.y, bounds, 1.0 / n, is_convex=problem.is_convex)
    size = float(np.max(problem.gram.diagonal))
    limit = STEPS_PER_POINT * n if settings.max_iter is None else settings.max_iter
    tol, beta, n_iter = FIRST_TOLERANCE, None, 0
    for _ in range(TIGHTENINGS):
        now = replace(settings, tol=tol * size, max_iter=max(1, limit - n_iter))
        found = decompose(hulls, now, beta, shared)
        point, n_iter = hulls.point(found.beta), n_iter + found.n_iter
        beta, rho = point.beta, 0.5 * point.sq_norm
        _refuse_what_meets(problem, point, size)
        is_solved = point.violation <= settings.tol * rho
        if is_solved or found.status != "optimal" or tol <= LEAST_TOLERANCE:
            break
        tol = max(min(0.5 * settings.tol * rho / size, 1e-2 * tol), LEAST_TOLERANCE)
    is_tired = found.status in (("optimal",) if settings.max_iter else ("optimal", "max_iter"))
    status: Status = "optimal" if is_solved else "stalled" if is_tired else found.status
    figures = hulls.figures(point)
    rho = figures["rho"] if figures["rho"] > 0.0 else 1.0
    return replace(
        found,
        beta=point.beta / rho,
        figures={"intercept": figures["intercept"] / rho},
        status=status,
        n_iter=n_iter,
    )


def _by_growing_bounds(
    problem: Classes, settings: KernelSettings, start: Vector | None, shared: SharedRows
) -> KernelSolution:
    """Return the solution of a soft margin of which no bound holds, which is that of the hard one."""
    size, bound, n_iter = float(np.max(problem.gram.diagonal)), FIRST_C, 0
    while True:
        soft = replace(problem, weight=np.full(len(problem.y), bound))
        found = decompose(soft, settings, start, shared)
        start, n_iter = found.beta, n_iter + found.n_iter
        _refuse_what_meets(problem, soft.point(found.beta), size)
        is_free = bool(np.all(np.abs(found.beta) < bound))
        if is_free or found.status in ("interrupted", "time_limit", "stopped", "max_iter"):
            return replace(found, n_iter=n_iter)
        if bound >= LARGEST_C:
            return replace(found, n_iter=n_iter, status="stalled")
        bound *= GROWTH


def _refuse_what_meets(problem: Classes, point: KernelPoint, size: float) -> None:
    """Raise if the combinations that a point is made of are the same but for rounding."""
    alpha = np.abs(point.beta)
    total = float(np.sum(alpha[problem.y > 0])) if problem.has_intercept else float(np.sum(alpha))
    if not problem.is_convex or total == 0.0:
        return
    distance = np.sqrt(max(point.sq_norm, 0.0)) / total
    if distance <= MEETS * np.sqrt(size):
        rows = np.flatnonzero(alpha)
        overlap = Overlap(rows.astype(np.int64), alpha[rows] / total)
        raise NotSeparableError("convex combinations of the two classes meet", overlap)
