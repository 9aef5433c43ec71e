"""Interior point for small kernel machines, whatever the rank of their Gram matrix.

Problem: KernelProblem with a positive semi-definite kernel and at most some thousand points. The optimality
conditions of its program are, with one multiplier for each bound of a variable,

    K own + ridge beta + linear + level of the group = below - above      own: the betas of each point, summed
    below (beta - lower) = 0      above (upper - beta) = 0      and the sums of the groups

The method follows the path on which both products equal mu as mu falls to 0, by Mehrotra's predictor and
corrector. Steps by pairs of variables need millions of steps where the kernel has few dimensions, as its
Gram matrix is singular; the rounds of this method hardly depend on it (`kernel_system`).

Given: the problem. Returned: a beta whose values are on their bounds where they belong there, which an
exact solution for the free ones completes (`free_set`).
Cost: 15 to 50 rounds, each a factorisation of a matrix as large as the rank, or as there are points.
Paper: Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Opt. 1992.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hedgerow.kernel_problems import KernelPoint, KernelProblem
from hedgerow.problems import inner
from hedgerow.solvers.kernel_system import centred, kernel_system, refined_step

__all__ = ["bytes_of_interior_point", "interior_point_steps"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_ROUNDS = 200
PATIENCE = 30
"""Rounds in which mu does not halve after which rounding has won."""
DEEP = 1e-13
"""The products of multipliers and rooms, relative to the objective, at which the path has ended."""
FAR = 1e9
"""How far the path may begin from the start, in units of what changes the slopes by their size."""
FORCED = 1e-12
"""A sum this near to all it can be, relative to that, leaves its group no room."""


def bytes_of_interior_point(n_points: int) -> int:
    """Return the memory that the method takes: the kernel values, a factor, and what is computed of them."""
    return 6 * 8 * n_points * n_points


def interior_point_steps(problem: KernelProblem, n_threads: int) -> Iterator[KernelPoint]:
    """Yield, after each round, the point of the least gap so far."""
    best, lowest, since = None, np.inf, 0
    for beta in _betas_along_path(problem, n_threads):
        with np.errstate(over="ignore", invalid="ignore"):
            point = problem.point(beta)
            gap = problem.primal(point) - problem.dual(point)
        if best is None or gap < lowest:
            since = 0 if gap < 0.5 * lowest else since
            best, lowest = point, gap
        since += 1
        yield best
        if since > PATIENCE:
            break


def _betas_along_path(problem: KernelProblem, n_threads: int) -> Iterator[Vector]:
    """Yield a beta after each round, values that head for a bound on it."""
    try:
        path = _Path(problem, n_threads)
        for _ in range(MOST_ROUNDS if np.any(path.moves) else 0):
            path.advance()
            yield path.beta_on_bounds()
            if path.is_at_end():
                break
        else:
            yield path.beta
    except FloatingPointError as e:  # the path has come as far as numbers can
        print(e); return


class _Path:
    """A point near the central path, of the variables that have room.

    The layers of `point` are beta - lower, upper - beta, below and above. The rooms are variables of their own:
    near a bound the difference of the two would be all rounding.
    """

    def __init__(self, problem: KernelProblem, n_threads: int) -> None:
        program, n_points = problem.program, problem.gram.n_points
        self.program = program
        self.beta = _forced(problem)
        self.moves = np.isnan(self.beta)
        self.beta[self.moves] = 0.0
        where = np.flatnonzero(self.moves)
        if not len(where):
            return
        points, self.place = np.unique(where % n_points, return_inverse=True)
        self.lower, self.upper = program.lower[where], program.upper[where]
        self.ridge = program.ridge[where]
        self._read_sums(where)
        everyone = np.arange(n_points)
        values = problem.gram.block(points, everyone)
        fixed = np.sum(values * program.per_point(self.beta, n_points), axis=1)
        values = values[:, points]
        values = 0.5 * (values + values.T)
        linear = program.linear[where] + fixed[self.place]
        size = float(np.max(np.abs(values)))
        if program.sums:
            values, offset = centred(values)
            linear = linear + float(np.sum(self.sums)) * offset[self.place]
        self.linear = linear
        self.system = kernel_system(values, size, n_threads)
        self._begin(program.start[where], values.diagonal())

    def _read_sums(self, where: Indices) -> None:
        """Read what the variables that move must sum to, group by group."""
        program = self.program
        group = program.group[where]
        n_groups = len(program.sums)
        at = [g for g in range(n_groups) if np.any(group == g)]
        self.members = np.array([group == g for g in at], dtype=np.float64).reshape(len(at), len(where))
        held = [float(np.sum(self.beta, where=program.group == g)) for g in at]
        self.sums = np.array([program.sums[g] for g in at]) - np.array(held)

    def _begin(self, start: Vector, diagonal: Vector) -> None:
        """Stand in the middle of the box, or near the start if the box is far larger than the problem."""
        slopes = self._slopes_at(start)
        for one in self.members:
            slopes = slopes - one * (np.sum(slopes * one) / np.sum(one))
        unit = float(np.max(np.abs(slopes))) or 1.0
        stiff = float(np.mean(diagonal[self.place] + self.ridge))
        reach = unit / stiff if stiff > 0 else np.inf
        width = self.upper - self.lower
        largest = float(np.max(width, initial=0.0, where=np.isfinite(width)))
        reach = reach if np.isfinite(reach) else largest or 1.0
        lower = np.where(np.isfinite(self.lower), self.lower, np.minimum(start, self.upper) - reach)
        upper = np.where(np.isfinite(self.upper), self.upper, np.maximum(start, self.lower) + reach)
        share = np.full(len(start), 0.5)
        for one, total in zip(self.members, self.sums, strict=True):
            part = (total - np.sum(one * lower)) / np.sum(one * (upper - lower))
            share = np.where(one > 0, part, share)
        away = lower + share * (upper - lower) - start
        if not np.any(start):
            away = away * min(1.0, FAR * reach / float(np.max(np.abs(away))))
        beta = start + away
        slopes = self._slopes_at(beta)
        for one in self.members:
            slopes = slopes - one * (np.sum(slopes * one) / np.sum(one))
        unit = float(np.max(np.abs(slopes))) or 1.0
        rooms = np.array([beta - self.lower, self.upper - beta])
        largest_room = np.max(np.where(np.isfinite(rooms), rooms, 0.0), axis=0)
        mu = unit * float(np.median(largest_room))
        self.point = np.concatenate([rooms, mu / rooms])
        self.kept = np.ones_like(self.point)
        self.levels = np.array([self._level(one, beta) for one in self.members])
        self._place(beta)

    def _level(self, one: Vector, beta: Vector) -> float:
        return float(np.sum(one * self._slopes_at(beta)) / np.sum(one))

    def _slopes_at(self, beta: Vector) -> Vector:
        products = self.system.times(self._fold(beta))[self.place]
        return -(products + self.linear + self.ridge * beta)

    def _fold(self, values: Vector) -> Vector:
        """Sum values of variables over those of each point."""
        return np.bincount(self.place, weights=values)

    def _place(self, beta: Vector) -> None:
        """Take in the conditions at a beta."""
        self.own_beta = beta
        self.slopes = self._slopes_at(beta)
        products = self.point[:2] * self.point[2:]
        self.mu = float(np.sum(products[np.isfinite(products)])) / int(np.sum(np.isfinite(self.point[:2])))

    def is_at_end(self) -> bool:
        """Say whether mu is nothing beside the objective."""
        beta = self.own_beta
        quadratic = -inner(self.slopes + self.linear, beta)
        value = 0.5 * quadratic + inner(self.linear, beta)
        return self.mu * len(beta) <= DEEP * abs(value)

    def beta_on_bounds(self) -> Vector:
        """Return beta with the values that head for a bound put onto it.

        Near the solution a round leaves a room about as it was and shrinks its multiplier, or the other way
        round; which of the two kept less of its size tells where the variable belongs, in whatever units.
        """
        falls, rises = self.kept[0] < self.kept[2], self.kept[1] < self.kept[3]
        both = falls & rises
        nearer = self.point[0] < self.point[1]
        beta = np.where(falls & ~(both & ~nearer), self.lower, self.own_beta)
        beta = np.where(rises & ~(both & nearer), self.upper, beta)
        full = self.beta.copy()
        full[self.moves] = beta
        return full

    def advance(self) -> None:
        """Make one predictor-corrector round."""
        old = self.point
        with np.errstate(invalid="ignore", over="raise", divide="raise"):
            quotient = np.where(np.isfinite(old[:2]), old[2:] / old[:2], 0.0)
            self.d = self.ridge + np.sum(quotient, axis=0)
            inverse = 1.0 / self.d
            sides = np.array([self._fold(inverse * one) for one in self.members])
            self.v = self._fold(inverse)
            self.sides = sides.reshape(len(sides), len(self.v))
            self.system.factorise(self.v, self.sides)
            products = np.where(np.isfinite(old[:2]), old[:2] * old[2:], 0.0)
            _, _, change = self._direction(-products)
            length = _longest(old, change, cap=1.0)
            after = old + length * change
            after_mu = np.where(np.isfinite(old[:2]), after[:2] * after[2:], 0.0)
            after_mu = float(np.sum(after_mu)) / int(np.sum(np.isfinite(old[:2])))
            goal = self.mu * (after_mu / self.mu) ** 3
            second = np.where(np.isfinite(old[:2]), goal - change[:2] * change[2:], 0.0)
            d_beta, levels, change = self._direction(second - products)
            self.length = length = min(1.0, 0.995 * _longest(old, change, cap=2.0))
        self.point = old + length * change
        self.kept = np.ones_like(old)
        np.divide(self.point, old, out=self.kept, where=np.isfinite(old) & (old > 0))
        self.levels = self.levels + length * levels
        self._place(self.own_beta + length * d_beta)

    def _direction(self, wanted: Vector) -> tuple[Vector, Vector, Vector]:
        """Solve for the step that changes the products of rooms and multipliers by the given amounts."""
        rooms, (below, above) = self.point[:2], self.point[2:]
        off = self.slopes - self.levels @ self.members + below - above
        pulls = np.where(np.isfinite(rooms), wanted / rooms, 0.0)
        target = (off + pulls[0] - pulls[1]) / self.d
        missing = self.sums - self.members @ self.own_beta
        lacking = self.members @ target - missing
        d_own, levels = refined_step(self.system, self.v, self.sides, self._fold(target), lacking)
        target = target - (levels @ self.members) / self.d
        part = 1.0 / (self.d * self.v[self.place])
        d_beta = target + part * (d_own - self._fold(target))[self.place]
        d_rooms = np.array([d_beta, -d_beta])
        d_multipliers = pulls - np.where(np.isfinite(rooms), self.point[2:] * d_rooms / rooms, 0.0)
        change = np.concatenate([np.where(np.isfinite(rooms), d_rooms, 0.0), d_multipliers])
        return d_beta, levels, change


def _forced(problem: KernelProblem) -> Vector:
    """Return the betas that their bounds or sums leave no choice, and NaN for the others."""
    program = problem.program
    beta = np.where(program.lower == program.upper, program.lower, np.nan)
    for g, total in enumerate(program.sums):
        here = program.group == g
        for bound in (program.lower, program.upper):
            most = float(np.sum(bound, where=here))
            size = float(np.sum(np.abs(bound), where=here))
            if np.isfinite(most) and abs(total - most) <= FORCED * size:
                beta = np.where(here, bound, beta)
    return beta


def _longest(point: Vector, change: Vector, cap: float) -> float:
    """Return the longest step, at most `cap`, that keeps the whole point positive."""
    falls = change < 0
    return float(np.min(point[falls] / -change[falls], initial=cap))
