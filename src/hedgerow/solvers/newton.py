"""Newton's method for smooth losses: squared hinge, squared epsilon-insensitive, logistic.

Problem: LinearProblem with a smooth loss, any intercept. Each round minimises the quadratic model of
the objective: by a Cholesky factorisation of the second derivatives, or by conjugate gradients that
stop when the model is good enough (truncated) and are hurried by the diagonal (preconditioned). The
step then goes to the minimum along the way, or the model is only trusted within a region that grows
and shrinks with how well it foretold (trust region). Small problems are finished to the last bit
(`finite_newton`).

Given: the problem. Offered: w, b and alpha_i, the slope of the loss.
Cost: 5 to 15 rounds, each one pass over the data and a factorisation (n d^2 over the rows that
count), or two passes a step of conjugate gradients.
Paper: Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear
SVMs, JMLR 2005; Lin, Weng and Keerthi, Trust region Newton method for large-scale logistic
regression, JMLR 2008; Steihaug, The conjugate gradient method and trust regions, SIAM J. Num. An. 1983.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._parameters import one_of
from hedgerow.problems import Status, inner
from hedgerow.solvers.active_set import is_cheap
from hedgerow.solvers.finite_newton import finite_newton
from hedgerow.solvers.ridge_system import factor
from hedgerow.solvers.settings import Progress
from hedgerow.solvers.smooth_objective import SmoothObjective
from hedgerow.solvers.solver import Option, Solver

__all__ = ["NEWTON"]

Vector = NDArray[np.float64]

DIRECT_UNKNOWNS = 1500
"""Unknowns up to which a factorisation is taken by itself."""
FORCING = 0.1
"""Share of the gradient that conjugate gradients may leave in the model, at most."""
CG_STEPS = 250
ROUNDING = 1e-15
"""Relative decrease of the objective that means nothing."""


def newton(progress: Progress) -> Status | None:
    """Solve a problem with a smooth loss to the tolerance of the settings."""
    system = _system(progress)
    if system == "exact":
        return finite_newton(progress)
    objective = SmoothObjective(progress.problem)
    region = _Region(objective, progress.option("preconditioner") == "diagonal")
    left = progress.resume()
    objective.move_to(np.zeros_like(objective.penalised) if left is None else left["z"])
    region.radius = np.inf if left is None else left["radius"]
    trusting = progress.option("step") == "trust_region"
    while not objective.offer(progress) and progress.n_iter < progress.settings.max_iter:
        progress.checkpoint(z=objective.z, radius=region.radius)
        before = objective.value
        if trusting:
            region.advance()
        else:
            gradient = objective.gradient()
            direction = (
                _direct(objective, gradient) if system == "direct" else region.model(gradient)[0]
            )
            objective.step(direction, inner(gradient, direction))
        progress.n_iter += 1
        if before - objective.value <= ROUNDING * abs(before) and not region.was_cut:
            objective.offer(progress)
            return "stalled"
    return None


def _system(progress: Progress) -> str:
    """Return how the model is minimised: "exact", "direct" or "truncated"."""
    system = progress.option("system")
    if progress.option("step") == "trust_region":
        return "truncated"
    if system != "auto":
        return str(system)
    n_samples, n_features = progress.problem.shape
    if is_cheap(progress.problem) or n_samples <= min(n_features, DIRECT_UNKNOWNS):
        return "exact"
    return "direct" if n_features <= DIRECT_UNKNOWNS else "truncated"


def _direct(objective: SmoothObjective, gradient: Vector) -> Vector:
    """Return the minimum of the model by a factorisation."""
    lower = factor(objective.hessian(), objective.problem.n_threads)
    return -_core.cholesky_solve(lower, gradient)


class _Region:
    """The quadratic model, minimised by conjugate gradients within a radius."""

    def __init__(self, objective: SmoothObjective, is_preconditioned: bool) -> None:
        self.objective = objective
        self.is_preconditioned = is_preconditioned
        self.radius = np.inf
        self.was_cut = False

    def advance(self) -> None:
        """Make a step if it brings what the model foretold, and change the radius accordingly."""
        objective = self.objective
        gradient, before = objective.gradient(), objective.value
        step, product, size = self.model(gradient)
        foretold = -(inner(gradient, step) + 0.5 * inner(step, product))
        start = objective.z
        objective.move_to(start + step)
        kept = (before - objective.value) / foretold if foretold > 0.0 else 0.0
        self.was_cut = kept < 1e-4
        if self.was_cut:
            objective.return_to(start)
        if kept < 0.25:
            self.radius = 0.25 * size
        elif kept > 0.75 and size > 0.9 * self.radius:
            self.radius = 4.0 * self.radius

    def model(self, gradient: Vector) -> tuple[Vector, Vector, float]:
        """Return the step that conjugate gradients find, its product with the model, and its size."""
        scale = self._scale()
        norm = np.sqrt(inner(gradient, scale * gradient))
        enough = norm * min(FORCING, np.sqrt(norm / (1.0 + abs(self.objective.value))))
        step, product = np.zeros_like(gradient), np.zeros_like(gradient)
        left = -gradient
        direction = scale * left
        power = inner(left, direction)
        for _ in range(CG_STEPS):
            bent = self.objective.hessian_times(direction)
            length = power / inner(direction, bent)
            ahead = step + length * direction
            if _size(ahead, scale) >= self.radius:
                length = _to_the_edge(step, direction, scale, self.radius)
                return step + length * direction, product + length * bent, self.radius
            step, product = ahead, product + length * bent
            left = left - length * bent
            scaled = scale * left
            power, before = inner(left, scaled), power
            if np.sqrt(power) <= enough:
                break
            direction = scaled + power / before * direction
        return step, product, _size(step, scale)

    def _scale(self) -> Vector:
        """Return the inverse of the diagonal of the model, or ones."""
        if not self.is_preconditioned:
            return np.ones_like(self.objective.penalised)
        return 1.0 / self.objective.hessian_diagonal()


def _size(step: Vector, scale: Vector) -> float:
    """Return the length of a step in the units of the preconditioner."""
    return float(np.sqrt(inner(step, step / scale)))


def _to_the_edge(step: Vector, direction: Vector, scale: Vector, radius: float) -> float:
    """Return how far to go along the direction to the edge of the region."""
    a, b = inner(direction, direction / scale), inner(step, direction / scale)
    c = inner(step, step / scale) - radius**2
    return float((-b + np.sqrt(b * b - a * c)) / a)


NEWTON = Solver(
    name="newton",
    run=newton,
    losses=("squared_hinge", "logistic", "squared_epsilon_insensitive"),
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
            "diagonal", one_of("diagonal", "none"), "what hurries conjugate gradients"
        ),
    },
)
