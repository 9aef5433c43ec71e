"""Frozen problems: the minimisation is the docstring, `objective` is its only code.

A problem knows its data, its scaling and its dual; it does not know how it is solved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._state import record
from hedgerow.losses import Loss

__all__ = ["Intercept", "LinearProblem", "Solution", "Status", "inner"]

Vector = NDArray[np.float64]
Intercept = Literal["free", "penalized", "none"]
Status = Literal["optimal", "max_iter", "stalled", "interrupted", "time_limit", "stopped"]


def inner(a: Vector, b: Vector) -> float:
    """Return <a, b>, summed in an order that does not depend on the number of BLAS threads."""
    return float(np.sum(a * b))


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """A linear machine for labels y_i = +1 or -1 and row weights c_i >= 0.

    ::

        primal   minimise   1/2 |w|^2 + 1/2 (b / s)^2 + sum_i c_i loss(y_i (<w, x_i> + b))
                 over w, b

        dual     maximise   sum_i gain_i(alpha_i) - 1/2 |sum_i alpha_i y_i x_i|^2
                            - 1/2 s^2 (sum_i alpha_i y_i)^2
                 over       0 <= alpha_i <= upper_i

    The terms with s are those of a penalised intercept with scaling s, the last feature of the
    augmented rows (x_i, s). A free intercept has neither term, and the dual the constraint
    sum_i alpha_i y_i = 0. Without an intercept b = 0. At the optimum w = sum_i alpha_i y_i x_i.

    Attributes
    ----------
    matrix : _core.Matrix
        The rows x_i.
    y : ndarray
        +1 or -1 for each row.
    weight : ndarray
        c_i: C times the weight of the row.
    loss : Loss
        The loss of the functional margin.
    intercept : {"free", "penalized", "none"}
        What is done with b.
    intercept_scaling : float
        s, for a penalised intercept.
    n_threads : int
        Threads for passes over the data; no result depends on it.
    """

    matrix: _core.Matrix
    y: Vector
    weight: Vector
    loss: Loss
    intercept: Intercept = "free"
    intercept_scaling: float = 1.0
    n_threads: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.matrix.shape

    @cached_property
    def upper(self) -> Vector:
        """The largest alpha of each row."""
        return self.loss.upper(self.weight)

    @property
    def rho(self) -> float:
        """s^2 for a penalised intercept, else 0."""
        return self.intercept_scaling**2 if self.intercept == "penalized" else 0.0

    def scores(self, w: Vector, b: float) -> Vector:
        """Return <w, x_i> + b for every row."""
        coef, intercept = w[None, :], np.array([b])
        return _core.scores(self.matrix, coef, intercept, self.n_threads)[:, 0]

    def objective(self, w: Vector, b: float, scores: Vector | None = None) -> float:
        """Return the primal objective; `scores`, if at hand, saves a pass over the data."""
        margin = self.y * (self.scores(w, b) if scores is None else scores)
        penalty = 0.5 * inner(w, w)
        if self.intercept == "penalized":
            penalty += 0.5 * (b / self.intercept_scaling) ** 2
        return penalty + inner(self.weight, self.loss.value(margin))

    def dual_objective(self, alpha: Vector, w: Vector | None = None) -> float:
        """Return the dual objective at a feasible alpha; `w` is its combine(alpha), if at hand."""
        w = self.combine(alpha) if w is None else w
        balance = inner(self.y, alpha)
        gain = float(np.sum(self.loss.gain(alpha, self.weight)))
        return gain - 0.5 * inner(w, w) - 0.5 * self.rho * balance**2

    def combine(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_i y_i x_i."""
        return _core.weighted_row_sum(self.matrix, alpha * self.y, self.n_threads)

    def boxed(self, alpha: Vector) -> Vector:
        """Return alpha cut to its bounds; what is not finite becomes 0."""
        return np.clip(np.where(np.isfinite(alpha), alpha, 0.0), 0.0, self.upper)

    def feasible(self, alpha: Vector) -> Vector:
        """Return an alpha near the given one that meets every constraint of the dual.

        Values are cut to their bounds. For a free intercept the class that outweighs the other is
        then scaled down: its values between the bounds alone if they can carry it, so that rows on
        a bound stay there, else all of them.
        """
        inside = self.boxed(alpha)
        if self.intercept != "free":
            return inside
        excess = inner(self.y, inside)
        heavier = self.y * excess > 0
        between = heavier & (inside < self.upper)
        carried = float(np.sum(inside[between]))
        scaled = between if carried > 2.0 * abs(excess) else heavier
        total = float(np.sum(inside[scaled]))
        if total > 0:
            inside[scaled] *= max(0.0, 1.0 - abs(excess) / total)
        return inside

    def best_intercept(self, scores_without: Vector) -> float:
        """Return the b that is best for a w whose scores without intercept are given (hinge only).

        The slope in b is a staircase that climbs by c_i at b = y_i - <w, x_i>. Its zero is a step,
        or a flat stretch, of which the middle is returned.
        """
        used = self.weight > 0
        steps, climbs = (self.y - scores_without)[used], self.weight[used]
        order = np.argsort(steps, kind="stable")
        steps, climbs = steps[order], climbs[order]
        slope = np.cumsum(climbs) - float(np.sum(self.weight[self.y > 0]))
        flat = 1e-12 * float(np.sum(climbs))
        first = int(np.argmax(slope >= -flat))
        if slope[first] <= flat and first + 1 < len(steps):
            return float(0.5 * (steps[first] + steps[first + 1]))
        return float(steps[first])


@record()
@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Attributes
    ----------
    w, intercept : ndarray, float
        The primal point.
    alpha : ndarray
        The dual point.
    status : {"optimal", "max_iter", "stalled", "interrupted", "time_limit", "stopped"}
        Why the solver stopped, in its own opinion; a certificate is the proof.
    n_iter : int
        Its iterations: sweeps, rounds or steps.
    solver : str
        Its name.
    history : tuple of (int, float, float)
        (iteration, primal, dual) at every check of the gap.
    """

    w: Vector
    intercept: float
    alpha: Vector
    status: Status
    n_iter: int
    solver: str
    history: tuple[tuple[int, float, float], ...] = ()
