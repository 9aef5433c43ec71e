"""Kernels of objects: strings, trees, graphs, sequences; computed from Python, in blocks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from hedgerow._base.parameters import Rule, shown
from hedgerow._base.sparse import checked_sparse
from hedgerow.data.items import Items, any_item, read_items
from hedgerow.errors import DataError
from hedgerow.kernels.base import Kernel, Matrix, Vector
from hedgerow.monitor import stop_if_asked

__all__ = [
    "BlockKernel",
    "Indices",
    "ObjectKernel",
    "float64",
    "n_rows_of",
    "objects_problem",
    "row_blocks",
    "rule_of_kept",
    "values_of_pairs",
]

Indices = NDArray[np.intp]

_VALUES = 2**22
"""Kernel values asked for at a time: 32 MB."""
_SQUARE = 16
"""Rows of the squares whose diagonals make up the diagonal."""


class BlockKernel(Kernel):
    """A kernel whose values are computed from two blocks of rows, whatever holds these."""

    def __call__(self, X: Any, Y: Any = None) -> Matrix:
        """Return k(x, z) for each row x of X and each row z of Y, or of X again."""
        self._check()
        rows = self._read(X)
        return self._table(rows, rows if Y is None else self._read(Y))

    def diagonal(self, X: Any) -> Vector:
        """Return k(x, x) for each row x, from small squares along the diagonal."""
        self._check()
        rows = self._read(X)
        numbers = np.arange(n_rows_of(rows))
        parts = (_safe_indexing(rows, numbers[some]) for some in _slices(len(numbers), _SQUARE))
        return np.concatenate([self._values(part, part).diagonal() for part in parts])

    def rows(self, X: Any, indices: ArrayLike) -> Matrix:
        """Return the rows of ``self(X)`` with these indices, without the others."""
        self._check()
        rows = self._read(X)
        return self._table(_safe_indexing(rows, np.asarray(indices, dtype=np.intp)), rows)

    def _table(self, rows: Any, others: Any) -> Matrix:
        """Return the values, some rows at a time."""
        n, m = n_rows_of(rows), n_rows_of(others)
        values, numbers = np.empty((n, m)), np.arange(n)
        for some in row_blocks(n, m):
            part = rows if len(values[some]) == n else _safe_indexing(rows, numbers[some])
            values[some] = self._values(part, others)
        return values

    @abstractmethod
    def _read(self, X: Any) -> Any:
        """Return X as something whose rows can be picked."""

    @abstractmethod
    def _values(self, rows: Any, others: Any) -> Matrix:
        """Return the values of two blocks."""


class ObjectKernel(BlockKernel):
    """The base of kernels of objects: strings, trees, graphs, sequences.

    A class of its own has ``value``, or ``values`` where blocks are computed faster than pair by pair,
    and may say in ``item_problem`` what its objects must be. Its machines take objects in a list, a tuple
    or an array, ask for blocks of values, and keep the support vectors as a list of objects.

    Examples
    --------
    >>> from hedgerow import SVC
    >>> from hedgerow.kernels import ObjectKernel
    >>> class CommonLetters(ObjectKernel):
    ...     def value(self, x, z):
    ...         return len(set(x) & set(z))
    ...     def item_problem(self, item):
    ...         return None if isinstance(item, str) else "a string"
    >>> words = ["hedge", "edge", "row", "crow"]
    >>> CommonLetters()(words)
    array([[4., 3., 0., 0.],
           [3., 3., 0., 0.],
           [0., 0., 3., 3.],
           [0., 0., 3., 4.]])
    >>> SVC(kernel=CommonLetters()).fit(words, [0, 0, 1, 1]).predict(["ledge", "arrow"])
    array([0, 1])
    """

    @property
    def reads(self) -> frozenset[str]:
        """Objects."""
        return frozenset({"objects"})

    def value(self, x: Any, z: Any) -> float:
        """Return k(x, z) for two objects.

        Parameters
        ----------
        x, z : object
            The objects.

        Returns
        -------
        float
            The value.
        """
        msg = f"{type(self).__name__} has neither value(x, z) nor values(rows, others)"
        raise NotImplementedError(msg)

    def values(self, rows: list[Any], others: list[Any]) -> ArrayLike:
        """Return k(x, z) for each x of a list of objects and each z of another.

        Parameters
        ----------
        rows, others : list
            The objects, which have been checked.

        Returns
        -------
        array-like of shape (len(rows), len(others))
            The values, by ``value`` unless a class has a faster way.
        """
        return values_of_pairs(self.value, rows, others, type(self).__name__)

    def item_problem(self, item: Any) -> str | None:  # noqa: ARG002
        """Return None if the kernel is defined on this object, else what an object must be.

        Parameters
        ----------
        item : object
            A row of X.

        Returns
        -------
        str or None
            Such as "a string", for the message that refuses the row.
        """
        return None

    def item_rule(self, X: Any) -> Rule:  # noqa: ARG002
        """Return :meth:`item_problem`: rows are objects, whatever holds them."""
        return self.item_problem

    def block(self, rows: Items, others: Items) -> Matrix:
        """Return k(x, z) for each of some objects and each of others, all of which have been checked."""
        return self._table(rows, others)

    def _read(self, X: Any) -> Items:
        return read_items(X, self.item_problem)

    def _values(self, rows: Items, others: Items) -> Matrix:
        found = self.values(list(rows), list(others))
        return float64(found, (len(rows), len(others)), type(self).__name__)


def values_of_pairs(
    function: Callable[[Any, Any], Any], rows: list[Any], others: list[Any], who: str
) -> Matrix:
    """Return the number that a function makes of each of some objects with each of others."""
    values = np.empty((len(rows), len(others)))
    for i, x in enumerate(rows):
        stop_if_asked()  # as a row may take Python long
        for j, z in enumerate(others):
            try:
                values[i, j] = function(x, z)
            except (TypeError, ValueError, LookupError, AttributeError) as error:
                msg = f"{who} cannot compare {shown(x)} with {shown(z)}: {error}"
                raise DataError(msg) from error
    return values


def rule_of_kept(kernel: Kernel, vectors: Any) -> Rule | None:
    """Return the rule that new rows must meet where a model keeps these: None if they are vectors."""
    return kernel.item_rule(vectors) or any_item if isinstance(vectors, list) else None


def objects_problem(kernel: Kernel, objects: list[Any]) -> str | None:
    """Say why a model could not keep these objects for this kernel."""
    if "objects" not in kernel.reads:
        return f"support_vectors_ are objects, which {type(kernel).__name__} does not take"
    rule = rule_of_kept(kernel, objects)
    hints = (rule(item) for item in objects if rule is not None)
    wrong = next((hint for hint in hints if hint is not None), None)
    return None if wrong is None else f"support_vectors_ has an object that is not {wrong}"


def n_rows_of(X: Any) -> int:
    """Return how many rows there are."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of the rows whose values with all columns fit into the room there is."""
    return _slices(n_rows, max(1, _VALUES // max(n_columns, 1)))


def _slices(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most this size that cover n rows."""
    return (slice(first, min(first + size, n)) for first in range(0, n, size))


def float64(
    values: Any,
    shape: tuple[int, int] | None = None,
    who: Any = None,
    remedy: str = "return one value for each pair of rows",
) -> Matrix:
    """Return values as a float64 array of its own, or refuse another shape than was asked for."""
    if sp.issparse(values):
        values = checked_sparse(values, "the table of kernel values").toarray()
    table = np.array(values, dtype=np.float64)
    if shape is not None and table.shape != shape:
        msg = (
            f"the kernel {who!r} returned shape {table.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; {remedy}"
        )
        raise DataError(msg)
    return table
