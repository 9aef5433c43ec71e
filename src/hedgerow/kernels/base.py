"""What every kernel is: a function of two rows, its algebra, and what the core needs to know of it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from hedgerow._base.parameters import Rule, check_parameters, is_number

__all__ = ["CoreForm", "Kernel", "Matrix", "Vector"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class CoreForm:
    """A kernel as the core knows it.

    Attributes
    ----------
    name : str
        Which formula.
    parameters : mapping of str to float
        Its numbers.
    parts : tuple of CoreForm
        The kernels that a "sum", "product" or "scaled" one is made of.
    """

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)
    parts: tuple[CoreForm, ...] = ()


class Kernel(BaseEstimator, ABC):
    """A kernel k(x, z); ``k1 + k2``, ``k1 * k2`` and ``2 * k`` are kernels too.

    A kernel is cloned and never fitted. Two are equal if they are of one class and have equal
    parameters.
    """

    __array_ufunc__ = None  # so that a number of NumPy's leaves 2 * k to us
    _rules: ClassVar[Mapping[str, Rule]] = {}

    @property
    def is_positive_semidefinite(self) -> bool:
        """Whether no table of values can have a negative eigenvalue, rounding apart."""
        return True

    @property
    def is_precomputed(self) -> bool:
        """Whether X is a table of kernel values in place of rows."""
        return False

    @property
    def reads(self) -> frozenset[str]:
        """What the rows of X may be: "vectors" of numbers, "objects" of any kind, or those of a "table"."""
        return frozenset({"vectors"})

    @property
    def is_translation_invariant(self) -> bool:
        """Whether k(x + c, z + c) = k(x, z) for every c."""
        return False

    @property
    def is_conditionally_positive_semidefinite(self) -> bool:
        """Whether beta' K beta is at least 0 for every table of values K and every beta of sum 0.

        That is enough for machines with a free intercept, whose coefficients sum to 0, and for the ball, which
        knows points by their distances.
        """
        return self.is_positive_semidefinite

    @abstractmethod
    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return k(x, z) for each row x of X and each row z of Y, or of X again."""

    @abstractmethod
    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The values.
        """

    @abstractmethod
    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with the given indices, without computing the others.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        indices : array-like of int
            The indices of the rows.

        Returns
        -------
        ndarray of shape (n_indices, n_samples)
            The kernel values.
        """

    def item_rule(self, X: Any) -> Rule | None:  # noqa: ARG002
        """Return the rule that each row of X must satisfy if rows are objects.

        Parameters
        ----------
        X : object
            The rows.

        Returns
        -------
        rule or None
            The rule; None if rows are vectors.
        """
        return None

    def block(self, rows: Any, others: Any) -> Matrix:
        """Return k(x, z) for two blocks of rows that have already been checked.

        Parameters
        ----------
        rows : object
            The rows x.
        others : object
            The rows z.

        Returns
        -------
        ndarray of shape (n_rows, n_others)
            The kernel values.
        """
        return self(rows, others)

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:  # noqa: ARG002
        """Return a new kernel with numbers in place of parameters that depend on the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The training rows.
        sample_weight : ndarray of shape (n_samples,) or None
            Sample weights.

        Returns
        -------
        Kernel
            The kernel with numeric parameters.
        """
        self._check()
        return copy.copy(self)

    def core_form(self) -> CoreForm | None:
        """Return what the core needs to know, None of a kernel that only Python can compute."""
        return None

    def __add__(self, other: Any) -> Kernel:
        from hedgerow.kernels.combine import KernelSum

        return KernelSum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from hedgerow.kernels.combine import KernelProduct, ScaledKernel

        if isinstance(other, Kernel):
            return KernelProduct(self, other)
        return ScaledKernel(self, float(other)) if is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return self.__mul__(other)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Kernel):
            return NotImplemented
        same: bool = self.get_params(deep=False) == other.get_params(deep=False)
        return same

    # Parameters can be set anew, so that no hash could stay true.
    __hash__ = None  # type: ignore[assignment]

    def _check(self) -> None:
        """Refuse parameters that break their rules."""
        check_parameters(self, self._rules)
