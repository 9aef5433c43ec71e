"""Kernels that are functions of dot products: linear, polynomial, sigmoid, cosine."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hedgerow._base.parameters import whole_number
from hedgerow._base.state import stateful
from hedgerow.data.rows import Rows
from hedgerow.kernels.base import CoreForm, Matrix, Vector
from hedgerow.kernels.blocks import dots, square_norms
from hedgerow.kernels.vectors import Gamma, GammaKernel, VectorKernel, finite_number, gamma_rule

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]


def _degree(value: Any) -> str | None:
    """Allow degrees that the core can count to."""
    fine = whole_number(1)(value) is None and value < 2**31
    return None if fine else "an integer from 1 to 2**31 - 1"


_POLYNOMIAL = {"degree": _degree, "coef0": finite_number, "gamma": gamma_rule}
_SIGMOID = {"coef0": finite_number, "gamma": gamma_rule}


@stateful()
class Linear(VectorKernel):
    """<x, z>.

    Examples
    --------
    >>> from hedgerow.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def core_form(self) -> CoreForm:
        """Return "linear"."""
        return CoreForm("linear")

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return dots(A, B)

    def _diagonal(self, A: Rows) -> Vector:
        return square_norms(A)


@stateful(_POLYNOMIAL)
class Polynomial(GammaKernel):
    """(gamma <x, z> + coef0)^degree; indefinite if coef0 is negative.

    Parameters
    ----------
    degree : int, default=3
        The degree, at least 1.
    coef0 : float, default=0.0
        The constant; above 0 all lower degrees take part.
    gamma : {"scale", "auto"} or float, default="scale"
        The factor; "scale" is 1 / (n_features * variance of the training rows), "auto"
        1 / n_features.
    """

    _rules: ClassVar = _POLYNOMIAL

    def __init__(self, *, degree: int = 3, coef0: float = 0.0, gamma: Gamma = "scale") -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    @property
    def is_positive_semidefinite(self) -> bool:
        """Whether all coefficients of the polynomial are at least 0."""
        return self.coef0 >= 0

    def core_form(self) -> CoreForm:
        """Return "polynomial", gamma, coef0 and degree."""
        self._check()
        numbers = {"gamma": self._factor, "coef0": float(self.coef0), "degree": float(self.degree)}
        return CoreForm("polynomial", numbers)

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return self._power(dots(A, B))

    def _diagonal(self, A: Rows) -> Vector:
        return self._power(square_norms(A))

    def _power(self, products: Matrix) -> Matrix:
        powers: Matrix = (self._factor * products + self.coef0) ** self.degree
        return powers


@stateful(_SIGMOID)
class Sigmoid(GammaKernel):
    """tanh(gamma <x, z> + coef0), which is indefinite: a fit with it has no certificate.

    Parameters
    ----------
    coef0 : float, default=0.0
        The constant.
    gamma : {"scale", "auto"} or float, default="scale"
        The factor, as in :class:`Polynomial`.
    """

    _rules: ClassVar = _SIGMOID

    def __init__(self, *, coef0: float = 0.0, gamma: Gamma = "scale") -> None:
        self.coef0 = coef0
        self.gamma = gamma

    @property
    def is_positive_semidefinite(self) -> bool:
        """No."""
        return False

    def core_form(self) -> CoreForm:
        """Return "sigmoid", gamma and coef0."""
        self._check()
        return CoreForm("sigmoid", {"gamma": self._factor, "coef0": float(self.coef0)})

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return np.tanh(self._factor * dots(A, B) + self.coef0)

    def _diagonal(self, A: Rows) -> Vector:
        return np.tanh(self._factor * square_norms(A) + self.coef0)


@stateful()
class Cosine(VectorKernel):
    """<x, z> / (|x| |z|), and 0 where a row is 0."""

    def core_form(self) -> CoreForm:
        """Return "cosine"."""
        return CoreForm("cosine")

    def _values(self, A: Rows, B: Rows) -> Matrix:
        return dots(A, B) / (_lengths(A)[:, None] * _lengths(B))

    def _diagonal(self, A: Rows) -> Vector:
        return np.where(square_norms(A) > 0, 1.0, 0.0)


def _lengths(A: Rows) -> Vector:
    """Return |a|, and 1 for rows of zeros, whose dot products are 0 whatever they are divided by."""
    lengths = np.sqrt(square_norms(A))
    return np.where(lengths > 0, lengths, 1.0)
