"""What ``hedgerow auto`` shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from hedgerow.cli.console import Page
from hedgerow.cli.words import accuracy_words, classes_words, count, percent, saved_words, short

if TYPE_CHECKING:
    from hedgerow.auto import AutoResult, CandidateScore, Profile, Recall
    from hedgerow.io import Table

__all__ = ["show", "show_model", "table_words"]

_FIGURES_WIDTH = 27
_MANY_CLASSES = 4
_MARKS = {"line": "─", "left": "├", "right": "┤", "point": "●", "chosen": "▸", "error": "±"}
_ASCII_MARKS = {"line": "-", "left": "|", "right": "|", "point": "o", "chosen": ">", "error": "+"}


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
    target = f"Target {data.target!r}" if isinstance(data.target, str) else "The target"
    return [
        f"{name}: {count(profile.n_rows, 'row')}, {_columns_words(profile)}.",
        *data.notes,
        f"{target} has {classes_words(profile.classes, _MANY_CLASSES)}.",
    ]


def _columns_words(profile: Profile) -> str:
    if profile.density is not None:
        features = count(profile.n_columns, "sparse feature")
        return f"{features}, {percent(profile.density)} of the values not zero"
    n_text = profile.n_text_columns
    kinds = {"numbers": profile.n_columns - n_text, "text": n_text}
    return " and ".join(f"{count(n, 'column')} of {kind}" for kind, n in kinds.items() if n)


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
        _recall_words(test.recalls),
    ]


def _recall_words(recalls: tuple[Recall, ...]) -> str:
    """Return how many rows of each class were found, or of the hardest where there are many."""
    hardest = sorted(recalls, key=lambda recall: recall.share)[:_MANY_CLASSES]
    shown = recalls if len(recalls) <= _MANY_CLASSES else hardest
    title = "Right by class" if len(recalls) <= _MANY_CLASSES else "Right in the hardest classes"
    return f"{title}: {', '.join(f'{r.label} {r.n_found:,}/{r.n_rows:,}' for r in shown)}."


def _next_words(result: AutoResult) -> list[str]:
    if not result.advice:
        return ["Nothing stands out; --loss hinge is the other loss to compare with."]
    return [hint.sentence for hint in result.advice]


# ---------------------------------------------------------------------------------- the search


def _search(page: Page, result: AutoResult) -> list[str | Text]:
    """Return the accuracy of every C, in figures and as a point with its standard error."""
    if not result.scores:
        return [f"C = {result.C:g}, as there was no time to compare."]
    marks = _ASCII_MARKS if page.is_ascii else _MARKS
    axis = _Axis(
        low=min(score.accuracy - score.standard_error for score in result.scores),
        high=min(1.0, max(score.accuracy + score.standard_error for score in result.scores)),
        width=page.body_width - _FIGURES_WIDTH,
    )
    lines: list[str | Text] = [
        f"Accuracy by {result.n_folds}-fold cross-validation, and its standard error:",
        Text(f"{'C':>9}  {'accuracy':>13}  {axis.ends()}", style="dim"),
    ]
    for score in result.scores:
        chosen = score.C == result.C
        mark = marks["chosen"] if chosen else " "
        figures = f"{100 * score.accuracy:.1f} {marks['error']} {100 * score.standard_error:.1f} %"
        line = f"{mark}{short(score.C):>8}  {figures:>13}  {axis.whisker(score, marks)}"
        lines.append(Text(line, style="bold green" if chosen else ""))
    return lines


@dataclass(frozen=True)
class _Axis:
    """A line of characters that stands for accuracies from low to high."""

    low: float
    high: float
    width: int

    def ends(self) -> str:
        """Return the two ends in figures."""
        left, right = percent(self.low), percent(self.high)
        if self.low == self.high:
            return left
        return left + right.rjust(self.width - len(left))

    def whisker(self, score: CandidateScore, marks: dict[str, str]) -> str:
        """Draw a mean and its standard error."""
        left = self._place(score.accuracy - score.standard_error)
        right = self._place(score.accuracy + score.standard_error)
        line = [" "] * left + [marks["line"]] * (right - left + 1)
        line[left], line[right] = marks["left"], marks["right"]
        line[self._place(score.accuracy)] = marks["point"]
        return "".join(line)

    def _place(self, accuracy: float) -> int:
        if self.high <= self.low:
            return 0
        share = (min(accuracy, self.high) - self.low) / (self.high - self.low)
        return round(share * (self.width - 1))
