"""Groups of correlated features, which share their importance.

Two numeric columns are compared by Spearman's rank correlation, a categorical column with one of
numbers by the correlation ratio of its ranks, two of categories by Cramer's V; the last two corrected
for the number of categories (Bergsma 2013). All are between 0 and 1 in size, and 1 for columns that
tell each other.

Groups are made by complete linkage: within a group *every* pair is correlated. Single linkage would
chain features that have nothing to do with each other, and then none of them could stand for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from hedgerow import _core
from hedgerow.data.rows import Rows, dense
from hedgerow.monitor import current

__all__ = ["MOST_FEATURES", "CorrelatedFeatures", "correlated_features"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]
Pairs: TypeAlias = tuple[Indices, Indices, Vector]
"""Pairs of features, and how strongly each pair is correlated."""

Coded: TypeAlias = tuple[int, Indices, int]
"""A categorical column: its place, their numbers row by row, and how many there are."""

MOST_FEATURES = 5000
"""Above so many, correlations are not looked for."""
MOST_ROWS = 10_000
FEWEST_ROWS = 1000
MOST_VALUES = 2**24
"""Rows are taken as long as there are no more values than that."""
MOST_CATEGORICAL = 200
"""Of so many categorical columns correlations are looked for; of those beyond, not."""
MOST_CATEGORIES = 1000
"""A column of more categories names its rows, as it were, and is left out."""

_WIDTH = 512
_ROUNDING = 1e-9
"""Products are BLAS's, whose last digits depend on its threads; no group may depend on them."""


@dataclass(frozen=True)
class CorrelatedFeatures:
    """Features of which every two are correlated, and the smallest of these correlations."""

    features: tuple[int, ...]
    least: float


def correlated_features(
    rows: Rows, n_categories: Indices, threshold: float
) -> list[CorrelatedFeatures]:
    """Return groups of features that are correlated at least so strongly, by their first features.

    It leaves by Stopped if the running task must stop.
    """
    sample = dense(rows[_sample(*rows.shape)])
    numeric = np.flatnonzero(n_categories == 0)
    ranks = _unit_ranks(sample[:, numeric])
    found = [_among_numbers(ranks, numeric, threshold)]
    columns = np.flatnonzero(n_categories > 0)[:MOST_CATEGORICAL]
    codes: list[Coded] = [(int(j), *_codes(sample[:, j])) for j in columns]
    usable = [each for each in codes if 2 <= each[2] <= min(MOST_CATEGORIES, len(sample) // 2)]
    for place, column in enumerate(usable):
        current().check()
        found.append(_with_numbers(column, ranks, numeric, threshold))
        found.append(_with_categories(column, usable[place + 1 :], threshold))
    a, b, strength = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return _groups((a, b, strength), len(n_categories), threshold)


def _sample(n_rows: int, n_features: int) -> Indices:
    """Return the rows that are looked at: the same ones whenever there are as many."""
    n = min(MOST_ROWS, max(FEWEST_ROWS, MOST_VALUES // n_features))
    if n_rows <= n:
        return np.arange(n_rows)
    return np.sort(_core.system.random_permutation(0, 0, n_rows)[:n])


# ------------------------------------------------------------------------------------- pairs


def _unit_ranks(columns: NDArray[np.generic]) -> Vector:
    """Return ranks around 0, of length 1 a column; what is missing, and what is constant, is 0."""
    ranks = np.empty(columns.shape)
    for begin in range(0, columns.shape[1], _WIDTH):
        current().check()
        part = columns[:, begin : begin + _WIDTH]
        ranks[:, begin : begin + _WIDTH] = rankdata(part, axis=0, nan_policy="propagate")
    for j in np.flatnonzero(np.isnan(ranks).any(axis=0)):
        there = ~np.isnan(columns[:, j])
        ranks[:, j] = np.nan
        ranks[there, j] = rankdata(columns[there, j])
    n_there = np.maximum(np.count_nonzero(~np.isnan(ranks), axis=0), 1)
    ranks -= np.nansum(ranks, axis=0) / n_there
    ranks[np.isnan(ranks)] = 0.0
    lengths = np.sqrt((ranks**2).sum(axis=0))
    ranks /= np.where(lengths > 0, lengths, 1.0)
    return ranks


def _among_numbers(ranks: Vector, numeric: Indices, threshold: float) -> Pairs:
    """Return the correlated pairs of numeric columns, a block of products at a time."""
    found: list[Pairs] = [_chosen(numeric[:0], numeric[:0], np.empty(0), threshold)]
    for begin in range(0, ranks.shape[1], _WIDTH):
        current().check()
        products = np.abs(ranks[:, begin : begin + _WIDTH].T @ ranks[:, begin:])
        a, b = np.nonzero(products >= threshold - _ROUNDING)
        a, b = a[a < b], b[a < b]
        found.append((numeric[begin + a], numeric[begin + b], products[a, b]))
    first, second, strength = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, strength


def _codes(column: NDArray[np.generic]) -> tuple[Indices, int]:
    """Return the categories of a column by numbers, and how many there are; missing is one more."""
    values, codes = np.unique(column, return_inverse=True)
    return codes.reshape(-1).astype(np.int64), len(values)


def _with_numbers(column: Coded, ranks: Vector, numeric: Indices, threshold: float) -> Pairs:
    """Return the numeric columns whose ranks a categorical column tells."""
    j, codes, n_codes = column
    n = len(codes)
    is_in = sp.csr_array((np.ones(n), (codes, np.arange(n))), shape=(n_codes, n))
    sums = is_in @ ranks
    explained = (sums**2 / np.bincount(codes)[:, None]).sum(axis=0)
    corrected = 1.0 - (1.0 - explained) * (n - 1) / (n - n_codes)
    strength = np.sqrt(np.clip(corrected, 0.0, 1.0))
    return _chosen(np.full(len(numeric), j), numeric, strength, threshold)


def _with_categories(column: Coded, others: list[Coded], threshold: float) -> Pairs:
    """Return those of other categorical columns that go with one of them."""
    j, codes, n_codes = column
    strength = np.array([_cramers_v(codes, n_codes, theirs, n) for _, theirs, n in others])
    places = np.array([k for k, _, _ in others], dtype=np.int64)
    return _chosen(np.full(len(others), j), places, strength.astype(np.float64), threshold)


def _cramers_v(a: Indices, n_a: int, b: Indices, n_b: int) -> float:
    """Return Cramer's V, corrected for what independent columns would have by chance."""
    n = len(a)
    table = np.bincount(a * n_b + b, minlength=n_a * n_b).reshape(n_a, n_b)
    expected = table.sum(axis=1)[:, None] * table.sum(axis=0)
    phi = (table**2 / expected).sum() - 1.0
    phi = max(phi - (n_a - 1) * (n_b - 1) / (n - 1), 0.0)
    least = min(k - (k - 1) ** 2 / (n - 1) for k in (n_a, n_b)) - 1.0
    return float(min(np.sqrt(phi / least), 1.0)) if least > 0 else 0.0


def _chosen(a: Indices, b: Indices, strength: Vector, threshold: float) -> Pairs:
    is_strong = strength >= threshold - _ROUNDING
    return a[is_strong], b[is_strong], strength[is_strong]


# ------------------------------------------------------------------------------------- groups


def _groups(pairs: Pairs, n_features: int, threshold: float) -> list[CorrelatedFeatures]:
    """Return the groups in which every pair is correlated."""
    a, b, strength = pairs
    graph = sp.coo_array((strength, (a, b)), shape=(n_features, n_features)).tocsr()
    _, part = connected_components(graph, directed=False)
    touched = np.unique(np.concatenate([a, b]))
    order = touched[np.argsort(part[touched], kind="stable")]
    ends = np.flatnonzero(np.diff(part[order])) + 1
    found: list[CorrelatedFeatures] = []
    for members in np.split(order, ends) if len(order) else []:
        within = graph[members][:, members].toarray()
        found += _linked(members, np.maximum(within, within.T), threshold)
    return sorted(found, key=lambda group: group.features)


def _linked(members: Indices, strength: Vector, threshold: float) -> list[CorrelatedFeatures]:
    """Return the groups within some features; 0 is the strength of pairs that are not correlated."""
    distance = 1.0 - strength
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(np.maximum(distance, 0.0), checks=False), "complete")
    label = fcluster(tree, 1.0 - threshold + _ROUNDING, "distance")
    found = []
    for group in np.unique(label):
        inside = np.flatnonzero(label == group)
        if len(inside) > 1:
            pairs = strength[np.ix_(inside, inside)][np.triu_indices(len(inside), 1)]
            features = tuple(members[inside].tolist())
            found.append(CorrelatedFeatures(features, float(min(pairs.min(), 1.0))))
    return found
