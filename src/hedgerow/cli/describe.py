"""``hedgerow describe``: what a model file, or a table, holds."""

from __future__ import annotations

from typing import Any

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

    from hedgerow.cli.model_facts import looks_like_a_model

    if load is not None:
        _describe_model(load, top, as_json)
    elif file is not None and looks_like_a_model(file):
        _describe_model(file, top, as_json)
    else:
        _describe_table(str(file), target, file_format, top, as_json)


def _describe_model(path: str, top: int, as_json: bool) -> None:
    from hedgerow.cli.model_facts import file_facts
    from hedgerow.cli.model_summary import summarize
    from hedgerow.errors import ParameterError
    from hedgerow.persist import load

    model = load(path)
    if not hasattr(model, "fit"):
        kind = type(model).__name__
        raise ParameterError(
            f"{path} holds a {kind}, which is no model; load it in Python to see it"
        )
    summary = summarize(model, top)
    facts = file_facts(path)
    if as_json:
        from dataclasses import asdict

        from hedgerow.auto.result import certificate_dict
        from hedgerow.cli.console import write_json

        proof = summary.certificate
        certificate = {"certificate": None if proof is None else certificate_dict(proof)}
        write_json({"file": path} | asdict(facts) | asdict(summary) | certificate)
    else:
        from hedgerow.cli.describe_report import show_model

        show_model(path, facts, summary)


def _describe_table(
    path: str, target: str | None, file_format: str, top: int, as_json: bool
) -> None:
    from hedgerow.auto.advice import advise_on_table
    from hedgerow.auto.profile import profile_of
    from hedgerow.cli.table_summary import summarize_columns
    from hedgerow.data.io import read_table

    table = read_table(path, target=target, format=file_format)
    profile, columns = profile_of(table, table.y), summarize_columns(table)
    hints = advise_on_table(profile)
    if as_json:
        from dataclasses import asdict

        from hedgerow.cli.console import write_json

        described: dict[str, Any] = {"file": path, "target": table.target, "notes": table.notes}
        described["profile"] = profile.as_dict()
        described["columns"] = [asdict(column) for column in columns]
        write_json(described | {"advice": [asdict(hint) for hint in hints]})
    else:
        from hedgerow.cli.describe_report import show_table

        show_table(path, table, profile, columns[:top], hints)
