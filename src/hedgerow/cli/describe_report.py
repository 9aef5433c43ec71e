"""What ``hedgerow describe`` shows."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from hedgerow._page.drawing import Marks, aligned, bar, marks_for
from hedgerow._page.page import Page
from hedgerow._page.words import count, short, size_words
from hedgerow.auto.page import table_words

if TYPE_CHECKING:
    from hedgerow.auto import Hint, Profile
    from hedgerow.cli.model_facts import FileFacts
    from hedgerow.cli.model_summary import Inputs, ModelSummary, Weights
    from hedgerow.cli.table_summary import ColumnSummary
    from hedgerow.data.io import Table

__all__ = ["show_model", "show_table"]

_MANY = 12
_LONGEST_NAME = 36
_LONGEST_BAR = 24
_KIND_AND_MISSING = 20
_SCALINGS = {
    "standard": "scaled to mean 0 and standard deviation 1",
    "minmax": "scaled to the range from 0 to 1",
    "maxabs": "divided by their largest absolute value",
    None: "not scaled",
}


def show_model(path: str, facts: FileFacts, summary: ModelSummary) -> None:
    """Print what a model file holds."""
    page = Page()
    page.section("Model", *_model_words(path, facts, summary))
    page.section("Settings", *_settings_words(summary))
    if summary.inputs is not None:
        page.section("Columns", *_input_words(summary.inputs))
    if summary.classes is not None:
        page.section("Classes", *_class_words(summary))
    if summary.weights is not None:
        page.section("Weights", *_weights(page, summary.weights))
    if summary.training:
        page.section("Fit", *summary.training)
    if summary.certificate is not None:
        page.section("Proof", str(summary.certificate))


def _model_words(path: str, facts: FileFacts, summary: ModelSummary) -> Iterator[str]:
    state = "fitted" if summary.is_fitted else "not fitted: it has parameters alone"
    yield f"{path}: {' with a '.join(summary.parameters)}, {state}."
    written = (
        "" if facts.hedgerow_version is None else f", saved by Hedgerow {facts.hedgerow_version}"
    )
    version = "" if facts.format_version is None else f", model format {facts.format_version}"
    yield f"{size_words(facts.n_bytes)}{version}{written}."


def _settings_words(summary: ModelSummary) -> Iterator[str]:
    for kind, parameters in summary.parameters.items():
        changed = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        yield f"{kind}: {changed or 'all as by default'}."


def _class_words(summary: ModelSummary) -> Iterator[str]:
    classes = summary.classes or []
    if classes and isinstance(classes[0], list):
        numbers = _listed([str(len(labels)) for labels in classes])
        yield f"Predicts {count(len(classes), 'output')} of so many classes: {numbers}."
        return
    shown = _listed([str(label) for label in classes])
    target = f" {summary.target!r}," if isinstance(summary.target, str) else ""
    yield f"Predicts{target} one of {count(len(classes), 'class')}: {shown}."


def _input_words(inputs: Inputs) -> Iterator[str]:
    """Say which columns a model takes, and what it makes of them."""
    columns = inputs.columns or ()
    numbers = [column.name for column in columns if column.values is None]
    texts = [f"{c.name} ({count(len(c.values), 'value')})" for c in columns if c.values is not None]
    n_numbers = inputs.n_columns - len(texts)
    is_changed = inputs.is_encoded or inputs.scaling is not None
    how = _SCALINGS[inputs.scaling] if is_changed else "taken as they are"
    gaps = "; a gap takes the mean" if inputs.is_encoded and numbers else ""
    if n_numbers:
        listed = f": {_listed(numbers)}" if numbers else ", in the order of training"
        yield f"{count(n_numbers, 'column')} of numbers, {how}{gaps}{listed}."
    if texts and inputs.is_encoded:
        yield f"{count(len(texts), 'column')} of text, a 0 or 1 for each value: {_listed(texts)}."
        yield f"Together {count(inputs.n_encoded or 0, 'encoded column')}."
    elif texts:
        yield f"{count(len(texts), 'column')} of categories, taken as they are: {_listed(texts)}."


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MANY:,} more" if len(names) > _MANY else ""
    return f"{', '.join(names[:_MANY])}{more}"


# ----------------------------------------------------------------------------------- the weights


def _weights(page: Page, weights: Weights) -> Iterator[str | Text]:
    """Yield the strongest coefficients with bars, and what is true of all of them."""
    marks, strongest = marks_for(page.is_ascii), weights.strongest
    names = _fitting(marks, [weight.column for weight in strongest])
    if weights.n_planes > 1:
        labels = _fitting(marks, [str(weight.label) for weight in strongest])
        names = [
            f"{name:<{max(map(len, names))}}  {label}"
            for name, label in zip(names, labels, strict=True)
        ]
    lines = aligned(list(zip(names, _signed([w.value for w in strongest]), strict=True)))
    room = min(page.body_width - len(lines[0]) - 2, _LONGEST_BAR)
    largest = abs(strongest[0].value) or 1.0
    yield _weights_title(weights)
    for line, weight in zip(lines, strongest, strict=True):
        drawn = bar(marks, weight.value / largest, room) if room > 0 else ""
        yield Text(f"{line}  {drawn}".rstrip())
    yield _intercept_words(weights)
    if weights.width is not None:
        yield f"The margin is {short(weights.width)} wide (2/|w|)."


def _weights_title(weights: Weights) -> str:
    n_shown, n_all = len(weights.strongest), count(weights.n_all, "coefficient")
    shown = n_all if n_shown == weights.n_all else f"The {n_shown} strongest of {n_all}"
    zero = (
        f" ({weights.n_zero:,} {'is' if weights.n_zero == 1 else 'are'} 0)"
        if weights.n_zero
        else ""
    )
    if weights.n_planes > 1:
        return f"{shown}{zero}; above 0 speaks for the class beside it, below 0 against:"
    if weights.strongest[0].label is None:
        return f"{shown}{zero}; above 0 raises the prediction, below 0 lowers it:"
    return f"{shown}{zero}; above 0 speaks for {weights.strongest[0].label!r}, below 0 against:"


def _intercept_words(weights: Weights) -> str:
    shown = _listed([short(intercept) for intercept in weights.intercepts])
    return f"{'Intercept' if weights.n_planes == 1 else 'Intercepts'} {shown}."


def _signed(values: Sequence[float]) -> list[str]:
    """Return numbers with their signs, as many decimals as give the first four digits."""
    largest = abs(values[0])
    if not 1e-3 <= largest < 1e5:
        return [f"{value:+.3e}" for value in values]
    decimals = max(0, 3 - math.floor(math.log10(largest)))
    return [f"{value:+.{decimals}f}" for value in values]


def _fitting(marks: Marks, names: Sequence[str]) -> list[str]:
    """Return the names, cut where they are very long."""
    short_enough = _LONGEST_NAME - len(marks.more)
    return [n if len(n) <= _LONGEST_NAME else n[:short_enough] + marks.more for n in names]


# ------------------------------------------------------------------------------------- the table


def show_table(
    path: str,
    table: Table,
    profile: Profile,
    columns: Sequence[ColumnSummary],
    hints: Sequence[Hint],
) -> None:
    """Print what a table is like."""
    page = Page()
    page.section("Table", *table_words(path, profile, table.target, table.notes))
    if columns:
        page.section("Columns", *_columns(page, columns, profile.n_columns))
    words: list[str | Text] = [hint.sentence for hint in hints]
    target = f" --target {_target(table)}" if isinstance(table.X, dict) else ""
    command = Text(f"  hedgerow auto {shlex.quote(path)}{target}", style="bold")
    page.section("Next", *words, "To learn from it:", command)


def _target(table: Table) -> str:
    return "COLUMN" if table.target is None else shlex.quote(str(table.target))


def _columns(page: Page, columns: Sequence[ColumnSummary], n_all: int) -> Iterator[str | Text]:
    """Yield a line a column: its kind, its gaps, its range or its values."""
    names = _fitting(marks_for(page.is_ascii), [column.name for column in columns])
    width = max(map(len, names))
    room = page.body_width - width - _KIND_AND_MISSING
    yield Text(f"{'':<{width}}  kind     missing  holds", style="dim")
    for name, column in zip(names, columns, strict=True):
        kind = "text" if column.is_text else "numbers"
        missing = f"{column.n_missing:,}" if column.n_missing else "-"
        most, least = _holds(column)
        holds = most if len(most) <= room else least
        yield Text(f"{name:<{width}}  {kind:<7}  {missing:>7}  {holds}")
    if n_all > len(columns):
        yield f"And {count(n_all - len(columns), 'column')} more; --top {n_all} shows all."


def _holds(column: ColumnSummary) -> tuple[str, str]:
    """Return what there is to say of a column's values, in full and in short."""
    if not column.n_values:
        return "nothing", "nothing"
    if column.is_text:
        values = count(column.n_values, "value")
        often = "mostly" if column.n_values > 1 else "always"
        return f"{values}, {often} {column.commonest}", values
    low, mean, high = (f"{figure:.4g}" for figure in (column.low, column.mean, column.high))
    return f"{low} to {high}, mean {mean}", f"{low} to {high}"
