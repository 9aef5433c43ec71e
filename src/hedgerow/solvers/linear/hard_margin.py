"""The hard margin, as the end of soft margins that grow harder.

Problem: HardMarginProblem, any intercept. Once C exceeds every alpha of the hard margin, the hinge of
weight C has the same solution. C starts small and grows; every alpha on the way is a point of the hard
margin's dual, and every plane that separates the classes, scaled, one of its primal. If planes keep
failing to separate them, the rows with alpha > 0 are searched for combinations of both classes that
meet (`overlap`): for classes that cannot be separated, these rows hold some as soon as C is large.

Given: the problem and a solver of soft margins. Offered: scaled planes, and the alphas of soft margins.
Raised: NotSeparableError, with the combinations.
Cost: two to eight soft margins, the last the dearest; a linear program where they fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.rows import array_of, dense
from hedgerow.errors import NotSeparableError
from hedgerow.problems.base import Solution, Status, inner
from hedgerow.problems.hard_margin import HardMarginProblem, Overlap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import GapRun, Settings
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.overlap import find_overlap

__all__ = ["hard_margin"]

Vector = NDArray[np.float64]
SolveSoft = Callable[[LinearProblem, Settings], Solution]

GROWTH = 100.0
"""Factor from one C to the next."""
HARDEST = 1e20
"""The largest C that is tried, times the mean |x|^2: margins go down to 1e-10 of the data's size."""
DEEP = 1e-12
"""Relative gap at which a small problem is solved exactly."""
CLOSE = 0.05
"""Distance between combinations of the classes, relative to the rows, at which some may well meet."""
IN_USE = 1e-9
"""Alphas below this, relative to the largest, count as 0 for the exact finish."""
SAMPLE = 2000
"""Rows to search first, and 20 times the number of features if that is more."""


def hard_margin(run: GapRun[HardMarginProblem], solve_soft: SolveSoft) -> Status | None:
    """Solve a problem with a hard margin to the tolerance of the settings."""
    problem, settings = run.problem, run.settings
    size = _mean_square(problem)
    C = 1.0 / size
    while C * size <= HARDEST and run.n_iter < settings.max_iter:
        left = settings.max_iter - run.n_iter
        soft = replace(settings, tol=0.1 * settings.tol, max_iter=left, options={})
        solution = solve_soft(problem.soft(C), soft)
        run.n_iter += solution.n_iter
        separates = _offer(run, solution.w, solution.intercept, solution.alpha)
        if separates and is_cheap(problem) and np.any(solution.alpha > 0.0):
            _offer(run, *_through_margins(problem, solution.alpha))
        is_exact = float(np.max(solution.alpha)) < C or run.relative_gap <= DEEP
        if run.measure() and (is_exact or not is_cheap(problem)):
            return None
        overlap = None if separates else _overlap(problem, solution.alpha, C * size, size)
        if overlap is not None:
            msg = f"no plane separates the classes: combinations of {len(overlap.rows)} rows meet"
            raise NotSeparableError(msg, overlap)
        C *= GROWTH
    return "stalled" if run.n_iter < settings.max_iter else None


def _mean_square(problem: LinearProblem) -> float:
    """Return the mean |x_i|^2 of rows with weight, that of the constant feature included."""
    norms = _core.data.row_sq_norms(problem.matrix, problem.n_threads)[problem.weight > 0]
    return (float(np.mean(norms)) + problem.rho) or 1.0


def _offer(run: GapRun[HardMarginProblem], w: Vector, b: float, alpha: Vector) -> bool:
    """Offer a plane, scaled, and an alpha; return whether the plane separates."""
    problem = run.problem
    run.offer_dual(alpha)
    scores = problem.scores(w, b)
    if problem.intercept == "free":
        best = problem.best_intercept(scores - b)
        scores, b = problem.scores(w, best), best
    least = problem.least_margin(scores)
    if least > 0.0:
        run.offer_primal(w / least, b / least)  # its scores are not those scaled: rounding
    return least > 0.0


def _through_margins(problem: HardMarginProblem, alpha: Vector) -> tuple[Vector, float, Vector]:
    """Return the shortest w, with its b and alpha, that puts the rows of large alpha on the margin.

    Least squares on these rows alone does not mind how thin the gap between the classes is.
    """
    rows = np.flatnonzero(alpha > IN_USE * np.max(alpha))
    points, y = dense(array_of(problem.matrix)[rows]).astype(np.float64), problem.y[rows]
    b = 0.0
    if problem.intercept == "free":
        w: Vector = _least_squares(points[1:] - points[0], y[1:] - y[0])
        b = float(y[0] - inner(points[0], w))
        sums, wanted = np.vstack([points.T, np.ones(len(y))]) * y, np.append(w, 0.0)
    else:
        constant = np.full((len(y), 1), np.sqrt(problem.rho))
        sums = np.hstack([points, constant]).T * y
        wanted = _least_squares(sums.T * y[:, None], y)
        w, b = wanted[:-1], float(np.sqrt(problem.rho) * wanted[-1])
    exact = np.zeros_like(alpha)
    exact[rows] = _least_squares(sums, wanted)
    return w, b, exact


def _least_squares(matrix: NDArray[np.float64], right: Vector) -> Vector:
    """Return the shortest vector that solves the equations as well as can be."""
    return np.asarray(np.linalg.lstsq(matrix, right)[0], dtype=np.float64)


def _overlap(
    problem: HardMarginProblem, alpha: Vector, hardness: float, size: float
) -> Overlap | None:
    """Return combinations of rows with alpha > 0 that meet.

    They are not looked for where the margin is still soft and those of alpha far apart.
    """
    v, total = problem.combine(alpha), float(np.sum(alpha))
    are_close = 4.0 * inner(v, v) <= (CLOSE * total) ** 2 * size
    if total == 0.0 or (hardness < GROWTH and not are_close):
        return None
    rows = np.flatnonzero(alpha > 0.0)
    found = (find_overlap(problem, some) for some in _more_and_more(rows, problem.shape[1]))
    return next((overlap for overlap in found if overlap is not None), None)


def _more_and_more(rows: NDArray[np.intp], n_features: int) -> Iterator[NDArray[np.int64]]:
    """Yield some of the rows, then all."""
    few = max(SAMPLE, 20 * n_features)
    if few < len(rows):
        yield rows[np.linspace(0, len(rows) - 1, few).astype(np.int64)]
    yield rows
