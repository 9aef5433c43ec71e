"""Several classes or labels as binary problems: which rows are on which side, and what each weighs."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import rows_of
from hedgerow.data.targets import one_vs_rest_signs, pairs_of_classes
from hedgerow.data.training_data import LabelMatrixData, TrainingData
from hedgerow.errors import ParameterError
from hedgerow.problems.base import Solution
from hedgerow.problems.hard_margin import Overlap
from hedgerow.problems.linear import LinearProblem

__all__ = [
    "Part",
    "Split",
    "each_label",
    "one_vs_one",
    "one_vs_rest",
    "refuse_what_all_at_once_lacks",
    "used_part",
    "uses_most_rows",
]

Vector: TypeAlias = NDArray[np.float64]

WORTH_A_COPY = 0.8
"""Share of rows with weight up to which these are copied, and the others never read."""


@dataclass(frozen=True, eq=False)
class Split:
    """A binary problem among several.

    Attributes
    ----------
    y : ndarray
        +1 or -1 for each row.
    sample_weight : ndarray
        0 for rows that have no part in it.
    sides : str
        What to call the two sides in a message.
    is_constant : bool
        Whether the plane is to have no slope, as all rows are on one side.
    """

    y: Vector
    sample_weight: Vector
    sides: str
    is_constant: bool = False


def one_vs_rest(data: TrainingData) -> list[Split]:
    """Return one split for two classes, else one a class."""
    classes = data.classes.tolist()
    if len(classes) == 2:
        sides = ["the classes {!r} and {!r}".format(*classes)]
    else:
        sides = [f"class {label!r} and the rest" for label in classes]
    signs = one_vs_rest_signs(data.y, len(classes))
    return [Split(y, data.sample_weight, side) for y, side in zip(signs, sides, strict=True)]


def one_vs_one(data: TrainingData) -> list[Split]:
    """Return one split a pair of classes, in which the rows of others weigh nothing."""
    classes = data.classes.tolist()
    return [
        Split(
            np.where(data.y == k, 1.0, -1.0),
            np.where((data.y == j) | (data.y == k), data.sample_weight, 0.0),
            f"the classes {classes[j]!r} and {classes[k]!r}",
        )
        for j, k in pairs_of_classes(len(classes))
    ]


def each_label(data: LabelMatrixData) -> list[Split]:
    """Return one split a label: rows that have it, and rows that do not."""
    columns = zip(data.has_label.T, data.label_weight.T, strict=True)
    return [
        Split(
            np.where(has, 1.0, -1.0),
            weight,
            f"rows with and without label {k}",
            is_constant=len(np.unique(has[weight > 0])) < 2,
        )
        for k, (has, weight) in enumerate(columns)
    ]


def refuse_what_all_at_once_lacks(model: Any) -> None:
    """Refuse parameters that do not go with ``multi_class="crammer_singer"``."""
    for name, able in (("loss", ("hinge", "squared_hinge")), ("penalty", ("l2",))):
        if getattr(model, name) not in able:
            msg = (
                f"{name}={getattr(model, name)!r} does not go with multi_class='crammer_singer', which has "
                "the hinge and the l2 penalty; leave it out, or use multi_class='ovr'"
            )
            raise ParameterError(msg)
    if math.isinf(model.C):
        msg = "C=inf asks for a hard margin, which multi_class='crammer_singer' has not; use a finite C, or multi_class='ovr'"
        raise ParameterError(msg)


@dataclass(frozen=True, eq=False)
class Part:
    """The part of a problem that its rows with weight are, or all of it.

    Attributes
    ----------
    problem : LinearProblem
        Of these rows alone.
    rows : ndarray of int64 or None
        Which they are; None for all.
    n_rows : int
        Of the whole.
    """

    problem: LinearProblem
    rows: NDArray[np.int64] | None
    n_rows: int

    def whole(self, solution: Solution) -> Solution:
        """Return the solution with an alpha for all rows, 0 for those without weight."""
        if self.rows is None:
            return solution
        alpha = np.zeros(self.n_rows)
        alpha[self.rows] = solution.alpha
        return replace(solution, alpha=alpha)

    def whole_overlap(self, overlap: Overlap) -> Overlap:
        """Return the overlap in rows of the whole."""
        return overlap if self.rows is None else replace(overlap, rows=self.rows[overlap.rows])


def uses_most_rows(problem: LinearProblem) -> bool:
    """Say whether all rows are read for the problem, as few or all have no weight."""
    n_used = np.count_nonzero(problem.weight)
    return n_used == 0 or bool(n_used > WORTH_A_COPY * len(problem.weight))


def used_part(problem: LinearProblem) -> Part:
    """Return the rows with weight, copied where that saves reading many others."""
    n_rows = len(problem.weight)
    if problem.loss.name == "crammer_singer" or uses_most_rows(problem):
        return Part(problem, None, n_rows)
    rows = np.flatnonzero(problem.weight)
    lean = replace(
        problem,
        matrix=rows_of(problem.matrix, rows),
        y=problem.y[rows],
        weight=problem.weight[rows],
        targets=None if problem.targets is None else problem.targets[rows],
    )
    return Part(lean, rows, n_rows)
