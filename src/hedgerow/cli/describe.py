"""``hedgerow describe``: what a model file, or a table, holds."""

from __future__ import annotations

import rich_click as click

from hedgerow.cli.help import help_page
from hedgerow.cli.options import format_option, json_option, load_option, target_option

__all__ = ["describe"]

_HELP = help_page(
    "hedgerow describe",
    {
        "The file": ["--load", "--target", "--format"],
        "The result": ["--top", "--json", "--help"],
    },
    [
        "hedgerow describe outcome.hedge",
        "hedgerow describe outcome.hedge --top 30",
        "hedgerow describe table.csv --target outcome",
    ],
)


@click.command()
@_HELP
@click.argument("file", required=False)
@load_option
@target_option
@format_option
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many coefficients or columns are shown at most.",
)
@json_option
def describe(
    *,
    file: str | None,
    load: str | None,
    target: str | None,
    file_format: str,
    top: int,
    as_json: bool,
) -> None:
    """Tell what a model has learnt and how, or what a table is like.

    FILE is a model that Hedgerow saved or a table; a look at its first bytes tells which. - is a
    table on standard input.
    """
    if (file is None) == (load is None):
        raise click.UsageError("give either a FILE or --load, and not both")

    from hedgerow.describe.model_file import looks_like_a_model

    if load is not None:
        _describe_model(load, top, as_json)
    elif file is not None and looks_like_a_model(file):
        _describe_model(file, top, as_json)
    else:
        _describe_table(str(file), target, file_format, top, as_json)


def _describe_model(path: str, top: int, as_json: bool) -> None:
    from hedgerow.describe import describe
    from hedgerow.describe.model_file import file_facts
    from hedgerow.describe.sections import with_article
    from hedgerow.errors import ParameterError
    from hedgerow.persist import load

    model = load(path)
    if not hasattr(model, "fit"):
        kind = with_article(type(model).__name__)
        raise ParameterError(
            f"{path} holds {kind}, which is not a model; load it in Python to see it"
        )
    found, facts = describe(model, top=top), file_facts(path)
    if as_json:
        from dataclasses import asdict

        from hedgerow.cli.console import write_json

        write_json({"file": path} | asdict(facts) | found)
    else:
        from hedgerow.cli.describe_report import show_model

        show_model(path, facts, found)


def _describe_table(
    path: str, target: str | None, file_format: str, top: int, as_json: bool
) -> None:
    from hedgerow.data.io import read_table
    from hedgerow.describe import describe

    found = describe(read_table(path, target=target, format=file_format))
    if as_json:
        from hedgerow.cli.console import write_json

        write_json({"file": path} | found)
    else:
        from hedgerow.cli.describe_report import show_table

        show_table(path, found, top)
