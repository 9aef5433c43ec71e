"""Kernels straight from their formulas, in decimal arithmetic of 100 digits.

Floats become decimals without rounding, so that a value is right to far more digits than any shift or
power of the features in a test can cancel. Arrays are of dtype object.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import cache

import numpy as np
import scipy.sparse as sp

CONTEXT = Context(prec=100, Emin=-999_999_999, Emax=999_999_999)
"""What judges compute in; 100 digits."""
DIGITS_OF_EXP = 60
"""Of exponentials, which cost most and never cancel as powers do."""
ZERO, ONE, HALF = Decimal(0), Decimal(1), Decimal("0.5")

_LEAST_POWER = Decimal(-3000)
"""exp of less is 0 beside anything else in a test."""


def exact(values):
    """Return an array of the same numbers as decimals."""
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    flat = [Decimal(float(value)) for value in values.ravel()]
    numbers = np.empty(len(flat), dtype=object)
    numbers[:] = flat
    return numbers.reshape(values.shape)


def rounded(values):
    """Return an array of decimals as long doubles."""
    with np.errstate(over="ignore"):
        flat = [np.longdouble(str(value)) for value in np.ravel(values)]
    return np.array(flat, dtype=np.longdouble).reshape(np.shape(values))


def table(kernel, X):
    """Return the values of a kernel of the package, with numbers for its parameters, among exact rows."""
    return _TABLES[type(kernel).__name__](kernel, X)


def _pairs(X, function):
    """Return the table of a symmetric function of two rows."""
    values = np.empty((len(X), len(X)), dtype=object)
    for i, x in enumerate(X):
        for j in range(i + 1):
            values[i, j] = values[j, i] = function(x, X[j])
    return values


def _exp(power):
    if power < _LEAST_POWER:
        return ZERO
    with localcontext(CONTEXT) as context:
        context.prec = DIGITS_OF_EXP
        return power.exp()


def _square(values):
    return sum((value * value for value in values), ZERO)


def _chi(x, z):
    return sum(((a - b) * (a - b) / (a + b) for a, b in zip(x, z, strict=True) if a + b), ZERO)


def _factor(kernel):
    sigma = getattr(kernel, "sigma", None)
    return Decimal(float(kernel.gamma)) if sigma is None else HALF / Decimal(float(sigma)) ** 2


def _polynomial(kernel, X):
    gamma, coef0 = _factor(kernel), Decimal(float(kernel.coef0))
    return (gamma * (X @ X.T) + coef0) ** int(kernel.degree)


def _rbf(kernel, X):
    gamma = _factor(kernel)
    return _pairs(X, lambda x, z: _exp(-gamma * _square(x - z)))


def _laplacian(kernel, X):
    gamma = _factor(kernel)
    return _pairs(X, lambda x, z: _exp(-gamma * sum(map(abs, x - z), ZERO)))


def _chi_squared(kernel, X):
    gamma = _factor(kernel)
    return _pairs(X, lambda x, z: _exp(-gamma * _chi(x, z)))


def _sigmoid(kernel, X):
    gamma, coef0 = _factor(kernel), Decimal(float(kernel.coef0))

    def tanh(x, z):
        power = gamma * (x @ z) + coef0
        small = _exp(-2 * abs(power))
        return (ONE - small) / (ONE + small) * (1 if power >= 0 else -1)

    return _pairs(X, tanh)


def _cosine(_, X):
    lengths = [_square(x).sqrt() or ONE for x in X]
    units = np.array([x / length for x, length in zip(X, lengths, strict=True)], dtype=object)
    return units @ units.T


def _wavelet(kernel, X):
    dilation = Decimal(float(kernel.dilation))

    def waves(x, z):
        u = (x - z) / dilation
        size = _exp(-HALF * _square(u))
        for one in u if size else ():
            size *= cosine(Decimal("1.75") * one)
        return size

    return _pairs(X, waves)


def cosine(angle):
    """Return the cosine of a decimal, by the series of a small part of the angle."""
    with localcontext(CONTEXT) as context:
        context.prec = DIGITS_OF_EXP + 20
        halvings = 8
        angle = (angle % (2 * _pi())) / 2**halvings
        term = total = ONE
        for k in range(1, 40):
            term *= -angle * angle / ((2 * k - 1) * (2 * k))
            total += term
        for _ in range(halvings):
            total = 2 * total * total - 1
        return total


@cache
def _pi():
    """Return pi, by Machin's formula."""
    with localcontext(CONTEXT) as context:
        context.prec = 150

        def arctan_of_inverse(n):
            power = total = ONE / n
            for k in range(3, 250, 2):
                power /= -n * n
                total += power / k
            return total

        return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


_TABLES = {
    "Linear": lambda _, X: X @ X.T,
    "Polynomial": _polynomial,
    "RBF": _rbf,
    "Laplacian": _laplacian,
    "Sigmoid": _sigmoid,
    "Cosine": _cosine,
    "ChiSquared": _chi_squared,
    "AdditiveChiSquared": lambda _, X: _pairs(X, lambda x, z: -_chi(x, z)),
    "HistogramIntersection": lambda _, X: _pairs(X, lambda x, z: sum(map(min, x, z), ZERO)),
    "Wavelet": _wavelet,
    "Precomputed": lambda _, X: X,
    "KernelSum": lambda kernel, X: table(kernel.left, X) + table(kernel.right, X),
    "KernelProduct": lambda kernel, X: table(kernel.left, X) * table(kernel.right, X),
    "ScaledKernel": lambda kernel, X: Decimal(float(kernel.factor)) * table(kernel.kernel, X),
}
