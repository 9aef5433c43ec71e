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

    def violation_as_given(self, x):
        """The same at x itself, even if it meets the equalities but for rounding."""
        return self.program.violation_at(x, self.program.snapped(x))

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
        return x, self.point(self.coefficients(x), self.scalars(multipliers))

    @property
    def primal_at_zero(self):
        """What w = 0 and b = 0 cost: differences far below are rounding."""
        return self.primal(Point(np.full(len(self.c), ZERO), ZERO, (ZERO,)))

    @property
    def natural_size(self):
        """A size that objectives of such data have, unless they are 0."""
        return self.primal_at_zero or max(map(abs, np.diagonal(self.K)))

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

    def scalars(self, multipliers):
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

    def scalars(self, multipliers):
        above, below = multipliers
        return HALF * (below - above), HALF * (below + above)

    def primal(self, point):
        b, rho = point.scalars
        short = np.maximum(ZERO, rho - self.y * (point.products + b))
        return HALF * point.sq_norm + self.c @ short - self.total * rho

    def best_scaled(self, point):
        """The same classifier at the scale that is best for it."""
        b, rho = point.scalars
        gain = self.total * rho - self.c @ np.maximum(ZERO, rho - self.y * (point.products + b))
        if point.sq_norm <= 0:
            return point
        t = max(gain / point.sq_norm, ZERO)
        return Point(t * point.products, t * t * point.sq_norm, (t * b, t * rho))

    primal_at_zero = ZERO

    @property
    def natural_size(self):
        return HALF * self.total * self.total * max(map(abs, np.diagonal(self.K)))


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

    def scalars(self, multipliers):
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

    def scalars(self, multipliers):
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

    def scalars(self, multipliers):
        return (multipliers[0],)

    def primal(self, point):
        (rho,) = point.scalars
        losses = self.c @ np.maximum(ZERO, rho - point.products)
        return HALF * point.sq_norm + losses - self.total * rho

    primal_at_zero = ZERO

    @property
    def natural_size(self):
        return HALF * self.total * self.total * max(map(abs, np.diagonal(self.K)))


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

    def scalars(self, _):
        return ()  # rho follows from the coefficients

    def point(self, coefficients, scalars=()):  # noqa: ARG002
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

    def point(self, coefficients, scalars=()):
        """The model of coefficients of sum 1, for which the scalar is R^2 - |a|^2."""
        point = super().point(coefficients)
        return Point(point.products, point.sq_norm, (max(ZERO, point.sq_norm + scalars[0]),))

    def scalars(self, multipliers):
        return (-multipliers[0],)

    def primal(self, point):
        (sq_radius,) = point.scalars
        sq_distances = np.diagonal(self.K) - 2 * point.products + point.sq_norm
        beyond = np.maximum(ZERO, sq_distances - sq_radius)
        return sq_radius + np.minimum(self.c, ONE) @ beyond

    primal_at_zero = ZERO


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
