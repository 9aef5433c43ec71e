"""What ``hedgerow auto`` shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from hedgerow.cli.console import Page
from hedgerow.cli.words import accuracy_words, classes_words, count, percent, saved_words, short

if TYPE_CHECKING:
    from hedgerow.auto import AutoResult, CandidateScore, Profile
    from hedgerow.io import Table

__all__ = ["show", "show_model", "table_words"]

_FIGURE_WIDTH = 27
_MARKS = {"line": "─", "left": "├", "right": "┤", "point": "●", "chosen": "▸"}
_ASCII_MARKS = {"line": "-", "left": "|", "right": "|", "point": "o", "chosen": ">"}


def show(name: str, data: Table, result: AutoResult, model: Path | None, test: str | None) -> None:
    """Print the report of a search."""
    page = Page()
    page.section("Table", *table_words(name, data, result.profile), _split_words(result, test))
    page.section("Search", *_search(page, result))
    page.section("Test", *_test_words(result))
    page.section("Proof", str(result.certificate))
    page.section("Next", *_next_words(result))
    show_model(page, model)


def show_model(page: Page, model: Path | None) -> None:
    """Say where the model is and how to use it."""
    if model is None:
        page.section("Model", "Not saved; add --model FILE.hedge to keep it.")
    else:
        where, command = saved_words(model)
        page.section("Model", where, Text(f"  {command}", style="bold"))


def table_words(name: str, data: Table, profile: Profile) -> list[str]:
    """Return what was read and what was inferred."""
    target = f"Target {data.target!r}: " if isinstance(data.target, str) else "Classes: "
    return [
        f"{name}: {count(profile.n_rows, 'row')}, {_columns_words(profile)}.",
        *data.notes,
        f"{target}{classes_words(profile.classes)}.",
    ]


def _columns_words(profile: Profile) -> str:
    if profile.density is not None:
        features = count(profile.n_columns, "sparse feature")
        return f"{features}, {percent(profile.density)} of the values not zero"
    n_numbers = profile.n_columns - profile.n_text_columns
    if not profile.n_text_columns:
        return f"{count(n_numbers, 'column')} of numbers"
    return f"{count(n_numbers, 'column')} of numbers and {profile.n_text_columns} of text"


def _split_words(result: AutoResult, test: str | None) -> str:
    n_test = result.test.accuracy.n
    if test is not None:
        return f"Learnt from all of them; tested on {count(n_test, 'row')} of {test}."
    return f"Kept apart for the test: {count(n_test, 'row')}; {result.n_train:,} to learn from."


def _test_words(result: AutoResult) -> list[str]:
    test = result.test
    found = [f"{r.label} {r.n_found:,} of {r.n_rows:,}" for r in test.recalls]
    more = f" and {len(found) - 12} more classes" if len(found) > 12 else ""
    return [
        accuracy_words(test.accuracy, "unseen row"),
        f"Always answering {test.baseline_label!r} would get {percent(test.baseline)}.",
        f"Found: {', '.join(found[:12])}{more}.",
    ]


def _next_words(result: AutoResult) -> list[str]:
    if not result.advice:
        return ["Nothing stands out; --loss hinge is the other loss to compare with."]
    return [hint.sentence for hint in result.advice]


# ---------------------------------------------------------------------------------- the search


def _search(page: Page, result: AutoResult) -> list[str | Text | Grid]:
    """Return the accuracy of every C, in figures and as a point with its standard error."""
    about = f"Accuracy by {result.n_folds}-fold cross-validation, and its standard error:"
    grid = Grid.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "right", "right", "left"):
        grid.add_column(justify=justify, no_wrap=True)
    marks = _ASCII_MARKS if page.is_ascii else _MARKS
    width = page.body_width - _FIGURE_WIDTH
    low = min(score.accuracy - score.standard_error for score in result.scores)
    high = max(score.accuracy + score.standard_error for score in result.scores)
    grid.add_row("", "C", "accuracy", _axis(low, high, width), style="dim")
    for score in result.scores:
        chosen = score.C == result.C
        figures = f"{100 * score.accuracy:.1f} % ± {100 * score.standard_error:.1f}"
        figures = figures.replace("±", "+-") if page.is_ascii else figures
        bar = _whisker(score, low, high, width, marks)
        style = "bold green" if chosen else ""
        grid.add_row(marks["chosen"] if chosen else "", short(score.C), figures, bar, style=style)
    return [about, grid]


def _axis(low: float, high: float, width: int) -> str:
    left, right = percent(low), percent(high)
    return left + right.rjust(width - len(left))


def _whisker(
    score: CandidateScore, low: float, high: float, width: int, marks: dict[str, str]
) -> str:
    """Draw mean and standard error on the axis from low to high."""
    unit = (width - 1) / (high - low) if high > low else 0.0

    def place(accuracy: float) -> int:
        return round((accuracy - low) * unit)

    left = place(score.accuracy - score.standard_error)
    right = place(score.accuracy + score.standard_error)
    line = [" "] * left + [marks["line"]] * (right - left + 1)
    line[left], line[right] = marks["left"], marks["right"]
    line[place(score.accuracy)] = marks["point"]
    return "".join(line)
