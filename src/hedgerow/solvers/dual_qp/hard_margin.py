"""Hard margins in the space of a kernel, as the nearest points of two convex hulls.

Problem: CSvcProblem with infinite weights. With an intercept its solution is that of

    minimise   1/2 |p - q|^2    over convex combinations p of one class and q of the other

divided by rho = |p - q|^2 / 2. Without one it is the point p nearest to 0 of the hull of all points times
their signs, divided by rho = |p|^2. These programs are bounded whether a margin exists or not; where the
hulls meet, or 0 is in the hull, the combinations are the proof. The tolerance is tol rho, which is known
only at the end: it is tightened as rho falls.

Given: the problem, a tolerance for the largest violation. Returned: beta, or a NotSeparableError.
Paper: Keerthi, Shevade, Bhattacharyya, Murthy, A fast iterative nearest point algorithm for support vector
machine classifier design, 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSeparableError
from hedgerow.kernels.gram import Gram, SignedGram
from hedgerow.problems.base import Status
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.hard_margin import Overlap
from hedgerow.problems.kernel import KernelPoint, KernelProblem, KernelSolution
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.solvers.dual_qp.decomposition import SharedRows, decompose
from hedgerow.solvers.dual_qp.run import KernelSettings

__all__ = ["size_of", "solve_hard_margin"]

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
NEVER = 2.0
"""A bound that never holds, as the combinations of a hull sum to 1."""


def solve_hard_margin(
    problem: CSvcProblem,
    settings: KernelSettings,
    is_proof: Callable[[Overlap], bool],
    shared: SharedRows | None = None,
) -> KernelSolution:
    """Solve a problem with a hard margin.

    Parameters
    ----------
    problem : CSvcProblem
        What to solve.
    settings : KernelSettings
        When to stop.
    is_proof : callable
        Says whether an overlap holds when it is computed from the data.
    shared : SharedRows or None
        What problems over the same points share.

    Raises
    ------
    NotSeparableError
        Convex combinations of the classes meet; they are its proof.
    """
    if not problem.has_intercept:
        shared = None  # its rows are of points without signs
    nearest, shared = _nearest_points(problem), shared or SharedRows()
    size = size_of(problem.gram)
    limit = STEPS_PER_POINT * len(problem.y) if settings.max_iter is None else settings.max_iter
    tol, beta, n_iter = FIRST_TOLERANCE, None, 0
    for _ in range(TIGHTENINGS):
        now = replace(settings, tol=tol * size, gap_tol=np.inf, max_iter=max(1, limit - n_iter))
        found = decompose(nearest, now, beta, shared)
        point, n_iter = nearest.point(found.beta), n_iter + found.n_iter
        _refuse_what_meets(problem, point, size, is_proof)
        beta, rho = point.beta, point.sq_norm * (0.5 if problem.has_intercept else 1.0)
        is_solved = point.violation <= settings.tol * rho
        if is_solved or found.status != "optimal" or tol <= LEAST_TOLERANCE:
            break
        tol = max(min(0.5 * settings.tol * rho / size, 1e-2 * tol), LEAST_TOLERANCE)
    is_tired = found.status in (("optimal",) if settings.max_iter else ("optimal", "max_iter"))
    status: Status = "optimal" if is_solved else "stalled" if is_tired else found.status
    beta, intercept = _with_margin_one(problem, nearest.figures(point), point.beta)
    return replace(found, beta=beta, figures={"intercept": intercept}, status=status, n_iter=n_iter)


def size_of(gram: Gram) -> float:
    """Return the largest K(x, x); of a kernel that is known by distances, which has none, a quarter of the largest."""
    everyone = np.arange(gram.n_points, dtype=np.int64)
    diagonal = gram.diagonal
    sq_distances = diagonal + diagonal[0] - 2.0 * gram.block(everyone[:1], everyone)[0]
    size = float(max(np.max(diagonal), 0.25 * np.max(sq_distances)))
    return size if size > 0.0 else 1.0


def _nearest_points(problem: CSvcProblem) -> KernelProblem:
    """Return the search for the nearest points of the hulls, or for that of one hull to 0."""
    gram, y, n = problem.gram, problem.y, len(problem.y)
    bounds = np.full(n, NEVER)
    if problem.has_intercept:
        return NuSvcProblem(gram, y, bounds, 2.0 / (NEVER * n), is_convex=problem.is_convex)
    signed = SignedGram(gram, y)
    return OneClassProblem(signed, bounds, 1.0 / (NEVER * n), is_convex=problem.is_convex)


def _with_margin_one(
    problem: CSvcProblem, figures: dict[str, float], beta: Vector
) -> tuple[Vector, float]:
    """Return the beta and the intercept of the machine whose nearest points have a functional margin of 1."""
    if problem.has_intercept:
        rho = figures["rho"] if figures["rho"] > 0.0 else 1.0
        return beta / rho, figures["intercept"] / rho
    rho = -figures["intercept"] if figures["intercept"] < 0.0 else 1.0
    return problem.y * beta / rho, 0.0


def _refuse_what_meets(
    problem: CSvcProblem, point: KernelPoint, size: float, is_proof: Callable[[Overlap], bool]
) -> None:
    """Raise if the combinations that a point is made of are the same, and that can be proven."""
    alpha = np.abs(point.beta)
    total = float(np.sum(alpha[problem.y > 0])) if problem.has_intercept else float(np.sum(alpha))
    if not problem.is_convex or total == 0.0:
        return
    distance = np.sqrt(max(point.sq_norm, 0.0)) / total
    if distance <= MEETS * np.sqrt(size):
        rows = np.flatnonzero(alpha)
        overlap = Overlap(rows.astype(np.int64), alpha[rows] / total)
        if not is_proof(overlap):
            return
        raise NotSeparableError("convex combinations of the two classes meet", overlap)
