"""The multi-class machine of Crammer and Singer with a kernel: all classes in one problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import UNIT, Rounding, growth_of_rounding
from hedgerow.problems.all_classes import AllClasses
from hedgerow.problems.base import blocks, inner
from hedgerow.problems.kernel import ProblemByPoints

__all__ = ["ClassPoint", "KernelCrammerSingerProblem", "best_intercepts"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassPoint:
    """A beta that meets the constraints, and what the data say of it in float64.

    Attributes
    ----------
    beta : ndarray of shape (n_points, n_classes)
        The dual point.
    products : ndarray of shape (n_points, n_classes)
        <w_k, phi(x_j)> for every point and class.
    errors : ndarray of shape (n_points, n_classes)
        How far, at most, rounding has put each of them from its true value.
    sq_norm : float
        sum_k |w_k|^2.
    intercept : ndarray of shape (n_classes,)
        b, such that the violation is least; 0 without intercepts.
    violation : float
        By how much, at most, a class scores too high beside one whose beta could rise.
    """

    beta: Vector
    products: Vector
    errors: Vector
    sq_norm: float
    intercept: Vector
    violation: float


@dataclass(frozen=True, eq=False)
class KernelCrammerSingerProblem(ProblemByPoints[ClassPoint]):
    """One score per class; the class of a point must score higher than all others by 1.

    ::

        primal   minimise   sum_k 1/2 |w_k|^2 + sum_i c_i max_k (score_ik + [k != y_i] - score_i,y_i)
                 over w, b,  with  score_ik = <w_k, phi(x_i)> + b_k

        dual     maximise   sum_i beta_i,y_i - 1/2 sum_k beta_k' K beta_k
                 over       sum_k beta_ik = 0,  beta_ik <= c_i if k = y_i, else <= 0,
                            sum_i beta_ik = 0

    At the optimum w_k = sum_i beta_ik phi(x_i). Without intercepts b = 0, and nothing is asked of the
    sums over i. It is CrammerSingerProblem where that has features.

    Attributes
    ----------
    y : ndarray of int64
        The number of the class of each point, from 0.
    weight : ndarray
        c_i: C times the weight of the point.
    n_classes : int
        How many there are.
    has_intercept : bool
        Whether there is a b; and the attributes of a problem by points.
    """

    y: Indices
    weight: Vector
    n_classes: int
    has_intercept: bool = True

    @cached_property
    def classes(self) -> AllClasses:
        """The points, whatever their scores are made of."""
        return AllClasses(self.y, self.weight, self.n_classes, self.has_intercept)

    @property
    def sees_only_differences(self) -> bool:
        """Whether moving all points in the space of the kernel changes nothing: the betas of a class sum to 0."""
        return self.has_intercept

    def primal(self, point: ClassPoint) -> float:
        """Return the primal objective at the point's w and b."""
        return 0.5 * point.sq_norm + self.classes.losses(point.products + point.intercept)

    def dual(self, point: ClassPoint) -> float:
        """Return the dual objective."""
        return self.classes.gain(point.beta) - 0.5 * point.sq_norm

    def rounding(self, point: ClassPoint, primal: float) -> Rounding:  # noqa: ARG002
        """Return how far, at most, rounding has put the figures of a point from their true values."""
        scores = np.abs(point.products) + np.abs(point.intercept) + 1.0
        errors = np.max(point.errors + 4.0 * UNIT * scores, axis=1)
        beta = np.abs(point.beta)
        share = growth_of_rounding(len(beta)) * UNIT
        sums = np.abs(np.sum(point.beta, axis=0)) + share * np.sum(beta, axis=0)
        of_dual = share * float(np.sum(beta)) + inner(np.abs(point.intercept), sums)
        of_norm = 0.5 * inner(beta.ravel(), point.errors.ravel())
        last_place = 4.0 * UNIT * point.sq_norm
        return Rounding(
            violation=4.0 * float(np.max(errors, initial=0.0)),
            primal=of_norm + last_place + 2.0 * inner(self.weight, errors),
            dual=of_norm + last_place + of_dual,
        )

    def figures(self, point: ClassPoint) -> dict[str, Any]:
        """Return what beside w a model needs, by name; "intercept" is b."""
        return {"intercept": point.intercept}

    def feasible(self, beta: Vector) -> Vector:
        """Return a beta near the given one that meets every constraint; one that does as it is."""
        return beta if self.classes.is_feasible(beta) else self.classes.feasible(beta)

    def point_of(self, beta: Vector, products: Vector, errors: Vector) -> ClassPoint:
        """Return the point of a feasible beta whose products are at hand, with what they may be off."""
        excess = self._excesses(beta, products)
        intercept = best_intercepts(excess) if self.has_intercept else np.zeros(self.n_classes)
        beside = excess + intercept[:, None] - intercept[None, :]
        return ClassPoint(
            beta=beta,
            products=products,
            errors=errors,
            sq_norm=inner(beta.ravel(), products.ravel()),
            intercept=intercept,
            violation=max(0.0, float(np.max(beside))),
        )

    def _excesses(self, beta: Vector, products: Vector) -> Vector:
        """Return by how much, at most, the slope of class k exceeds that of class l where l's beta may rise."""
        classes = self.classes
        excess = np.full((self.n_classes, self.n_classes), -np.inf)
        for rows in blocks(len(beta)):
            slopes = classes.slopes(products[rows], rows)
            may_rise = classes.on_bounds(beta[rows], rows) < classes.bounds(rows)
            for k in range(self.n_classes):
                here = may_rise[:, k]
                beyond = np.max(slopes[here] - slopes[here, k, None], axis=0, initial=-np.inf)
                excess[:, k] = np.maximum(excess[:, k], beyond)
        np.fill_diagonal(excess, -np.inf)
        return excess


def best_intercepts(excess: Vector) -> Vector:
    """Return the b, of sum 0, for which the largest excess_kl + b_k - b_l is least.

    That is the largest mean of the excesses around a cycle of classes: b drops out of their sum, and
    where no cycle has a larger mean, lengths of longest paths are such a b. These are the lowest and the
    highest there are, seen from 0, and b is half-way between.
    """
    above = excess - _largest_cycle_mean(excess)
    low, high = np.zeros(len(excess)), np.zeros(len(excess))
    for _ in range(len(excess)):
        low = np.maximum(low, np.max(above + low[:, None], axis=0))
        high = np.minimum(high, np.min(high[None, :] - above, axis=1))
    middle = 0.5 * (low - np.mean(low)) + 0.5 * (high - np.mean(high))
    return np.asarray(middle, np.float64)


def _largest_cycle_mean(weight: Vector) -> float:
    """Return the largest mean weight of a cycle in a graph with edges (k, l), by Karp's theorem.

    With D_m(l) the largest weight of a walk of m edges to l, from anywhere, and n nodes, it is
    the largest over l of the least over m < n of (D_n(l) - D_m(l)) / (n - m).
    """
    n = len(weight)
    walks = [np.zeros(n)]
    for _ in range(n):
        walks.append(np.max(walks[-1][:, None] + weight, axis=0))
    ended = np.isfinite(walks[n])
    means = [(walks[n][ended] - walks[m][ended]) / (n - m) for m in range(n)]
    return float(np.max(np.min(means, axis=0)))
