"""How often labels that are shuffled between the two sides of a split improve it as much.

With the sizes of both sides and the number of rows of every class fixed, the counts on the left follow the
multivariate hypergeometric law. p is the probability that their improvement, by the criterion the tree was
grown with, reaches the one that was found: the generalisation of Fisher's exact test. It is computed

- exactly for two classes, by a sum over all counts of one of them, and for more classes if there are no more
  tables than draws;
- else from draws: (1 + those that reach it) / (1 + draws), a valid p-value for any number of draws. A tenth of
  them is enough if that many reach it;
- where too few of all draws reach it to tell, by a Pearson curve of type III that has the mean, the variance and
  the skewness of the draws (P. Mielke, K. Berry, "Permutation methods", 2001), but never less than the probability
  of the table itself. At p = 1e-5 it is right to a factor of about 2.

The improvement of the share misclassified takes few values, 0 for most tables; trees grown by it are tested by
Gini's, which answers to the same question.

The order of classes does not matter, so that equal tables are computed once for the whole tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, gammaln, ndtr, xlogy

from hedgerow._base.parameters import generator_of

__all__ = ["PURITIES", "log_probability", "log_ways", "permutation_p_values", "whole_counts"]

Vector = NDArray[np.float64]
Counts = NDArray[np.int64]
Purity = Callable[[Vector, Vector], Vector]
"""Takes counts of classes on both sides, classes last; what it returns grows with the improvement."""

AT_ONCE = 1 << 18
"""Tables of two classes that are summed over together."""
ENOUGH = 10
"""Draws that must reach an improvement for their share to tell its probability."""
STRAIGHT = 1e-3
"""Skewness below which the curve is the normal one."""
ROUNDING = 1e-10
"""An improvement is reached by one that is smaller by no more than this, relative to it."""


def _gini(left: Vector, right: Vector) -> Vector:
    """Return the sum over both sides of sum n_k^2 / n."""
    sides = [np.sum(side**2, axis=-1) / np.sum(side, axis=-1) for side in (left, right)]
    return sides[0] + sides[1]  # type: ignore[no-any-return]


def _entropy(left: Vector, right: Vector) -> Vector:
    """Return the sum over both sides of sum n_k log n_k; the sizes of the sides are the same for all."""
    return np.sum(xlogy(left, left) + xlogy(right, right), axis=-1)  # type: ignore[no-any-return]


PURITIES: dict[str, Purity] = {
    "gini": _gini,
    "entropy": _entropy,
    "log_loss": _entropy,
    "misclassification": _gini,
}


def whole_counts(counts: Vector) -> Counts:
    """Return counts as whole numbers with the same sums over the last axis, which must be whole.

    What is left after rounding down goes to the classes with the largest remainders.
    """
    below = np.floor(counts + ROUNDING)
    missing = np.rint(counts.sum(axis=-1) - below.sum(axis=-1))
    rank = np.argsort(np.argsort(below - counts, axis=-1, kind="stable"), axis=-1, kind="stable")
    whole: Vector = below + (rank < missing[..., None])
    return whole.astype(np.int64)


def permutation_p_values(
    left: Counts, right: Counts, criterion: str, n_permutations: int, seed: int
) -> Vector:
    """Return the p-value of each table.

    Parameters
    ----------
    left, right : ndarray of int64 of shape (n_tables, n_classes)
        How many rows of each class are on either side.
    criterion : str
        One of PURITIES.
    n_permutations : int
        Draws, where not all tables are looked at.
    seed : int
        What is drawn depends on it and on the tables.
    """
    tables, places = _distinct(left, right)
    lefts, rights, purity = tables[:, 0], tables[:, 1], PURITIES[criterion]
    n_present = np.sum(lefts + rights > 0, axis=1)
    p = np.ones(len(tables))
    two = np.flatnonzero(n_present == 2)  # empty classes are sorted to the front
    p[two] = _of_two_classes(lefts[two, -2:], rights[two, -2:], purity)
    for i in np.flatnonzero(n_present > 2).tolist():
        table = tables[i, :, -int(n_present[i]) :]
        exact = _if_few_tables(table, purity, n_permutations)
        p[i] = (
            _drawn(table, purity, n_permutations, generator_of(seed, i)) if exact is None else exact
        )
    return np.minimum(p, 1.0)[places]


def _distinct(left: Counts, right: Counts) -> tuple[Counts, Counts]:
    """Return the tables that differ, each with its classes in order, and which of them each table is."""
    order = np.lexsort((right, left, left + right), axis=1)
    both = np.stack([np.take_along_axis(side, order, axis=1) for side in (left, right)], axis=1)
    tables, places = np.unique(both, axis=0, return_inverse=True)
    return tables, places.ravel()


def log_ways(total: Any, drawn: Any) -> Any:
    """Return the logarithm of the number of ways to draw so many of so many."""
    return gammaln(total + 1.0) - gammaln(drawn + 1.0) - gammaln(total - drawn + 1.0)


def _reaches(found: Vector, observed: Vector) -> NDArray[np.bool_]:
    """Say which are as large, but for rounding."""
    return found >= observed - ROUNDING * np.abs(observed)


def _of_two_classes(left: Counts, right: Counts, purity: Purity) -> Vector:
    """Return the p-values of tables of shape (n, 2), from sums over all tables with the same margins.

    All sums are laid out one after the other, and taken in pieces of a size that fits into memory.
    """
    n_left, of_class = left.sum(axis=1), left + right
    least = np.maximum(0, n_left - of_class[:, 1])
    sizes = np.minimum(of_class[:, 0], n_left) - least + 1
    ends, observed = np.cumsum(sizes), purity(left.astype(float), right.astype(float))
    p = np.zeros(len(left))
    for begin in range(0, int(sizes.sum()), AT_ONCE):
        place = np.arange(begin, min(begin + AT_ONCE, int(ends[-1])))
        i = np.searchsorted(ends, place, side="right")
        first = least[i] + place - (ends[i] - sizes[i])
        x = np.stack([first, n_left[i] - first], axis=1).astype(float)
        reaches = _reaches(purity(x, of_class[i] - x), observed[i])
        each = np.exp(log_probability(x, of_class[i].astype(np.float64))) * reaches
        p += np.bincount(i, each, minlength=len(p))
    return p


def _if_few_tables(table: Counts, purity: Purity, limit: int) -> float | None:
    """Return the p-value from all tables with the same margins; None if these are too many."""
    left, right = table.astype(float)
    of_class, n_left = table.sum(axis=0), int(left.sum())
    if _number_of_tables(of_class, min(n_left, int(right.sum())), limit) > limit:
        return None
    x = _all_tables(of_class, n_left)
    reaches = _reaches(purity(x, of_class - x), purity(left, right))
    return float(np.sum(np.exp(log_probability(x, left + right)) * reaches))


def _number_of_tables(of_class: Counts, n_left: int, limit: int) -> float:
    """Return how many ways there are to choose so many, or any number above the limit."""
    ways = np.ones(1)  # of choosing 0, 1, 2 ... of the classes so far
    for n in np.minimum(of_class, n_left).tolist():
        if len(ways) + n > 2 * limit:
            return np.inf
        ways = np.convolve(ways, np.ones(n + 1))[: n_left + 1]
    return float(ways[n_left])


def _drawn(table: Counts, purity: Purity, n_draws: int, generator: np.random.Generator) -> float:
    """Return the p-value from tables that are drawn."""
    left, right = table.astype(float)
    of_class, observed, found = table.sum(axis=0), purity(left, right), np.empty(0)
    for n in (n_draws // 10, n_draws - n_draws // 10):
        drawn = generator.multivariate_hypergeometric(
            of_class, int(left.sum()), size=n, method="marginals"
        )
        x = drawn.astype(float)
        found = np.concatenate([found, purity(x, of_class - x)])
        n_reach = int(np.count_nonzero(_reaches(found, observed)))
        if n_reach >= ENOUGH:
            return (1 + n_reach) / (1 + len(found))
    of_table_itself = float(np.exp(log_probability(left, left + right)))
    return max(_beyond(found, float(observed)), of_table_itself)


def log_probability(left: Vector, of_class: Vector) -> Any:
    """Return the logarithm of the probability of counts on the left, classes last."""
    n_left = left.sum(axis=-1)
    return log_ways(of_class, left).sum(axis=-1) - log_ways(of_class.sum(axis=-1), n_left)


def _all_tables(of_class: Counts, n_left: int) -> Vector:
    """Return all counts on the left with the given sum, none above those of its class."""
    chosen, rest = np.zeros((1, 0)), np.array([n_left])
    for k, n in enumerate(of_class.tolist()):
        still = int(of_class[k + 1 :].sum())
        least = np.maximum(0, rest - still)
        sizes = np.maximum(np.minimum(n, rest) - least + 1, 0)
        which = np.repeat(np.arange(len(rest)), sizes)
        x = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + least[which]
        chosen = np.concatenate([chosen[which], x[:, None]], axis=1)
        rest = rest[which] - x
    return chosen


def _beyond(draws: Vector, observed: float) -> float:
    """Return the probability to reach a value by the Pearson curve of the draws, a gamma law that is shifted."""
    spread = float(draws.std())
    if not spread > 0.0:
        return 1.0
    z = (observed - float(draws.mean())) / spread
    skewness = float(np.mean(((draws - draws.mean()) / spread) ** 3))
    if abs(skewness) < STRAIGHT:
        return float(ndtr(-z))
    shape = 4.0 / skewness**2
    place = max(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
    return float(gammaincc(shape, place) if skewness > 0 else gammainc(shape, place))
