"""Dual coordinate descent by blocks, for rows that do not fit into memory together.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. The alphas of all rows and w = sum_i alpha_i y_i x_i are kept; a block that has been read is
the dual problem over its own alphas, the others being fixed inside w, and gets some sweeps.

All rows share the intercept. If it follows a single block, the next block undoes that, and the more
rows there are the slower it settles. So it is held back: (b - b')^2 / (2 reach) is added to the
objective, and b' becomes b after every pass (proximal point method). The dual of that is the one of a
penalised intercept with rho = reach, or a little less, and a shift. The reach is that at which all
rows together would move b as far as they do without the addition; where few of them can move, as most
are at a bound, it grows while the sum of alpha_i y_i of a free intercept is slow to vanish.

Given: a plane, and a block's problem with the rows it stands for. Kept: the plane.
Cost: one reading of the files a pass, of which there are about as many as sweeps in memory; a few
sweeps over each block while it is there.
Paper: Yu, Hsieh, Chang, Lin, Large linear classification when data cannot fit in memory, KDD 2010.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.losses import Loss
from hedgerow.monitor import current
from hedgerow.problems.base import relative_gap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.linear.dual_coordinate_descent import core_solver

__all__ = ["BlockDescent", "Plane", "reach"]

Vector = NDArray[np.float64]


class Numbers(Protocol):
    """A number for every row, of which slices are read and written."""

    def __getitem__(self, rows: slice, /) -> Vector: ...
    def __setitem__(self, rows: slice, values: Vector, /) -> None: ...


SWEEPS = 4
"""Sweeps over a block while it is in memory: beyond, they fit the block and not all rows."""
FIRST_SHARE = 0.1
"""A guess of how much of the gap that a pass sees is left at its end."""
FREEDOM = 2.0
"""How far b may go in the first pass, in what all rows together would move it by."""
SLOW = 0.5
"""Share of a sum of alpha_i y_i that is left by a pass which is then given a longer reach."""
LONGER = 2.0
"""By how much a reach grows, or falls."""


def reach(loss: Loss, mean_norm: float, weight: Vector, n_rows: int) -> float:
    """Return how far b may go in the first pass, for a sum of alpha_i y_i that is off by 1.

    ``mean_norm`` is the mean of the squared norms of the rows; ``weight`` may be that of some of them.
    """
    curvature = float(np.mean(loss.curvature(weight[weight > 0])))
    return FREEDOM * (mean_norm + curvature or 1.0) / n_rows


@dataclass
class Plane:
    """Where the descent of one plane stands.

    Attributes
    ----------
    alpha : array or file of numbers
        Of all rows.
    w : ndarray
        What they make: sum_i alpha_i y_i x_i.
    reach : float
        How far b may go in a pass.
    intercept, anchor : float
        b, and what it was before this pass.
    last_excess : float
        sum_i alpha_i y_i before this pass.
    excess, n_swept
        As the core keeps them: sum_i alpha_i y_i, and sweeps so far.
    losses, gain : float
        Of the rows visited in this pass: their losses at the w that met them, and what their
        alphas add to the dual.
    seen, share : float
        The relative gap as the pass saw it, and the share of that which was left when it was last
        measured: the losses are those before a block was swept.
    """

    alpha: Numbers
    w: Vector
    reach: float
    intercept: float = 0.0
    anchor: float = 0.0
    last_excess: float = 0.0
    excess: float = 0.0
    n_swept: int = 1
    losses: float = 0.0
    gain: float = 0.0
    seen: float = np.inf
    share: float = FIRST_SHARE

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:  # noqa: ARG002
        """Return w and b."""
        return self.w, self.intercept

    def alpha_of(self, problem: LinearProblem, rows: slice) -> Vector:  # noqa: ARG002
        """Return the alphas of some rows."""
        return self.alpha[rows]

    def settle(self, w: Vector, balance: float, gap: float) -> None:
        """Take over what alpha really makes, and the relative gap, computed anew from all rows."""
        self.w, self.excess = w, balance
        if 0.0 < self.seen < np.inf:
            self.share = gap / self.seen


@dataclass(frozen=True)
class BlockDescent:
    """The same sweeps for every plane and block.

    Attributes
    ----------
    alphas : sequence of arrays or files of numbers
        Those of all rows, a plane each, all 0.
    n_features : int
        The length of w.
    reach : float
        How far b may go in the first pass; see :func:`reach`.
    unit : float
        The size that scores are of.
    fine : float
        A violation below which a block needs no more sweeps.
    seed : int
        Seeds the orders.
    options : mapping
        Those of dual coordinate descent.
    """

    alphas: Sequence[Numbers]
    n_features: int
    reach: float
    unit: float
    fine: float
    seed: int
    options: Mapping[str, Any]

    name = "dual_coordinate_descent"
    moves_alphas = True

    def plane(self, number: int) -> Plane:
        """Return a plane that starts at 0."""
        return Plane(self.alphas[number], np.zeros(self.n_features), self.reach)

    def begin_pass(self, plane: Plane) -> None:
        """Begin with empty sums, and hold the intercept where it is."""
        plane.losses = plane.gain = 0.0
        plane.anchor, plane.last_excess = plane.intercept, plane.excess

    def visit(self, plane: Plane, problem: LinearProblem, rows: slice) -> None:
        """Sweep over a block; if that is stopped, the plane stays as it was."""
        rho = _rho(problem, plane.reach)
        shift = rho / plane.reach * plane.anchor
        core = core_solver(problem, rho, self.seed, self.options, moves_shift=False)
        with current().guard():
            core.restore(plane.alpha[rows], plane.w, shift, plane.excess, plane.n_swept, False)
            losses = problem.losses(core.scores)
            core.run(SWEEPS, self.fine)
        alpha, plane.w, _, plane.excess, plane.n_swept, _ = core.state()
        plane.alpha[rows], plane.intercept = alpha, core.intercept
        plane.losses += losses
        plane.gain += problem.gain(alpha)

    def end_pass(self, plane: Plane, problem: LinearProblem) -> None:
        """Measure about the gap; let a free intercept go farther if that is why it is slow to close."""
        primal = plane.losses + problem.cost_of(*plane.point(problem))
        dual = plane.gain - problem.price_of(plane.w, plane.excess)
        unbalanced = abs(plane.excess) * self.unit if problem.intercept == "free" else 0.0
        plane.seen = abs(relative_gap(primal, dual - unbalanced))
        if plane.excess * plane.last_excess < 0.0:
            plane.reach = max(plane.reach / LONGER, self.reach)
        elif abs(plane.excess) > SLOW * abs(plane.last_excess) and unbalanced > primal - dual:
            plane.reach *= LONGER

    def gap(self, plane: Plane, problem: LinearProblem) -> float:  # noqa: ARG002
        """Return about the relative gap after a pass."""
        return plane.share * plane.seen

    def has_stalled(self, plane: Plane) -> bool:  # noqa: ARG002
        """Never: it goes on ever more slowly."""
        return False


def _rho(problem: LinearProblem, reach: float) -> float:
    """Return the weight of (sum_i alpha_i y_i)^2 in the dual."""
    held = {"free": 0.0, "penalized": 1.0 / (problem.rho or 1.0), "none": np.inf}
    return 1.0 / (1.0 / reach + held[problem.intercept])
