"""A description in sentences, section by section: what pages, reports and notebooks show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow._page.words import classes_words, count, percent, seconds_words, short
from hedgerow.describe.registry import Description

__all__ = [
    "ColumnTable",
    "Listing",
    "Section",
    "kind_words",
    "sections_of",
    "table_words",
    "with_article",
]

_MANY = 12
_MANY_CLASSES = 4
_SCALINGS = {
    "standard": "scaled to mean 0 and standard deviation 1",
    "minmax": "scaled to the range from 0 to 1",
    "maxabs": "divided by their largest absolute value",
    None: "not scaled",
}
_MEASURES = {
    "impurity": "how much they lower the impurity",
    "impurity_debiased": "how much they lower the impurity of rows that trees have not seen",
    "node_average": "the mean score of the splits on them",
    "occurrences": "how often trees split on them",
    "permutation": "how much the loss rises if their values are shuffled",
}


@dataclass(frozen=True)
class Listing:
    """Features and a value of each, to be drawn as bars.

    Attributes
    ----------
    names : tuple of str
        The features, the strongest first.
    labels : tuple of str or None
        The class that each value speaks for, where there are several.
    values : tuple of float
        The values.
    is_signed : bool
        Whether values may be below 0.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    values: tuple[float, ...]
    is_signed: bool

    @property
    def shares(self) -> tuple[float, ...]:
        """Each value as a share of the largest finite one; 1 for infinity, 0 for what is not a number."""
        finite = [abs(value) for value in self.values if math.isfinite(value)]
        largest = max(finite, default=1.0) or 1.0
        return tuple(
            0.0 if math.isnan(value) else max(-1.0, min(value / largest, 1.0))
            for value in self.values
        )


@dataclass(frozen=True)
class ColumnTable:
    """The columns of a table.

    Attributes
    ----------
    rows : tuple of tuples of str
        For every column its name, its kind, how many values are missing, and what it holds, in
        full and in short.
    """

    rows: tuple[tuple[str, str, str, str, str], ...]

    @property
    def header(self) -> tuple[str, str, str, str]:
        """What the columns of this table are."""
        return "", "kind", "missing", "holds"


@dataclass(frozen=True)
class Section:
    """A label, and the sentences and lists that belong to it."""

    label: str
    parts: tuple[str | Listing | ColumnTable, ...]

    @property
    def sentences(self) -> list[str]:
        """The parts that are sentences."""
        return [part for part in self.parts if isinstance(part, str)]


def sections_of(found: Description, name: str = "") -> list[Section]:
    """Return the sections of a description; the name is what its subject is called."""
    if found.get("subject") == "model":
        return list(_model_sections(found, name))
    if found.get("subject") == "table":
        return list(_table_sections(found, name))
    return [Section(key, (str(value),)) for key, value in found.items()]


def _model_sections(found: Description, name: str) -> Iterator[Section]:
    sections = {
        "Model": _model_words(found, name),
        "Settings": iter(found["settings"]),
        "Columns": _input_words(found["inputs"]),
        "Classes": _class_words(found),
        "Weights": _weights(found["weights"]),
        "Features": _importances(found["importances"]),
        "Fit": _training_words(found),
        "Proof": iter([found["certificate"]["sentence"]] if found["certificate"] else []),
        "Quality": (evidence["sentence"] for evidence in found["quality"]),
        "Next": (hint["sentence"] for hint in found["advice"]),
    }
    for label, parts in sections.items():
        told = tuple(parts)
        if told:
            yield Section(label, told)


def kind_words(kind: str, learner: str | None) -> str:
    """Return what a model is: its class, and the class of the learner inside, if there is one."""
    return kind if learner is None else f"{kind} with {with_article(learner)}"


def _listed(names: Sequence[str]) -> str:
    """Return names in a row, the first ones if there are many."""
    more = f" and {len(names) - _MANY:,} more" if len(names) > _MANY else ""
    return f"{', '.join(names[:_MANY])}{more}"


def with_article(name: str) -> str:
    """Return the name of a class with its article: an SVC, an AutoResult, a LinearSVC."""
    is_spelt_with_vowel = re.match(r"[AEFHILMNORSX]([A-Z]|$)", name) is not None
    return f"an {name}" if is_spelt_with_vowel or name[0] in "AEIO" else f"a {name}"


def _model_words(found: Description, name: str) -> Iterator[str]:
    state = "fitted" if found["is_fitted"] else "not fitted: it only has parameters"
    yield f"{f'{name}: ' if name else ''}{kind_words(found['kind'], found.get('learner'))}, {state}."
    if found["what"].rstrip(".") != found["kind"]:
        yield found["what"]


def _class_words(found: Description) -> Iterator[str]:
    classes = found["classes"]
    if classes is None:
        return
    if classes and isinstance(classes[0], list):
        numbers = _listed([str(len(labels)) for labels in classes])
        yield f"Predicts {count(len(classes), 'output')} of so many classes: {numbers}."
        return
    shown = _listed([str(label) for label in classes])
    target = f" {found['target']!r}," if isinstance(found["target"], str) else ""
    yield f"Predicts{target} one of {count(len(classes), 'class')}: {shown}."


def _input_words(inputs: dict[str, Any] | None) -> Iterator[str]:
    """Say which columns a model takes, and what it makes of them."""
    if inputs is None or inputs["n_columns"] is None:
        return
    columns = inputs["columns"] or ()
    numbers = [column["name"] for column in columns if column["values"] is None]
    texts = [
        f"{column['name']} ({count(len(column['values']), 'value')})"
        for column in columns
        if column["values"] is not None
    ]
    n_numbers = inputs["n_columns"] - len(texts)
    is_changed = inputs["is_encoded"] or inputs["scaling"] is not None
    how = _SCALINGS[inputs["scaling"]] if is_changed else "taken as they are"
    gaps = "; a missing value becomes the mean" if inputs["is_encoded"] and numbers else ""
    if n_numbers:
        names = f": {_listed(numbers)}" if numbers else ", in the order of training"
        yield f"{count(n_numbers, 'column')} of numbers, {how}{gaps}{names}."
    if texts and inputs["is_encoded"]:
        yield f"{count(len(texts), 'column')} of text, a 0 or 1 for each value: {_listed(texts)}."
        yield f"Together {count(inputs['n_encoded'] or 0, 'encoded column')}."
    elif texts:
        yield f"{count(len(texts), 'column')} of categories, taken as they are: {_listed(texts)}."


def _training_words(found: Description) -> Iterator[str]:
    """Say on what the model was trained, how that went and how long it took."""
    if not found["is_fitted"]:
        return
    data, training = found["data"], found["training"]
    if data["n_rows"] is not None:
        yield f"Trained on {count(data['n_rows'], 'row')}."
    yield from training["sentences"]
    if training["seconds"] is not None:
        yield f"The fit took {seconds_words(training['seconds'])}."


# ------------------------------------------------------------------------------------------ tables


def table_words(
    profile: dict[str, Any], target: str | int | None, notes: Sequence[str], name: str = ""
) -> list[str]:
    """Return what a table is like, and what was inferred when it was read."""
    size = f"{count(profile['n_rows'], 'row')}, {_columns_words(profile)}."
    words = [f"{name}: {size}" if name else size, *notes]
    if profile["classes"]:
        which = f"Target {target!r}" if isinstance(target, str) else "The target"
        classes = {entry["label"]: entry["rows"] for entry in profile["classes"]}
        words.append(f"{which} has {classes_words(classes, _MANY_CLASSES)}.")
    return words


def _columns_words(profile: dict[str, Any]) -> str:
    if profile["density"] is not None:
        features = count(profile["n_columns"], "sparse feature")
        return f"{features}, {percent(profile['density'])} of the values not zero"
    n_text = profile["n_text_columns"]
    kinds = {"numbers": profile["n_columns"] - n_text, "text": n_text}
    return " and ".join(f"{count(n, 'column')} of {kind}" for kind, n in kinds.items() if n)


def _table_sections(found: Description, name: str) -> Iterator[Section]:
    words = table_words(found["profile"], found["target"], found["notes"], name)
    yield Section("Table", tuple(words))
    if found["columns"]:
        yield Section("Columns", (ColumnTable(tuple(map(_column_row, found["columns"]))),))
    if found["advice"]:
        yield Section("Next", tuple(hint["sentence"] for hint in found["advice"]))


def _column_row(column: dict[str, Any]) -> tuple[str, str, str, str, str]:
    kind = "text" if column["is_text"] else "numbers"
    missing = f"{column['n_missing']:,}" if column["n_missing"] else "-"
    return (column["name"], kind, missing, *_holds(column))


def _holds(column: dict[str, Any]) -> tuple[str, str]:
    """Return what there is to say of a column's values, in full and in short."""
    if not column["n_values"]:
        return "nothing", "nothing"
    if column["is_text"]:
        values = count(column["n_values"], "value")
        often = "mostly" if column["n_values"] > 1 else "always"
        return f"{values}, {often} {column['commonest']}", values
    low, mean, high = (f"{float(column[figure]):.4g}" for figure in ("low", "mean", "high"))
    return f"{low} to {high}, mean {mean}", f"{low} to {high}"


# ------------------------------------------------------------------------ coefficients, importances


def _weights(weights: dict[str, Any] | None) -> Iterator[str | Listing]:
    """Yield the strongest coefficients, and what is true of all of them."""
    if weights is None or not weights["strongest"]:
        return
    yield _weights_title(weights)
    yield _listing(weights["strongest"], has_labels=weights["n_planes"] > 1, is_signed=True)
    shown = _listed([short(float(intercept)) for intercept in weights["intercepts"]])
    yield f"{'Intercept' if weights['n_planes'] == 1 else 'Intercepts'} {shown}."
    if weights["width"] is not None:
        yield f"The margin is {short(float(weights['width']))} wide (2/|w|)."


def _weights_title(weights: dict[str, Any]) -> str:
    n_zero, label = weights["n_zero"], weights["strongest"][0]["label"]
    shown = _how_many(weights, "coefficient", "strongest")
    zero = f" ({n_zero:,} {'is' if n_zero == 1 else 'are'} 0)" if n_zero else ""
    if weights["n_planes"] > 1:
        return f"{shown}{zero}; above 0 speaks for the class beside it, below 0 against:"
    if label is None:
        return f"{shown}{zero}; above 0 raises the prediction, below 0 lowers it:"
    return f"{shown}{zero}; above 0 speaks for {label!r}, below 0 against:"


def _importances(found: dict[str, Any] | None) -> Iterator[str | Listing]:
    """Yield the most important features."""
    if found is None or not found["strongest"]:
        return
    yield f"{_how_many(found, 'feature', 'most important')}, by {_MEASURES[found['measure']]}:"
    has_negative = any(float(entry["value"]) < 0 for entry in found["strongest"])
    yield _listing(found["strongest"], has_labels=False, is_signed=has_negative)


def _how_many(found: dict[str, Any], noun: str, which: str) -> str:
    n_shown, n_all = len(found["strongest"]), count(found["n_all"], noun)
    return n_all if n_shown == found["n_all"] else f"The {n_shown} {which} of {n_all}"


def _listing(entries: list[dict[str, Any]], *, has_labels: bool, is_signed: bool) -> Listing:
    return Listing(
        names=tuple(entry["column"] for entry in entries),
        labels=tuple(str(entry["label"]) for entry in entries) if has_labels else None,
        values=tuple(float(entry["value"]) for entry in entries),
        is_signed=is_signed,
    )
