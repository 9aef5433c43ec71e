"""The machine of Crammer and Singer in decimals: its primal, and its dual as a program."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from tests.reference.box_program import INFINITE
from tests.reference.exact_kernels import HALF, ONE, ZERO
from tests.reference.exact_machines import Point, Task, numbers, put


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

    def scalars(self, multipliers):
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
