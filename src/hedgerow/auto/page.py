"""A result of auto_fit as a page, for print and for the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from hedgerow._page.drawing import Axis, marks_for
from hedgerow._page.page import Page
from hedgerow._page.words import (
    accuracy_words,
    count,
    percent,
    short,
)
from hedgerow.auto.judge import Recall
from hedgerow.describe.hints import Hint
from hedgerow.describe.sections import table_words

if TYPE_CHECKING:
    from hedgerow.auto.result import AutoResult

__all__ = ["Origin", "page_text", "recall_words", "show_result"]

_FIGURES_WIDTH = 27
_MANY_CLASSES = 4


@dataclass(frozen=True)
class Origin:
    """Where the rows of a result come from, as far as that is known.

    Attributes
    ----------
    name : str
        What the table is called, or nothing.
    notes : tuple of str
        What was inferred when it was read.
    file : str
        The file it was read from, or nothing.
    test_file : str
        The file of the test rows, or nothing.
    """

    name: str = ""
    notes: tuple[str, ...] = ()
    file: str = ""
    test_file: str = ""


def page_text(result: AutoResult) -> str:
    """Return the page of a result that was computed in Python."""
    page = Page.as_text()
    show_result(page, result, Origin())
    page.section("Model", "In .model; hedgerow.save(result.model, 'FILE.hedge') keeps it.")
    return page.text


def show_result(page: Page, result: AutoResult, origin: Origin) -> None:
    """Write everything but where the model is."""
    target = result.model.target_
    words = table_words(result.profile.as_dict(), target, origin.notes, origin.name)
    page.section("Table", *words, _split_words(result, origin.test_file))
    if result.interrupted:
        page.section("Ctrl-C", _interrupt_words(result))
    page.section("Search", *_search(page, result))
    page.section("Test", *_test_words(result))
    page.section("Proof", str(result.certificate))
    page.section("Next", *_next_words(result, origin))


def recall_words(recalls: tuple[Recall, ...]) -> str:
    """Return how many rows of each class were found, or of the hardest where there are many."""
    hardest = sorted(recalls, key=lambda recall: recall.share)[:_MANY_CLASSES]
    shown = recalls if len(recalls) <= _MANY_CLASSES else hardest
    title = "Right by class" if len(recalls) <= _MANY_CLASSES else "Right in the hardest classes"
    return f"{title}: {', '.join(f'{r.label} {r.n_found:,}/{r.n_rows:,}' for r in shown)}."


def _split_words(result: AutoResult, test_file: str) -> str:
    n_test = result.test.accuracy.n
    if result.n_train == result.profile.n_rows:
        of = f" of {test_file}" if test_file else " given for it"
        return f"Learnt from all of them; tested on {count(n_test, 'row')}{of}."
    return f"Kept apart for the test: {count(n_test, 'row')}; {result.n_train:,} to learn from."


def _interrupt_words(result: AutoResult) -> str:
    if result.interrupted == "search":
        return (
            f"Interrupted in the search, {result.unfinished}. The model below is fitted with "
            f"C = {short(result.C)}, {_choice_words(result)}, and tested."
        )
    if result.interrupted == "fit":
        return "Interrupted while the model was fitted. It is tested below as far as it came."
    return "Interrupted in the test, when the model was fitted. The test was made again."


def _choice_words(result: AutoResult) -> str:
    return "the best so far" if result.scores else "as no two were compared"


def _test_words(result: AutoResult) -> list[str]:
    test = result.test
    return [
        accuracy_words(test.accuracy, "unseen row"),
        f"Always answering {test.baseline_label!r} would get {percent(test.baseline)}.",
        recall_words(test.recalls),
    ]


def _next_words(result: AutoResult, origin: Origin) -> list[str | Text]:
    if not result.advice:
        return ["Nothing stands out; loss='hinge' (--loss hinge) is the other to try."]
    words: list[str | Text] = []
    for hint in result.advice:
        words += [hint.sentence, *_code(hint, result.model.target_, origin)]
    return words


def _code(hint: Hint, target: str | int | None, origin: Origin) -> list[Text]:
    """Return the lines of Python that follow a hint."""
    if not hint.learner:
        return []
    names = ["TableClassifier", hint.learner.partition("(")[0]]
    rows = "X, y"
    if origin.file:
        names.append("read_table")
        rows = f"read_table({origin.file!r}{'' if target is None else f', target={target!r}'})"
    lines = [
        f"from hedgerow import {', '.join(sorted(names, key=_import_order))}",
        f"model = TableClassifier({hint.learner}).fit({rows})",
    ]
    return [Text(f"  {line}", style="bold") for line in lines]


def _import_order(name: str) -> tuple[bool, bool, str]:
    """Return what sorts names as imports are sorted: constants, classes, functions."""
    return name.islower(), not name.isupper(), name


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
