"""Dual coordinate descent by blocks, for rows that do not fit into memory together.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. The alphas of all rows and w = sum_i alpha_i y_i x_i are kept; a block that has been read is
the dual problem over its own alphas, the others being fixed inside w, and gets some sweeps. A free
intercept is the multiplier of the balance over all rows; it moves after every pass.

Given: a plane, and a block's problem with the rows it stands for. Kept: the plane.
Cost: one reading of the files a pass; a few sweeps over each block while it is in memory.
Paper: Yu, Hsieh, Chang, Lin, Large linear classification when data cannot fit in memory, KDD 2010.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.monitor import current
from hedgerow.problems import LinearProblem, relative_gap
from hedgerow.solvers.dual_coordinate_descent import core_solver

__all__ = ["BlockDescent", "Plane"]

Vector = NDArray[np.float64]

SWEEPS = 4
"""Sweeps over a block while it is in memory: beyond, they fit the block and not all rows."""


@dataclass
class Plane:
    """Where the descent of one plane stands.

    Attributes
    ----------
    alpha : ndarray
        Of all rows.
    w : ndarray
        What they make: sum_i alpha_i y_i x_i.
    shift, excess, n_swept
        As the core keeps them: the multiplier, sum_i alpha_i y_i, and sweeps so far.
    losses, gain : float
        Of the rows visited in this pass: their losses at the w that met them, and what their
        alphas add to the dual.
    """

    alpha: Vector
    w: Vector
    shift: float = 0.0
    excess: float = 0.0
    n_swept: int = 1
    losses: float = 0.0
    gain: float = 0.0

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b; ``problem`` is that of any block, or of no rows."""
        return self.w, self.shift + problem.rho * self.excess

    def settle(self, w: Vector, balance: float) -> None:
        """Take over what alpha really makes, computed anew from all rows."""
        self.w, self.excess = w, balance


@dataclass(frozen=True)
class BlockDescent:
    """The same sweeps for every plane and block.

    Attributes
    ----------
    rho : float
        The weight of a penalised intercept, or the stiffness of a free one.
    fine : float
        A violation below which a block needs no more sweeps.
    seed : int
        Seeds the orders.
    options : mapping
        Those of dual coordinate descent.
    """

    rho: float
    fine: float
    seed: int
    options: Mapping[str, Any]

    name = "dual_coordinate_descent"

    def plane(self, alpha: Vector, problem: LinearProblem) -> Plane:
        """Return a plane that starts at 0."""
        return Plane(alpha, np.zeros(problem.shape[1]))

    def begin_pass(self, plane: Plane) -> None:
        """Begin with empty sums."""
        plane.losses = plane.gain = 0.0

    def visit(self, plane: Plane, problem: LinearProblem, rows: slice) -> None:
        """Sweep over a block; if that is stopped, the plane stays as it was."""
        core = core_solver(problem, self.rho, self.seed, self.options, moves_shift=False)
        with current().guard():
            standing = plane.shift, plane.excess, plane.n_swept, False
            core.restore(plane.alpha[rows], plane.w, *standing)
            losses = problem.losses(core.scores)
            core.run(SWEEPS, self.fine)
        alpha, plane.w, _, plane.excess, plane.n_swept, _ = core.state()
        plane.alpha[rows] = alpha
        plane.losses += losses
        plane.gain += problem.gain(alpha)

    def end_pass(self, plane: Plane, problem: LinearProblem) -> None:
        """Move the multiplier of a free intercept."""
        if problem.intercept == "free":
            plane.shift += self.rho * plane.excess

    def gap(self, plane: Plane, problem: LinearProblem) -> float:
        """Return about the relative gap after a pass; ``problem`` is that of any block, or of no rows."""
        primal = plane.losses + problem.cost_of(*plane.point(problem))
        return relative_gap(primal, plane.gain - problem.price_of(plane.w, plane.excess))

    def has_stalled(self, plane: Plane) -> bool:  # noqa: ARG002
        """Never: it goes on ever more slowly."""
        return False
