"""What ``hedgerow evaluate`` shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.text import Text

from hedgerow._page.drawing import Axis, aligned, marks_for
from hedgerow._page.page import Page
from hedgerow._page.words import count, percent
from hedgerow.auto.page import recall_words
from hedgerow.cli.sections import kind_words
from hedgerow.cli.verdict import Verdict
from hedgerow.describe.profile import profile_of
from hedgerow.describe.sections import table_words
from hedgerow.evaluation import Comparison, Difference, Evaluation, Measurement

__all__ = ["show"]

_NARROWEST_DRAWING = 12


def show(verdict: Verdict) -> None:
    """Print what was found."""
    page, rows, found = Page(), verdict.rows, verdict.found
    profile, table = profile_of(rows.table.X, rows.y).as_dict(), rows.table
    page.section("Table", *table_words(profile, table.target, table.notes, verdict.name))
    if isinstance(found, Comparison):
        first, second = (f"{model.path}, {kind_words(model.estimator)}" for model in rows.models)
        page.section("Models", f"First: {first}.", f"Second: {second}.")
        page.section("Metrics", *_differences(page, found))
    else:
        (model,) = rows.models
        page.section("Model", f"{model.path}: {kind_words(model.estimator)}.")
        page.section("Metrics", *_measurements(page, found))
    page.section("Classes", *_class_words(verdict))
    if verdict.notes:
        page.section("Notes", *verdict.notes)


def _class_words(verdict: Verdict) -> Iterable[str]:
    report = verdict.reports[0]
    yield f"Always answering {report.baseline_label!r} would get {percent(report.baseline)}."
    if len(verdict.reports) == 1:
        yield recall_words(report.recalls)
        return
    for order, each in zip(("First", "Second"), verdict.reports, strict=True):
        words = recall_words(each.recalls)
        yield f"{order}, {words[:1].lower()}{words[1:]}"


# ----------------------------------------------------------------------------------- the figures


def _measurements(page: Page, found: Evaluation) -> Iterable[str | Text]:
    """Yield every metric in figures and as a point in its interval."""
    measured = found.measurements
    cells = [("", "value", f"{100 * found.confidence_level:g} % interval")]
    cells += [
        (m.metric, _figure(m.estimate), f"{_figure(m.low)} to {_figure(m.high)}") for m in measured
    ]
    yield f"{_resamples_words(found)}:"
    yield from _drawn(page, aligned(cells), measured, _figure)
    for note in dict.fromkeys(m.note for m in measured if m.note):
        about = ", ".join(m.metric for m in measured if m.note == note)
        yield f"{about}: {note}."


def _differences(page: Page, found: Comparison) -> Iterable[str | Text]:
    """Yield both values of every metric, their difference and its interval, drawn and in words."""
    differences = found.differences
    cells = [("", "first", "second", "difference")]
    cells += [
        (d.metric, _figure(d.first), _figure(d.second), _signed(d.estimate)) for d in differences
    ]
    yield f"{_resamples_words(found)}:"
    yield from _drawn(page, aligned(cells), differences, _signed, zero=0.0)
    for d in differences:
        yield d.sentence


def _drawn(
    page: Page,
    lines: Sequence[str],
    spans: Sequence[Measurement | Difference],
    figure: Callable[[float], str],
    zero: float | None = None,
) -> Iterable[Text]:
    """Yield a header and the lines under it, each with its interval drawn where there is room.

    One axis serves all, so nothing is drawn if the figures are no shares of one.
    """
    inside = [number for span in spans for number in (span.low, span.estimate, span.high)]
    inside += [] if zero is None else [zero]
    axis = Axis(min(inside), max(inside), page.body_width - len(lines[0]) - 2)
    if axis.width < _NARROWEST_DRAWING or axis.low < -1 or axis.high > 1:
        yield from (Text(line, style="" if i else "dim") for i, line in enumerate(lines))
        return
    marks = marks_for(page.is_ascii)
    yield Text(f"{lines[0]}  {axis.ends(figure)}", style="dim")
    for line, span in zip(lines[1:], spans, strict=True):
        yield Text(f"{line}  {axis.whisker(marks, span.low, span.estimate, span.high, zero)}")


def _resamples_words(found: Evaluation | Comparison) -> str:
    level = f"{100 * found.confidence_level:g} %"
    return f"With {level} intervals from {count(found.n_resamples, 'resample')} of the rows"


def _figure(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.5g}"


def _signed(value: float) -> str:
    return f"{value:+.4f}" if abs(value) < 10 else f"{value:+.5g}"
