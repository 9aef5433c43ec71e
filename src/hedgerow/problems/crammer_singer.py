"""The multi-class machine of Crammer and Singer, with features: all classes in one problem."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.rounding import Rounding
from hedgerow.losses import ALL_CLASSES, Loss
from hedgerow.problems.all_classes import AllClasses
from hedgerow.problems.base import Hyperplanes, Solution, blocks, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.linear_rounding import LinearRounding

__all__ = ["CrammerSingerProblem", "planes_of"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrammerSingerProblem(LinearProblem):
    """One hyperplane per class; the class of a row must score higher than all others by 1.

    ::

        primal   minimise   sum_k 1/2 |w_k|^2 + 1/2 (b_k / s)^2
                            + sum_i c_i max_k (score_ik + [k != y_i] - score_i,y_i)
                 over w, b,  with  score_ik = <w_k, x_i> + b_k

        dual     maximise   sum_i alpha_i,y_i - 1/2 sum_k |v_k|^2 + s^2 (sum_i alpha_ik)^2
                 over       sum_k alpha_ik = 0,  alpha_ik <= c_i if k = y_i, else <= 0,
                            with  v_k = sum_i alpha_ik x_i

    The terms with s are those of penalised intercepts. Free intercepts have neither, and the dual the
    constraints sum_i alpha_ik = 0; as adding a number to all of them changes nothing, that is one
    intercept less than there are classes. At the optimum w = v, and the w_k sum to 0. With two
    classes w_1 - w_0 is the w of the hinge with weights 2 c_i, whose objective is twice this one.

    A point w is an array with one row per class, the intercept last; alpha has one column per class. The
    separate intercept of other problems is always 0.

    Attributes
    ----------
    y : ndarray
        The number of the class of each row, from 0.
    loss : Loss
        What the maximum is called; and the other attributes of a linear problem.
    n_classes : int
        How many classes there are.
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

    @cached_property
    def classes(self) -> AllClasses:
        """The rows, whatever their scores are made of."""
        return AllClasses(self.labels, self.weight, self.n_classes, self.intercept == "free")

    @property
    def origin(self) -> tuple[Vector, Vector]:
        """The points w = 0 and alpha = 0."""
        n_samples, n_features = self.shape
        return np.zeros((self.n_classes, n_features + 1)), np.zeros((n_samples, self.n_classes))

    def scores(self, w: Vector, b: float) -> Vector:
        """Return the score of every row and class."""
        normals, intercepts = planes_of(w)
        return self.scores_of(normals, intercepts + b)

    def objective(self, w: Vector, b: float, scores: Vector | None = None) -> float:
        """Return the primal objective; `scores`, if at hand, saves a pass over the data."""
        scores = self.scores(w, b) if scores is None else scores
        return self.cost_of(w, b) + self.classes.losses(scores)

    def cost_of(self, w: Vector, b: float) -> float:  # noqa: ARG002 - which is always 0
        """Return the objective without the losses."""
        cost = self.penalty.value(w[:, :-1].ravel())
        if self.intercept == "penalized":
            cost += self.penalty.value(w[:, -1] / self.intercept_scaling)
        return cost

    def dual_objective(self, alpha: Vector, v: Vector | None = None) -> float:
        """Return the dual objective at a feasible alpha; `v` is its combine(alpha), if at hand."""
        v = self.combine(alpha) if v is None else v
        price = self.penalty.conjugate(v[:, :-1].ravel())
        if self.intercept == "penalized":
            price += self.penalty.conjugate(self.intercept_scaling * v[:, -1])
        return self.classes.gain(alpha) - price

    def combine(self, alpha: Vector) -> Vector:
        """Return sum_i alpha_ik x_i of every class, each followed by sum_i alpha_ik."""
        planes = [
            np.append(self.weighted_sum(part), np.sum(part))
            for part in np.ascontiguousarray(alpha.T)
        ]
        return np.array(planes)

    def feasible(self, alpha: Vector) -> Vector:
        """Return an alpha near the given one that meets every constraint of the dual."""
        return self.classes.feasible(alpha)

    def on_bounds(self, alpha: Vector) -> Vector:
        """Return alpha with values that are on a bound but for rounding put onto it."""
        return self.classes.on_bounds(alpha, slice(None))

    def hyperplanes(self, solution: Solution) -> Hyperplanes:
        """Return the hyperplanes of all classes, and the sizes of their alphas."""
        alpha = np.ascontiguousarray(np.abs(self.on_bounds(solution.alpha)).T)
        at_bound = (alpha != 0.0) & (alpha >= self.weight)
        return Hyperplanes(*planes_of(solution.w), alpha, at_bound)

    def rounding_sums(self, w: Vector, b: float) -> LinearRounding:
        """Return what adds up the rounding of rows at a primal point."""
        return _ClassesRounding(self, w, b)

    def _quick_rounding(self, *_: object, **__: object) -> Rounding | None:
        """Return None: each row has to be looked at."""
        return None

    def _scores_and_violation(
        self, solution: Solution, alpha: Vector, v: Vector
    ) -> tuple[Vector, float]:
        """Return the scores of the solution, and by how much a class scores too high beside one that could rise.

        For the latter the scores are those of w = v; free intercepts are the solution's.
        """
        planes = v.copy()
        planes[:, -1] = self.rho * v[:, -1] if self.intercept != "free" else solution.w[:, -1]
        scores, classes = self.scores(planes, 0.0), self.classes
        largest = 0.0
        for rows in blocks(len(alpha)):
            slopes = classes.slopes(scores[rows], rows)
            can_rise = classes.on_bounds(alpha[rows], rows) < classes.bounds(rows)
            lowest = np.min(slopes, axis=1, initial=np.inf, where=can_rise)
            beyond = np.where(self.weight[rows] > 0, np.max(slopes, axis=1) - lowest, 0.0)
            largest = max(largest, float(np.max(beyond)))
        return self.scores(solution.w, solution.intercept), largest


class _ClassesRounding(LinearRounding):
    """The errors of the figures of a solution with a score for each class."""

    def __init__(self, problem: LinearProblem, w: Vector, b: float) -> None:
        super().__init__(problem, w, b)
        self._intercept = float(np.max(np.abs(w[:, -1])))

    def _add_losses(
        self, problem: LinearProblem, rows: slice, scores: Vector, errors: Vector
    ) -> None:
        """Add the losses of some rows, of two scores each, and how far they may be off."""
        weight = problem.weight[rows]
        self._of_losses += 2.0 * inner(weight, errors)
        self._losses += inner(weight, 1.0 + 2.0 * np.max(np.abs(scores), axis=1))

    def _add_gain(self, problem: LinearProblem, rows: slice, alpha: Vector) -> Vector:  # noqa: ARG002
        """Add what the alphas of some rows gain in the dual; return how large those of each row are."""
        sizes: Vector = np.sum(np.abs(alpha), axis=1)
        self._gain += float(np.sum(sizes))
        self._gain_of_blocks += float(np.sum(sizes))
        return sizes


def planes_of(w: Vector) -> tuple[Vector, Vector]:
    """Return the normals and the intercepts of a point."""
    return np.ascontiguousarray(w[:, :-1]), w[:, -1].copy()
