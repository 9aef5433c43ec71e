"""The sequential dual method, for all classes at once.

Problem: CrammerSingerProblem with any intercepts. The core visits the rows and solves for all alphas
of one at a time, keeping the planes; rows that are held where they are rest until the others have
converged, when a look at all rows tells which to visit next. Free intercepts are the multipliers of the
constraints sum_i alpha_ik = 0: after each sweep they move by rho times what the sums are off.

Given: the problem. Offered: planes and alpha, measured as in dual coordinate descent.
Cost: a sweep reads every entry, and a weight of each class for it, once or twice; few sweeps for small
C, many for large C. Memory: an alpha for each row and class.
Paper: Keerthi, Sundararajan, Chang, Hsieh, Lin, A sequential dual method for large scale multi-class
linear SVMs, KDD 2008.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from hedgerow import _core
from hedgerow._base.parameters import one_of, true_or_false
from hedgerow.problems.base import relative_gap
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.solvers.base import GapRun
from hedgerow.solvers.linear.dual_coordinate_descent import descend
from hedgerow.solvers.solver import LinearSolver, Option

__all__ = ["SEQUENTIAL_DUAL"]


def sequential_dual(run: GapRun[CrammerSingerProblem]) -> None:
    """Solve to the tolerance of the settings, or as far as max_iter sweeps go."""
    problem = run.problem
    core = _core_solver(run, problem)
    descend(run, core, partial(_offer, run, problem, core))


def _core_solver(
    run: GapRun[CrammerSingerProblem], problem: CrammerSingerProblem
) -> _core.solver.SequentialDual:
    """Return the core's solver for this problem."""
    is_free = problem.intercept == "free"
    return _core.solver.SequentialDual(
        problem.matrix,
        problem.labels,
        problem.weight,
        n_classes=problem.n_classes,
        rho=_stiffness(problem) if is_free else problem.rho,
        free_intercept=is_free,
        shuffled=run.option("order") == "shuffled",
        shrinking=run.option("shrinking"),
        seed=run.settings.seed,
        n_threads=problem.n_threads,
    )


def _stiffness(problem: CrammerSingerProblem) -> float:
    """Return the weight of the balances in the method of multipliers: that of a row's own norm."""
    return float(np.mean(_core.data.row_sq_norms(problem.matrix, problem.n_threads))) or 1.0


def _offer(
    run: GapRun[CrammerSingerProblem],
    problem: CrammerSingerProblem,
    core: _core.solver.SequentialDual,
    *,
    thoroughly: bool,
) -> float:
    """Offer the planes and alpha; return about the relative gap."""
    planes, alpha = core.hyperplanes, core.alpha
    run.offer_primal(planes, 0.0, core.scores)
    v = planes.copy()
    v[:, -1] = np.sum(alpha, axis=0)
    dual = problem.dual_objective(alpha, v)
    gap = relative_gap(run.primal, dual)
    if problem.intercept != "free":
        run.offer_dual(alpha, objective=dual)
    elif thoroughly or run.is_promising(gap):
        run.offer_dual(alpha)
    return gap


SEQUENTIAL_DUAL = LinearSolver(
    name="sequential_dual",
    run=sequential_dual,
    needs=("loss.compares_classes", "classes"),
    effort=lambda _: 1.0,
    options={
        "order": Option(
            "shuffled",
            one_of("shuffled", "cyclic"),
            "each row once a sweep in an order drawn anew, or as they stand",
        ),
        "shrinking": Option(True, true_or_false, "whether rows that are held rest a while"),
    },
)
