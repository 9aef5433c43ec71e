"""Newton's method for smooth losses: squared hinge, squared epsilon-insensitive, logistic.

Problem: LinearProblem with a smooth loss, any intercept. Each round minimises the quadratic model of
the objective: by a Cholesky factorisation of the second derivatives, or by conjugate gradients that
stop when the model is good enough (truncated) and are accelerated by the diagonal (preconditioned). The
step then goes to the minimum along the way, or the model is only trusted within a region that grows
and shrinks with how well it has predicted the objective (trust region). Small problems are finished to the last bit
(`finite_newton`).

With many more rows than features the factorised matrix is estimated from a sample of the rows, as
large as it has to be for every step to bring most of what the exact one would.

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: 5 to 15 rounds, each one pass over the data and a factorisation (n d^2 over the rows that
count, or over a sample), or one pass per step of conjugate gradients.
Paper: Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear
SVMs, JMLR 2005; Lin, Weng and Keerthi, Trust region Newton method for large-scale logistic
regression, JMLR 2008; Steihaug, The conjugate gradient method and trust regions, SIAM J. Num. An. 1983.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import one_of
from hedgerow._base.state import Json
from hedgerow.problems.base import Status, inner
from hedgerow.solvers.base import LinearRun
from hedgerow.solvers.linear.active_set import is_cheap
from hedgerow.solvers.linear.finite_newton import finite_newton
from hedgerow.solvers.linear.ridge_system import cholesky_factor
from hedgerow.solvers.linear.smooth_objective import (
    ROWS_PER_UNKNOWN,
    ChangingSum,
    Sample,
    SmoothObjective,
)
from hedgerow.solvers.linear.truncated_newton import Truncated, TrustRegion
from hedgerow.solvers.solver import LinearSolver, Option
from hedgerow.solvers.workload import Workload

__all__ = ["DIRECT_UNKNOWNS", "NEWTON"]

Vector = NDArray[np.float64]

DIRECT_UNKNOWNS = 1500
"""Unknowns up to which a factorisation is taken by itself."""
SLOW = 0.1
"""Share of the last predicted decrease that the next one may keep before the sample grows."""
STARTED = 1e-2
"""A sample is solved when its next step would bring less than this share of the objective."""
ROUNDING = 1e-15
"""Relative decrease of the objective that means nothing."""


class _Steps(Protocol):
    """A way to make steps."""

    was_cut: bool

    def advance(self) -> None:
        """Make one step."""

    def state(self) -> Json:
        """Return all that the next steps depend on, but for the point."""

    def go_on_from(self, state: Json) -> None:
        """Go on from a state."""


def newton(run: LinearRun) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    objective = SmoothObjective(run.problem)
    steps = _steps(run, objective)
    if steps is None:
        return finite_newton(run)
    left = run.resume()
    if left is None:
        objective.move_to(_start(objective, run))
    else:
        objective.move_to(left["z"])
        steps.go_on_from(left["steps"])
    while not objective.offer(run) and run.n_iter < run.settings.max_iter:
        run.checkpoint(z=objective.z, steps=steps.state)
        before = objective.value
        steps.advance()
        run.n_iter += 1
        if before - objective.value <= ROUNDING * abs(before) and not steps.was_cut:
            objective.offer(run)
            return "stalled"
    return None


def _steps(run: LinearRun, objective: SmoothObjective) -> _Steps | None:
    """Return how steps are made; None if to the last bit."""
    is_preconditioned = run.option("preconditioner") == "diagonal"
    if run.option("step") == "trust_region":
        return TrustRegion(objective, is_preconditioned)
    n_samples, n_features = run.problem.shape
    system = run.option("system")
    if system == "auto":
        system = "direct" if n_features <= DIRECT_UNKNOWNS else "truncated"
        if is_cheap(run.problem) or n_samples <= min(n_features, DIRECT_UNKNOWNS):
            system = "exact"
    if system == "exact":
        return None
    if system == "direct":
        return _Direct(objective, run.settings.seed)
    return Truncated(objective, is_preconditioned)


def _start(objective: SmoothObjective, run: LinearRun) -> Vector:
    """Return the known start, the solution of a sample of the rows if there are very many, or 0."""
    if run.start is not None:
        return objective.point(run.start.w, run.start.intercept)
    seed = run.settings.seed
    sample = Sample.to_start_from(objective.problem, seed)
    if sample is None:
        return np.zeros_like(objective.penalised)
    small = SmoothObjective(sample.problem(objective.problem))
    small.move_to(np.zeros_like(small.penalised))
    steps = _Direct(small, seed)
    while steps.predicted > STARTED * abs(small.value):
        steps.advance()
    return small.z


class _Direct:
    """Steps by a factorisation of second derivatives, of all rows or of a sample."""

    def __init__(self, objective: SmoothObjective, seed: int) -> None:
        self.objective = objective
        self.seed = seed
        n_samples, unknowns = objective.problem.shape[0], len(objective.penalised)
        self.every = max(1, n_samples // (ROWS_PER_UNKNOWN * unknowns))
        self.predicted = np.inf
        self.was_cut = False
        self.known = ChangingSum(), ChangingSum()

    def state(self) -> Json:
        """Return how thin the sample is, what the last step promised, and what its model was made of."""
        return {
            "every": self.every,
            "predicted": self.predicted,
            "known": [vars(each) for each in self.known],
        }

    def go_on_from(self, state: Json) -> None:
        """Go on from a state."""
        self.every, self.predicted = state["every"], state["predicted"]
        gram, squares = state["known"]
        self.known = ChangingSum(**gram), ChangingSum(**squares)

    def advance(self) -> None:
        """Move by the minimum of the model."""
        objective = self.objective
        gradient = objective.gradient()
        hessian = objective.hessian(self._sample(), self.known)
        lower = cholesky_factor(hessian, objective.problem.n_threads)
        direction = -_core.data.cholesky_solve(lower, gradient)
        predicted = -inner(gradient, direction)
        objective.step(direction, -predicted)
        self.was_cut = self.every > 1 and predicted > SLOW * self.predicted
        if self.was_cut:
            self.every = max(1, self.every // 4)
            self.known = ChangingSum(), ChangingSum()
        self.predicted = predicted

    def _sample(self) -> Sample | None:
        """Return the rows that second derivatives are estimated from; None for all."""
        if self.every == 1:
            return None
        return Sample.draw(self.objective.problem.shape[0], self.every, self.seed)


def _effort(work: Workload) -> float:
    """Return about the time it takes; none for small problems, which are solved to the last bit."""
    if is_cheap(work.problem):
        return 0.0
    if work.unknowns > DIRECT_UNKNOWNS:
        return 250.0 * max(work.freedom, 1.0) * work.pass_
    sampled = ROWS_PER_UNKNOWN * work.unknowns
    return 7.0 * (work.pass_ + min(1.0, sampled / work.n_samples) * work.gram + work.factor)


NEWTON = LinearSolver(
    name="newton",
    run=newton,
    needs=("loss.is_smooth",),
    effort=_effort,
    options={
        "system": Option(
            "auto",
            one_of("auto", "exact", "direct", "truncated"),
            "how the model is minimised: to the last bit, by a factorisation, or by conjugate "
            "gradients that stop early",
        ),
        "step": Option(
            "line_search",
            one_of("line_search", "trust_region"),
            "to the minimum along the way, or within a region in which the model is trusted; the "
            "latter is truncated",
        ),
        "preconditioner": Option(
            "diagonal", one_of("diagonal", "none"), "what accelerates conjugate gradients"
        ),
    },
)
