"""Interior point for small kernel machines, whatever the rank of their Gram matrix.

Problem: KernelProblem with a positive semi-definite kernel and at most some thousand points. The optimality
conditions of its program are, with one multiplier for each bound of a variable,

    K own + ridge beta + linear + level of the group = below - above      own: the betas of each point, summed
    below (beta - lower) = 0      above (upper - beta) = 0      and the sums of the groups

The method follows the path on which both products equal mu as mu falls to 0, by Mehrotra's predictor and
corrector. Steps by pairs of variables need millions of steps where the kernel has few dimensions, as its
Gram matrix is singular; the rounds of this method hardly depend on it (`kernel_system`).

Given: the problem. Returned: a beta whose values are on their bounds where they belong there, the free ones
solved for exactly (`free_set`).
Cost: 15 to 50 rounds, each a factorisation of a matrix as large as the rank, or as there are points.
Paper: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Opt. 1992.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import inner
from hedgerow.problems.box_program import BoxProgram
from hedgerow.problems.kernel import KernelPoint, KernelProblem
from hedgerow.solvers.dual_qp.free_set import free_set_steps
from hedgerow.solvers.dual_qp.linear_system import centred, kernel_system

__all__ = ["bytes_of_interior_point", "interior_point_steps"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_ROUNDS = 200
PATIENCE = 15
"""Rounds in which the gap does not halve after which rounding has won."""
DEEP = 1e-13
"""The products of multipliers and rooms, relative to the objective, at which the path has ended."""
REPEATS = 3
"""Exact solutions for the same free variables, after which there is nothing but rounding."""
FAR = 1e9
"""How much larger slopes may be where the path begins than at the start."""
FORCED = 1e-12
"""A sum this near to all it can be, relative to that, leaves its group no room."""


def bytes_of_interior_point(n_points: int) -> int:
    """Return the memory that the method takes: the kernel values, a factor, and what is computed of them."""
    return 6 * 8 * n_points * n_points


def interior_point_steps(problem: KernelProblem, n_threads: int) -> Iterator[KernelPoint]:
    """Yield the point of each round; the last ones are exact but for rounding.

    Raises
    ------
    IndefiniteError
        The kernel values are not those of a positive semi-definite kernel.
    """
    forced = _forced(problem.program)
    if not np.any(np.isnan(forced)):
        yield problem.point(forced)
        return
    path = _Path(_Moving(problem, forced, n_threads))
    nearest = problem.point(path.beta_on_bounds())
    lowest, halved, since = np.inf, np.inf, 0
    for gap in path.gaps():
        point = problem.point(path.beta_on_bounds())
        halved, since = (gap, 0) if gap < 0.5 * halved else (halved, since + 1)
        if gap < lowest:
            nearest, lowest = point, gap
        yield point
        if since >= PATIENCE:
            break
    yield from free_set_steps(problem, nearest, 0.0, n_threads, REPEATS)


class _Moving:
    """The part of a program that is not fixed: the variables with room, and the points that have one.

    Where sums are kept, the kernel values are those seen from the mean of the points, which leaves the
    optimum where it is.

    Attributes
    ----------
    where : ndarray
        The variables.
    place, other : ndarray
        The point of each, and the other variable of that point, or itself.
    members : ndarray of shape (n_sums, n_variables)
        1 for the variables of a group, else 0.
    sums : ndarray
        What the variables of each group must sum to.
    """

    def __init__(self, problem: KernelProblem, forced: Vector, n_threads: int) -> None:
        program, n_points = problem.program, problem.gram.n_points
        self.program, self.n_points = program, n_points
        self.where = np.flatnonzero(np.isnan(forced))
        self.fixed = np.where(np.isnan(forced), 0.0, forced)
        points, self.place = np.unique(self.where % n_points, return_inverse=True)
        self.other = _partners(self.place)
        self.lower, self.upper = program.lower[self.where], program.upper[self.where]
        self.ridge, self.start = program.ridge[self.where], program.start[self.where]
        self._read_sums(program)
        values = problem.gram.block(points.astype(np.int64), np.arange(n_points, dtype=np.int64))
        held = np.sum(values * program.per_point(self.fixed, n_points), axis=1)
        values = 0.5 * (values[:, points] + values[:, points].T)
        size = float(np.max(np.abs(values)))
        self.linear = program.linear[self.where] + held[self.place]
        if program.sums:
            values, offset = centred(values)
            self.linear = self.linear + float(np.sum(self.sums)) * offset[self.place]
        self.stiffness = float(np.mean(values.diagonal()))
        self.system = kernel_system(values, size, n_threads)

    def _read_sums(self, program: BoxProgram) -> None:
        group = program.group[self.where]
        here = [g for g in range(len(program.sums)) if np.any(group == g)]
        held = [float(np.sum(self.fixed, where=program.group == g)) for g in here]
        self.members = np.zeros((len(here), len(group)))
        for row, g in enumerate(here):
            self.members[row] = group == g
        self.sums = np.array([program.sums[g] for g in here]) - np.array(held)

    def whole(self, beta: Vector) -> Vector:
        """Return the betas of all variables, with these for those that move."""
        whole = self.fixed.copy()
        whole[self.where] = beta
        return _cancelled(self.program, whole, self.n_points)

    def fold(self, values: Vector) -> Vector:
        """Sum values of variables over those of each point."""
        return np.bincount(self.place, weights=values).astype(np.float64, copy=False)

    def by_group(self, values: Vector) -> Vector:
        """Sum values of variables over each group."""
        sums: Vector = np.sum(self.members * values, axis=1)
        return sums

    def slopes(self, beta: Vector) -> Vector:
        """Return minus the gradient."""
        products = self.system.times(self.fold(beta))[self.place]
        slopes: Vector = -(products + self.linear + self.ridge * beta)
        return slopes

    def levels(self, slopes: Vector) -> Vector:
        """Return the mean of slopes in each group."""
        means: Vector = self.by_group(slopes) / np.sum(self.members, axis=1)
        return means

    def spread(self, levels: Vector) -> Vector:
        """Return the level of the group of each variable, 0 without groups."""
        spread: Vector = np.sum(levels[:, None] * self.members, axis=0)
        return spread

    def unit(self, beta: Vector) -> float:
        """Return the size of the slopes at a beta, as they differ from the level of their group."""
        slopes = self.slopes(beta)
        return float(np.max(np.abs(slopes - self.spread(self.levels(slopes))))) or 1.0

    def middle(self) -> Vector:
        """Return a beta inside the box, with the right sums.

        A bound at infinity is replaced by what a ridge allows, or by what changes the slopes by their size. A
        box that is far larger than that is entered near the start only.
        """
        unit, start = self.unit(self.start), self.start
        near = unit / self.stiffness if self.stiffness > 0.0 else 1.0
        with np.errstate(divide="ignore"):
            reach = np.where(self.ridge > 0.0, unit / self.ridge, near)
        lower = np.where(np.isfinite(self.lower), self.lower, np.minimum(start, self.upper) - reach)
        upper = np.where(np.isfinite(self.upper), self.upper, np.maximum(start, self.lower) + reach)
        share = np.full(len(start), 0.5)
        for one, total in zip(self.members, self.sums, strict=True):
            part = (total - np.sum(one * lower)) / np.sum(one * (upper - lower))
            share = np.where(one > 0, part, share)
        away = lower + share * (upper - lower) - start
        if not np.any(start):
            away = away * min(1.0, FAR * unit / self.unit(away))
        middle: Vector = start + away
        return middle


class _Path:
    """A point near the central path.

    The layers of `rooms` are beta - lower and upper - beta, those of `pulls` their multipliers. Rooms are
    variables of their own: near a bound the difference of the two would be all rounding. One that is
    infinite has no multiplier, and stands as 1 with a multiplier of 0.
    """

    def __init__(self, moving: _Moving) -> None:
        self.moving = moving
        self.beta = moving.middle()
        rooms = np.array([self.beta - moving.lower, moving.upper - self.beta])
        self.bounded = np.isfinite(rooms)
        self.rooms = np.where(self.bounded, rooms, 1.0)
        largest = np.max(np.where(self.bounded, rooms, 0.0), axis=0)
        mu = moving.unit(self.beta) * float(np.median(largest))
        self.pulls = np.where(self.bounded, mu / self.rooms, 0.0)
        self.rooms_kept, self.pulls_kept = np.ones_like(rooms), np.ones_like(rooms)
        self.levels = moving.levels(moving.slopes(self.beta))
        self._look()

    def _look(self) -> None:
        """Take in the conditions at this point."""
        self.mu = self._mean_product(self.rooms, self.pulls)
        self.slopes = self.moving.slopes(self.beta)
        self.off = self.slopes - self.moving.spread(self.levels) + self.pulls[0] - self.pulls[1]

    def _mean_product(self, rooms: Vector, pulls: Vector) -> float:
        return float(np.sum(rooms * pulls)) / int(np.count_nonzero(self.bounded))

    def gaps(self) -> Iterator[float]:
        """Go along the path, to its end or as far as numbers can; yield the gap after each round."""
        for _ in range(MOST_ROUNDS):
            try:
                with np.errstate(over="raise", divide="raise", invalid="raise"):
                    self.advance()
            except FloatingPointError:
                return
            gap = float(np.sum(self.rooms * self.pulls))
            yield gap + float(np.max(np.abs(self.off))) * float(np.sum(np.abs(self.beta)))
            if gap <= DEEP * abs(0.5 * inner(self.moving.linear - self.slopes, self.beta)):
                return

    def beta_on_bounds(self) -> Vector:
        """Return all betas, those that head for a bound put onto it.

        Near the solution a round leaves a room about as it was and shrinks its multiplier, or the other way
        round; which of the two kept less of its size tells where the variable belongs, in whatever units.
        """
        moving = self.moving
        heads = self.bounded & (self.rooms_kept < self.pulls_kept)
        down = heads[0] & ~(heads[1] & (self.rooms[1] < self.rooms[0]))
        beta = np.where(down, moving.lower, np.where(heads[1], moving.upper, self.beta))
        return moving.whole(beta)

    def advance(self) -> None:
        """Make one predictor-corrector round."""
        self._factorise()
        products = self.rooms * self.pulls
        _, _, d_rooms, d_pulls = self._direction(-products)
        length = min(_longest(self.rooms, d_rooms, 1.0), _longest(self.pulls, d_pulls, 1.0))
        after = self._mean_product(self.rooms + length * d_rooms, self.pulls + length * d_pulls)
        goal = self.mu * (after / self.mu) ** 3
        wanted = np.where(self.bounded, goal - products - d_rooms * d_pulls, 0.0)
        d_beta, d_levels, d_rooms, d_pulls = self._direction(wanted)
        length = min(_longest(self.rooms, d_rooms, 2.0), _longest(self.pulls, d_pulls, 2.0))
        length = min(1.0, 0.995 * length)
        rooms, pulls = self.rooms + length * d_rooms, self.pulls + length * d_pulls
        self.rooms_kept = rooms / self.rooms
        self.pulls_kept = np.where(
            self.bounded, pulls / np.where(self.bounded, self.pulls, 1.0), 1.0
        )
        self.rooms, self.pulls = rooms, pulls
        self.beta = self.beta + length * d_beta
        self.levels = self.levels + length * d_levels
        self._look()

    def _factorise(self) -> None:
        """Prepare for directions from this point."""
        moving = self.moving
        self.d = moving.ridge + np.sum(self.pulls / self.rooms, axis=0)
        self.v = moving.fold(1.0 / self.d)
        self.share = 1.0 / (self.d * self.v[moving.place])
        sides = [moving.fold(one / self.d) for one in moving.members]
        moving.system.factorise(self.v, np.array(sides).reshape(len(sides), len(self.v)))

    def _direction(self, wanted: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Solve for the step that changes the products of rooms and pulls by the given amounts."""
        moving = self.moving
        quotients = wanted / self.rooms
        target = self.off + quotients[0] - quotients[1]
        missing = moving.sums - moving.by_group(self.beta)
        excess = moving.by_group(self._exchange(target)) - missing
        d_own, d_levels = moving.system.step(moving.fold(self.share * target), excess)
        target = target - moving.spread(d_levels)
        d_beta = self.share * d_own[moving.place] + self._exchange(target)
        d_rooms = np.where(self.bounded, np.array([d_beta, -d_beta]), 0.0)
        return d_beta, d_levels, d_rooms, quotients - self.pulls * d_rooms / self.rooms

    def _exchange(self, target: Vector) -> Vector:
        """Return what the two variables of a point give each other where their targets differ."""
        other = self.moving.other
        exchange: Vector = self.share * (target - target[other]) / self.d[other]
        return exchange


def _forced(program: BoxProgram) -> Vector:
    """Return the betas that their bounds or sums leave no choice, and NaN for the others."""
    beta = np.where(program.lower == program.upper, program.lower, np.nan)
    for g, total in enumerate(program.sums):
        here = program.group == g
        for bound in (program.lower, program.upper):
            size = float(np.sum(np.abs(bound), where=here))
            if np.isfinite(size) and abs(total - float(np.sum(bound, where=here))) <= FORCED * size:
                beta = np.where(here, bound, beta)
    return beta


def _partners(place: Indices) -> Indices:
    """Return, for each variable, the other one at the same place, or itself."""
    other = np.arange(len(place))
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(place[order][1:] == place[order][:-1])
    first, second = order[twice], order[twice + 1]
    other[first], other[second] = second, first
    return other


def _cancelled(program: BoxProgram, beta: Vector, n_points: int) -> Vector:
    """Return betas without what the two variables of a point give and take from each other for nothing."""
    if len(beta) != 2 * n_points or len(program.sums) > 1:
        return beta
    above, below = np.split(beta, 2)
    costs_above, costs_below = np.split(program.linear, 2)
    both = np.minimum(above - program.lower[:n_points], program.upper[n_points:] - below)
    both = np.where(costs_above >= costs_below, both, 0.0)
    return np.concatenate([above - both, below + both])


def _longest(values: Vector, change: Vector, cap: float) -> float:
    """Return the longest step, at most `cap`, that keeps values positive."""
    falls = change < 0
    return float(np.min(values[falls] / -change[falls], initial=cap))
