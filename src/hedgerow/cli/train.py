"""``hedgerow train``: fit one model with the parameters given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import (
    checkpoint_option,
    format_option,
    given_options,
    json_option,
    loss_option,
    max_time_option,
    n_jobs_option,
    read_labelled,
    save_option,
    seed_option,
    target_option,
)

if TYPE_CHECKING:
    from hedgerow.auto import TableClassifier
    from hedgerow.data.io import Table

__all__ = ["train"]

_HELP = help_page(
    "hedgerow train",
    {
        "The table": ["--target", "--format", "--scale"],
        "The machine": ["--load", "--loss", "--C", "--intercept", "--class-weight"],
        "The solver": [
            "--tol",
            "--max-iter",
            "--max-time",
            "--checkpoint",
            "--seed",
            "--n-jobs",
        ],
        "The result": ["--save", "--json", "--help"],
    },
    [
        "hedgerow train table.csv --target outcome --C 0.5 --save outcome.hedge",
        "hedgerow train a9a.bz2 --loss hinge --intercept penalized --save a9a.hedge",
        "hedgerow train more.csv --load outcome.hedge --C 2 --save outcome2.hedge",
    ],
)


@click.command()
@_HELP
@click.argument("table")
@target_option
@save_option(required=True)
@click.option(
    "--load",
    metavar="MODEL",
    help="Take the parameters and the target of this model where none are given here.",
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
@click.option(
    "--class-weight",
    type=click.Choice(["balanced", "none"]),
    default="none",
    show_default=True,
    help="Whether classes get equal weight.",
)
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
@max_time_option
@checkpoint_option
@json_option
def train(
    *,
    table: str,
    target: str | None,
    save_path: Path,
    load: str | None,
    file_format: str,
    max_time: float | None,
    checkpoint: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Fit a model with the parameters given and save it.

    TABLE is a CSV or LIBSVM file, also .gz or .bz2; - is standard input. All its rows are used;
    hedgerow auto also chooses C and tests the model.
    """
    from hedgerow.cli.blueprint import blueprint_of, default_blueprint
    from hedgerow.cli.console import long_work
    from hedgerow.persist import save

    if load is None:
        blueprint = default_blueprint().with_options(settings)
    else:
        blueprint = blueprint_of(load).with_options(given_options(settings))
    data = _read(table, target, blueprint.target, file_format)
    with long_work("Fitting", max_time=max_time, checkpoint=checkpoint):
        fitted = _fit(blueprint.model, data, save_path)
    save(fitted, save_path)
    accuracy = float(fitted.score(data.X, data.y))
    if as_json:
        _write_json(table, data, fitted, accuracy, save_path)
    else:
        _show(table, data, fitted, accuracy, save_path)


def _read(
    table: str, target: str | None, usual_target: str | int | None, file_format: str
) -> Table:
    """Read the table; a target that nobody named here may be missing, and is then asked for."""
    if target is not None:
        return read_labelled(table, target, file_format)
    return read_labelled(table, usual_target, file_format, require_target=False)


def _fit(model: TableClassifier, data: Table, save_path: Path) -> TableClassifier:
    """Fit the model; after Ctrl-C it is saved as far as it came."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from hedgerow.cli.console import note
    from hedgerow.persist import save

    with warnings.catch_warnings():
        # The report shows the certificate, or how training ended.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return model.fit(data)
        except KeyboardInterrupt:
            if hasattr(model, "learner_"):
                save(model, save_path)
                note(f"The model, as far as it came, is in {save_path}.")
            raise


def _show(
    table: str, data: Table, fitted: TableClassifier, accuracy: float, save_path: Path
) -> None:
    from hedgerow._page.page import Page
    from hedgerow._page.words import percent
    from hedgerow.cli.sections import show_saved
    from hedgerow.describe import describe
    from hedgerow.describe.profile import profile_of
    from hedgerow.describe.sections import sections_of, table_words

    page, profile = Page(), profile_of(data.X, data.y).as_dict()
    page.section("Table", *table_words(profile, data.target, data.notes, table))
    sections = {section.label: section for section in sections_of(describe(fitted))}
    right = f"{percent(accuracy)} of these rows are predicted right."
    page.section("Fit", *sections["Fit"].sentences, right)
    if "Proof" in sections:
        page.section("Proof", *sections["Proof"].sentences)
    show_saved(page, save_path)


def _write_json(
    table: str, data: Table, fitted: TableClassifier, accuracy: float, save_path: Path
) -> None:
    from hedgerow.cli.console import write_json
    from hedgerow.describe import describe

    write_json(
        {
            "table": table,
            "target": data.target,
            "notes": data.notes,
            "n_rows": data.n_rows,
            "classes": fitted.classes_.tolist(),
            "parameters": fitted.learner_.get_params(),
            "scale": fitted.scale,
            "train_accuracy": accuracy,
            "certificate": describe(fitted)["certificate"],
            "model": str(save_path),
        }
    )
