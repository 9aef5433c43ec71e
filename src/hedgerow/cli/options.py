"""Options and arguments that several verbs share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

if TYPE_CHECKING:
    from hedgerow.io import Table

__all__ = [
    "format_option",
    "json_option",
    "loss_option",
    "n_jobs_option",
    "read_labelled",
    "seed_option",
    "target_option",
    "text_columns",
]

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]

target_option: Option[Any] = click.option(
    "--target",
    metavar="COLUMN",
    help="Column with the labels: its name, or its position (0 is the first, -1 the last). "
    "LIBSVM files need none.",
)
format_option: Option[Any] = click.option(
    "--format",
    "file_format",
    type=click.Choice(["auto", "csv", "libsvm"]),
    default="auto",
    show_default=True,
    help="What the table is; auto looks at its first lines.",
)
loss_option: Option[Any] = click.option(
    "--loss",
    type=click.Choice(["squared_hinge", "hinge"]),
    default="squared_hinge",
    show_default=True,
    help="Loss of the machine.",
)
seed_option: Option[Any] = click.option(
    "--seed",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="The same seed gives the same result.",
)
n_jobs_option: Option[Any] = click.option(
    "--n-jobs", type=int, metavar="N", help="Threads; all cores if not given."
)
json_option: Option[Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of the report."
)


def read_labelled(path: str, target: str | None, file_format: str, **settings: Any) -> Table:
    """Read a table that must have labels."""
    from hedgerow.io import read_table

    table = read_table(path, target=target, format=file_format, **settings)
    if table.y is None:
        names = ", ".join(map(repr, (table.feature_names or [])[:12]))
        raise click.UsageError(f"--target is missing; choose the column to predict among {names}")
    return table


def text_columns(table: Table) -> list[str]:
    """Return the columns of a table, its target among them, that hold text."""
    columns = table.X if isinstance(table.X, dict) else {}
    names = [name for name, values in columns.items() if values.dtype == object]
    if isinstance(table.target, str) and table.y is not None and table.y.dtype.kind == "U":
        names.append(table.target)
    return names


def model_path(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    """Return where to save a model, refusing a folder that is not there before any work is done."""
    if value is None:
        return None
    path = Path(value)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise click.BadParameter(f"{value} is no place for a file; make its folder first")
    return path
