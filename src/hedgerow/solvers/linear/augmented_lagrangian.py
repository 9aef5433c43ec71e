"""Newton's method on augmented Lagrangians, for losses of straight pieces and many rows.

Problem: LinearProblem with the hinge or epsilon-insensitive loss, any intercept. The dual is maximised
by proximal steps: with alpha' the alpha of the last step and a window h,

    alpha_i = the value in its bounds nearest to alpha'_i + c_i r_i / h

is the slope of a smoothed loss, whose objective Newton's method minimises (`SmoothObjective`). Only
rows whose alpha is between the bounds have second derivatives, so a step factorises the second derivatives over these
few rows. When the gradient is small beside the gap that is left, alpha becomes alpha', the window a
third, and it goes on.

With many more rows than features a sample of the rows is solved first: what it lacks of the optimum
is little, and costs little.

Given: the problem. Offered: w, b and alpha at every step, which cost no pass of their own.
Cost: 15 to 60 steps, each one pass over the data and a gram matrix of the rows between the bounds.
Paper: Rockafellar, Augmented Lagrangians and applications of the proximal point algorithm, 1976; Yan
and Li, An efficient augmented Lagrangian method for support vector machine, Opt. Meth. Softw. 2020.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.state import Json
from hedgerow.problems.base import Status, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.ridge_system import cholesky_factor
from hedgerow.solvers.linear.smooth_objective import (
    ROWS_PER_UNKNOWN,
    WORTH_A_START,
    Sample,
    SmoothObjective,
)
from hedgerow.solvers.solver import LinearSolver
from hedgerow.solvers.workload import MOST_UNKNOWNS, Workload

__all__ = ["AUGMENTED_LAGRANGIAN"]

Vector = NDArray[np.float64]

FIRST_WINDOW = 2.0
"""In the unit of the problem's scores."""
NARROWER = 0.35
"""How much of its width a window keeps."""
STARTED = 1e-2
"""Relative gap to which a sample is solved."""
START_WINDOW = 0.3
"""Width, in that of the first window, at which all rows follow a sample."""
NEGLIGIBLE = 0.3
"""Share of the tolerance below which a gap is not worth a step of its own."""
PATIENCE = 60
"""Steps in which the gap does not halve after which rounding has won."""


def augmented_lagrangian(run: LinearRun) -> Status | None:
    """Solve a problem with a loss of straight pieces to the tolerance of the settings."""
    least, since = np.inf, 0
    left = run.resume()
    if left is None:
        path = _started(run)
    else:
        least, since = left["least"], left["since"]
        path = _Path(run.problem, **left["path"])
    while not path.objective.offer(run) and run.n_iter < run.settings.max_iter:
        run.checkpoint(least=least, since=since, path=path.state)
        if since >= PATIENCE:
            return "stalled"
        path.advance(run.settings.tol)
        run.n_iter += 1
        gap = path.gap
        least, since = (gap, 0) if gap < 0.5 * least else (least, since + 1)
    return None


class _Path:
    """Where the method stands: a point, the old alpha and the window."""

    def __init__(
        self,
        problem: LinearProblem,
        window: float,
        z: Vector | None = None,
        old_alpha: Vector | None = None,
    ) -> None:
        self.objective = objective = SmoothObjective(problem)
        self.window = window
        objective.shape = problem.loss.core_shape(1.0 / window)
        objective.shift = 0.5 * (problem.lower + problem.upper) if old_alpha is None else old_alpha
        objective.move_to(np.zeros_like(objective.penalised) if z is None else z)

    def state(self) -> Json:
        """Return all that the next steps depend on, as a new path takes it."""
        return {"window": self.window, "z": self.objective.z, "old_alpha": self.objective.shift}

    def advance(self, tol: float) -> None:
        """Make one step of Newton's method; narrow the window if that settled it."""
        objective = self.objective
        if objective.problem.intercept == "free" and not objective.curvature.any():
            objective.take_best_intercept()  # without curvature in b, Newton's method is blind
        gradient = objective.gradient()
        lower = cholesky_factor(objective.hessian(), objective.problem.n_threads)
        direction = -_core.data.cholesky_solve(lower, gradient)
        objective.step(direction, inner(gradient, direction))
        gradient = objective.gradient()
        apart = objective.rows_apart(gradient)
        if objective.astray(gradient) <= max(apart, NEGLIGIBLE * tol * abs(objective.primal)):
            self.window *= NARROWER
            old_alpha = objective.alpha.copy()
            shape = objective.problem.loss.core_shape(1.0 / self.window)
            objective.reshape(shape, old_alpha)

    @property
    def gap(self) -> float:
        """The relative gap at the point, about."""
        objective, gradient = self.objective, self.objective.gradient()
        gap = objective.rows_apart(gradient) + objective.astray(gradient)
        return gap / max(abs(objective.primal), abs(objective.dual), 1e-300)


def _started(run: LinearRun) -> _Path:
    """Return a path from the known start, from the solution of a sample of very many rows, or from 0."""
    problem, start = run.problem, run.start
    window = FIRST_WINDOW * problem.unit
    if start is not None:
        path = _Path(problem, START_WINDOW * window, old_alpha=problem.boxed(start.alpha))
        path.objective.move_to(path.objective.point(start.w, start.intercept))
        return path
    sample = Sample.to_start_from(problem, run.settings.seed)
    if sample is None:
        return _Path(problem, window)
    small = _Path(sample.problem(problem), window)
    for _ in range(PATIENCE):
        if small.gap <= STARTED:
            break
        small.advance(STARTED)
    return _Path(problem, max(small.window, START_WINDOW * window), small.objective.z)


def _effort(work: Workload) -> float | None:
    """Return about the time it takes; it is for many rows."""
    is_wide = work.n_features >= work.n_samples
    if is_wide or is_cheap(work.problem) or work.unknowns > MOST_UNKNOWNS:
        return None
    sampled = ROWS_PER_UNKNOWN * work.unknowns
    steps = 15.0 if work.n_samples >= WORTH_A_START * sampled else 40.0
    return steps * (work.pass_ + 0.15 * work.gram + work.factor)


AUGMENTED_LAGRANGIAN = LinearSolver(
    name="augmented_lagrangian",
    run=augmented_lagrangian,
    needs=("loss.is_piecewise_linear",),
    effort=_effort,
    takes_pull=False,
)
