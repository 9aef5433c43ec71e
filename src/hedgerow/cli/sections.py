"""Parts of reports that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from hedgerow.cli.console import Page
from hedgerow.cli.words import classes_words, count, percent, saved_words

if TYPE_CHECKING:
    from hedgerow.auto import Profile, Recall
    from hedgerow.io import Table

__all__ = ["kind_words", "recall_words", "show_saved", "table_words"]

_MANY_CLASSES = 4


def table_words(name: str, data: Table, profile: Profile) -> list[str]:
    """Return what was read and what was inferred."""
    words = [f"{name}: {count(profile.n_rows, 'row')}, {_columns_words(profile)}.", *data.notes]
    if profile.classes:
        target = f"Target {data.target!r}" if isinstance(data.target, str) else "The target"
        words.append(f"{target} has {classes_words(profile.classes, _MANY_CLASSES)}.")
    return words


def _columns_words(profile: Profile) -> str:
    if profile.density is not None:
        features = count(profile.n_columns, "sparse feature")
        return f"{features}, {percent(profile.density)} of the values not zero"
    n_text = profile.n_text_columns
    kinds = {"numbers": profile.n_columns - n_text, "text": n_text}
    return " and ".join(f"{count(n, 'column')} of {kind}" for kind, n in kinds.items() if n)


def recall_words(recalls: tuple[Recall, ...]) -> str:
    """Return how many rows of each class were found, or of the hardest where there are many."""
    hardest = sorted(recalls, key=lambda recall: recall.share)[:_MANY_CLASSES]
    shown = recalls if len(recalls) <= _MANY_CLASSES else hardest
    title = "Right by class" if len(recalls) <= _MANY_CLASSES else "Right in the hardest classes"
    return f"{title}: {', '.join(f'{r.label} {r.n_found:,}/{r.n_rows:,}' for r in shown)}."


def kind_words(estimator: Any) -> str:
    """Return what a fitted model is: its class, and the class of the learner inside."""
    learner = getattr(estimator, "learner_", None)
    inside = "" if learner is None else f" with a {type(learner).__name__}"
    return f"{type(estimator).__name__}{inside}"


def show_saved(page: Page, path: Path | None) -> None:
    """Say where the model is and how to use it."""
    if path is None:
        page.section("Model", "Not saved; add --save FILE.hedge to keep it.")
    else:
        where, command = saved_words(path)
        page.section("Model", where, Text(f"  {command}", style="bold"))
