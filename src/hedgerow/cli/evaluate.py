"""``hedgerow evaluate``: metrics of a saved model with intervals, or a comparison of two."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import (
    format_option,
    json_option,
    load_option,
    model_and_table,
    model_and_table_arguments,
    n_jobs_option,
    seed_option,
    target_option,
)

if TYPE_CHECKING:
    from hedgerow.cli.labelled_rows import LabelledRows
    from hedgerow.evaluation import Comparison, Evaluation

__all__ = ["evaluate"]

_HELP = help_page(
    "hedgerow evaluate",
    {
        "The model and the table": ["--load", "--against", "--target", "--format"],
        "The metrics": ["--metrics", "--confidence", "--method"],
        "The resamples": ["--resamples", "--strata", "--groups", "--seed", "--n-jobs"],
        "The result": ["--json", "--help"],
    },
    [
        "hedgerow evaluate outcome.hedge new.csv",
        "hedgerow evaluate outcome.hedge new.csv --metrics roc_auc --groups patient",
        "hedgerow evaluate outcome.hedge new.csv --against other.hedge",
    ],
)


def _parse_names(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    if value is None:
        return None
    names = [name.strip() for name in value.split(",")]
    if not all(names):
        raise click.BadParameter(f"{value!r} is not a list of names such as accuracy,roc_auc")
    return names


@click.command()
@_HELP
@model_and_table_arguments
@load_option
@click.option("--against", metavar="MODEL", help="Compare with this model on the same rows.")
@target_option
@format_option
@click.option(
    "--metrics",
    metavar="LIST",
    callback=_parse_names,
    help="Names of scikit-learn's scorers, such as accuracy,roc_auc,f1_macro; by default accuracy "
    "and balanced_accuracy.",
)
@click.option(
    "--confidence",
    metavar="SHARE",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option(
    "--method",
    type=click.Choice(["percentile", "BCa", "basic"]),
    default="percentile",
    show_default=True,
    help="Kind of bootstrap interval.",
)
@click.option(
    "--resamples",
    metavar="N",
    type=int,
    default=2000,
    show_default=True,
    help="Number of resamples of the rows.",
)
@click.option(
    "--strata",
    metavar="COLUMN",
    help="Keep the number of rows of each value of this column; target means the labels.",
)
@click.option(
    "--groups", metavar="COLUMN", help="Resample rows with the same value of this column together."
)
@seed_option
@n_jobs_option
@json_option
def evaluate(
    *,
    files: tuple[str, ...],
    load: str | None,
    against: str | None,
    target: str | None,
    file_format: str,
    strata: str | None,
    groups: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Evaluate a saved model on a table with labels, with an interval for each metric.

    MODEL was saved by hedgerow auto or train, or from Python. TABLE has the columns it was trained on
    and the labels, for rows it was not trained on; - is standard input.
    """
    model, table = model_and_table(files, load)

    from hedgerow.cli.labelled_rows import read_labelled_rows
    from hedgerow.cli.loaded_model import load_classifier
    from hedgerow.cli.verdict import Verdict

    models = [load_classifier(path) for path in (model, against) if path is not None]
    labels = {"strata": strata, "groups": groups}
    rows = read_labelled_rows(models, table, target, file_format, labels)
    found, warned = _judge(rows, settings)
    verdict = Verdict(table, rows, found, settings["method"], (*rows.notes, *warned))
    if as_json:
        from hedgerow.cli.console import write_json

        write_json(verdict.as_dict())
    else:
        from hedgerow.cli.evaluate_report import show

        show(verdict)


def _judge(
    rows: LabelledRows, settings: dict[str, Any]
) -> tuple[Evaluation | Comparison, list[str]]:
    """Return the metrics of one model or the differences of two, and the warnings of scikit-learn."""
    import warnings

    from hedgerow.evaluation import compare
    from hedgerow.evaluation import evaluate as evaluate_one

    judge: Callable[..., Any] = evaluate_one if len(rows.models) == 1 else compare
    with warnings.catch_warnings(record=True) as caught:
        # Once per place, not once per resample.
        warnings.simplefilter("default")
        found = judge(
            *rows.bound,
            None,
            rows.y,
            metrics=settings["metrics"],
            confidence_level=settings["confidence"],
            method=settings["method"],
            n_resamples=settings["resamples"],
            random_state=settings["seed"],
            n_jobs=settings["n_jobs"],
            **rows.labels,
        )
    return found, sorted({str(warning.message) for warning in caught})
