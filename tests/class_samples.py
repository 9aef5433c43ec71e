"""Small data sets of several classes, for tests of machines that take all of them at once."""

from __future__ import annotations

import numpy as np

from hedgerow.problems.kernel_crammer_singer import KernelCrammerSingerProblem
from tests.kernel_samples import gram_of


def clouds(n=60, n_classes=4, seed=0, d=2, apart=1.5):
    """Round classes that overlap, numbered from 0, each with a row at least."""
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    angle = 2.0 * np.pi * y / n_classes
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1) * apart
    X = random.normal(size=(n, d))
    X[:, :2] += centres
    return X, y


def problem_of(X, y, c, kernel="rbf", *, has_intercept=True, n_classes=None, n_threads=2):
    """The machine of Crammer and Singer on some rows."""
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    gram = gram_of(X, kernel, n_threads)
    return KernelCrammerSingerProblem(
        gram, y.astype(np.int64), c, n_classes, has_intercept=has_intercept
    )
