"""Kernels of histograms, whose features are not negative: chi-squared and intersection."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from hedgerow._base.state import stateful
from hedgerow.data.rows import Rows, read_rows
from hedgerow.kernels.base import CoreForm, Matrix, Vector
from hedgerow.kernels.blocks import column_pairs, read_finite, refuse_negative
from hedgerow.kernels.vectors import Gamma, GammaKernel, VectorKernel, gamma_rule

__all__ = ["AdditiveChiSquared", "ChiSquared", "HistogramIntersection"]

_CHI_SQUARED = {"gamma": gamma_rule}


class _OfHistograms(VectorKernel):
    """A kernel of rows without negative numbers."""

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:
        """Return a new kernel for these training rows, of which none may hold a negative number."""
        refuse_negative(read_rows(X)[0], type(self).__name__)
        return super().resolved(X, sample_weight)

    def block(self, rows: Rows, others: Rows) -> Matrix:
        """Return k(x, z) for each of some rows, of which none may hold a negative number, and each of others."""
        refuse_negative(rows, type(self).__name__)
        return super().block(rows, others)

    def _read(self, X: Any) -> Rows:
        rows = read_finite(X)
        refuse_negative(rows, type(self).__name__)
        return rows


@stateful(_CHI_SQUARED)
class ChiSquared(_OfHistograms, GammaKernel):
    """exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i)), where 0 / 0 is 0.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default=1.0
        The factor, as in :class:`RBF`.
    """

    _rules: ClassVar = _CHI_SQUARED

    def __init__(self, *, gamma: Gamma = 1.0) -> None:
        self.gamma = gamma

    def core_form(self) -> CoreForm:
        """Return "chi2" and gamma."""
        self._check()
        return CoreForm("chi2", {"gamma": self._factor})

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return np.exp(-self._factor * _chi_squared(A, B))


@stateful()
class AdditiveChiSquared(_OfHistograms):
    """-sum_i (x_i - z_i)^2 / (x_i + z_i), where 0 / 0 is 0.

    It is indefinite, but positive semidefinite for coefficients that sum to 0, which is what a free
    intercept makes of those of a support vector machine. So such a machine is certified as any other.
    """

    @property
    def is_positive_semidefinite(self) -> bool:
        """No: all of its diagonal is 0."""
        return False

    @property
    def is_conditionally_positive_semidefinite(self) -> bool:
        """Yes: it is minus a sum of squared distances, one a feature."""
        return True

    def core_form(self) -> CoreForm:
        """Return "additive_chi2"."""
        return CoreForm("additive_chi2")

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return -_chi_squared(A, B)

    def _diagonal(self, A: Rows) -> Vector:
        return np.zeros(A.shape[0])


@stateful()
class HistogramIntersection(_OfHistograms):
    """sum_i min(x_i, z_i)."""

    def core_form(self) -> CoreForm:
        """Return "histogram_intersection"."""
        return CoreForm("histogram_intersection")

    def _values(self, A: Rows, B: Rows) -> Matrix:
        values = np.zeros((A.shape[0], B.shape[0]))
        for a, b in column_pairs(A, B):
            values += np.minimum(a, b)
        return values

    def _diagonal(self, A: Rows) -> Vector:
        return np.asarray(A.sum(axis=1), dtype=np.float64).ravel()


def _chi_squared(A: Rows, B: Rows) -> Matrix:
    """Return sum_i (a_i - b_i)^2 / (a_i + b_i)."""
    values = np.zeros((A.shape[0], B.shape[0]))
    for a, b in column_pairs(A, B):
        sums = a + b
        # Two features that are 0 differ by nothing, whatever that is divided by.
        values += np.square(a - b) / np.where(sums > 0, sums, 1.0)
    return values
