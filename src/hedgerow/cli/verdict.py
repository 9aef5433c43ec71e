"""What ``hedgerow evaluate`` found, for the page and for JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.auto.judge import HeldOutReport, judge
from hedgerow.cli.labelled_rows import LabelledRows
from hedgerow.evaluation import Comparison, Evaluation

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """The figures of one model or two on a table.

    Attributes
    ----------
    name : str
        The file of the table.
    rows : LabelledRows
        The table and the models.
    found : Evaluation or Comparison
        Metrics with their intervals, or differences with theirs.
    method : str
        How the intervals were made.
    notes : tuple of str
        What to know besides.
    """

    name: str
    rows: LabelledRows
    found: Evaluation | Comparison
    method: str
    notes: tuple[str, ...]

    @cached_property
    def reports(self) -> list[HeldOutReport]:
        """For each model how many rows of each class it gets right; the baseline is the same."""
        y = self.rows.y
        labels, counts = np.unique(y, return_counts=True)
        commonest = labels[counts.argmax()].item()
        return [judge(model.predict(), y, commonest, seed=0) for model in self.rows.bound]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as what JSON can hold."""
        report, *others = self.reports
        figures = asdict(self.found)
        if isinstance(self.found, Comparison):
            figures["against"] = self.rows.models[1].path
            figures["against_recalls"] = [asdict(recall) for recall in others[0].recalls]
            for figure, difference in zip(
                figures["differences"], self.found.differences, strict=True
            ):
                figure["is_clear"] = difference.is_clear
        return {
            "model": self.rows.models[0].path,
            "table": self.name,
            "target": self.rows.table.target,
            "notes": [*self.rows.table.notes, *self.notes],
            "method": self.method,
            **figures,
            "baseline": {"label": report.baseline_label, "accuracy": report.baseline},
            "recalls": [asdict(recall) for recall in report.recalls],
        }
