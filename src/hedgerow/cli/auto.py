"""``hedgerow auto``: from a table to a tested model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import (
    checkpoint_option,
    format_option,
    json_option,
    loss_option,
    max_time_option,
    n_jobs_option,
    read_labelled,
    save_option,
    seed_option,
    target_option,
    text_columns,
)

if TYPE_CHECKING:
    from hedgerow.auto import AutoResult
    from hedgerow.data.io import Table

__all__ = ["auto"]

_HELP = help_page(
    "hedgerow auto",
    {
        "The table": ["--target", "--format", "--example", "--test", "--test-size"],
        "The search": ["--Cs", "--loss", "--seed", "--n-jobs", "--max-time", "--checkpoint"],
        "The result": ["--save", "--json", "--help"],
    },
    [
        "hedgerow auto --example breast_cancer",
        "hedgerow auto table.csv --target outcome --save outcome.hedge",
        "hedgerow auto a9a --test a9a.t --loss hinge",
    ],
)


def _parse_grid(_: click.Context, __: click.Parameter, value: str | None) -> list[float] | None:
    if value is None:
        return None
    try:
        return [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of numbers such as 0.1,1,10") from None


@click.command()
@_HELP
@click.argument("table", required=False)
@target_option
@click.option(
    "--example",
    metavar="NAME",
    type=click.Choice(["breast_cancer", "digits", "iris", "wine"]),
    help="Use a table of scikit-learn: breast_cancer, digits, iris or wine.",
)
@click.option("--test", metavar="FILE", help="Test on this table instead of held-out rows.")
@click.option(
    "--test-size",
    metavar="SHARE",
    type=float,
    default=0.25,
    show_default=True,
    help="Proportion of every class to hold out for the test.",
)
@format_option
@click.option(
    "--Cs",
    "cs",
    metavar="LIST",
    callback=_parse_grid,
    help="Values of C to try, such as 0.1,1,10; by default 2^-8, 2^-6, ... 2^8.",
)
@loss_option
@seed_option
@n_jobs_option
@max_time_option
@checkpoint_option
@save_option(required=False)
@json_option
def auto(
    *,
    table: str | None,
    target: str | None,
    example: str | None,
    test: str | None,
    test_size: float,
    file_format: str,
    cs: list[float] | None,
    loss: str,
    seed: int,
    n_jobs: int | None,
    max_time: float | None,
    checkpoint: str | None,
    save_path: Path | None,
    as_json: bool,
) -> None:
    """Scale, choose C by cross-validation, fit, test, and suggest what to try next.

    TABLE is a CSV or LIBSVM file, also .gz or .bz2; - is standard input.
    """
    data = _read(table, target, example, file_format)
    settings = {"test_size": test_size, "Cs": cs, "loss": loss, "random_state": seed}
    settings |= {"n_jobs": n_jobs, "max_time": max_time}
    tests = None if test is None else _read_test(test, data, target, file_format)
    result = _search(data, checkpoint, test=tests, **settings)
    if save_path is not None:
        from hedgerow.persist import save

        save(result.model, save_path)
    name = example or table or ""
    if as_json:
        _write_json(name, data, result, save_path)
    else:
        from hedgerow._page.page import Page
        from hedgerow.auto.page import Origin, show_result
        from hedgerow.cli.sections import show_saved

        page = Page()
        show_result(page, result, Origin(name, data.notes, table or "", test or ""))
        show_saved(page, save_path)
    if result.interrupted:
        raise KeyboardInterrupt


def _read(table: str | None, target: str | None, example: str | None, file_format: str) -> Table:
    if (table is None) == (example is None):
        raise click.UsageError("give either a TABLE or --example, not both")
    if example is not None:
        from hedgerow.cli.examples import example_table

        return example_table(example)
    return read_labelled(str(table), target, file_format)


def _read_test(path: str, data: Table, target: str | None, file_format: str) -> Table:
    """Read the test table with the columns of the training table."""
    n_features = None if isinstance(data.X, dict) else data.X.shape[1]
    kept = {"n_features": n_features, "text_columns": text_columns(data)}
    return read_labelled(path, target, file_format, **kept)


def _search(data: Table, checkpoint: str | None, **settings: Any) -> AutoResult:
    """Run the search, with a progress bar on a terminal; after Ctrl-C finish with the best so far."""
    import warnings

    from hedgerow.auto import AutoInterrupt, auto_fit
    from hedgerow.cli.console import long_work, note
    from hedgerow.errors import NotCertifiedWarning

    with warnings.catch_warnings():
        # The report shows the certificate, or that there is none.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        try:
            with long_work("Choosing C", counted=("auto_fit", "search"), checkpoint=checkpoint):
                return auto_fit(data, **settings)
        except AutoInterrupt as stop:
            note(f"{stop.what_follows}; press Ctrl-C again to exit immediately.")
            with long_work("Fitting"):
                return stop.finish()


def _write_json(name: str, data: Table, result: AutoResult, save_path: Path | None) -> None:
    from hedgerow.cli.console import write_json

    head = {"table": name, "target": data.target, "notes": data.notes}
    saved = {"model": None if save_path is None else str(save_path)}
    write_json(head | result.as_dict() | saved)
