"""The linear hard margin, and the proof that two classes cannot be separated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.rounding import Rounding
from hedgerow.data.rows import array_of, matrix_of
from hedgerow.errors import ParameterError
from hedgerow.losses import HARD, LOSSES, Hinge, Loss
from hedgerow.penalties import QUADRATIC
from hedgerow.problems.base import Vector, inner
from hedgerow.problems.linear import LinearProblem
from hedgerow.problems.linear_rounding import LinearRounding

__all__ = ["MEETING", "HardMarginProblem", "Overlap"]

MEETING = 1e-9
"""A distance, relative to the size of the rows, at which two points count as the same."""


@dataclass(frozen=True, eq=False)
class Overlap:
    """Why no hyperplane separates two classes: convex combinations of their rows that meet.

    Attributes
    ----------
    rows : ndarray of int64
        The rows involved.
    weights : ndarray
        Their weights: positive, with sum 1 in each class. Without an intercept their sum is 1
        over both, and the combination of the y_i x_i meets the origin.
    """

    rows: NDArray[np.int64]
    weights: Vector


@dataclass(frozen=True, eq=False)
class HardMarginProblem(LinearProblem):
    """The hyperplane of largest margin 1 / |w| between two classes.

    ::

        primal   minimise   1/2 |w|^2 + 1/2 (b / s)^2    subject to  y_i (<w, x_i> + b) >= 1
                 over w, b

    for every row with weight, however large; the second term is that of a penalised intercept. The
    dual is that of the hinge without upper bounds. The objective of a hyperplane is that of (w, b) / m,
    with m the least functional margin; it is infinite if m is not positive.

    Attributes
    ----------
    loss : HardMargin
        And the other attributes of a linear problem.
    sides : str
        What to call the two classes in a message.
    """

    loss: Loss = HARD
    sides: str = "the two classes"
    meeting: ClassVar[float] = MEETING

    @classmethod
    def of(cls, problem: LinearProblem, sides: str) -> HardMarginProblem:
        """Return a problem with constraints in place of its losses, refusing what has none."""
        losses = [loss.name for loss in LOSSES.values() if loss.becomes_hard]
        for name, value, able in (
            ("loss", problem.loss.name, losses),
            ("penalty", problem.penalty.name, [QUADRATIC.name]),
        ):
            if value not in able:
                msg = (
                    f"C=inf asks for a hard margin, which there is not with {name}={value!r}; use "
                    f"{name}={' or '.join(map(repr, able))}, or a finite C"
                )
                raise ParameterError(msg)
        same = {field.name: getattr(problem, field.name) for field in fields(problem)}
        return cls(**same | {"loss": HARD, "sides": sides})

    @property
    def has_intercept(self) -> bool:
        """Whether there is a b."""
        return self.intercept != "none"

    def objective(self, w: Vector, b: float, scores: Vector | None = None) -> float:
        """Return the primal objective of the scaled hyperplane."""
        least = self.least_margin(self.scores(w, b) if scores is None else scores)
        return self.cost_of(w, b) / least**2 if least > 0.0 else np.inf

    def least_margin(self, scores: Vector) -> float:
        """Return the least functional margin of a row with weight."""
        return float(np.min((self.y * scores)[self.weight > 0]))

    def best_intercept(self, scores_without: Vector) -> float:
        """Return the middle between the two classes."""
        used = self.weight > 0
        lowest = float(np.min(scores_without[used & (self.y > 0)]))
        highest = float(np.max(scores_without[used & (self.y < 0)]))
        return -0.5 * (lowest + highest)

    def distance_of(self, overlap: Overlap) -> tuple[float, float]:
        """Return how far combinations of rows are from meeting, and the size of the rows involved."""
        points = array_of(self.matrix)[overlap.rows].astype(np.float64)
        if not isinstance(points, np.ndarray):
            points = points[:, np.unique(points.indices)].toarray()  # few rows have few features
        if self.has_intercept:
            points = (
                points - points[0]
            )  # moves both combinations alike, and takes off large offsets
        matrix = matrix_of(points)
        signed = overlap.weights * self.y[overlap.rows]
        apart = _core.data.weighted_row_sum(matrix, signed, self.n_threads)
        largest = float(np.max(_core.data.row_sq_norms(matrix, self.n_threads), initial=0.0))
        return float(np.sqrt(inner(apart, apart))), float(np.sqrt(largest))

    def soft(self, C: float) -> LinearProblem:
        """Return the same problem with the hinge of weight C in place of the constraints."""
        return LinearProblem(
            matrix=self.matrix,
            y=self.y,
            weight=np.where(self.weight > 0, C, 0.0),
            loss=Hinge(),
            intercept=self.intercept,
            intercept_scaling=self.intercept_scaling,
            n_threads=self.n_threads,
        )

    def rounding_sums(self, w: Vector, b: float) -> LinearRounding:
        """Return what adds up the rounding of rows at a primal point."""
        return _MarginRounding(self, w, b)

    def _quick_rounding(self, *_: object, **__: object) -> Rounding | None:
        """Return None: each row has to be looked at."""
        return None


class _MarginRounding(LinearRounding):
    """The errors of the figures of a hyperplane that is scaled by its least functional margin."""

    def __init__(self, problem: LinearProblem, w: Vector, b: float) -> None:
        super().__init__(problem, w, b)
        self._least_margin = self._sure_margin = np.inf

    def _add_losses(
        self, problem: LinearProblem, rows: slice, scores: Vector, errors: Vector
    ) -> None:
        """Take in the functional margins of some rows, and what they are at least."""
        used = problem.weight[rows] > 0
        margins = (problem.y[rows] * scores)[used]
        self._least_margin = min(self._least_margin, float(np.min(margins, initial=np.inf)))
        margins = margins - errors[used]
        self._sure_margin = min(self._sure_margin, float(np.min(margins, initial=np.inf)))

    def _of_primal(self) -> float:
        """Return how far the primal objective may be off."""
        least, surely = self._least_margin, self._sure_margin
        if surely <= 0.0:
            return np.inf
        return self._cost * ((1.0 + self._of_cost) / surely**2 - 1.0 / least**2)
