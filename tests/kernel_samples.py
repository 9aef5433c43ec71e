"""Small data sets and the core's kernels, for tests of kernel machines."""

from __future__ import annotations

import numpy as np

from hedgerow import _core
from hedgerow.data.rows import matrix_of
from hedgerow.kernels.gram import MatrixGram

KERNELS = {
    "linear": _core.kernel.Kernel.linear(),
    "polynomial": _core.kernel.Kernel.polynomial(0.5, 1.5, 3),
    "rbf": _core.kernel.Kernel.rbf(0.7),
    "sigmoid": _core.kernel.Kernel.sigmoid(0.3, -0.2),
    "cosine": _core.kernel.Kernel.cosine(),
    "laplacian": _core.kernel.Kernel.laplacian(0.4),
    "additive_chi_squared": _core.kernel.Kernel.additive_chi2(),
    "chi_squared": _core.kernel.Kernel.chi2(0.6),
    "intersection": _core.kernel.Kernel.histogram_intersection(),
    "wavelet": _core.kernel.Kernel.wavelet(2.0),
}
"""The kernels of tests.reference.kernels, with the same parameters."""


def blobs(n, seed=0, overlap=1.5, d=2):
    """Two round classes that overlap, +1 and -1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, d)) + (y / overlap)[:, None], y


def waves(n, seed=0):
    """A noisy wave to follow."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 6, size=(n, 1)), axis=0)
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)


def gram_of(X, kernel="rbf", n_threads=2):
    """The Gram matrix of a kernel by name, or of one of the core's."""
    core = KERNELS[kernel] if isinstance(kernel, str) else kernel
    return MatrixGram(core, matrix_of(X), n_threads)
