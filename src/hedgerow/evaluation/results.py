"""Results of evaluations and comparisons, as numbers, tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from hedgerow.errors import ParameterError

__all__ = ["Comparison", "Difference", "Evaluation", "Measurement"]


@dataclass(frozen=True)
class Measurement:
    """One metric of one model.

    Attributes
    ----------
    metric : str
        The name of the metric.
    estimate, low, high : float
        Its value on the rows, and the interval around it.
    standard_error : float
        Its standard deviation over the resamples.
    note : str
        A remark about the interval; empty if there is none.
    """

    metric: str
    estimate: float
    low: float
    high: float
    standard_error: float
    note: str = ""


@dataclass(frozen=True)
class Evaluation:
    """The metrics of a model, each with an interval; prints as a table.

    Attributes
    ----------
    measurements : tuple of Measurement
        One for each metric.
    confidence_level : float
        The proportion of such intervals that contain the true value.
    n_rows, n_resamples : int
        The number of rows, and the number of resamples.
    """

    measurements: tuple[Measurement, ...]
    confidence_level: float
    n_rows: int
    n_resamples: int

    def __getitem__(self, metric: str) -> Measurement:
        return _find(self.measurements, metric)

    def __str__(self) -> str:
        header = ("metric", "value", "low", "high", "std. error", "")
        rows = [
            (m.metric, *_figures(m.estimate, m.low, m.high, m.standard_error), m.note)
            for m in self.measurements
        ]
        return f"{_table(header, rows)}\n{_footer(self)}"


@dataclass(frozen=True)
class Difference:
    """One metric of two models on the same rows.

    Attributes
    ----------
    metric : str
        The name of the metric.
    first, second : float
        Its value for each model.
    estimate, low, high : float
        first - second, and the interval around it.
    standard_error : float
        The standard deviation of the difference over the resamples.
    """

    metric: str
    first: float
    second: float
    estimate: float
    low: float
    high: float
    standard_error: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0

    @property
    def sentence(self) -> str:
        """The difference in a sentence."""
        if self.low == self.high == 0:
            return f"{self.metric}: both models are equal on every resample."
        ends = f"{self.low:.4g} to {self.high:.4g}"
        if not self.is_clear:
            return f"{self.metric}: no clear difference, as the interval {ends} contains 0."
        word = "higher" if self.estimate > 0 else "lower"
        return f"{self.metric}: the first is {word} by {abs(self.estimate):.4g} (interval of the difference {ends})."


@dataclass(frozen=True)
class Comparison:
    """Two models on the same rows, metric by metric; prints as a table and sentences.

    Attributes
    ----------
    differences : tuple of Difference
        One for each metric.
    confidence_level : float
        The proportion of such intervals that contain the true difference.
    n_rows, n_resamples : int
        The number of rows, and the number of resamples.
    """

    differences: tuple[Difference, ...]
    confidence_level: float
    n_rows: int
    n_resamples: int

    def __getitem__(self, metric: str) -> Difference:
        return _find(self.differences, metric)

    def __str__(self) -> str:
        header = ("metric", "first", "second", "difference", "low", "high")
        rows = [
            (d.metric, *_figures(d.first, d.second, d.estimate, d.low, d.high))
            for d in self.differences
        ]
        sentences = "\n".join(d.sentence for d in self.differences)
        return f"{_table(header, rows)}\n{sentences}\n{_footer(self)}"


Item = TypeVar("Item", Measurement, Difference)


def _find(items: Sequence[Item], metric: str) -> Item:
    for item in items:
        if item.metric == metric:
            return item
    names = ", ".join(repr(item.metric) for item in items)
    msg = f"metric {metric!r} was not computed; there are {names}"
    raise ParameterError(msg)


def _figures(*values: float) -> tuple[str, ...]:
    return tuple(f"{value:.4g}" for value in values)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        "  ".join(
            [cells[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        ).rstrip()
        for cells in (header, *rows)
    ]
    return "\n".join(lines)


def _footer(found: Evaluation | Comparison) -> str:
    return f"{100 * found.confidence_level:g} % intervals from {found.n_resamples} resamples of {found.n_rows} rows"
