"""A table from a file: named columns or a sparse matrix, labels, and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Features", "Table", "missing_mask"]

Features: TypeAlias = dict[str, NDArray[Any]] | sp.csr_matrix
"""Columns by name (float64, or objects that are str or None), or a CSR matrix."""


@dataclass(frozen=True)
class Table:
    """A table that was read from a file.

    Attributes
    ----------
    X : dict of str to ndarray, or csr_matrix
        The features. In a dictionary a column of numbers is float64 with NaN where a value is
        missing; a column of text is an object array of str with None where a value is missing.
    y : ndarray or None
        The labels, integers where they are written as whole numbers; None if no target was asked
        for.
    target : str, int or None
        The column the labels came from: its name, or its position in a file without a header.
    notes : tuple of str
        What was inferred about the file, one sentence each.
    """

    X: Features
    y: NDArray[Any] | None = None
    target: str | int | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns in X by name; a sparse matrix has none."""
        return self.X if isinstance(self.X, dict) else {}

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        if not isinstance(self.X, dict):
            return int(self.X.shape[0])
        columns = [*self.X.values(), *([] if self.y is None else [self.y])]
        return len(columns[0])

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns in X; None for a sparse matrix, whose columns have none."""
        return list(self.X) if isinstance(self.X, dict) else None


def missing_mask(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each value of a column of a Table whether it is missing."""
    if values.dtype == object:
        return np.fromiter((value is None for value in values), np.bool_, len(values))
    return np.asarray(np.isnan(values))
