"""Parts of reports that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.text import Text

from hedgerow._page.page import Page
from hedgerow._page.words import saved_words
from hedgerow.describe import sections

__all__ = ["kind_words", "show_saved"]


def kind_words(estimator: Any) -> str:
    """Return what a fitted model is: its class, and the class of the learner inside."""
    learner = getattr(estimator, "learner_", None)
    return sections.kind_words(
        type(estimator).__name__, None if learner is None else type(learner).__name__
    )


def show_saved(page: Page, path: Path | None) -> None:
    """Say where the model is and how to use it."""
    if path is None:
        page.section("Model", "Not saved; add --save FILE.hedge to keep it.")
    else:
        where, command = saved_words(path)
        page.section("Model", where, Text(f"  {command}", style="bold"))
