"""``hedgerow predict``: labels for new rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import (
    format_option,
    json_option,
    load_option,
    model_and_table,
    model_and_table_arguments,
    target_option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from hedgerow.resampling import Interval

__all__ = ["predict"]

_HELP = help_page(
    "hedgerow predict",
    {
        "The model and the table": ["--load", "--target", "--format"],
        "The result": ["--scores", "--output", "--json", "--help"],
    },
    [
        "hedgerow predict outcome.hedge new.csv > labels.txt",
        "hedgerow predict outcome.hedge new.csv --scores --output scores.csv",
        "cat new.csv | hedgerow predict outcome.hedge -",
    ],
)


@click.command()
@_HELP
@model_and_table_arguments
@load_option
@target_option
@click.option("--output", metavar="FILE", help="Write to this file, completely or not at all.")
@click.option(
    "--scores", is_flag=True, help="Write CSV with the label and the score of each class."
)
@format_option
@json_option
def predict(
    *,
    files: tuple[str, ...],
    load: str | None,
    target: str | None,
    output: str | None,
    scores: bool,
    file_format: str,
    as_json: bool,
) -> None:
    """Predict the label or value of every row, one per line.

    MODEL was saved by hedgerow auto or train, or from Python. TABLE has the same columns, in any
    order; - is standard input. If it has the target too, the accuracy goes to standard error.
    """
    model, table = model_and_table(files, load)

    from hedgerow._page.words import count
    from hedgerow.auto.columns import as_columns
    from hedgerow.cli.console import note, write_json
    from hedgerow.cli.loaded_model import load_model

    loaded = load_model(model)
    data = loaded.reading(table, target, file_format).read()
    columns = as_columns(data)
    rows, what = loaded.inputs(columns), _what_is_predicted(loaded.estimator)
    notes = [*data.notes, *loaded.notes(columns)]
    labels = loaded.estimator.predict(rows)
    values = loaded.scores(rows) if scores else None
    accuracy = _accuracy(labels, data.y, loaded.classes)
    lines = _lines(labels, values, loaded.classes)
    if output is not None or not as_json:
        _write(lines, output)
    if as_json:
        result = _result(what, labels, values) if output is None else {"output": output}
        figures = None if accuracy is None else vars(accuracy)
        write_json({"model": model, "table": table, "notes": notes, "accuracy": figures} | result)
        return
    for sentence in [*notes, *_closing_words(accuracy, count(len(labels), what), output)]:
        note(sentence)


def _what_is_predicted(estimator: Any) -> str:
    from sklearn.base import is_regressor

    return "value" if is_regressor(estimator) else "label"


def _accuracy(
    labels: NDArray[Any], y: NDArray[Any] | None, classes: NDArray[Any] | None
) -> Interval | None:
    """Return the accuracy if the table has labels that the model can predict."""
    from hedgerow.auto.judge import is_known
    from hedgerow.resampling import accuracy_interval

    if y is None or classes is None or not is_known(y, classes).any():
        return None
    return accuracy_interval(labels == y, seed=0)


def _lines(
    labels: NDArray[Any], scores: NDArray[Any] | None, classes: NDArray[Any] | None
) -> Iterable[str]:
    """Yield what is written: labels, or CSV with a header."""
    import csv
    import io

    if scores is None:
        yield from (f"{label}\n" for label in labels.tolist())
        return
    names = ["score"]
    if classes is not None and scores.ndim == 2:
        names = [f"score_{label}" for label in classes]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["label", *names])
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


def _result(what: str, labels: NDArray[Any], scores: NDArray[Any] | None) -> dict[str, Any]:
    result = {f"{what}s": labels.tolist()}
    return result if scores is None else result | {"scores": scores.tolist()}


def _closing_words(accuracy: Interval | None, predicted: str, output: str | None) -> Iterable[str]:
    from hedgerow._page.words import accuracy_words

    if output is not None:
        yield f"Wrote {predicted} to {output}."
    if accuracy is not None:
        yield f"The table has the target: {accuracy_words(accuracy, 'row')}"
