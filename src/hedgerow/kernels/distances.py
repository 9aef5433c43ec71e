"""Kernels that are functions of the difference of two rows: Gaussian, Laplacian, wavelet."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from hedgerow._base.parameters import any_of, none, real_number
from hedgerow._base.state import stateful
from hedgerow.data.rows import Rows
from hedgerow.errors import ParameterError
from hedgerow.kernels.base import CoreForm, Matrix, Vector
from hedgerow.kernels.blocks import column_pairs, paired_with_columns, squared_distances
from hedgerow.kernels.vectors import Gamma, GammaKernel, VectorKernel, gamma_rule

__all__ = ["RBF", "Laplacian", "Wavelet"]

_POSITIVE = real_number(0.0, open_low=True)
_RBF = {"gamma": gamma_rule, "sigma": any_of(none, _POSITIVE)}
_LAPLACIAN = {"gamma": gamma_rule}
_WAVELET = {"dilation": _POSITIVE}
_FREQUENCY = 1.75
"""The frequency of the mother wavelet cos(1.75 u) exp(-u^2 / 2)."""


class _OfDifferences(VectorKernel):
    """A kernel that is a function of x - z."""

    @property
    def is_translation_invariant(self) -> bool:
        """Whether k(x + c, z + c) = k(x, z) for every c: it is."""
        return True


@stateful(_RBF)
class RBF(_OfDifferences, GammaKernel):
    """The Gaussian kernel exp(-gamma |x - z|^2) = exp(-|x - z|^2 / (2 sigma^2)).

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default="scale"
        The factor; "scale" is 1 / (n_features * variance of the training rows), "auto"
        1 / n_features.
    sigma : float, optional
        The width, instead of gamma: gamma is 1 / (2 sigma^2). Giving both is an error.

    Examples
    --------
    >>> from hedgerow.kernels import RBF
    >>> RBF(sigma=5.0)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.6065]])
    >>> RBF().resolved([[0.0, 0.0], [2.0, 2.0]])
    RBF(gamma=0.5)
    """

    _rules: ClassVar = _RBF

    def __init__(self, *, gamma: Gamma = "scale", sigma: float | None = None) -> None:
        self.gamma = gamma
        self.sigma = sigma

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:
        """Return a new kernel whose width is the number it stands for on these training rows."""
        self._check()
        if self.sigma is None:
            return super().resolved(X, sample_weight)
        return type(self)(sigma=self.sigma)

    def core_form(self) -> CoreForm:
        """Return "rbf" and gamma."""
        self._check()
        return CoreForm("rbf", {"gamma": self._factor})

    @property
    def _factor(self) -> float:
        return super()._factor if self.sigma is None else 0.5 / float(self.sigma) ** 2

    def _check(self) -> None:
        super()._check()
        if self.sigma is not None and self.gamma != "scale":
            msg = (
                f"gamma={self.gamma!r} and sigma={self.sigma!r} of RBF say the same thing twice; "
                "give one of them"
            )
            raise ParameterError(msg)

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return np.exp(-self._factor * squared_distances(A, B))


@stateful(_LAPLACIAN)
class Laplacian(_OfDifferences, GammaKernel):
    """exp(-gamma sum_i |x_i - z_i|).

    Parameters
    ----------
    gamma : {"scale", "auto"} or float, default="auto"
        The factor, as in :class:`RBF`.
    """

    _rules: ClassVar = _LAPLACIAN

    def __init__(self, *, gamma: Gamma = "auto") -> None:
        self.gamma = gamma

    def core_form(self) -> CoreForm:
        """Return "laplacian" and gamma."""
        self._check()
        return CoreForm("laplacian", {"gamma": self._factor})

    def _values(self, A: Rows, B: Rows) -> Matrix:
        distances: Matrix = cdist(*paired_with_columns(A, B), "cityblock")
        return np.exp(-self._factor * distances)


@stateful(_WAVELET)
class Wavelet(_OfDifferences):
    """prod_i h((x_i - z_i) / dilation) with h(u) = cos(1.75 u) exp(-u^2 / 2).

    Parameters
    ----------
    dilation : float, default=1.0
        How far the wavelet is stretched.
    """

    _rules: ClassVar = _WAVELET

    def __init__(self, *, dilation: float = 1.0) -> None:
        self.dilation = dilation

    def core_form(self) -> CoreForm:
        """Return "wavelet" and dilation."""
        self._check()
        return CoreForm("wavelet", {"dilation": float(self.dilation)})

    def _values(self, A: Rows, B: Rows) -> Matrix:
        waves, squares = np.ones((A.shape[0], B.shape[0])), np.zeros((A.shape[0], B.shape[0]))
        for a, b in column_pairs(A, B):
            u = (a - b) / self.dilation
            waves *= np.cos(_FREQUENCY * u)
            squares += u * u
        return waves * np.exp(-0.5 * squares)
