"""What problems of all classes at once share: the loss of a row, the bounds on its alphas, feasible alphas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.problems.base import blocks

__all__ = ["AllClasses", "circulation"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

AT_BOUND = 1e-12
"""A row whose alphas are this near to its weight, relatively, is at its bound."""
ROUNDING = 4.5
"""An imbalance of flows, relative to their sum and in units of the last place, that means nothing."""
BALANCED = 1e-12
"""Alphas that sum to no more than this, relative to their sizes, sum to 0 but for rounding."""
CARRIES = 2.0
"""Flow between bounds that is this many times what must go can carry it alone."""


@dataclass(frozen=True, eq=False)
class AllClasses:
    """The rows of a machine of Crammer and Singer, whatever its scores are made of.

    ::

        loss of a row      c_i max_k (score_ik + [k != y_i] - score_i,y_i)
        alphas of a row    sum_k alpha_ik = 0,  alpha_ik <= c_i if k = y_i, else <= 0

    and, where sums are kept, sum_i alpha_ik = 0.

    Attributes
    ----------
    labels : ndarray of int64
        y_i, the number of the class of each row.
    weight : ndarray
        c_i.
    n_classes : int
        How many there are.
    keeps_sums : bool
        Whether the alphas of a class sum to 0, as free intercepts ask for.
    """

    labels: Indices
    weight: Vector
    n_classes: int
    keeps_sums: bool

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

    def losses(self, scores: Vector) -> float:
        """Return the sum of the losses of all rows."""
        losses = 0.0
        for rows in blocks(len(scores)):
            own = scores[rows][_own(self.labels[rows])]
            worst = np.max(self.slopes(scores[rows], rows), axis=1)
            losses += float(np.sum(self.weight[rows] * (worst - own)))
        return losses

    def gain(self, alpha: Vector) -> float:
        """Return the sum of the alphas of the rows' own classes."""
        return float(np.sum(alpha[_own(self.labels)]))

    def feasible(self, alpha: Vector) -> Vector:
        """Return an alpha near the given one that meets every constraint of the dual.

        What a row's own class has is what the others lack: -alpha_ik of a row is a flow from its own
        class to class k. Flows are cut to be positive and at most c_i in sum; where sums are kept as
        much comes into a class as leaves it.
        """
        own = _own(self.labels)
        flow = np.maximum(-np.nan_to_num(alpha, posinf=0.0, neginf=0.0), 0.0)
        flow[own] = 0.0
        total = np.sum(flow, axis=1)
        flow *= (self.weight / np.maximum(total, np.where(self.weight > 0, self.weight, 1.0)))[
            :, None
        ]
        if self.keeps_sums:
            self._balance_flow(flow)
        inside = -flow
        inside[own] = np.minimum(np.sum(flow, axis=1), self.weight)
        return inside

    def is_feasible(self, alpha: Vector) -> bool:
        """Say whether an alpha meets every constraint but for rounding, as what `feasible` returns does."""
        own = _own(self.labels)
        flow = -alpha
        flow[own] = 0.0
        total = np.sum(flow, axis=1)
        of_rows = (
            np.all(flow >= 0.0)
            and np.all(total <= (1.0 + BALANCED) * self.weight)
            and np.array_equal(alpha[own], np.minimum(total, self.weight))
        )
        if not (of_rows and self.keeps_sums):
            return bool(of_rows)
        size = np.sum(np.abs(alpha), axis=0)
        return bool(np.all(np.abs(np.sum(alpha, axis=0)) <= BALANCED * size))

    def _balance_flow(self, flow: Vector) -> None:
        """Let as much come into a class as leaves it, in place: flows between classes are scaled down.

        The rows between their bounds carry it where they can, so that rows at a bound stay there.
        """
        labels = self.labels
        before = self._between_classes(flow)
        between = np.sum(flow, axis=1) < (1.0 - AT_BOUND) * self.weight
        carried = self._between_classes(flow * between[:, None])
        kept = circulation(before, carried / CARRIES)
        removed = before - kept
        by_some = carried >= CARRIES * removed
        kept_by_some = 1.0 - np.where(by_some, removed, 0.0) / np.where(carried > 0.0, carried, 1.0)
        kept_by_all = np.where(by_some, 1.0, kept / np.where(before > 0.0, before, 1.0))
        flow[between] *= kept_by_some[labels[between]]
        flow *= kept_by_all[labels]

    def _between_classes(self, flow: Vector) -> Vector:
        """Return the flow from each class to each other."""
        return np.array([np.sum(flow[self.labels == k], axis=0) for k in range(self.n_classes)])


def circulation(flow: Vector, easy: Vector | None = None) -> Vector:
    """Return a flow, no larger anywhere, of which as much enters each node as leaves it.

    Every flow is a circulation and paths from nodes that more leaves than enters to nodes where it is
    the other way round. The paths are taken off, the shortest first; but those of `easy` flow, a part of
    it, before all others.
    """
    left = flow.copy()
    easy = np.zeros_like(flow) if easy is None else easy.copy()
    rounding = ROUNDING * np.finfo(flow.dtype).eps
    for _ in range(2 * left.size + 2 * len(left)):  # each time an edge or a node is done with
        # Of what is left, not of what there was: little may be, and must balance all the same.
        surplus = np.sum(left, axis=1) - np.sum(left, axis=0)
        source = int(np.argmax(surplus))
        if surplus[source] <= rounding * np.sum(left):
            break
        room = easy
        path = _path(easy > 0.0, source, surplus < 0.0)
        if path is None:
            room = left
            path = _path(left > 0.0, source, surplus < 0.0)
        if path is None:
            break
        edges = tuple(np.array([path[:-1], path[1:]]))
        amount = min(surplus[source], -surplus[path[-1]], np.min(room[edges]))
        left[edges] = np.maximum(left[edges] - amount, 0.0)
        easy[edges] = np.maximum(easy[edges] - amount, 0.0)
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
