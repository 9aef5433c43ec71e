"""Dual coordinate descent by blocks, for rows that do not fit into memory together.

Problem: LinearProblem with the quadratic penalty, any loss and any intercept, whose rows come a block
at a time. The alphas of all rows and w = sum_i alpha_i y_i x_i are kept. A block is the dual problem over
its own alphas, with all others fixed inside w, and is swept a few times.

All rows share the intercept. If it follows a single block, the next block undoes that, and the more
rows there are the slower it converges. So it is held back: (b - b')^2 / (2 reach) is added to the
objective, and b' becomes b after every pass (proximal point method). Its dual is that of a
penalised intercept with rho = reach, or a little less, and a shift. The reach is that at which all
rows together would move b as far as they do without the addition; where few of them can move, as most
are at a bound, it grows while the sum of alpha_i y_i of a free intercept is slow to vanish.

Given: a state, and a block's problem with the numbers of its rows. Kept: the state.
Cost: one reading of all rows per pass, of which there are about as many as sweeps in memory; a few
sweeps over each block while it is in memory.
Paper: Yu, Hsieh, Chang, Lin, Large linear classification when data cannot fit in memory, KDD 2010.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.blocks import RowVector
from hedgerow.losses import Loss
from hedgerow.monitor import current
from hedgerow.problems.base import relative_gap
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.linear.dual_coordinate_descent import core_solver

__all__ = ["BlockDescent", "DescentState", "reach"]

Vector = NDArray[np.float64]


SWEEPS = 4
"""Sweeps over a block while it is in memory: beyond, they fit the block and not all rows."""
FIRST_SHARE = 0.1
"""A guess of the share of the gap measured during a pass that is left at its end."""
FREEDOM = 2.0
"""How far b may move in the first pass, relative to what all rows together would move it by."""
SLOW = 0.5
"""If more than this share of the sum of alpha_i y_i is left after a pass, the reach grows."""
LONGER = 2.0
"""The factor by which the reach grows or falls."""


def reach(loss: Loss, mean_sq_norm: float, weight: Vector, n_rows: int) -> float:
    """Return how far b may move in the first pass, for a sum of alpha_i y_i that is off by 1.

    ``mean_sq_norm`` is the mean of the squared norms of the rows; ``weight`` may be that of some of them.
    """
    curvature = float(np.mean(loss.curvature(weight[weight > 0])))
    return FREEDOM * (mean_sq_norm + curvature or 1.0) / n_rows


@dataclass
class DescentState:
    """Where the descent stands with one problem.

    Attributes
    ----------
    alpha : RowVector
        The alphas of all rows.
    w : ndarray
        sum_i alpha_i y_i x_i.
    reach : float
        How far b may move in a pass.
    intercept, anchor : float
        b, and what it was before this pass.
    last_excess : float
        sum_i alpha_i y_i before this pass.
    excess, n_swept
        sum_i alpha_i y_i, and sweeps so far, as the core counts them.
    losses, gain : float
        Of the rows visited in this pass: their losses before their block was swept, and what their
        alphas add to the dual.
    seen, share : float
        The relative gap as measured during the pass, and the share of it that was left at the last
        certificate.
    """

    alpha: RowVector
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

    def correct(self, w: Vector, balance: float, gap: float) -> None:
        """Take over w and the sum of alpha_i y_i, computed anew from all rows, and the relative gap."""
        self.w, self.excess = w, balance
        if 0.0 < self.seen < np.inf:
            self.share = gap / self.seen


@dataclass(frozen=True)
class BlockDescent:
    """Sweeps of dual coordinate descent over one block after the other.

    Attributes
    ----------
    alphas : sequence of RowVector
        The alphas of all rows for every problem, all 0.
    n_features : int
        The length of w.
    reach : float
        How far b may move in the first pass; see :func:`reach`.
    unit : float
        The scale of the scores.
    fine : float
        A violation below which a block needs no more sweeps.
    seed : int
        Seed of the order of the rows.
    options : mapping
        The options of dual coordinate descent.
    """

    alphas: Sequence[RowVector]
    n_features: int
    reach: float
    unit: float
    fine: float
    seed: int
    options: Mapping[str, Any]

    name = "dual_coordinate_descent"
    moves_alphas = True

    def start(self, number: int) -> DescentState:
        """Return the state of a problem at 0."""
        return DescentState(self.alphas[number], np.zeros(self.n_features), self.reach)

    def begin_pass(self, state: DescentState) -> None:
        """Begin with empty sums, and hold the intercept where it is."""
        state.losses = state.gain = 0.0
        state.anchor, state.last_excess = state.intercept, state.excess

    def visit(self, state: DescentState, problem: LinearProblem, rows: slice) -> None:
        """Sweep over a block; if that is stopped, the state stays as it was."""
        rho = _rho(problem, state.reach)
        shift = rho / state.reach * state.anchor
        core = core_solver(problem, rho, self.seed, self.options, moves_shift=False)
        with current().guard():
            core.restore(state.alpha[rows], state.w, shift, state.excess, state.n_swept, False)
            losses = problem.losses(core.scores)
            core.run(SWEEPS, self.fine)
        alpha, state.w, _, state.excess, state.n_swept, _ = core.state()
        state.alpha[rows], state.intercept = alpha, core.intercept
        state.losses += losses
        state.gain += problem.gain(alpha)

    def end_pass(self, state: DescentState, problem: LinearProblem) -> None:
        """Estimate the gap; let a free intercept move farther if that is why the gap closes slowly."""
        primal = state.losses + problem.cost_of(*state.point(problem))
        dual = state.gain - problem.price_of(state.w, state.excess)
        unbalanced = abs(state.excess) * self.unit if problem.intercept == "free" else 0.0
        state.seen = abs(relative_gap(primal, dual - unbalanced))
        if state.excess * state.last_excess < 0.0:
            state.reach = max(state.reach / LONGER, self.reach)
        elif abs(state.excess) > SLOW * abs(state.last_excess) and unbalanced > primal - dual:
            state.reach *= LONGER

    def gap(self, state: DescentState, problem: LinearProblem) -> float:  # noqa: ARG002
        """Return an estimate of the relative gap after a pass."""
        return state.share * state.seen

    def has_stalled(self, state: DescentState) -> bool:  # noqa: ARG002
        """Return False: it always makes some progress."""
        return False


def _rho(problem: LinearProblem, reach: float) -> float:
    """Return the weight of (sum_i alpha_i y_i)^2 in the dual."""
    held = {"free": 0.0, "penalized": 1.0 / (problem.rho or 1.0), "none": np.inf}
    return 1.0 / (1.0 / reach + held[problem.intercept])
