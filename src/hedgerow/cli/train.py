"""``hedgerow train``: fit one model with the parameters given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import (
    format_option,
    json_option,
    loss_option,
    model_path,
    n_jobs_option,
    read_labelled,
    seed_option,
    target_option,
)

if TYPE_CHECKING:
    from hedgerow.auto import TableClassifier
    from hedgerow.io import Table

__all__ = ["train"]

_HELP = help_page(
    "hedgerow train",
    {
        "The table": ["--target", "--format", "--scale"],
        "The machine": ["--loss", "--C", "--intercept", "--class-weight"],
        "The solver": ["--tol", "--max-iter", "--seed", "--n-jobs"],
        "The result": ["--model", "--json", "--help"],
    },
    [
        "hedgerow train table.csv --target outcome --C 0.5 --model outcome.hedge",
        "hedgerow train a9a.bz2 --loss hinge --intercept penalized --model a9a.hedge",
    ],
)


@click.command()
@_HELP
@click.argument("table")
@target_option
@click.option(
    "--model",
    metavar="FILE",
    required=True,
    callback=model_path,
    help="Save the model here (.hedge).",
)
@format_option
@loss_option
@click.option("--C", "c", type=float, default=1.0, show_default=True, help="Weight of the losses.")
@click.option(
    "--tol", type=float, default=1e-4, show_default=True, help="Largest relative gap allowed."
)
@click.option(
    "--intercept",
    type=click.Choice(["free", "penalized", "none"]),
    default="free",
    show_default=True,
    help="Free, part of the penalty, or none.",
)
@click.option("--class-weight", type=click.Choice(["balanced"]), help="Give classes equal weight.")
@click.option(
    "--max-iter", type=int, default=1000, show_default=True, help="Most iterations of the solver."
)
@click.option(
    "--scale",
    type=click.Choice(["auto", "standard", "maxabs", "none"]),
    default="auto",
    show_default=True,
    help="How columns of numbers are scaled; auto is maxabs for LIBSVM files, else standard.",
)
@seed_option
@n_jobs_option
@json_option
def train(
    *,
    table: str,
    target: str | None,
    model: Path,
    file_format: str,
    scale: str,
    as_json: bool,
    **settings: Any,
) -> None:
    """Fit a model with the parameters given and save it.

    TABLE is a CSV or LIBSVM file, also .gz or .bz2; - is standard input. All its rows are used;
    hedgerow auto also chooses C and tests the model.
    """
    from hedgerow.persist import save

    data = read_labelled(table, target, file_format)
    fitted = _fit(data, None if scale == "none" else scale, settings)
    save(fitted, model)
    accuracy = float(fitted.score(data.X, data.y))
    if as_json:
        _write_json(table, data, fitted, accuracy, model)
    else:
        _show(table, data, fitted, accuracy, model)


def _fit(data: Table, scale: str | None, settings: dict[str, Any]) -> TableClassifier:
    import warnings

    from hedgerow.auto import TableClassifier
    from hedgerow.errors import NotCertifiedWarning
    from hedgerow.linear import LinearSVC

    intercept = settings.pop("intercept")
    learner = LinearSVC(
        C=settings.pop("c"),
        random_state=settings.pop("seed"),
        fit_intercept=intercept != "none",
        intercept="free" if intercept == "none" else intercept,
        **settings,
    )
    with warnings.catch_warnings():
        # The report shows the certificate, or that there is none.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return TableClassifier(learner, scale).fit(data)


def _show(table: str, data: Table, fitted: TableClassifier, accuracy: float, model: Path) -> None:
    from hedgerow.auto.profile import profile_of
    from hedgerow.cli.auto_report import show_model, table_words
    from hedgerow.cli.console import Page
    from hedgerow.cli.words import percent

    page = Page()
    page.section("Table", *table_words(table, data, profile_of(data, data.y)))
    page.section("Fit", f"{percent(accuracy)} of these rows are predicted right.")
    page.section("Proof", str(fitted.learner_.certificate_))
    show_model(page, model)


def _write_json(
    table: str, data: Table, fitted: TableClassifier, accuracy: float, model: Path
) -> None:
    from hedgerow.auto.fit import certificate_dict
    from hedgerow.cli.console import write_json

    write_json(
        {
            "table": table,
            "target": data.target,
            "notes": data.notes,
            "n_rows": data.n_rows,
            "classes": fitted.classes_.tolist(),
            "parameters": fitted.learner_.get_params(),
            "train_accuracy": accuracy,
            "certificate": certificate_dict(fitted.learner_.certificate_),
            "model": str(model),
        }
    )
