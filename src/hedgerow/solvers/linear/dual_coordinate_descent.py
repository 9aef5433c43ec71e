"""Dual coordinate descent, for wide, sparse or very large data.

Problem: LinearProblem with any loss and any intercept. The core visits the rows and solves for one
alpha_i at a time, keeping w = sum_i alpha_i y_i x_i; rows that stay on a bound rest until the others
have converged, when a look at all rows tells which to visit next (shrinking). A free intercept is the
multiplier of the constraint sum_i alpha_i y_i = q: after each sweep it moves by rho times what the sum
is off (method of multipliers).

Given: the problem. Offered: w, b and alpha, measured on all rows whenever the sweeps have brought the
largest violation they met below a mark; the mark then falls with the gap that is left to close.
Cost: one pass over the rows' non-zeros a sweep; few sweeps for small C, many for large C.
Paper: Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for large-scale
linear SVM, ICML 2008; Yu, Huang, Lin, Dual coordinate descent methods for logistic regression and
maximum entropy models, Machine Learning 2011; Ho, Lin, Large-scale linear support vector regression,
JMLR 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import one_of, true_or_false
from hedgerow.losses import Loss
from hedgerow.problems.base import relative_gap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.solver import LinearSolver, Option
from hedgerow.solvers.workload import VISIT, Workload

__all__ = [
    "DUAL_COORDINATE_DESCENT",
    "FIRST_BURST",
    "FIRST_MARK",
    "LONGEST_BURST",
    "core_solver",
    "descend",
    "next_mark",
    "offer_point",
    "stiffness",
    "weight_of_intercept",
]

Vector = NDArray[np.float64]

FIRST_BURST, LONGEST_BURST = 2, 20
"""Sweeps between two measurements of the gap, at most."""
FIRST_MARK = 1.0
"""A violation, in the unit of the problem's scores, that a first burst is to get below."""


class Sweeper(Protocol):
    """What sweeps over the rows, in the core."""

    def run(self, n_sweeps: int, tolerance: float) -> tuple[int, float]:
        """Make up to so many sweeps; return how many it was, and the violation that is left."""

    def state(self) -> tuple[Any, ...]:
        """Return all that a later run depends on."""

    def restore(self, *state: Any) -> None:
        """Go on from a state."""


class Offer(Protocol):
    """Offers where the sweeps stand to the run."""

    def __call__(self, *, thoroughly: bool) -> float:
        """Return about the relative gap."""


def dual_coordinate_descent(run: LinearRun) -> None:
    """Solve to the tolerance of the settings, or as far as max_iter sweeps go."""
    if run.is_solved:
        return
    core, start = _core_solver(run), run.start
    if start is not None and run.begun is None:
        core.set_alpha(run.problem.boxed(start.alpha), start.intercept)
    descend(run, core, partial(_offer_core, run, core))


def descend(run: LinearRun, core: Sweeper, offer: Offer) -> None:
    """Sweep until the gap is within the tolerance, or as far as max_iter sweeps go."""
    settings = run.settings
    run.when_stopped = lambda: offer(thoroughly=True)
    mark, burst = FIRST_MARK * run.problem.unit, FIRST_BURST
    left = run.resume() or run.begun
    if left is not None:
        mark, burst = left["mark"], left["burst"]
        core.restore(*left["core"])
    while run.n_iter < settings.max_iter:
        run.checkpoint(mark=mark, burst=burst, core=core.state)
        sweeps, violation = core.run(min(burst, settings.max_iter - run.n_iter), mark)
        run.n_iter += sweeps
        gap = offer(thoroughly=run.n_iter >= settings.max_iter)
        if run.measure():
            break
        if violation <= mark:
            mark = next_mark(run, mark, gap)
        burst = min(2 * burst, LONGEST_BURST)


def next_mark(run: LinearRun, mark: float, gap: float) -> float:
    """Return what violations are to get below next, now that they are below a mark."""
    share = run.settings.tol / gap if gap > 0.0 else 0.5
    # The gap of a smooth loss falls as the square of the violations.
    return mark * float(np.clip(np.sqrt(share) if run.problem.loss.is_smooth else share, 0.03, 0.5))


def _core_solver(run: LinearRun) -> _core.solver.DualCoordinateDescent:
    """Return the core's solver for this problem."""
    problem = run.problem
    options = {name: run.option(name) for name in ("order", "shrinking")}
    is_free = problem.intercept == "free"
    rho = weight_of_intercept(problem)
    return core_solver(problem, rho, run.settings.seed, options, moves_shift=is_free)


def core_solver(
    problem: LinearProblem, rho: float, seed: int, options: Mapping[str, Any], *, moves_shift: bool
) -> _core.solver.DualCoordinateDescent:
    """Return the core's solver for a problem.

    ``rho`` weighs the intercept, or the balance if it is free, of which the solver may then move the
    multiplier between its sweeps.
    """
    return _core.solver.DualCoordinateDescent(
        problem.matrix,
        problem.y,
        problem.target,
        problem.weight,
        loss=str(problem.loss.core_rule),
        epsilon=problem.loss.epsilon,
        rho=rho,
        free_intercept=moves_shift,
        balance=problem.pull,
        order=options["order"],
        shrinking=options["shrinking"],
        seed=seed,
        n_threads=problem.n_threads,
    )


def weight_of_intercept(problem: LinearProblem) -> float:
    """Return the weight of a penalised intercept, or of the balance in the method of multipliers.

    The multiplier settles fastest if it weighs as much as a row's own norm, and no less than the
    curvature that the dual has along the balance.
    """
    if problem.intercept != "free":
        return problem.rho
    norms = _core.data.row_sq_norms(problem.matrix, problem.n_threads)
    return stiffness(problem.loss, float(np.mean(norms)), problem.weight, len(norms))


def stiffness(loss: Loss, mean_norm: float, weight: Vector, n_rows: int) -> float:
    """Return the same of rows with that mean squared norm; ``weight`` may be that of some of them."""
    curvature = 0.0
    if loss.is_piecewise_linear or loss.is_piecewise_quadratic:
        curvature = float(np.mean(loss.curvature(weight[weight > 0]))) / n_rows
    return mean_norm + curvature or 1.0


def _offer_core(
    run: LinearRun, core: _core.solver.DualCoordinateDescent, *, thoroughly: bool
) -> float:
    """Offer where the core stands; return about the relative gap."""
    point = core.w, core.intercept, core.alpha, core.scores
    return offer_point(run, *point, thoroughly=thoroughly)


def offer_point(
    run: LinearRun, w: Vector, b: float, alpha: Vector, scores: Vector, *, thoroughly: bool
) -> float:
    """Offer w, with the best intercept there is, and alpha; return about the relative gap."""
    problem = run.problem
    if problem.intercept == "free":
        best = problem.best_intercept(scores - b)
        scores, b = scores + (best - b), best
    run.offer_primal(w, b, scores)
    dual = problem.dual_objective(alpha, w)
    gap = relative_gap(run.primal, dual, problem.least_scale)
    if problem.intercept != "free":
        run.offer_dual(alpha, objective=dual)
    elif thoroughly or run.is_promising(gap):
        run.offer_dual(alpha)
    return gap


def _effort(work: Workload) -> float | None:
    """Return about the time it takes: small problems have solvers that end at the last bit."""
    if is_cheap(work.problem):
        return None
    return VISIT * work.values * float(np.clip(4.0 * work.freedom, 15.0, 3000.0))


DUAL_COORDINATE_DESCENT = LinearSolver(
    name="dual_coordinate_descent",
    run=dual_coordinate_descent,
    needs=("loss.core_rule",),
    effort=_effort,
    options={
        "order": Option(
            "shuffled",
            one_of("shuffled", "cyclic", "stochastic"),
            "each row once a sweep in an order drawn anew; as they stand; or as many draws as there "
            "are rows, each any of them",
        ),
        "shrinking": Option(True, true_or_false, "whether rows that stay on a bound rest a while"),
    },
)
