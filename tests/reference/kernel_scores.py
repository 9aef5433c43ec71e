"""Scores of kernel machines from all kernel values at once, a plane at a time."""

from __future__ import annotations

import numpy as np

from hedgerow.reduction import pairs_of_classes


def planes_of(coef, n_support):
    """The coefficients of each plane of pairs of classes, laid out as LIBSVM does."""
    classes = np.repeat(np.arange(len(n_support)), n_support)
    planes = []
    for i, j in pairs_of_classes(len(n_support)):
        plane = np.zeros(coef.shape[1])
        for k, c in enumerate(classes):
            if c == i:
                plane[k] = coef[j - 1, k]
            elif c == j:
                plane[k] = coef[i, k]
        planes.append(plane)
    return np.array(planes)


def scores(values, planes):
    """Sums of the kernel values of rows (lines) with support vectors (columns), a column a plane."""
    return np.array([[sum(line * plane) for plane in planes] for line in values])


def votes(scores_of_pairs, n_classes):
    """A score a class: the votes, and less than 1/3 that grows with the sum of its scores."""
    counts, sums = np.zeros((2, len(scores_of_pairs), n_classes))
    for i, scores_of_row in enumerate(scores_of_pairs):
        for score, (j, k) in zip(scores_of_row, pairs_of_classes(n_classes), strict=True):
            counts[i, k if score > 0 else j] += 1
            sums[i, k] += score
            sums[i, j] -= score
    return counts + sums / (3 * (np.abs(sums) + 1))
