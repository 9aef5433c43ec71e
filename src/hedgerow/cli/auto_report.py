"""What ``hedgerow auto`` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from hedgerow.cli.console import Page
from hedgerow.cli.drawing import Axis, marks_for
from hedgerow.cli.sections import recall_words, show_saved, table_words
from hedgerow.cli.words import accuracy_words, count, percent, short

if TYPE_CHECKING:
    from hedgerow.auto import AutoResult
    from hedgerow.io import Table

__all__ = ["show"]

_FIGURES_WIDTH = 27


def show(name: str, data: Table, result: AutoResult, saved: Path | None, test: str | None) -> None:
    """Print the report of a search."""
    page = Page()
    page.section("Table", *table_words(name, data, result.profile), _split_words(result, test))
    page.section("Search", *_search(page, result))
    page.section("Test", *_test_words(result))
    page.section("Proof", str(result.certificate))
    page.section("Next", *_next_words(result))
    show_saved(page, saved)


def _split_words(result: AutoResult, test: str | None) -> str:
    n_test = result.test.accuracy.n
    if test is not None:
        return f"Learnt from all of them; tested on {count(n_test, 'row')} of {test}."
    return f"Kept apart for the test: {count(n_test, 'row')}; {result.n_train:,} to learn from."


def _test_words(result: AutoResult) -> list[str]:
    test = result.test
    return [
        accuracy_words(test.accuracy, "unseen row"),
        f"Always answering {test.baseline_label!r} would get {percent(test.baseline)}.",
        recall_words(test.recalls),
    ]


def _next_words(result: AutoResult) -> list[str]:
    if not result.advice:
        return ["Nothing stands out; --loss hinge is the other loss to compare with."]
    return [hint.sentence for hint in result.advice]


# ---------------------------------------------------------------------------------- the search


def _search(page: Page, result: AutoResult) -> list[str | Text]:
    """Return the accuracy of every C, in figures and as a point with its standard error."""
    if not result.scores:
        return [f"C = {result.C:g}, as there was no time to compare."]
    marks = marks_for(page.is_ascii)
    axis = Axis(
        low=min(score.accuracy - score.standard_error for score in result.scores),
        high=min(1.0, max(score.accuracy + score.standard_error for score in result.scores)),
        width=page.body_width - _FIGURES_WIDTH,
    )
    lines: list[str | Text] = [
        f"Accuracy by {result.n_folds}-fold cross-validation, and its standard error:",
        Text(f"{'C':>9}  {'accuracy':>13}  {axis.ends(percent)}", style="dim"),
    ]
    for score in result.scores:
        chosen = score.C == result.C
        mark = marks.chosen if chosen else " "
        figures = f"{100 * score.accuracy:.1f} {marks.error} {100 * score.standard_error:.1f} %"
        low, high = score.accuracy - score.standard_error, score.accuracy + score.standard_error
        whisker = axis.whisker(marks, low, score.accuracy, high)
        line = f"{mark}{short(score.C):>8}  {figures:>13}  {whisker}"
        lines.append(Text(line, style="bold green" if chosen else ""))
    return lines
