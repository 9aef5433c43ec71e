"""A quadratic with prices on the sizes of its unknowns, minimised exactly.

    minimise   <slope, p - start> + 1/2 <p - start, H (p - start)> + sum_j price_j |p_j|   over p

Coordinate descent finds which unknowns are 0 and the signs of the others; with these given, what is
left is a linear system. The two take turns until every optimality condition holds. Each step lowers
the function, also where H is singular, as it is for equal columns or more columns than rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.problems.base import inner
from hedgerow.solvers.linear.ridge_system import cholesky_factor

__all__ = ["L1Model"]

Vector = NDArray[np.float64]

SWEEPS = 50
"""Sweeps of coordinate descent between two searches for the minimum with the signs as they are."""
TURNS = 12
"""Most turns."""
LOSSES = 6
"""Most times in a turn that signs are lost and the rest is solved again."""
ENOUGH = 1e-2
"""The share of the first violation at which the minimum is near enough."""
ROUNDING = 1e-13
"""A violation, relative to the largest slope, that is nothing but rounding."""
GENTLE = 0.1
"""How much a careful step is held back, the more so the smaller an unknown is."""


class L1Model:
    """The function above, its point and its slope there.

    Attributes
    ----------
    point, slope : ndarray
        Where it stands, and the gradient there of all but the prices.
    """

    def __init__(
        self, hessian: NDArray[np.float64], price: Vector, start: Vector, slope: Vector
    ) -> None:
        self.hessian = hessian
        self.price = price
        self.point = start.copy()
        self.slope = slope.copy()
        self._view = _core.data.Matrix.dense(hessian)

    def minimise(self, n_threads: int) -> Vector:
        """Return a point at which the function is least, or near enough to be the next start."""
        rounding = ROUNDING * max(1.0, float(np.max(np.abs(self.slope), initial=0.0)))
        tolerance = max(rounding, ENOUGH * self._violation())
        for _ in range(TURNS):
            violation = _core.solver.l1_sweeps(
                self.hessian, self.price, self.point, self.slope, SWEEPS, tolerance
            )
            if violation <= tolerance:
                break
            for _ in range(LOSSES):
                if not self._solve_for_signs(n_threads):
                    break
        return self.point

    def step_for_signs(self, n_threads: int) -> Vector:
        """Return the step to the minimum for the present signs, whatever becomes of them on the way."""
        step, moves = np.zeros_like(self.point), self._moving()
        if len(moves):
            step[moves] = self._way_down(moves, 0.0, n_threads)
        return step

    def _moving(self) -> NDArray[np.intp]:
        """Return the unknowns that are not 0 or cost nothing."""
        return np.flatnonzero((self.point != 0.0) | (self.price == 0.0))

    def _violation(self) -> float:
        """Return how far, at most, a slope is from what the sign of its unknown asks for."""
        at_zero = np.maximum(np.abs(self.slope) - self.price, 0.0)
        beyond = np.abs(self.slope + self.price * np.sign(self.point))
        return float(np.max(np.where(self.point == 0.0, at_zero, beyond), initial=0.0))

    def _solve_for_signs(self, n_threads: int) -> bool:
        """Move to the minimum for the present signs, or towards it; return whether a sign was lost.

        Unknowns that would change their sign stop at 0: all of them if that lowers the function,
        else the first on the way, which always does.
        """
        moves = self._moving()
        if len(moves) == 0:
            return False
        here = self.point[moves]
        there = here + self._way_down(moves, 0.0, n_threads)
        crosses = (self.price[moves] > 0.0) & (here * there <= 0.0)
        if crosses.any():
            there = here + self._way_down(moves, GENTLE, n_threads)
            crosses = (self.price[moves] > 0.0) & (here * there <= 0.0)
        if self._moved(moves, np.where(crosses, 0.0, there), n_threads) or not crosses.any():
            return bool(crosses.any())
        share = np.where(crosses, here / np.where(crosses, here - there, 1.0), np.inf)
        first = int(np.argmin(share))
        stop = here + share[first] * (there - here)
        stop[first] = 0.0
        return self._moved(moves, stop, n_threads)

    def _way_down(self, moves: NDArray[np.intp], caution: float, n_threads: int) -> Vector:
        """Return the step to where the function would be least if no price changed its side.

        Where the system is singular the way there may have no end. A cautious step is damped by the
        slope over each unknown's own size: it changes none by more than a multiple of that, and
        still finds the minimum as the slope falls to 0.
        """
        here, price = self.point[moves], self.price[moves]
        downhill = -(self.slope[moves] + price * np.sign(here))
        system = np.ascontiguousarray(self.hessian[np.ix_(moves, moves)])
        diagonal = system.diagonal()
        diagonal = np.where(diagonal > 0.0, diagonal, 1.0)
        size = np.where(price > 0.0, np.abs(here), np.inf)
        damping = caution * float(np.max(np.abs(downhill))) / size
        np.fill_diagonal(system, diagonal + damping)
        return _core.data.cholesky_solve(cholesky_factor(system, n_threads), downhill)

    def _moved(self, moves: NDArray[np.intp], there: Vector, n_threads: int) -> bool:
        """Set some unknowns if that lowers the function; return whether it did."""
        step = np.zeros_like(self.point)
        step[moves] = there - self.point[moves]
        rise = _core.data.scores(self._view, step[None, :], np.zeros(1), n_threads)[:, 0]
        prices = inner(self.price[moves], np.abs(there) - np.abs(self.point[moves]))
        change = inner(self.slope, step) + 0.5 * inner(step, rise) + prices
        if not change < 0.0:
            return False
        self.point[moves] = there
        self.slope += rise
        return True
