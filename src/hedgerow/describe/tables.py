"""A table: its profile, what each column holds, and hints at what to do about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.io import Table
from hedgerow.data.io.table import missing_mask
from hedgerow.describe.hints import table_hints
from hedgerow.describe.profile import profile_of
from hedgerow.describe.registry import describes

__all__ = ["ColumnSummary"]


@describes(Table)
def _table(table: Table, top: int) -> dict[str, Any]:  # noqa: ARG001
    profile = profile_of(table.X, table.y)
    return {
        "subject": "table",
        "target": table.target,
        "notes": table.notes,
        "profile": profile.as_dict(),
        "columns": [asdict(_summary(name, values)) for name, values in table.columns.items()],
        "advice": [{"name": h.name, "sentence": h.sentence} for h in table_hints(profile)],
    }


@dataclass(frozen=True)
class ColumnSummary:
    """What a column holds.

    Attributes
    ----------
    name : str
        Its name.
    is_text : bool
        Whether it is text; if not, it is numbers.
    n_missing, n_values : int
        The number of missing cells, and of distinct values.
    low, mean, high : float or None
        The smallest number, the mean and the largest, if there are numbers.
    commonest : str or None
        The most frequent text, if there is text.
    """

    name: str
    is_text: bool
    n_missing: int
    n_values: int
    low: float | None = None
    mean: float | None = None
    high: float | None = None
    commonest: str | None = None


def _summary(name: str, values: NDArray[Any]) -> ColumnSummary:
    missing = missing_mask(values)
    present, n_missing = values[~missing], int(missing.sum())
    if values.dtype == object:
        counts = Counter(present.tolist())
        commonest = max(counts, key=lambda value: counts[value], default=None)
        return ColumnSummary(name, True, n_missing, len(counts), commonest=commonest)
    if not len(present):
        return ColumnSummary(name, False, n_missing, 0)
    low, mean, high = (float(figure) for figure in (present.min(), present.mean(), present.max()))
    return ColumnSummary(name, False, n_missing, len(np.unique(present)), low, mean, high)
