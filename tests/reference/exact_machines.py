"""Every machine with a quadratic dual, in decimals: its primal, its dual as a program, and what joins them.

``K`` is a table of exact kernel values among the points with weight, ``c`` what each of them costs. A task
knows nothing of the package. Where coefficients sum to 0, tables are centred at the first point, which
changes no machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from tests.reference.box_program import INFINITE, BoxProgram, solve
from tests.reference.exact_kernels import HALF, ONE, ZERO


@dataclass(frozen=True)
class Point:
    """A model: <w, phi(x_j)> of every point, |w|^2, and what it has besides."""

    products: np.ndarray
    sq_norm: Decimal
    scalars: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Task:
    """What all machines have; `signs` make coefficients of dual variables, of which a point may have two."""

    K: np.ndarray
    c: np.ndarray

    def coefficients(self, x):
        """sum_i coefficient_i phi(x_i) is w."""
        return self.signs * x

    def variables(self, coefficients):
        """The dual variables of these coefficients."""
        return self.signs * coefficients

    def dual(self, x):
        """The dual objective."""
        return -self.program.value(x)

    def violation(self, x):
        """The largest violation of the optimality conditions, in units of the score."""
        return self.program.violation(x)

    def point(self, coefficients, scalars=()):
        """The model of some coefficients."""
        products = self.K @ coefficients
        return Point(products, coefficients @ products, scalars)

    def feasible(self, x):
        """Dual variables near x that meet every constraint, or None."""
        return self.program.feasible(x)

    def solved(self, hint, *, exactly):
        """Dual variables and a model that are nearly the best, or None; `hint` is a size of the variables."""
        x, multipliers = solve(self.program, hint, exactly=exactly)
        x = self.feasible(x) if all(v.is_finite() for v in x) else None
        if x is None:
            return None
        coefficients = self.coefficients(x)
        sq_norm = self.point(coefficients).sq_norm
        return x, self.point(coefficients, self.scalars(multipliers, sq_norm))

    @property
    def primal_at_zero(self):
        """What w = 0 and b = 0 cost: differences far below are rounding."""
        return self.primal(Point(np.full(len(self.c), ZERO), ZERO, (ZERO,)))

    def _box(self, H, q, A, b, upper, lower=None):
        n = len(q)
        lower = numbers(ZERO, n) if lower is None else lower
        return BoxProgram(H, q, np.array(A, dtype=object).reshape(-1, n), b, lower, upper)


@dataclass(frozen=True)
class ClassesTask(Task):
    """Two classes with the hinge, its square, or a hard margin (an infinite c)."""

    y: np.ndarray
    squared: bool = False
    intercept: bool = True

    def __post_init__(self):
        n, y = len(self.c), self.y
        H = self.K * np.multiply.outer(y, y)
        upper = self.c
        if self.squared:
            H, upper = H + np.diag(HALF / self.c), numbers(INFINITE, n)
        A, b = ([y], numbers(ZERO, 1)) if self.intercept else ([], numbers(ZERO, 0))
        put(self, signs=y, program=self._box(H, numbers(-ONE, n), A, b, upper))

    @property
    def is_hard(self):
        return any(c == INFINITE for c in self.c) and not self.squared

    def scalars(self, multipliers, sq_norm):
        return (-multipliers[0] if self.intercept else ZERO,)

    def primal(self, point):
        margins = self.y * (point.products + point.scalars[0])
        if self.is_hard:
            least = min(margins)
            return HALF * point.sq_norm / (least * least) if least > 0 else INFINITE
        losses = np.maximum(ZERO, ONE - margins)
        losses = losses * losses if self.squared else losses
        return HALF * point.sq_norm + self.c @ losses

    @property
    def primal_at_zero(self):
        return ZERO if self.is_hard else sum(self.c, ZERO)


@dataclass(frozen=True)
class NuClassesTask(Task):
    """Two classes with a margin rho that is found along; scalars are b and rho."""

    y: np.ndarray
    nu: Decimal

    def __post_init__(self):
        n, y = len(self.c), self.y
        of_either = [np.where(y > 0, ONE, ZERO), np.where(y < 0, ONE, ZERO)]
        half = numbers(HALF * self.total, 2)
        H = self.K * np.multiply.outer(y, y)
        put(self, signs=y, program=self._box(H, numbers(ZERO, n), of_either, half, self.c))

    @property
    def total(self):
        return self.nu * sum(self.c, ZERO)

    def scalars(self, multipliers, sq_norm):
        above, below = multipliers
        return HALF * (below - above), HALF * (below + above)

    def primal(self, point):
        b, rho = point.scalars
        short = np.maximum(ZERO, rho - self.y * (point.products + b))
        return HALF * point.sq_norm + self.c @ short - self.total * rho

    def best_scaled(self, point):
        """The same classifier at the scale that is best for it."""
        b, rho = point.scalars
        gain = self.total * rho - self.c @ np.maximum(
            ZERO, rho - self.y * (point.products + b)
        )
        if point.sq_norm <= 0:
            return point
        t = max(gain / point.sq_norm, ZERO)
        return Point(t * point.products, t * t * point.sq_norm, (t * b, t * rho))

    primal_at_zero = ZERO


@dataclass(frozen=True)
class TubeTask(Task):
    """Regression that pays for what is more than epsilon off, or for the square of it."""

    target: np.ndarray
    epsilon: Decimal
    squared: bool = False
    intercept: bool = True

    def __post_init__(self):
        n, z = len(self.c), self.target
        H = np.block([[self.K, -self.K], [-self.K, self.K]])
        q = np.concatenate([self.epsilon - z, self.epsilon + z])
        upper = np.concatenate([self.c, self.c])
        if self.squared:
            H, upper = H + np.diag(HALF / upper), numbers(INFINITE, 2 * n)
        signs = np.concatenate([numbers(ONE, n), numbers(-ONE, n)])
        A, b = ([signs], numbers(ZERO, 1)) if self.intercept else ([], numbers(ZERO, 0))
        put(self, signs=signs, program=self._box(H, q, A, b, upper))

    def coefficients(self, x):
        n = len(self.c)
        return x[:n] - x[n:]

    def variables(self, coefficients):
        return np.concatenate([np.maximum(coefficients, ZERO), np.maximum(-coefficients, ZERO)])

    def scalars(self, multipliers, sq_norm):
        return (-multipliers[0] if self.intercept else ZERO,)

    def primal(self, point):
        off = np.abs(self.target - point.products - point.scalars[0])
        losses = np.maximum(ZERO, off - self.epsilon)
        losses = losses * losses if self.squared else losses
        return HALF * point.sq_norm + self.c @ losses


@dataclass(frozen=True)
class NuTubeTask(TubeTask):
    """Regression whose tube is found along; scalars are b and epsilon."""

    nu: Decimal = ONE

    def __post_init__(self):
        n, z = len(self.c), self.target
        H = np.block([[self.K, -self.K], [-self.K, self.K]])
        one, none = numbers(ONE, n), numbers(ZERO, n)
        A = [np.concatenate([one, none]), np.concatenate([none, one])]
        half, upper = numbers(HALF * self.total, 2), np.concatenate([self.c, self.c])
        q = np.concatenate([-z, z])
        put(self, signs=None, program=self._box(H, q, A, half, upper))

    @property
    def total(self):
        return self.nu * sum(self.c, ZERO)

    def variables(self, coefficients):
        """Both variables of a point, raised alike where the sums ask for more."""
        x = super().variables(coefficients)
        n, missing = len(self.c), HALF * (self.total - sum(x, ZERO))
        room = self.c - np.maximum(x[:n], x[n:])
        total = sum(room, ZERO)
        if missing <= 0 or total <= 0:
            return x
        more = room * min(ONE, missing / total)
        return x + np.concatenate([more, more])

    def scalars(self, multipliers, sq_norm):
        above, below = multipliers
        return HALF * (below - above), max(ZERO, -HALF * (above + below))

    def primal(self, point):
        b, epsilon = point.scalars
        off = np.abs(self.target - point.products - b)
        losses = self.c @ np.maximum(ZERO, off - epsilon)
        return HALF * point.sq_norm + losses + self.total * epsilon

    @property
    def primal_at_zero(self):
        return self.primal(Point(self.target * 0, ZERO, (ZERO, ZERO)))


@dataclass(frozen=True)
class OneClassTask(Task):
    """A plane away from the origin: the coefficients sum to `total`; the scalar is rho."""

    total: Decimal

    def __post_init__(self):
        n = len(self.c)
        one = numbers(ONE, n)
        program = self._box(self.K, numbers(ZERO, n), [one], numbers(self.total, 1), self.c)
        put(self, signs=one, program=program)

    def scalars(self, multipliers, sq_norm):
        return (multipliers[0],)

    def primal(self, point):
        (rho,) = point.scalars
        losses = self.c @ np.maximum(ZERO, rho - point.products)
        return HALF * point.sq_norm + losses - self.total * rho

    primal_at_zero = ZERO


@dataclass(frozen=True)
class PulledTask(Task):
    """The same with rho^2 / (2 s^2) on top: K is given without s^2, the scalar is rho."""

    scaling: Decimal

    def __post_init__(self):
        n, sq = len(self.c), self.scaling * self.scaling
        program = self._box(self.K + sq, numbers(-sq, n), [], numbers(ZERO, 0), self.c)
        put(self, signs=numbers(ONE, n), program=program)

    def dual(self, x):
        return -self.program.value(x) - HALF * self.scaling * self.scaling

    def scalars(self, multipliers, sq_norm):
        return ()  # rho follows from the coefficients

    def point(self, coefficients, scalars=()):
        products = self.K @ coefficients
        rho = -self.scaling * self.scaling * (sum(coefficients, ZERO) - ONE)
        return Point(products, coefficients @ products, (rho,))

    def primal(self, point):
        (rho,) = point.scalars
        losses = self.c @ np.maximum(ZERO, rho - point.products)
        return HALF * (point.sq_norm + (rho / self.scaling) ** 2) + losses - rho

    primal_at_zero = ZERO


@dataclass(frozen=True)
class BallTask(Task):
    """The smallest ball around most points; the scalar is R^2. No c needs to be above 1.

    The first point is the origin, here and in points.
    """

    def __post_init__(self):
        n = len(self.c)
        put(self, given=self.K, K=centred(self.K))
        one, diagonal = numbers(ONE, n), np.diagonal(self.K)
        upper = np.minimum(self.c, ONE)
        program = self._box(2 * self.K, -diagonal, [one], numbers(ONE, 1), upper)
        put(self, signs=one, program=program)

    def violation(self, x):
        return HALF * self.program.violation(x)

    def model(self, coefficients):
        """The centre sum_i coefficient_i phi(x_i), whatever these sum to."""
        beyond, to_origin = sum(coefficients, ZERO) - ONE, self.given[0] - self.given[0, 0]
        products = self.K @ coefficients
        sq_norm = coefficients @ products + 2 * beyond * (coefficients @ to_origin)
        sq_norm += beyond * beyond * self.given[0, 0]
        return Point(products + beyond * to_origin, sq_norm)

    def scalars(self, multipliers, sq_norm):
        return (max(ZERO, sq_norm - multipliers[0]),)

    def primal(self, point):
        (sq_radius,) = point.scalars
        sq_distances = np.diagonal(self.K) - 2 * point.products + point.sq_norm
        beyond = np.maximum(ZERO, sq_distances - sq_radius)
        return sq_radius + np.minimum(self.c, ONE) @ beyond

    primal_at_zero = ZERO


@dataclass(frozen=True)
class AllClassesTask(Task):
    """The machine of Crammer and Singer; coefficients have a column a class, the scalar is b, a class each.

    A dual variable is what flows from a point's own class to another; the last n are what is left of c.
    """

    y: np.ndarray
    n_classes: int
    intercept: bool = True

    def __post_init__(self):
        n, k = len(self.c), self.n_classes
        others = [(i, j) for i in range(n) for j in range(k) if j != self.y[i]]
        flows = np.full((n, k, len(others) + n), ZERO, dtype=object)
        rows = np.full((n, len(others) + n), ZERO, dtype=object)
        for v, (i, j) in enumerate(others):
            flows[i, j, v], flows[i, self.y[i], v], rows[i, v] = -ONE, ONE, ONE
        rows[:, len(others) :] = np.diag(numbers(ONE, n))
        H = self._table_of_flows(others, len(others) + n)
        q = np.concatenate([numbers(-ONE, len(others)), numbers(ZERO, n)])
        A, b = [*rows], [*self.c]
        if self.intercept:
            A += [np.sum(flows[:, j], axis=0) for j in range(k - 1)]
            b += [ZERO] * (k - 1)
        b = np.array(b, dtype=object)
        upper = numbers(INFINITE, len(q))
        put(self, others=others, flows=flows, program=self._box(H, q, A, b, upper))

    def _table_of_flows(self, others, n_variables):
        """<what flow v adds to the planes, what flow u does>."""
        H = np.full((n_variables, n_variables), ZERO, dtype=object)
        for v, (i, j) in enumerate(others):
            for u, (g, h) in enumerate(others):
                own, other = self.y[i], self.y[g]
                times = int(own == other) + int(j == h) - int(own == h) - int(j == other)
                if times:
                    H[v, u] = times * self.K[i, g]
        return H

    def coefficients(self, x):
        return np.stack([self.flows[:, j] @ x for j in range(self.n_classes)], axis=1)

    def variables(self, coefficients):
        flow = np.array([max(ZERO, -coefficients[i, j]) for i, j in self.others], dtype=object)
        used = [ZERO] * len(self.c)
        for (i, _), v in zip(self.others, flow, strict=True):
            used[i] += v
        shrink = [min(ONE, c / u) if u > 0 else ONE for c, u in zip(self.c, used, strict=True)]
        flow = flow * np.array([shrink[i] for i, _ in self.others], dtype=object)
        left = [c - u * s for c, u, s in zip(self.c, used, shrink, strict=True)]
        return np.concatenate([flow, np.array(left, dtype=object)])

    def scalars(self, multipliers, sq_norm):
        if not self.intercept:
            return (numbers(ZERO, self.n_classes),)
        return (np.append(-multipliers[len(self.c) :], ZERO),)

    def point(self, coefficients, scalars=()):
        products = self.K @ coefficients
        return Point(products, np.sum(coefficients * products), scalars)

    def primal(self, point):
        scores = point.products + point.scalars[0]
        losses = ZERO
        for i, label in enumerate(self.y):
            wanted = [scores[i, j] + (j != label) for j in range(self.n_classes)]
            losses += self.c[i] * (max(wanted) - scores[i, label])
        return HALF * point.sq_norm + losses

    def violation_with(self, coefficients, point):
        """By how much a class scores too high beside one whose coefficient may rise."""
        scores, worst = point.products + point.scalars[0], ZERO
        rounding = Decimal("1e-12")
        for i, label in enumerate(self.y):
            slopes = [scores[i, j] + (j != label) for j in range(self.n_classes)]
            room = [
                (self.c[i] if j == label else ZERO) - coefficients[i, j]
                for j in range(self.n_classes)
            ]
            may_rise = [s for s, r in zip(slopes, room, strict=True) if r > rounding * self.c[i]]
            if may_rise:
                worst = max(worst, max(slopes) - min(may_rise))
        return worst

    @property
    def primal_at_zero(self):
        return sum(self.c, ZERO)


def centred(K):
    """The table with the first point as origin."""
    return K - K[:1] - K[:, :1] + K[0, 0]


def numbers(value, n):
    """n times the same decimal."""
    values = np.empty(n, dtype=object)
    values[:] = [value] * n
    return values


def put(task, **attributes):
    """Set attributes of a frozen task while it is made."""
    for name, value in attributes.items():
        object.__setattr__(task, name, value)
