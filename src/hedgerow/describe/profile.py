"""What a table is like: its size, kinds of columns, missing values, classes, suspicious columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.io.table import Features, missing_mask

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


def profile_of(X: Features, y: Any) -> Profile:
    """Return the profile of the features of a :class:`hedgerow.Table`, and of its labels, if any."""
    columns = X if isinstance(X, dict) else {}
    gaps = {name: missing_mask(values) for name, values in columns.items()}
    texts = {name: values for name, values in columns.items() if values.dtype == object}
    numbers = {name: values for name, values in columns.items() if name not in texts}
    labels, counts = np.unique([] if y is None else y, return_counts=True)
    n_rows = len(next(iter(columns.values()), y)) if isinstance(X, dict) else X.shape[0]
    n_columns = len(columns) if isinstance(X, dict) else X.shape[1]
    return Profile(
        n_rows=n_rows,
        n_columns=n_columns,
        n_text_columns=len(texts),
        n_missing=int(sum(gap.sum() for gap in gaps.values())),
        density=None if isinstance(X, dict) else X.nnz / (n_rows * n_columns),
        classes=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
        mostly_missing=tuple(name for name, gap in gaps.items() if gap.mean() > _MOSTLY_MISSING),
        row_numbers=tuple(name for name, values in numbers.items() if _counts_rows(values)),
        identifiers=tuple(name for name, values in texts.items() if _is_identifier(values)),
    )


def _counts_rows(values: NDArray[np.float64]) -> bool:
    """Say whether a column of numbers rises by one from row to row."""
    return len(values) > 2 and bool(np.all(np.diff(values) == 1))


def _is_identifier(values: NDArray[np.object_]) -> bool:
    """Say whether the texts of a column are nearly all different."""
    present = [value for value in values if value is not None]
    return len(present) > 10 and len(set(present)) > _MOSTLY_DIFFERENT * len(present)
