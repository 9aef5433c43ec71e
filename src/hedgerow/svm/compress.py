"""Kernel machines with fewer support vectors: a subset of them, and the best coefficients for it.

A plane is w = sum_i c_i phi(z_i) over the support vectors z_i. Those that stay are chosen one after the
other, each so that |w - w'|^2, summed over the planes, falls the most if the best coefficients are taken:
by r_i^2 / d_i with r_i = <w - w', phi(z_i)> and d_i the squared distance of phi(z_i) from the span of those
chosen before. A pivoted Cholesky factorisation of the kernel values keeps both up to date. Planes of pairs
of classes consist of the support vectors of two classes only, and have a factorisation each.

A little is added to K(z_i, z_i), so that coefficients that hardly matter stay near what they were, and no
matrix is singular. More support vectors never make an error larger: those chosen before stay.

Of n support vectors m stay: n (n + m) kernel values and n m^2 multiplications; the memory is n m numbers
and blocks of kernel values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hedgerow._base.parameters import real_number, whole_number
from hedgerow._base.state import record
from hedgerow._base.state.rules import numbers
from hedgerow.errors import UnavailableError
from hedgerow.kernels.gram import Gram
from hedgerow.svm._coefficients import Coefficients

__all__ = ["Compressed", "Compression", "compressed"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

RIDGE = 1e-9
"""Added to K(z, z), relative to its largest value."""
WORTH_CHOOSING = 1e-10
"""The least fall of the squared errors, relative to the sum of all |w|^2, that is worth a support vector."""
STILL_GOOD = 0.5
"""The share of its gain that a candidate must have left when its turn comes; else it waits."""
MOST_TOGETHER = 32
"""Candidates that are looked at together, so that the factors are read once for all of them."""
BLOCK = 512
"""Columns of kernel values at a time."""


@record(
    n_support_before=whole_number(0),
    n_support_after=whole_number(0),
    relative_errors=numbers("planes", low=0.0),
    largest_change=real_number(0),
)
@dataclass(frozen=True, eq=False)
class Compression:
    """What it cost to leave support vectors out.

    Attributes
    ----------
    n_support_before, n_support_after : int
        How many support vectors there were and are.
    relative_errors : ndarray of shape (n_planes,)
        |w - w'| / |w| of each plane.
    largest_change : float
        The largest change of a score <w, phi(x)> + b over the support vectors there were.
    """

    n_support_before: int
    n_support_after: int
    relative_errors: Vector
    largest_change: float

    @classmethod
    def none(cls, n_support: int, n_planes: int) -> Compression:
        """Return what it costs to leave nothing out."""
        return cls(n_support, n_support, np.zeros(n_planes), 0.0)

    def __str__(self) -> str:
        worst = float(np.max(self.relative_errors, initial=0.0))
        return (
            f"{self.n_support_after} of {self.n_support_before} support vectors stayed; the planes moved by "
            f"at most {worst:.2g} of their length, and the scores of the support vectors by {self.largest_change:.2g}."
        )


@dataclass(frozen=True, eq=False)
class Compressed:
    """Fewer support vectors.

    Attributes
    ----------
    kept : ndarray of int64
        Which stayed, in ascending order.
    coef : Coefficients
        Of those.
    sq_lengths : ndarray
        |w'|^2 of each plane.
    shift : float
        What was added to all scores of those that stayed, to keep the sum of the coefficients; else 0.
    report : Compression
        What it cost.
    """

    kept: Indices
    coef: Coefficients
    sq_lengths: Vector
    shift: float
    report: Compression


def compressed(gram: Gram, coef: Coefficients, n_support: int, *, keeps_sum: bool) -> Compressed:
    """Return the coefficients of at most ``n_support`` of the support vectors.

    Parameters
    ----------
    gram : Gram
        The kernel values among the support vectors.
    coef : Coefficients
        Of all of them.
    n_support : int
        How many may stay, less than there are.
    keeps_sum : bool
        Whether the coefficients of a plane must have the sum they had.
    """
    ridged = _Ridged(gram, RIDGE * float(np.max(gram.diagonal)))
    with threadpool_limits(1):  # sums of BLAS depend on its threads
        kept = np.sort(_chosen(ridged, coef, n_support))
        try:
            planes, shift = _refitted(ridged, coef, kept, keeps_sum) if len(kept) else (None, 0.0)
        except (la.LinAlgError, ValueError):  # not positive definite, or not finite
            planes = None
        if planes is None:
            msg = (
                "compress finds no support vectors that matter: the coefficients or the kernel values "
                "among them are zero, or beyond all numbers; fit the model again"
            )
            raise UnavailableError(msg)
        return _measured(gram, coef, kept, planes, shift)


def _measured(
    gram: Gram, coef: Coefficients, kept: Indices, planes: Vector, shift: float
) -> Compressed:
    """Return the planes of the support vectors that stay with what they cost, from all kernel values."""
    old = coef.planes()
    change = old.copy()
    change[:, kept] -= planes
    everyone = np.arange(gram.n_points, dtype=np.int64)
    scores, moved = np.split(_Ridged(gram, 0.0).scores(np.concatenate([old, change]), everyone), 2)
    errors = np.sqrt(np.maximum(np.sum(change * moved, axis=1), 0.0))
    sq_lengths = np.sum(old * scores, axis=1)
    report = Compression(
        gram.n_points,
        len(kept),
        errors / np.sqrt(np.where(sq_lengths > 0.0, sq_lengths, 1.0)),
        float(np.max(np.abs(moved + shift), initial=0.0)),
    )
    new_lengths = np.sum(planes * (scores - moved)[:, kept], axis=1)
    return Compressed(kept, coef.of_fewer(kept, planes), new_lengths, shift, report)


@dataclass(frozen=True, eq=False)
class _Ridged:
    """The kernel values among the support vectors, with something added to those on the diagonal."""

    gram: Gram
    ridge: float

    @property
    def n_points(self) -> int:
        return self.gram.n_points

    @property
    def diagonal(self) -> Vector:
        return self.gram.diagonal + self.ridge

    def block(self, rows: Indices, columns: Indices) -> Vector:
        values = self.gram.block(rows, columns)
        values[rows[:, None] == columns] += self.ridge
        return values

    def scores(self, planes: Vector, columns: Indices) -> Vector:
        """Return <w, phi(z)> of every plane for some support vectors."""
        everyone = np.arange(self.n_points, dtype=np.int64)
        parts = [planes @ self.block(everyone, some) for some in _stretches(columns)]
        return np.concatenate([np.zeros((len(planes), 0)), *parts], axis=1)


def _stretches(points: Indices) -> Iterator[Indices]:
    for begin in range(0, len(points), BLOCK):
        yield points[begin : begin + BLOCK]


# ------------------------------------------------------------------------------ which ones stay


@dataclass(eq=False)
class _Group:
    """Planes that consist of the same support vectors, and the factors of those chosen.

    ``factors`` are blocks of rows g_t with K(z_i, z_j) = sum_t g_ti g_tj wherever z_i is chosen;
    ``residuals`` are the r_i of each plane, and ``distances`` the d_i, 0 for those chosen.
    """

    points: Indices
    residuals: Vector
    distances: Vector
    factors: list[Vector] = field(default_factory=list)
    _rows: Vector = field(default_factory=lambda: np.empty((0, 0)))
    _fresh: list[Vector] = field(default_factory=list)

    @property
    def gains(self) -> Vector:
        """By how much each would let the squared errors fall."""
        is_open = self.distances > 0.0
        gains: Vector = np.sum(self.residuals**2, axis=0)
        return gains / np.where(is_open, self.distances, np.inf)

    def begin(self, rows: Vector, places: Indices) -> None:
        """Look at some candidates; ``rows`` are their kernel values with the points."""
        self._rows = rows.copy()
        for block in self.factors:
            self._rows -= block[:, places].T @ block
        self._fresh = []

    def choose(self, row: int, place: int) -> None:
        """Choose a candidate."""
        known = sum((old[place] * old for old in self._fresh), np.zeros(len(self.points)))
        factor = (self._rows[row] - known) / np.sqrt(self.distances[place])
        share = self.residuals[:, place] / np.sqrt(self.distances[place])
        self.residuals -= np.outer(share, factor)
        self.distances = np.maximum(self.distances - factor**2, 0.0)
        self.distances[place] = 0.0
        self._fresh.append(factor)

    def end(self) -> None:
        """Keep the factors of those chosen."""
        if self._fresh:
            self.factors.append(np.array(self._fresh))


def _chosen(gram: _Ridged, coef: Coefficients, n_support: int) -> Indices:
    """Return the support vectors that stay, in the order in which they were chosen."""
    everyone = np.arange(gram.n_points, dtype=np.int64)
    scores = gram.scores(coef.planes(), everyone)
    groups = [
        _Group(points, scores[np.ix_(planes, points)], gram.diagonal[points])
        for planes, points in coef.planes_by_support(everyone)
    ]
    least = WORTH_CHOOSING * float(np.sum(coef.planes() * scores))
    chosen: list[int] = []
    while len(chosen) < n_support:
        gains = np.zeros(gram.n_points)
        for group in groups:
            gains[group.points] += group.gains
        best = np.argsort(-gains, kind="stable")[: min(1 + len(chosen) // 8, MOST_TOGETHER)]
        best = best[gains[best] > least]
        if not len(best):
            break
        chosen += _chosen_of(best, gains[best], gram, groups)
    return np.array(chosen[:n_support], dtype=np.int64)


def _chosen_of(
    candidates: Indices, gains: Vector, gram: _Ridged, groups: list[_Group]
) -> list[int]:
    """Choose those candidates whose gain the ones before leave much of; the first is always chosen."""
    rows = gram.block(candidates, np.arange(gram.n_points, dtype=np.int64))
    part_in: list[list[tuple[_Group, int, int]]] = [[] for _ in candidates]
    for group in groups:
        mine = np.flatnonzero(np.isin(candidates, group.points))
        places = np.searchsorted(group.points, candidates[mine])
        group.begin(rows[np.ix_(mine, group.points)], places)
        for row, (k, place) in enumerate(zip(mine.tolist(), places.tolist(), strict=True)):
            part_in[k].append((group, row, place))
    chosen = []
    for candidate, gain, parts in zip(candidates.tolist(), gains, part_in, strict=True):
        if sum(group.gains[place] for group, _, place in parts) >= STILL_GOOD * gain:
            for group, row, place in parts:
                group.choose(row, place)
            chosen.append(candidate)
    for group in groups:
        group.end()
    return chosen


# --------------------------------------------------------------------------- their coefficients


def _refitted(
    gram: _Ridged, coef: Coefficients, kept: Indices, keeps_sum: bool
) -> tuple[Vector, float]:
    """Return the coefficients of those that stay which bring each plane closest to what it was."""
    table = np.concatenate([gram.block(kept, some) for some in _stretches(kept)], axis=1)
    scores = gram.scores(coef.planes(), kept)
    planes, shift = np.zeros((len(scores), len(kept))), 0.0
    for mine, takes_part in coef.planes_by_support(kept):
        if not len(takes_part):
            continue
        factor = la.cho_factor(table[np.ix_(takes_part, takes_part)], lower=True)
        found = la.cho_solve(factor, scores[np.ix_(mine, takes_part)].T)
        if keeps_sum:
            ones = la.cho_solve(factor, np.ones(len(takes_part)))
            missing = np.sum(coef.planes()[mine], axis=1) - np.sum(found, axis=0)
            shift = float(missing[0] / np.sum(ones))
            found += shift * ones[:, None]
        planes[np.ix_(mine, takes_part)] = found.T
    return planes, shift
