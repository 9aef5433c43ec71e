"""Several classes or labels as binary problems, and from the scores of those back to labels.

A reduction says which rows are on which side of each binary problem, and what the scores of all of
them are worth to each class. Every classifier, linear or with a kernel, takes both from here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.data.training_data import LabelMatrixData, TrainingData
from hedgerow.errors import ParameterError

__all__ = [
    "REDUCTIONS",
    "BinaryTask",
    "OneVsOne",
    "OneVsRest",
    "Reduction",
    "check_all_at_once",
    "labels_from_scores",
    "one_task_per_label",
    "one_vs_rest_signs",
    "pairs_of_classes",
    "reduction_by_name",
    "scores_from_pairs",
]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BinaryTask:
    """One of the binary problems of several classes or labels.

    Attributes
    ----------
    codes : ndarray
        For every row of the data the number of its class; of a label, whether the row has it.
    weight : ndarray
        The weight of every row of the data.
    positive : int
        The class whose rows are +1.
    negative : int or None
        The class whose rows are -1; None for all others.
    rows : ndarray of int64
        The rows that take part: those with weight, of a pair those of its first class first.
    sides : str
        What to call the two sides in a message.
    classes : tuple of two ndarrays of int64, or None
        Of a pair: the rows of either class.
    is_constant : bool
        Whether all rows that take part are on one side, which a label may come to.
    """

    codes: NDArray[Any]
    weight: Vector
    positive: int
    negative: int | None
    rows: Indices
    sides: str
    classes: tuple[Indices, Indices] | None = None
    is_constant: bool = False

    @property
    def y(self) -> Vector:
        """+1 or -1 for every row of the data, -1 for those that do not take part."""
        return _signs(self.codes, self.positive)

    @property
    def sample_weight(self) -> Vector:
        """The weight of every row of the data, 0 for those that do not take part."""
        if self.negative is None:
            return self.weight
        takes_part = (self.codes == self.negative) | (self.codes == self.positive)
        return np.where(takes_part, self.weight, 0.0)

    @property
    def y_of_rows(self) -> Vector:
        """+1 or -1 for each row that takes part."""
        return _signs(self.codes[self.rows], self.positive)

    @property
    def weight_of_rows(self) -> Vector:
        """The weight of each row that takes part."""
        return self.weight[self.rows]


class Reduction(Protocol):
    """How several classes become binary problems."""

    def tasks(self, data: TrainingData) -> list[BinaryTask]:
        """Return the binary problems: of two classes one, in which the second is positive."""

    def n_tasks(self, n_classes: int) -> int:
        """Return how many they are."""

    def class_scores(self, scores: Vector, n_classes: int) -> Vector:
        """Return one score for each class, or one for two, from a column of scores for each task."""


class OneVsRest:
    """Each class against all others."""

    def tasks(self, data: TrainingData) -> list[BinaryTask]:
        """Return one task for each class, or one for two."""
        labels, everyone = data.classes.tolist(), np.flatnonzero(data.sample_weight > 0)
        if len(labels) == 2:
            named = [(1, _both(*labels))]
        else:
            named = [(k, f"class {label!r} and the rest") for k, label in enumerate(labels)]
        return [
            BinaryTask(data.y, data.sample_weight, k, None, everyone, sides) for k, sides in named
        ]

    def n_tasks(self, n_classes: int) -> int:
        """Return the number of classes, or one for two."""
        return 1 if n_classes == 2 else n_classes

    def class_scores(self, scores: Vector, n_classes: int) -> Vector:  # noqa: ARG002
        """Return the scores as they are."""
        return scores


class OneVsOne:
    """Each class against each other."""

    def tasks(self, data: TrainingData) -> list[BinaryTask]:
        """Return one task for each pair of classes, of which the second is positive."""
        labels, everyone = data.classes.tolist(), np.flatnonzero(data.sample_weight > 0)
        if len(labels) == 2:
            return OneVsRest().tasks(data)
        of_class = [everyone[data.y[everyone] == k] for k in range(len(labels))]
        return [
            BinaryTask(
                data.y,
                data.sample_weight,
                positive=j,
                negative=i,
                rows=np.concatenate([of_class[i], of_class[j]]),
                sides=_both(labels[i], labels[j]),
                classes=(of_class[i], of_class[j]),
            )
            for i, j in pairs_of_classes(len(labels))
        ]

    def n_tasks(self, n_classes: int) -> int:
        """Return the number of pairs of classes."""
        return n_classes * (n_classes - 1) // 2

    def class_scores(self, scores: Vector, n_classes: int) -> Vector:
        """Return the votes for each class, ties broken by its scores; of two classes the one score."""
        return scores if n_classes == 2 else scores_from_pairs(scores, n_classes)


_ONE_VS_REST = OneVsRest()
REDUCTIONS: Mapping[str, Reduction] = {"ovr": _ONE_VS_REST, "ovo": OneVsOne()}
"""Reductions by the name that ``multi_class`` has for them."""


def reduction_by_name(multi_class: str) -> Reduction:
    """Return the reduction; machines of all classes at once have planes as one-vs-rest has them."""
    return REDUCTIONS.get(multi_class, _ONE_VS_REST)


def check_all_at_once(model: Any, has: str, **able: tuple[str, ...]) -> None:
    """Refuse parameters that do not go with ``multi_class="crammer_singer"``, which has only some."""
    for name, values in able.items():
        if getattr(model, name) not in values:
            msg = (
                f"{name}={getattr(model, name)!r} does not go with multi_class='crammer_singer', which has "
                f"{has}; leave it out, or use multi_class='ovr'"
            )
            raise ParameterError(msg)
    if math.isinf(model.C):
        msg = "C=inf asks for a hard margin, which multi_class='crammer_singer' has not; use a finite C, or multi_class='ovr'"
        raise ParameterError(msg)


def one_task_per_label(data: LabelMatrixData) -> list[BinaryTask]:
    """Return one task for each label: rows that have it, and rows that do not."""
    tasks = []
    for k, (has, weight) in enumerate(zip(data.has_label.T, data.label_weight.T, strict=True)):
        rows = np.flatnonzero(weight > 0)
        is_constant = len(np.unique(has[rows])) < 2
        sides = f"rows with and without label {k}"
        tasks.append(
            BinaryTask(has, weight, 1, None, rows, sides, is_constant=is_constant),
        )
    return tasks


def one_vs_rest_signs(codes: Indices, n_classes: int) -> list[Vector]:
    """Return the +1/-1 target of each one-vs-rest problem: one for two classes, else one for each class."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [_signs(codes, k) for k in positive]


def pairs_of_classes(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their tasks; scores above 0 are for the second."""
    return list(combinations(range(n_classes), 2))


def scores_from_pairs(scores: Vector, n_classes: int) -> Vector:
    """Return a score for each class from the scores of all pairs: its votes, plus less than 1/3.

    What is added grows with the sum of its scores against the other classes, so that of classes with
    the same number of votes the one with the larger sum comes first.
    """
    return _core.data.votes_of_pairs(np.ascontiguousarray(scores), n_classes)


def labels_from_scores(scores: Vector, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each row of class scores: shape (n, 1) for two classes, else (n, n_classes)."""
    best = scores[:, 0] > 0 if len(classes) == 2 else scores.argmax(axis=1)
    return np.take(classes, best.astype(np.int64))


def _signs(codes: NDArray[Any], positive: int) -> Vector:
    return np.where(codes == positive, 1.0, -1.0)


def _both(first: Any, second: Any) -> str:
    """Return what to call two classes in a message."""
    return f"the classes {first!r} and {second!r}"
