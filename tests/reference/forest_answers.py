"""Slow, obvious answers of forests, row by row and tree by tree, from leaves, samples and targets alone."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np


def proximity(leaves, others, may_count=None):
    """The share of trees in which two rows share a leaf, of those that count for both."""
    shares = np.empty((len(leaves), len(others)))
    for i, a in enumerate(leaves):
        for j, b in enumerate(others):
            trees = [
                t
                for t in range(len(a))
                if may_count is None or (may_count[i][t] and may_count[j][t])
            ]
            shares[i, j] = np.mean([a[t] == b[t] for t in trees]) if trees else np.nan
    return shares


def left_out(forest, n_rows):
    """For every row whether each tree's sample lacks it."""
    samples = [set(rows.tolist()) for rows in forest.estimators_samples_]
    return [[i not in sample for sample in samples] for i in range(n_rows)]


def quantiles(forest, fit, X, asked, may_count=None):
    """Meinshausen's quantiles, one output; shares are fractions, so that nothing is rounded."""
    X_fit, y, weights = fit
    leaves_of_fit, leaves = forest.apply(X_fit), forest.apply(X)
    draws = [Counter(rows.tolist()) for rows in forest.estimators_samples_]
    found = np.full((len(X), len(asked)), np.nan)
    for i, of_row in enumerate(leaves):
        trees = [t for t in range(len(of_row)) if may_count is None or may_count[i][t]]
        if not trees:
            continue
        shares = Counter()
        for t in trees:
            inside = {
                r: n * Fraction(weights[r])
                for r, n in draws[t].items()
                if leaves_of_fit[r, t] == of_row[t] and weights[r] > 0
            }
            total = sum(inside.values())
            for r, weight in inside.items():
                shares[y[r]] += weight / total / len(trees)
        found[i] = [least_reaching(shares, Fraction(q) - Fraction(1, 10**12)) for q in asked]
    return found


def least_reaching(shares, goal):
    """The least value up to which the shares sum to the goal."""
    total = Fraction(0)
    for value in sorted(shares):
        total += shares[value]
        if total >= goal:
            return value
    raise AssertionError("shares sum to less than 1")


def jackknife_variance(counts, answers, count_variance):
    """The infinitesimal jackknife of one answer: counts[b][i] of unit i in tree b, answers[b]."""
    n_trees, n_units = np.shape(counts)
    mean = sum(answers) / n_trees
    total = 0.0
    for i in range(n_units):
        mean_count = sum(counts[b][i] for b in range(n_trees)) / n_trees
        covariance = sum((counts[b][i] - mean_count) * (answers[b] - mean) for b in range(n_trees))
        total += (covariance / n_trees) ** 2
    noise = count_variance / n_trees**2 * sum((answer - mean) ** 2 for answer in answers)
    return total, max(total - noise, 0.0)
