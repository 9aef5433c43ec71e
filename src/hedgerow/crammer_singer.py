"""The machine of Crammer and Singer: all classes in one problem, whose minimisation is its docstring."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.losses import ALL_CLASSES, Loss
from hedgerow.problems import LinearProblem, blocks

__all__ = ["CrammerSingerProblem", "circulation", "planes_of"]

Vector = NDArray[np.float64]

AT_BOUND = 1e-12
"""A row whose alphas are this near to its weight, relatively, is at its bound."""
ROUNDING = 1e-15
"""An imbalance of flows, relative to their sum, that means nothing."""
CARRIES = 2.0
"""Flow between bounds that is this many times what must go can carry it alone."""


@dataclass(frozen=True, eq=False)
class CrammerSingerProblem(LinearProblem):
    """Planes for several classes, of which a row's own must score highest by 1.

    ::

        primal   minimise   sum_k 1/2 |w_k|^2 + 1/2 (b_k / s)^2
                            + sum_i c_i max_k (score_ik + [k != y_i] - score_i,y_i)
                 over w, b,  with  score_ik = <w_k, x_i> + b_k

        dual     maximise   sum_i alpha_i,y_i - 1/2 sum_k |v_k|^2 + s^2 (sum_i alpha_ik)^2
                 over       sum_k alpha_ik = 0,  alpha_ik <= c_i if k = y_i, else <= 0,
                            with  v_k = sum_i alpha_ik x_i

    The terms with s are those of penalised intercepts. Free intercepts have neither, and the dual the
    constraints sum_i alpha_ik = 0; as adding a number to all of them changes nothing, that is one
    intercept less than there are classes. At the optimum w = v, and the planes sum to 0. With two
    classes w_1 - w_0 is the plane of the hinge with weights 2 c_i, whose objective is twice this one.

    A point w is an array with a plane a row and its intercept last; alpha has a column a class. The
    intercept that other problems have apart is always 0.

    Attributes
    ----------
    y : ndarray
        The number of the class of each row, from 0.
    loss : Loss
        What the maximum is called; and the other attributes of a linear problem.
    n_classes : int
        Of the planes.
    """

    loss: Loss = ALL_CLASSES
    n_classes: int = 2

    @classmethod
    def of(cls, linear: LinearProblem, n_classes: int) -> CrammerSingerProblem:
        """Return the problem with the parts of a linear one, whose y are numbers of classes."""
        parts = {field.name: getattr(linear, field.name) for field in fields(linear)}
        return cls(**parts, n_classes=n_classes)

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The number of the class of each row, to index by."""
        return self.y.astype(np.int64)

    @property
    def origin(self) -> tuple[Vector, Vector]:
        """The points w = 0 and alpha = 0."""
        n_samples, n_features = self.shape
        return np.zeros((self.n_classes, n_features + 1)), np.zeros((n_samples, self.n_classes))

    def scores(self, w: Vector, b: float) -> Vector:
        """Return the score of every row and class."""
        normals, intercepts = planes_of(w)
        return _core.scores(self.matrix, normals, intercepts + b, self.n_threads)

    def slopes(self, scores: Vector, rows: slice) -> Vector:
        """Return score_ik + [k != y_i] for some rows, whose scores are given."""
        slopes = scores + 1.0
        slopes[_own(self.labels[rows])] -= 1.0
        return slopes

    def bounds(self, rows: slice) -> Vector:
        """Return the largest alpha of some rows in each class."""
        bounds = np.zeros((len(self.labels[rows]), self.n_classes))
        bounds[_own(self.labels[rows])] = self.weight[rows]
        return bounds

    def on_bounds(self, alpha: Vector, rows: slice) -> Vector:
        """Return alphas of some rows, those that are c_i, 0 or -c_i but for rounding being just that."""
        weight = self.weight[rows][:, None]
        size, rounding = np.abs(alpha), AT_BOUND * weight
        size = np.where(size >= weight - rounding, weight, np.where(size <= rounding, 0.0, size))
        return np.copysign(size, alpha) + 0.0

    def objective(self, w: Vector, b: float, scores: Vector | None = None) -> float:
        """Return the primal objective; `scores`, if at hand, saves a pass over the data."""
        scores = self.scores(w, b) if scores is None else scores
        losses = 0.0
        for rows in blocks(len(scores)):
            own = scores[rows][_own(self.labels[rows])]
            worst = np.max(self.slopes(scores[rows], rows), axis=1)
            losses += float(np.sum(self.weight[rows] * (worst - own)))
        return self.cost_of(w, b) + losses

    def cost_of(self, w: Vector, b: float) -> float:  # noqa: ARG002 - which is always 0
        """Return the objective without the losses."""
        cost = self.penalty.value(w[:, :-1].ravel())
        if self.intercept == "penalized":
            cost += self.penalty.value(w[:, -1] / self.intercept_scaling)
        return cost

    def dual_objective(self, alpha: Vector, v: Vector | None = None) -> float:
        """Return the dual objective at a feasible alpha; `v` is its combine(alpha), if at hand."""
        v = self.combine(alpha) if v is None else v
        gain = float(np.sum(alpha[_own(self.labels)]))
        price = self.penalty.conjugate(v[:, :-1].ravel())
        if self.intercept == "penalized":
            price += self.penalty.conjugate(self.intercept_scaling * v[:, -1])
        return gain - price

    def combine(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_ik x_i of every class, each followed by sum_i alpha_ik."""
        planes = [
            np.append(_core.weighted_row_sum(self.matrix, part, self.n_threads), np.sum(part))
            for part in np.ascontiguousarray(alpha.T)
        ]
        return np.array(planes)

    def feasible(self, alpha: Vector) -> Vector:
        """Return an alpha near the given one that meets every constraint of the dual.

        What a row's own class has is what the others lack: -alpha_ik of a row is a flow from its own
        class to class k. Flows are cut to be positive and at most c_i in sum; for free intercepts as
        much comes into a class as leaves it.
        """
        own = _own(self.labels)
        flow = np.maximum(-np.nan_to_num(alpha, posinf=0.0, neginf=0.0), 0.0)
        flow[own] = 0.0
        total = np.sum(flow, axis=1)
        flow *= (self.weight / np.maximum(total, np.where(self.weight > 0, self.weight, 1.0)))[
            :, None
        ]
        if self.intercept == "free":
            self._balance_flow(flow)
        inside = -flow
        inside[own] = np.minimum(np.sum(flow, axis=1), self.weight)
        return inside

    def _balance_flow(self, flow: Vector) -> None:
        """Let as much come into a class as leaves it, in place: flows between classes are scaled down.

        The rows between their bounds carry it if they can, so that rows at a bound stay there.
        """
        labels = self.labels
        before = self._between_classes(flow)
        kept = circulation(before)
        removed = before - kept
        between = np.sum(flow, axis=1) < (1.0 - AT_BOUND) * self.weight
        carried = self._between_classes(flow * between[:, None])
        by_some = carried > CARRIES * removed
        kept_by_some = 1.0 - np.where(by_some, removed, 0.0) / np.where(by_some, carried, 1.0)
        kept_by_all = np.where(by_some, 1.0, kept / np.where(before > 0.0, before, 1.0))
        flow[between] *= kept_by_some[labels[between]]
        flow *= kept_by_all[labels]

    def _between_classes(self, flow: Vector) -> Vector:
        """Return the flow from each class to each other."""
        return np.array([np.sum(flow[self.labels == k], axis=0) for k in range(self.n_classes)])


def planes_of(w: Vector) -> tuple[Vector, Vector]:
    """Return the normals and the intercepts of a point."""
    return np.ascontiguousarray(w[:, :-1]), w[:, -1].copy()


def circulation(flow: Vector) -> Vector:
    """Return a flow, no larger anywhere, of which as much enters each node as leaves it.

    Every flow is a circulation and paths from nodes that more leaves than enters to nodes where it is
    the other way round. The paths are taken off, the shortest first.
    """
    left = flow.copy()
    for _ in range(left.size + 2 * len(left)):  # each time an edge or a node is done with
        # Of what is left, not of what there was: little may be, and must balance all the same.
        surplus = np.sum(left, axis=1) - np.sum(left, axis=0)
        source = int(np.argmax(surplus))
        if surplus[source] <= ROUNDING * float(np.sum(left)):
            break
        path = _path(left > 0.0, source, surplus < 0.0)
        if path is None:
            break
        edges = tuple(np.array([path[:-1], path[1:]]))
        amount = min(surplus[source], -surplus[path[-1]], float(np.min(left[edges])))
        left[edges] = np.maximum(left[edges] - amount, 0.0)
    return left


def _path(leads: NDArray[np.bool_], source: int, wanted: NDArray[np.bool_]) -> list[int] | None:
    """Return the nodes of a shortest path from the source to a wanted node, or None."""
    came_from = {source: source}
    front = [source]
    while front:
        reached = []
        for node in front:
            for after in np.flatnonzero(leads[node]).tolist():
                if after in came_from:
                    continue
                came_from[after] = node
                reached.append(after)
                if wanted[after]:
                    return _way_back(came_from, after)
        front = reached
    return None


def _way_back(came_from: dict[int, int], node: int) -> list[int]:
    path = [node]
    while came_from[path[-1]] != path[-1]:
        path.append(came_from[path[-1]])
    return path[::-1]


def _own(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where, in a table of rows and classes, each row's own class is."""
    return np.arange(len(labels)), labels
