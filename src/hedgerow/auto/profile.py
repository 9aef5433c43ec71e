"""What a table holds: sizes, kinds of columns, missing values, classes, and suspicious columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.auto.columns import Columns, as_columns
from hedgerow.data.io.table import missing_mask

__all__ = ["Profile", "profile_of"]

_MOSTLY_MISSING = 0.5
_MOSTLY_DIFFERENT = 0.9


@dataclass(frozen=True)
class Profile:
    """What a table holds.

    Attributes
    ----------
    n_rows, n_columns, n_text_columns : int
        Sizes; the columns that are not text are numbers.
    n_missing : int
        The number of missing values.
    density : float or None
        The share of values that are not zero, for a sparse matrix.
    classes : dict
        How many rows each label has; empty where there are no labels.
    mostly_missing, row_numbers, identifiers : tuple of str
        Columns with more than half of their values missing; columns that number the rows; text
        columns whose values are nearly all different.
    """

    n_rows: int
    n_columns: int
    n_text_columns: int
    n_missing: int
    density: float | None
    classes: dict[Any, int]
    mostly_missing: tuple[str, ...]
    row_numbers: tuple[str, ...]
    identifiers: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything in a form that JSON can represent.

        Returns
        -------
        dict
            The profile.
        """
        classes = [{"label": label, "rows": n} for label, n in self.classes.items()]
        return asdict(self) | {"classes": classes}


def profile_of(table: Any, y: Any) -> Profile:
    """Return the profile of a table, of any kind that as_columns accepts, and its labels, if any."""
    X = as_columns(table)
    n_rows, n_columns = X.shape
    gaps = [] if X.is_sparse else [missing_mask(X.values(j)) for j in range(n_columns)]
    labels, counts = np.unique([] if y is None else y, return_counts=True)
    return Profile(
        n_rows=n_rows,
        n_columns=n_columns,
        n_text_columns=int(X.is_text.sum()),
        n_missing=int(sum(gap.sum() for gap in gaps)),
        density=X.numbers.nnz / (n_rows * n_columns) if X.is_sparse else None,
        classes=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        mostly_missing=tuple(
            X.label(j) for j, gap in enumerate(gaps) if gap.mean() > _MOSTLY_MISSING
        ),
        row_numbers=() if X.is_sparse else _chosen(X, ~X.is_text, _counts_rows),
        identifiers=_chosen(X, X.is_text, _is_identifier),
    )


def _chosen(X: Columns, among: NDArray[np.bool_], test: Any) -> tuple[str, ...]:
    """Return the names of the columns that pass a test."""
    return tuple(X.label(int(j)) for j in np.flatnonzero(among) if test(X.values(int(j))))


def _counts_rows(values: NDArray[np.float64]) -> bool:
    """Say whether a column of numbers rises by one from row to row."""
    return len(values) > 2 and bool(np.all(np.diff(values) == 1))


def _is_identifier(values: NDArray[np.object_]) -> bool:
    """Say whether the texts of a column are nearly all different."""
    present = [value for value in values if value is not None]
    return len(present) > 10 and len(set(present)) > _MOSTLY_DIFFERENT * len(present)
