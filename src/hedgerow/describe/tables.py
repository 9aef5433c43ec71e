"""A table: its profile, what each column holds, and hints at what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.columns import Column, FactorizedColumn
from hedgerow.data.io import Table
from hedgerow.data.io.table import missing_mask
from hedgerow.data.table import view_table
from hedgerow.describe.hints import table_hints
from hedgerow.describe.profile import profile_of
from hedgerow.describe.registry import describes

__all__ = ["ColumnSummary", "as_table"]


def as_table(subject: Any) -> Table | None:
    """Return a dataframe, mapping, sparse matrix or 2-D array as a Table; None for anything else."""
    is_array = isinstance(subject, np.ndarray) and subject.ndim == 2
    is_frame = nw.dependencies.is_into_dataframe(subject)
    if not (is_array or is_frame or isinstance(subject, Mapping) or sp.issparse(subject)):
        return None
    view = view_table(subject)
    if view.is_sparse:
        return Table(sp.csr_matrix(view.rows))
    view = view.by_columns()
    names = view.names or [f"x{j}" for j in range(view.shape[1])]
    return Table({name: _cells(view.read(j), view.label(j)) for j, name in enumerate(names)})


def _cells(column: Column, label: str) -> NDArray[Any]:
    """Return a column as a Table has it: text, or numbers as float64."""
    if isinstance(column, FactorizedColumn) and column.is_text:
        return column.texts()
    return column.floats(label).astype(np.float64)


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
