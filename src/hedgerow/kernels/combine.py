"""Sums, products and multiples of kernels."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._base.parameters import Rule, real_number
from hedgerow._base.state import stateful
from hedgerow.errors import ParameterError
from hedgerow.kernels.base import CoreForm, Kernel, Matrix, Vector

__all__ = ["KernelProduct", "KernelSum", "ScaledKernel"]


def _a_kernel(value: Any) -> str | None:
    """Allow kernels."""
    return None if isinstance(value, Kernel) else "a kernel"


_PAIR = {"left": _a_kernel, "right": _a_kernel}
_SCALED = {"kernel": _a_kernel, "factor": real_number(0.0, open_low=True)}


_WORDS = {"table": "a table of kernel values", "vectors": "vectors", "objects": "objects"}


def _in_words(reads: frozenset[str]) -> str:
    """Return what a kernel reads."""
    return " or ".join(words for kind, words in _WORDS.items() if kind in reads) or "nothing"


class _Pair(Kernel):
    """Two kernels whose values are combined."""

    _rules: ClassVar = _PAIR
    _name: ClassVar[str]
    _combine: ClassVar[np.ufunc]

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def is_positive_semidefinite(self) -> bool:
        """Whether both are."""
        return self.left.is_positive_semidefinite and self.right.is_positive_semidefinite

    @property
    def is_precomputed(self) -> bool:
        """Whether one is; then both must be."""
        return any(getattr(each, "is_precomputed", False) for each in (self.left, self.right))

    @property
    def reads(self) -> frozenset[str]:
        """What both kernels do."""
        return self.left.reads & self.right.reads

    @property
    def is_translation_invariant(self) -> bool:
        """Whether both kernels are."""
        return self.left.is_translation_invariant and self.right.is_translation_invariant

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the combined values for each row of X and each row of Y, or of X again."""
        self._check()
        return self._combined(self.left(X, Y), self.right(X, Y))

    def item_rule(self, X: Any) -> Rule | None:
        """Return the rules of both kernels if either takes the rows of X for objects."""
        self._check()
        rules = [rule for each in (self.left, self.right) if (rule := each.item_rule(X))]
        if not rules or "objects" not in self.reads:
            return None
        return lambda item: next((hint for rule in rules if (hint := rule(item))), None)

    def block(self, rows: Any, others: Any) -> Matrix:
        """Return the combined values for rows and others that have been checked."""
        return self._combined(self.left.block(rows, others), self.right.block(rows, others))

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x."""
        self._check()
        return self._combined(self.left.diagonal(X), self.right.diagonal(X))

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        return self._combined(self.left.rows(X, indices), self.right.rows(X, indices))

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:
        """Return a new kernel of both with numbers that follow from these training rows."""
        self._check()
        left, right = (each.resolved(X, sample_weight) for each in (self.left, self.right))
        return type(self)(left, right)

    def core_form(self) -> CoreForm | None:
        """Return the forms of both, None if only Python can compute one of them."""
        self._check()
        left, right = self.left.core_form(), self.right.core_form()
        if left is None or right is None:
            return None
        return CoreForm(self._name, parts=(left, right))

    def _check(self) -> None:
        """Refuse parameters that break their rules, and kernels that cannot both read X."""
        super()._check()
        problem = self._state_problem()
        if problem is not None:
            msg = (
                f"{type(self).__name__} has parts that cannot read the same X: {problem}; "
                "combine kernels of the same kind"
            )
            raise ParameterError(msg)

    def _state_problem(self) -> str | None:
        """Say if there is nothing that both kernels read."""
        if self.reads:
            return None
        table_first = sorted((self.left, self.right), key=lambda each: "table" not in each.reads)
        (first, its), (second, others) = (
            (type(each).__name__, _in_words(each.reads)) for each in table_first
        )
        return f"{first} takes {its} and {second} {others}"

    def _combined(self, left: Matrix, right: Matrix) -> Matrix:
        """Combine values in the memory of the first."""
        combined: Matrix = self._combine(left, right, out=left)
        return combined


@stateful(_PAIR)
class KernelSum(_Pair):
    """The sum of two kernels, as ``k1 + k2`` makes it.

    Parameters
    ----------
    left, right : Kernel
        The kernels.
    """

    _name = "sum"
    _combine = np.add

    @property
    def is_conditionally_positive_semidefinite(self) -> bool:
        """Whether both are."""
        both = (self.left, self.right)
        return all(each.is_conditionally_positive_semidefinite for each in both)


@stateful(_PAIR)
class KernelProduct(_Pair):
    """The product of two kernels, as ``k1 * k2`` makes it.

    Parameters
    ----------
    left, right : Kernel
        The kernels.
    """

    _name = "product"
    _combine = np.multiply


@stateful(_SCALED)
class ScaledKernel(Kernel):
    """A positive multiple of a kernel, as ``2 * k`` makes it.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    factor : float
        What it is multiplied by.
    """

    _rules: ClassVar = _SCALED

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def is_positive_semidefinite(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.is_positive_semidefinite

    @property
    def is_precomputed(self) -> bool:
        """Whether the kernel is."""
        return bool(getattr(self.kernel, "is_precomputed", False))

    @property
    def reads(self) -> frozenset[str]:
        """What the kernel does."""
        return self.kernel.reads

    @property
    def is_translation_invariant(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.is_translation_invariant

    @property
    def is_conditionally_positive_semidefinite(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.is_conditionally_positive_semidefinite

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return the multiples of the values for each row of X and each of Y, or of X again."""
        self._check()
        return self.factor * self.kernel(X, Y)

    def item_rule(self, X: Any) -> Rule | None:
        """Return the rule of the kernel."""
        return self.kernel.item_rule(X)

    def block(self, rows: Any, others: Any) -> Matrix:
        """Return the multiples of the values for rows and others that have been checked."""
        return self.factor * self.kernel.block(rows, others)

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x."""
        self._check()
        return self.factor * self.kernel.diagonal(X)

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        return self.factor * self.kernel.rows(X, indices)

    def resolved(self, X: Any, sample_weight: Vector | None = None) -> Self:
        """Return a new kernel with numbers that follow from these training rows."""
        self._check()
        return type(self)(self.kernel.resolved(X, sample_weight), self.factor)

    def core_form(self) -> CoreForm | None:
        """Return the factor and the form of the kernel, None if only Python can compute it."""
        self._check()
        form = self.kernel.core_form()
        return None if form is None else CoreForm("scaled", {"factor": float(self.factor)}, (form,))
