"""The coefficients of support vectors as LIBSVM and scikit-learn lay them out.

Machines of pairs of classes have one plane a pair, but a support vector has a part only in those of
its own class: of k classes it has k - 1 coefficients. Support vectors stand class by class. Of the plane
of classes i < j, those of class i have their coefficients in line j - 1, and those of class j in line
i. What is positive speaks for class i, but of two classes for the second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.reduction import pairs_of_classes

__all__ = ["Coefficients", "Found", "layout_problem", "of_pairs", "of_planes"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Found:
    """What a plane was found to be.

    Attributes
    ----------
    points : ndarray of int64
        The rows that took part.
    beta : ndarray
        The coefficient of each, positive for the second of two classes.
    intercept : float
        b.
    """

    points: Indices
    beta: Vector
    intercept: float


@dataclass(frozen=True, eq=False)
class Coefficients:
    """The coefficients of support vectors.

    Attributes
    ----------
    values : ndarray of shape (n_lines, n_support)
        The coefficients.
    n_support : ndarray of int64
        How many support vectors each class has, one after the other.
    is_of_pairs : bool
        Whether lines are shared by the planes of pairs; else there is one a plane.
    """

    values: Vector
    n_support: Indices
    is_of_pairs: bool

    def __post_init__(self) -> None:
        problem = layout_problem(self.values.shape, self.n_support, self.is_of_pairs)
        if problem is not None:
            raise DataError(f"{problem}; fit the model again")

    @property
    def n_planes(self) -> int:
        """How many planes there are."""
        n_classes = len(self.n_support)
        return n_classes * (n_classes - 1) // 2 if self.is_of_pairs else len(self.values)

    @property
    def segments(self) -> list[slice]:
        """The support vectors that have the same planes."""
        if not self.is_of_pairs:
            return [slice(0, self.values.shape[1])]
        ends = np.cumsum(self.n_support)
        return [slice(end - n, end) for end, n in zip(ends, self.n_support, strict=True)]

    def planes(self) -> Vector:
        """Return the coefficient of every support vector in every plane."""
        if not self.is_of_pairs:
            return self.values
        pairs, segments = pairs_of_classes(len(self.n_support)), self.segments
        planes = np.zeros((len(pairs), self.values.shape[1]))
        for plane, (i, j) in zip(planes, pairs, strict=True):
            plane[segments[i]] = self.values[j - 1, segments[i]]
            plane[segments[j]] = self.values[i, segments[j]]
        return planes

    def planes_of_lines(self) -> Indices:
        """Return, for each segment and line, the plane that the coefficients are of."""
        if not self.is_of_pairs:
            return np.arange(len(self.values))[None, :]
        places = np.empty((len(self.n_support), len(self.values)), dtype=np.int64)
        for plane, (i, j) in enumerate(pairs_of_classes(len(self.n_support))):
            places[i, j - 1] = places[j, i] = plane
        return places

    def planes_by_support(self, kept: Indices) -> list[tuple[Indices, Indices]]:
        """Return sets of planes, and who takes part in each: places in ``kept``, some support vectors."""
        if not self.is_of_pairs:
            return [(np.arange(len(self.values)), np.arange(len(kept)))]
        ends = np.cumsum(self.n_support)
        classes = np.searchsorted(ends, kept, side="right")
        return [
            (np.array([plane]), np.flatnonzero((classes == i) | (classes == j)))
            for plane, (i, j) in enumerate(pairs_of_classes(len(self.n_support)))
        ]

    def of_fewer(self, kept: Indices, planes: Vector) -> Coefficients:
        """Return the same layout of some support vectors with these coefficients in every plane."""
        classes = np.searchsorted(np.cumsum(self.n_support), kept, side="right")
        n_support = np.bincount(classes, minlength=len(self.n_support)).astype(np.int64)
        if not self.is_of_pairs:
            return Coefficients(planes, n_support, is_of_pairs=False)
        values = planes[self.planes_of_lines()[classes].T, np.arange(len(kept))]
        return Coefficients(values, n_support, is_of_pairs=True)


def layout_problem(shape: tuple[int, ...], n_support: Indices, is_of_pairs: bool) -> str | None:
    """Say why coefficients of that shape are not those of so many support vectors of each class."""
    counts = [int(n) for n in n_support]
    is_fitting = not is_of_pairs or shape[0] == len(counts) - 1
    if is_fitting and counts and min(counts) >= 0 and sum(counts) == shape[1]:
        return None
    return (
        f"dual_coef_ has shape {shape} and n_support_ is {counts[:5]}, which do not belong together"
    )


def of_pairs(
    found: Sequence[Found], codes: Indices, n_classes: int
) -> tuple[Indices, Coefficients]:
    """Return the support vectors, class by class, and their coefficients in the planes of pairs."""
    support, place, n_support = _support(found, codes, n_classes)
    values = np.zeros((n_classes - 1, len(support)))
    for one, (i, j) in zip(found, pairs_of_classes(n_classes), strict=True):
        used = one.points[one.beta != 0.0]
        line = np.where(codes[used] == i, j - 1, i)
        values[line, place[used]] = -one.beta[one.beta != 0.0]
    if n_classes == 2:
        return support, Coefficients(-values, n_support, is_of_pairs=False)
    return support, Coefficients(values, n_support, is_of_pairs=True)


def of_planes(
    found: Sequence[Found], codes: Indices, n_classes: int
) -> tuple[Indices, Coefficients]:
    """Return the support vectors, class by class, and their coefficients in each plane."""
    support, place, n_support = _support(found, codes, n_classes)
    values = np.zeros((len(found), len(support)))
    for line, one in zip(values, found, strict=True):
        used = one.beta != 0.0
        line[place[one.points[used]]] = one.beta[used]
    return support, Coefficients(values, n_support, is_of_pairs=False)


def _support(
    found: Sequence[Found], codes: Indices, n_classes: int
) -> tuple[Indices, Indices, Indices]:
    """Return the support vectors, class by class; the place of each row among them; the counts."""
    is_support = np.zeros(len(codes), dtype=bool)
    for one in found:
        is_support[one.points[one.beta != 0.0]] = True
    rows = np.flatnonzero(is_support)
    support = rows[np.argsort(codes[rows], kind="stable")]
    place = np.full(len(codes), -1, dtype=np.int64)
    place[support] = np.arange(len(support))
    return support, place, np.bincount(codes[support], minlength=n_classes).astype(np.int64)
