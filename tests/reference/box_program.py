"""Quadratic programs with bounds and equalities, by an interior point in any arithmetic.

The method is Mehrotra's, dense and plain. The same code runs on long doubles, which is fast, and on
decimals of 100 digits, which settles what long doubles leave open. Nothing here is shared with the
package.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from tests.reference.exact_kernels import HALF, ONE, ZERO, rounded

INFINITE = Decimal("Infinity")
MOST_STEPS = 90
TO_BOUNDARY = Decimal("0.995")
ON_BOUND = Decimal("1e-12")
"""A value this near to a bound, relative to the box, counts as on it, as the package says."""


@dataclass(frozen=True)
class BoxProgram:
    """min 1/2 x' H x + q' x  over  lower <= x <= upper,  A x = b; all are decimals."""

    H: np.ndarray
    q: np.ndarray
    A: np.ndarray
    b: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def value(self, x):
        """The objective."""
        return HALF * (x @ (self.H @ x)) + self.q @ x

    def snapped(self, x):
        """x with what is on a bound but for rounding put onto it, and cut to the box."""
        width = self.upper - self.lower
        width = np.where(width < INFINITE, width, ZERO)
        x = np.where(x >= self.upper - ON_BOUND * width, self.upper, x)
        return np.where(x <= self.lower + ON_BOUND * width, self.lower, x)

    def feasible(self, x):
        """A point near x that meets every constraint, or None: free values move first."""
        x = np.minimum(np.maximum(x, self.lower), self.upper)
        for room_of in (self._inside, self._inside, self._reach, self._reach):
            missing = self.b - self.A @ x
            if not any(missing):
                return x
            room = room_of(x, missing)
            push = self.A * (room * room)
            moved = x + push.T @ solved(factored(push @ self.A.T), missing)
            inside = np.all(moved >= self.lower) and np.all(moved <= self.upper)
            if inside and self._is_balanced(moved):
                return moved
            x = np.minimum(np.maximum(moved, self.lower), self.upper)
        return None

    def _inside(self, x, _):
        """How far x is from the nearer bound."""
        return np.minimum(np.minimum(x - self.lower, self.upper - x), np.abs(x) + ONE)

    def _reach(self, x, missing):
        """How far x can go the way that would help."""
        rises = self.A.T @ missing > 0
        room = np.where(rises, self.upper - x, x - self.lower)
        return np.minimum(room, np.abs(x) + max(map(abs, missing)))

    def _is_balanced(self, x):
        size = np.abs(self.A) @ np.abs(x) + np.abs(self.b)
        return bool(np.all(np.abs(self.b - self.A @ x) <= Decimal("1e-80") * size))

    def violation(self, x):
        """The largest violation of the optimality conditions: equalities are sums of signed values."""
        snapped = self.snapped(x)
        feasible = self.feasible(snapped)
        points = [(x, snapped), (snapped, snapped)]
        if feasible is not None:
            points.append((feasible, self.snapped(feasible)))
        return min(self.violation_at(*point) for point in points)

    def violation_at(self, point, x):
        """The violation by the slopes at a point, for bounds that hold where they do for x."""
        slopes = -(self.H @ point + self.q)
        above, below = x < self.upper, x > self.lower
        if not len(self.A):
            worst = [*slopes[above], *-slopes[below], ZERO]
            return max(worst)
        worst = ZERO
        for row in self.A:
            rising = [*slopes[above & (row > 0)], *-slopes[below & (row < 0)]]
            falling = [*slopes[below & (row > 0)], *-slopes[above & (row < 0)]]
            if rising and falling:
                worst = max(worst, max(rising) - min(falling))
        return worst


def solve(program, hint, *, exactly=False):
    """Return x and the multipliers of the equalities, as decimals; `hint` is a typical size of x."""
    fixed = program.lower == program.upper
    if np.all(fixed):
        return program.lower.copy(), np.full(len(program.b), ZERO)
    known = np.where(fixed, program.lower, ZERO)
    free = ~fixed
    part = replace(
        program,
        H=program.H[np.ix_(free, free)],
        q=(program.q + program.H @ known)[free],
        A=program.A[:, free],
        b=program.b - program.A @ known,
        lower=program.lower[free],
        upper=program.upper[free],
    )
    with np.errstate(all="ignore"):  # what is not finite is no step
        x, multipliers = _Run(part, hint, exactly).solution()
    known[free] = x
    return known, multipliers


class _Run:
    """One run of the interior point, in units in which x and the objective are of size 1."""

    def __init__(self, program, hint, exactly):
        self.length = hint if hint > 0 else ONE
        sizes = [abs(v) for v in (*np.ravel(program.H) * self.length, *program.q) if v]
        self.price = max(sizes, default=ONE)
        to = np.asarray if exactly else rounded
        self.one = ONE if exactly else np.longdouble(1)
        self.H = to(program.H * (self.length / self.price))
        self.q, self.A = to(program.q / self.price), to(program.A)
        self.b = to(program.b / self.length)
        self.lower, self.upper = to(program.lower / self.length), to(program.upper / self.length)
        self.has_lower, self.has_upper = program.lower > -INFINITE, program.upper < INFINITE
        self.tiny = Decimal("1e-60") if exactly else np.longdouble("1e-30")
        self.zero = self.one * 0

    def solution(self):
        self._start()
        best, best_error, waited = (self.x, self.y), None, 0
        for _ in range(MOST_STEPS):
            self._measure()
            error = self.mu + self._norm(self.residual) + self._norm(self.missing)
            if best_error is None or error < best_error / 2:
                best, best_error, waited = (self.x, self.y), error, 0
            waited += 1
            if waited > 12 or error <= self.tiny or not self._step():
                break
        x, y = ([Decimal(str(v)) for v in part] for part in best)
        return np.array(x, dtype=object) * self.length, np.array([*y, ZERO], dtype=object)[
            :-1
        ] * self.price

    def _norm(self, values):
        return max((abs(v) for v in values), default=self.zero)

    def _start(self):
        half = self.one / 2
        width = np.where(self.has_lower & self.has_upper, self.upper - self.lower, 2 * self.one)
        room = np.minimum(width * half, self.one * half)
        x = np.where(self.has_upper, self.upper - room, self.zero)
        x = np.where(self.has_lower, self.lower + room, x)
        both = self.has_lower & self.has_upper & (self.lower == -self.upper)
        self.x = np.where(both, self.zero, x)
        self.y = np.array([self.zero] * len(self.b), dtype=self.x.dtype)
        slope = max(self._norm(self.H @ self.x + self.q), self.one / 1000)
        self.z_lower = self.z_upper = np.where(self.has_lower, self.zero, self.zero)
        self._measure()
        central = slope * half
        self.z_lower = np.where(self.has_lower, central / self.s_lower, self.zero)
        self.z_upper = np.where(self.has_upper, central / self.s_upper, self.zero)

    def _measure(self):
        one = self.one
        self.s_lower = np.where(
            self.has_lower, self.x - np.where(self.has_lower, self.lower, 0), one
        )
        self.s_upper = np.where(
            self.has_upper, np.where(self.has_upper, self.upper, 0) - self.x, one
        )
        self.residual = self.H @ self.x + self.q - self.A.T @ self.y - self.z_lower + self.z_upper
        self.missing = self.b - self.A @ self.x
        products = self.s_lower @ self.z_lower + self.s_upper @ self.z_upper
        self.mu = products / max(1, int(np.sum(self.has_lower) + np.sum(self.has_upper)))

    def _step(self):
        """Predict, correct, and go most of the way to the boundary; False if it cannot be."""
        curve = self.z_lower / self.s_lower + self.z_upper / self.s_upper
        M = self.H + np.diag(curve)
        self.factor = factored(M)
        self.spread = solved(self.factor, self.A.T) if len(self.b) else self.A.T
        self.schur = factored(self.A @ self.spread) if len(self.b) else None
        zero = np.where(self.has_lower, self.zero, self.zero)
        affine = self._direction(zero, zero, self.zero)
        reach = min(self._reach(affine)), max(self._reach(affine))
        after = self._mu_after(affine, *self._reach(affine))
        ratio = after / self.mu if self.mu > 0 else self.zero
        target = ratio * ratio * ratio * self.mu
        if reach[0] < self.one / 10:
            target = max(target, self.mu / 10)
        dx, _, dl, du = affine
        second = (dx * dl, -dx * du)
        move = self._direction(*second, target)
        far = self.one * (TO_BOUNDARY if isinstance(self.one, Decimal) else np.longdouble("0.995"))
        share = min(self.one, far * min(self._reach(move)))
        if not share > 0:
            return False
        dx, dy, dl, du = move
        self.x, self.y = self.x + share * dx, self.y + share * dy
        self.z_lower, self.z_upper = self.z_lower + share * dl, self.z_upper + share * du
        return bool(np.all(self.x == self.x))

    def _direction(self, second_lower, second_upper, target):
        """The Newton step to complementarity `target`, with second-order terms."""
        goal_l = np.where(self.has_lower, target - second_lower, self.zero)
        goal_u = np.where(self.has_upper, target - second_upper, self.zero)
        push_l = goal_l / self.s_lower - self.z_lower
        push_u = goal_u / self.s_upper - self.z_upper
        right = -self.residual + push_l - push_u
        dx, dy = self._solve_system(right, self.missing)
        for _ in range(2):
            curve = self.z_lower / self.s_lower + self.z_upper / self.s_upper
            off = right - (self.H @ dx + curve * dx - self.A.T @ dy)
            more_x, more_y = self._solve_system(off, self.missing - self.A @ dx)
            dx, dy = dx + more_x, dy + more_y
        dl = push_l - self.z_lower / self.s_lower * dx
        du = push_u + self.z_upper / self.s_upper * dx
        return dx, dy, dl, du

    def _solve_system(self, right, missing):
        """M dx - A' dy = right, A dx = missing."""
        dx = solved(self.factor, right)
        if not len(self.b):
            return dx, self.y
        dy = solved(self.schur, missing - self.A @ dx)
        return dx + self.spread @ dy, dy

    def _reach(self, move):
        """How far slacks and multipliers can go."""
        dx, _, dl, du = move
        return [
            min([self.one, *(-v[d < 0] / d[d < 0])])
            for v, d in (
                (self.s_lower, np.where(self.has_lower, dx, self.zero)),
                (self.s_upper, np.where(self.has_upper, -dx, self.zero)),
                (self.z_lower, dl),
                (self.z_upper, du),
            )
        ]

    def _mu_after(self, move, *reach):
        dx, _, dl, du = move
        share = min(reach)
        lower = (self.s_lower + share * dx * self.has_lower) @ (self.z_lower + share * dl)
        upper = (self.s_upper - share * dx * self.has_upper) @ (self.z_upper + share * du)
        return (lower + upper) / max(1, int(np.sum(self.has_lower) + np.sum(self.has_upper)))


def factored(M):
    """Return L and D of M = L D L', with the least pivots raised to what rounding leaves."""
    L = M.copy()
    n = len(L)
    rounding = Decimal("1e-95") if L.dtype == object else np.longdouble("1e-19")
    least = [rounding * abs(L[k, k]) for k in range(n)]
    pivots = []
    for k in range(n):
        pivot = max(L[k, k], least[k])
        pivot = pivot if pivot > 0 else pivot + 1
        pivots.append(pivot)
        column = L[k + 1 :, k] / pivot
        L[k + 1 :, k + 1 :] -= np.outer(column, L[k + 1 :, k])
        L[k + 1 :, k] = column
    return L, np.array(pivots, dtype=M.dtype)


def solved(factor, right):
    """Return the solution of L D L' x = right, for a vector or for columns."""
    L, pivots = factor
    x = right.copy()
    n = len(pivots)
    for k in range(n):
        x[k + 1 :] -= np.multiply.outer(L[k + 1 :, k], x[k]) if x.ndim > 1 else L[k + 1 :, k] * x[k]
    x = (x.T / pivots).T
    for k in range(n - 1, -1, -1):
        x[k] -= L[k + 1 :, k] @ x[k + 1 :]
    return x
