"""Small problems of every awkward shape, and the formats that hold their rows.

All numbers are float32 numbers, so that every format holds the same ones and one optimum judges all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tests.reference.conic import Machine

EPSILON = 0.25
SCALING = 2.5


@dataclass(frozen=True)
class Table:
    """Rows with labels for classifiers, numbers for regressors, and weights."""

    X: np.ndarray
    signs: np.ndarray
    numbers: np.ndarray
    weight: np.ndarray

    def machine(self, loss, intercept="free", penalty="l2", C=1.0):
        """The machine of a loss on this table."""
        n = len(self.weight)
        common = {"intercept": intercept, "scaling": SCALING, "penalty": penalty}
        if loss.endswith("epsilon_insensitive"):
            ones, common["epsilon"] = np.ones(n), EPSILON
            return Machine(self.X, ones, C * self.weight, loss, self.numbers, **common)
        target = np.full(n, 0.0 if loss == "logistic" else 1.0)
        return Machine(self.X, self.signs, C * self.weight, loss, target, **common)

    def one_class(self, nu, intercept="free", shift=0.0):
        """The machine that separates the rows, moved by a shift, from the origin.

        Its intercept is b = -rho, which costs b; without one rho = 1.
        """
        n, is_fixed = len(self.weight), intercept == "none"
        c, target = self.weight / (nu * self.weight.sum()), np.full(n, float(is_fixed))
        how = {"intercept": intercept, "scaling": SCALING, "pull": float(not is_fixed)}
        return Machine(self.X + shift, np.ones(n), c, "hinge", target, **how)


def _table(X, share=0.5, *, weighted=False, seed=1):
    rng = np.random.default_rng(seed)
    n, d = X.shape
    X = X.astype(np.float32).astype(np.float64)
    scores = X @ rng.normal(size=d) / np.sqrt(d) + rng.normal(size=n)
    signs = np.where(scores > np.quantile(scores, 1 - share), 1.0, -1.0)
    weight = 0.5 * rng.integers(0, 4, size=n) if weighted else np.ones(n)
    weight[[np.argmax(signs), np.argmin(signs)]] = 0.5
    return Table(X, signs, scores + 3.0, weight)


def _twins():
    table = _table(np.repeat(np.random.default_rng(3).normal(size=(12, 3)), 2, axis=0))
    signs = np.where(np.arange(24) % 2 == 0, 1.0, -1.0)
    return Table(table.X, signs, table.numbers, table.weight)


def _sparse():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 12)) * (rng.random((30, 12)) < 0.2)
    X[7] = 0.0
    return _table(X)


TABLES = {
    "tall": _table(np.random.default_rng(0).normal(size=(40, 4))),
    "wide": _table(np.random.default_rng(1).normal(size=(12, 30))),
    "weighted, some rows not at all": _table(
        np.random.default_rng(2).normal(size=(36, 5)), weighted=True
    ),
    "contradicting twins": _twins(),
    "sparse, one row empty": _sparse(),
    "three rows against the rest": _table(np.random.default_rng(5).normal(size=(40, 3)), 0.075),
}


def long_indices(matrix):
    """The same CSR matrix with 64-bit indices."""
    long = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return type(matrix)((matrix.data, *long), shape=matrix.shape)


FORMATS = {
    "dense float64": lambda X: X,
    "dense float32": lambda X: X.astype(np.float32),
    "CSR float64": sp.csr_array,
    "CSR float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "CSR float64, 64-bit indices": lambda X: long_indices(sp.csr_array(X)),
    "CSR float32, 64-bit indices": lambda X: long_indices(sp.csr_array(X.astype(np.float32))),
}
