"""The dual of every kernel machine: a quadratic program with bounds and at most two sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import UNIT, growth_of_rounding
from hedgerow.problems.base import inner

__all__ = ["BoxProgram", "filled", "one_group"]

Vector = NDArray[np.float64]

AT_BOUND = 1e-12
"""A beta this near to a bound, relative to the box, counts as on it: rounding, no more."""
ROUNDING = 1e-13
"""A sum this far off, relative to what was summed, is what it should be."""


@dataclass(frozen=True, eq=False)
class BoxProgram:
    """A quadratic program with bounds and at most two sums.

    ::

        minimise   1/2 beta' (Q + diag(ridge)) beta + linear' beta    over  lower <= beta <= upper
                   with  sum of beta over group g = sums[g]

    Q_uv = K(point of u, point of v). There are n variables, or 2 n: variable v is of point v mod n.

    Attributes
    ----------
    linear, lower, upper, ridge : ndarray
        One value per variable; bounds may be infinite.
    group : ndarray of uint8
        0 or 1 for each variable.
    sums : tuple of float
        One per group; none for machines without an offset.
    start : ndarray
        A beta that meets the constraints.
    """

    linear: Vector
    lower: Vector
    upper: Vector
    ridge: Vector
    group: NDArray[np.uint8]
    sums: tuple[float, ...]
    start: Vector

    def per_point(self, beta: Vector, n_points: int) -> Vector:
        """Return the sum of the betas of each point."""
        return beta if len(beta) == n_points else np.sum(beta.reshape(-1, n_points), axis=0)

    def slopes(self, beta: Vector, products: Vector) -> Vector:
        """Return minus the gradient; `products` are Q beta, one per point."""
        tiled = np.tile(products, len(beta) // len(products))
        return -(tiled + self.linear + self.ridge * beta)

    def ends(self, beta: Vector, slopes: Vector) -> list[tuple[float, float]]:
        """Return, of each group, the largest slope of what may rise and the least of what may fall."""
        may_rise, may_fall = beta < self.upper, beta > self.lower
        return [
            (
                float(slopes.max(initial=-np.inf, where=here & may_rise)),
                float(slopes.min(initial=np.inf, where=here & may_fall)),
            )
            for here in self._members
        ]

    def violation(self, ends: list[tuple[float, float]]) -> float:
        """Return by how much a slope of what may rise exceeds one of what may fall, at most."""
        if not self.sums:
            return max(ends[0][0], -ends[0][1], 0.0)
        return max(0.0, *(rising - falling for rising, falling in ends))

    def excesses(self, beta: Vector, slopes: Vector, among: NDArray[np.bool_]) -> Vector:
        """Return by how much each variable violates the conditions beside some variables, or -inf."""
        excess = np.full(len(beta), -np.inf)
        for here in self._members:
            rises, falls = here & (beta < self.upper), here & (beta > self.lower)
            lowest = float(np.min(slopes, initial=np.inf, where=among & falls))
            highest = float(np.max(slopes, initial=-np.inf, where=among & rises))
            if not self.sums:
                lowest = highest = 0.0
            excess = np.maximum(excess, np.where(rises, slopes - lowest, -np.inf))
            excess = np.maximum(excess, np.where(falls, highest - slopes, -np.inf))
        return excess

    def levels(
        self, beta: Vector, slopes: Vector, ends: list[tuple[float, float]]
    ) -> tuple[float, ...]:
        """Return the multiplier of each sum: the mean slope of free variables, or the interval's middle."""
        levels = []
        free = (beta > self.lower) & (beta < self.upper)
        for members, _, (rising, falling) in zip(self._members, self.sums, ends, strict=False):
            here = free & members
            if here.any():
                levels.append(float(np.mean(slopes[here])))
            else:
                finite = [end for end in (rising, falling) if np.isfinite(end)]
                levels.append(float(np.mean(finite)) if finite else 0.0)
        return tuple(levels)

    def rounding(self, beta: Vector, levels: tuple[float, ...]) -> float:
        """Return how far, at most, rounding puts `linear' beta` off, and the value for what a sum is off."""
        share = growth_of_rounding(int(np.count_nonzero(beta))) * UNIT
        sizes = np.abs(beta)
        error = share * inner(np.abs(self.linear), sizes)
        for here, wanted, level in zip(self._members, self.sums, levels, strict=False):
            excess = abs(float(beta.sum(where=here)) - wanted)
            error += abs(level) * (excess + share * float(sizes.sum(where=here)))
        return error

    def value(self, beta: Vector, products: Vector) -> float:
        """Return the objective."""
        own = self.per_point(beta, len(products))
        quadratic = inner(own, products) + inner(self.ridge * beta, beta)
        return 0.5 * quadratic + inner(self.linear, beta)

    def feasible(self, beta: Vector) -> Vector:
        """Return a beta near the given one that meets every constraint.

        Values are cut to their bounds, those on one but for rounding put onto it; what a sum is off is
        spread over the values of its group by the room they have.
        """
        if not np.isfinite(beta).all():
            beta = np.nan_to_num(beta, posinf=0.0, neginf=0.0)
        beta = np.minimum(np.maximum(beta, self.lower), self.upper)
        largest = np.abs(beta).max(initial=0.0)
        width = np.minimum(self._width, largest)  # a box may be far too large
        beta = np.where(beta >= self.upper - AT_BOUND * width, self.upper, beta)
        beta = np.where(beta <= self.lower + AT_BOUND * width, self.lower, beta)
        for here, wanted in zip(self._members, self.sums, strict=False):
            size = float(np.abs(beta).sum(where=here)) + abs(wanted)
            excess = float(beta.sum(where=here)) - wanted
            if abs(excess) > ROUNDING * size:
                beta = self._shifted(beta, here, excess)
        return beta

    @cached_property
    def _width(self) -> Vector:
        """How far apart the bounds of each variable are, 0 if infinitely far."""
        width = self.upper - self.lower
        return np.where(np.isfinite(width), width, 0.0)

    @cached_property
    def _members(self) -> list[NDArray[np.bool_]]:
        """Which variables are in each group; without sums all are in one."""
        return [self.group == g for g in range(max(len(self.sums), 1))]

    def _shifted(self, beta: Vector, here: NDArray[np.bool_], excess: float) -> Vector:
        """Return beta with its sum over a group less by `excess`, by free values alone if they can."""
        room = np.where(excess > 0, beta - self.lower, self.upper - beta)
        room = np.where(here, np.minimum(room, np.maximum(np.abs(beta), abs(excess))), 0.0)
        free = np.where((beta > self.lower) & (beta < self.upper), room, 0.0)
        share = free if np.sum(free) > 2.0 * abs(excess) else room
        total = float(np.sum(share))
        moved = beta - excess * share / total if total > 0 else beta
        return np.clip(moved, self.lower, self.upper)


def one_group(n: int) -> NDArray[np.uint8]:
    """Return the groups of variables that all are in one."""
    return np.zeros(n, dtype=np.uint8)


def filled(upper: Vector, total: float) -> Vector:
    """Return values of which about as many as it takes, evenly spaced, are at their bounds: sum `total`."""
    n = len(upper)
    order = np.argsort(np.arange(n) * 0.6180339887498949 % 1.0, kind="stable")
    filled = np.cumsum(upper[order])
    start = np.empty(n)
    start[order] = np.clip(total - (filled - upper[order]), 0.0, upper[order])
    return start
