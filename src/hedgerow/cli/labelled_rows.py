"""A table with labels, read for one model or for two that are compared on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.auto.columns import as_columns
from hedgerow.auto.judge import refuse_unknown_labels
from hedgerow.cli.loaded_model import BoundModel, LoadedModel
from hedgerow.cli.training_rows import share_of_training_rows
from hedgerow.data.io import Table
from hedgerow.data.io.table import missing_mask
from hedgerow.data.rows import some
from hedgerow.errors import DataError, ParameterError

__all__ = ["LabelledRows", "read_labelled_rows"]

_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class LabelledRows:
    """Rows with labels, and the models that are evaluated on them.

    Attributes
    ----------
    models : tuple of LoadedModel
        One, or two to compare.
    bound : tuple of BoundModel
        The same models with the rows in the form that each of them takes.
    table : Table
        The rows as they were read for the first model.
    y : ndarray
        The labels.
    labels : dict of str to ndarray
        One label per row for "strata" and for "groups", where they were asked for.
    notes : tuple of str
        What the models ignore, and which of them were trained on these rows.
    """

    models: tuple[LoadedModel, ...]
    bound: tuple[BoundModel, ...]
    table: Table
    y: NDArray[Any]
    labels: dict[str, NDArray[Any]]
    notes: tuple[str, ...]


def read_labelled_rows(
    models: Sequence[LoadedModel],
    path: str,
    target: str | None,
    file_format: str,
    labels: Mapping[str, str | None],
) -> LabelledRows:
    """Read a table for every model; ``labels`` names the columns of strata and groups."""
    tables = _read(models, path, target, file_format)
    first = tables[0]
    y = _checked_labels(models, path, first)
    columns = {option: name for option, name in labels.items() if name is not None}
    taken = {option: _column(first, option, name) for option, name in columns.items()}
    bound: list[BoundModel] = []
    notes = _drawing_notes(columns, taken)
    for model, table in zip(models, tables, strict=True):
        rows = as_columns(_without(table, set(columns.values()), model))
        bound.append(BoundModel(model.estimator, model.inputs(rows)))
        notes.extend(note for note in model.notes(rows) if note not in notes)
    notes.extend(_training_notes(y, models, bound))
    return LabelledRows(tuple(models), tuple(bound), first, y, taken, tuple(notes))


def _read(
    models: Sequence[LoadedModel], path: str, target: str | None, file_format: str
) -> list[Table]:
    """Return the table for each model, read once where all models need it read in the same way."""
    readings = [model.reading(path, target, file_format) for model in models]
    if len(set(readings)) > 1 and path == "-":
        msg = (
            "the two models need the table read in different ways, and standard input can be read "
            "once; save it to a file first"
        )
        raise ParameterError(msg)
    known = {reading: reading.read() for reading in readings}
    return [known[reading] for reading in readings]


def _checked_labels(models: Sequence[LoadedModel], path: str, table: Table) -> NDArray[Any]:
    """Return the labels, all of which every model must know."""
    y = table.y
    if y is None:
        raise DataError(_no_target(models[0], path, table))
    for model in models:
        refuse_unknown_labels(
            y,
            model.estimator.classes_,
            path,
            f"the training rows of {model.path}",
            "check --target, label the rows as the training table does, or remove those rows",
        )
    return y


def _no_target(model: LoadedModel, path: str, table: Table) -> str:
    columns = some(table.feature_names or [], 12)
    if model.target is None:
        return (
            f"{model.path} does not know which column it predicts; name it by --target, one of "
            f"{columns}"
        )
    return (
        f"{path} has no column {model.target!r}, which {model.path} predicts; name the column of "
        f"labels by --target, one of {columns}"
    )


def _column(table: Table, option: str, name: str) -> NDArray[Any]:
    """Return the column with the stratum or group of every row."""
    columns = table.columns
    if name not in columns:
        if table.y is not None and name in (table.target, "target"):
            return table.y
        msg = f"--{option} {name!r} is not a column; choose one of {some(['target', *columns], 12)}"
        raise DataError(msg)
    values = columns[name]
    missing = np.flatnonzero(missing_mask(values))
    if len(missing):
        msg = f"--{option} {name!r} has no value at row {missing[0]}; fill it in or remove the row"
        raise DataError(msg)
    return values.astype(str) if values.dtype == object else values


def _without(table: Table, names: set[str], model: LoadedModel) -> Table:
    """Return the table without columns that only hold strata or groups."""
    if len(table.columns) in (0, model.estimator.n_features_in_):
        return table
    extra = names - set(model.feature_names or ())
    return replace(table, X={name: v for name, v in table.columns.items() if name not in extra})


def _drawing_notes(columns: Mapping[str, str], taken: Mapping[str, NDArray[Any]]) -> list[str]:
    """Say how rows are drawn, where they are not drawn one by one."""
    notes = []
    if "strata" in columns:
        notes.append(f"Resamples keep the number of rows of each {columns['strata']!r}.")
    if "groups" in columns:
        n_groups = len(np.unique(taken["groups"]))
        notes.append(
            f"Rows with the same {columns['groups']!r} are drawn together: {n_groups:,} groups."
        )
    return notes


def _training_notes(
    y: NDArray[Any], models: Sequence[LoadedModel], bound: Sequence[BoundModel]
) -> list[str]:
    """Say which models were trained on these rows, or on some of them."""
    notes = []
    for model, answers in zip(models, bound, strict=True):
        share = share_of_training_rows(answers, y)
        if share > 0:
            which = "These" if share > _NEARLY_ALL else f"About {100 * share:.0f} % of these rows"
            notes.append(
                f"{which} look like the rows {model.path} was trained on, so its figures are too "
                "good; judge it on others."
            )
    return notes
