"""``hedgerow predict``: labels for new rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import format_option, json_option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hedgerow.auto import TableClassifier
    from hedgerow.io import Table
    from hedgerow.resampling import Interval

__all__ = ["predict"]

_HELP = help_page(
    "hedgerow predict",
    {},
    [
        "hedgerow predict outcome.hedge new.csv > labels.txt",
        "hedgerow predict outcome.hedge new.csv --scores --output scores.csv",
        "cat new.csv | hedgerow predict outcome.hedge -",
    ],
)


@click.command()
@_HELP
@click.argument("model")
@click.argument("table")
@click.option("--output", metavar="FILE", help="Write here, whole or not at all.")
@click.option("--scores", is_flag=True, help="Write CSV: the label and the score of each class.")
@format_option
@json_option
def predict(
    *, model: str, table: str, output: str | None, scores: bool, file_format: str, as_json: bool
) -> None:
    """Predict the label of every row, one a line.

    MODEL was saved by hedgerow auto or train; TABLE has the same columns, in any order, - is
    standard input. If it has the target too, the accuracy is told on standard error.
    """
    from hedgerow.auto.columns import as_columns
    from hedgerow.cli.console import note, write_json

    classifier = _load(model)
    data = _read(table, classifier, file_format)
    columns = as_columns(data)
    notes = [*data.notes, *classifier.notes(columns)]
    labels = classifier.predict(columns)
    values = classifier.decision_function(columns) if scores else None
    accuracy = _accuracy(labels, data.y, classifier)
    if output is not None or not as_json:
        _write(_lines(labels, values, classifier), output)
    if as_json:
        result = _result(labels, values) if output is None else {"output": output}
        figures = None if accuracy is None else vars(accuracy)
        write_json({"model": model, "table": table, "notes": notes, "accuracy": figures} | result)
        return
    for sentence in [*notes, *_closing_words(accuracy, len(labels), output)]:
        note(sentence)


def _load(path: str) -> TableClassifier:
    """Return the model in a file, which must be one for tables."""
    from hedgerow.auto import TableClassifier
    from hedgerow.errors import ParameterError
    from hedgerow.persist import load

    model = load(path)
    if not isinstance(model, TableClassifier):
        msg = (
            f"{path} holds a {type(model).__name__}, which takes matrices and not tables; "
            "give a model saved by hedgerow auto or hedgerow train"
        )
        raise ParameterError(msg)
    return model


def _read(path: str, model: TableClassifier, file_format: str) -> Table:
    """Read a table as the model's training table was read, with or without the target."""
    from hedgerow.io import read_table

    names = getattr(model, "feature_names_in_", ())
    texts = [name for name, text in zip(names, model.encoder_.is_text_, strict=False) if text]
    if isinstance(model.target_, str) and model.classes_.dtype.kind == "U":
        texts.append(model.target_)
    return read_table(
        path,
        target=model.target_,
        format=file_format,
        n_features=model.n_features_in_,
        text_columns=texts,
        require_target=False,
    )


def _accuracy(
    labels: NDArray[Any], y: NDArray[Any] | None, model: TableClassifier
) -> Interval | None:
    """Return the accuracy if the table has labels that the model could give at all."""
    import numpy as np

    from hedgerow.resampling import accuracy_interval

    if y is None or not np.isin(y, model.classes_).any():
        return None
    return accuracy_interval(labels == y, seed=0)


def _lines(
    labels: NDArray[Any], scores: NDArray[Any] | None, model: TableClassifier
) -> Iterable[str]:
    """Yield what is written: labels, or CSV with a header."""
    import csv
    import io

    if scores is None:
        yield from (f"{label}\n" for label in labels.tolist())
        return
    many = scores.ndim == 2
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["label", *([f"score_{c}" for c in model.classes_] if many else ["score"])])
    for label, row in zip(labels.tolist(), scores.reshape(len(labels), -1).tolist(), strict=True):
        writer.writerow([label, *row])
    yield buffer.getvalue()


def _write(lines: Iterable[str], output: str | None) -> None:
    if output is None:
        sys.stdout.writelines(lines)
        return
    from hedgerow.persist.atomic import atomic_write

    with atomic_write(output) as stream:
        stream.writelines(line.encode() for line in lines)


def _result(labels: NDArray[Any], scores: NDArray[Any] | None) -> dict[str, Any]:
    result = {"labels": labels.tolist()}
    return result if scores is None else result | {"scores": scores.tolist()}


def _closing_words(accuracy: Interval | None, n_rows: int, output: str | None) -> Iterable[str]:
    from hedgerow.cli.words import accuracy_words, count

    if output is not None:
        yield f"Wrote {count(n_rows, 'label')} to {output}."
    if accuracy is not None:
        yield f"The table has the target: {accuracy_words(accuracy, 'row')}"
