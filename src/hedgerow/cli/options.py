"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click
from click import get_current_context
from click.core import ParameterSource

if TYPE_CHECKING:
    from hedgerow.data.io import Table

__all__ = [
    "checkpoint_option",
    "format_option",
    "given_options",
    "json_option",
    "load_option",
    "loss_option",
    "max_time_option",
    "model_and_table",
    "model_and_table_arguments",
    "n_jobs_option",
    "read_labelled",
    "save_option",
    "seed_option",
    "target_option",
    "text_columns",
]

F = TypeVar("F", bound=Callable[..., Any])
Option = Callable[[F], F]

_DEFAULT = ParameterSource.DEFAULT

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
    help="Format of the table; auto detects it from the first lines.",
)
loss_option: Option[Any] = click.option(
    "--loss",
    type=click.Choice(["squared_hinge", "hinge"]),
    default="squared_hinge",
    show_default=True,
    help="Loss function of the SVM.",
)
seed_option: Option[Any] = click.option(
    "--seed",
    metavar="N",
    type=int,
    default=0,
    show_default=True,
    help="Random seed; the same seed gives the same result.",
)
n_jobs_option: Option[Any] = click.option(
    "--n-jobs", type=int, metavar="N", help="Number of threads; default: all cores."
)
max_time_option: Option[Any] = click.option(
    "--max-time",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit; the best model so far is kept.",
)
checkpoint_option: Option[Any] = click.option(
    "--checkpoint",
    metavar="FILE",
    help="Save the progress once a minute; after a crash, the same command continues from it.",
)
json_option: Option[Any] = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of the report."
)
load_option: Option[Any] = click.option(
    "--load", metavar="MODEL", help="The model, instead of the argument MODEL."
)
model_and_table_arguments: Option[Any] = click.argument("files", nargs=-1, metavar="MODEL TABLE")


def save_option(*, required: bool) -> Option[Any]:
    """Return the option that says where a model goes; --model is its older spelling."""
    return click.option(
        "--save",
        "--model",
        "save_path",
        metavar="FILE",
        required=required,
        callback=_save_path,
        help="Save the model to this file (.hedge); --model is the same.",
    )


def model_and_table(files: Sequence[str], load: str | None) -> tuple[str, str]:
    """Return the two files given to a command, the model as an argument or by --load."""
    if load is not None and len(files) > 1:
        raise click.UsageError("the model is given both as an argument and by --load; give it once")
    named = [*files] if load is None else [load, *files]
    if len(named) != 2:
        got = ", ".join(map(repr, named)) or "nothing"
        raise click.UsageError(f"a MODEL and a TABLE are needed, but {got} was given")
    return named[0], named[1]


def given_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the running command that its caller gave, without defaults."""
    source = get_current_context().get_parameter_source
    return {name: value for name, value in values.items() if source(name) != _DEFAULT}


def read_labelled(path: str, target: str | int | None, file_format: str, **settings: Any) -> Table:
    """Read a table that must have labels."""
    from hedgerow.data.io import read_table

    table = read_table(path, target=target, format=file_format, **settings)
    if table.y is None:
        names = ", ".join(map(repr, (table.feature_names or [])[:12]))
        raise click.UsageError(f"--target is missing; choose the column to predict among {names}")
    return table


def text_columns(table: Table) -> list[str]:
    """Return the columns of a table, its target among them, that hold text."""
    names = [name for name, values in table.columns.items() if values.dtype == object]
    if isinstance(table.target, str) and table.y is not None and table.y.dtype.kind == "U":
        names.append(table.target)
    return names


def _save_path(_: click.Context, __: click.Parameter, value: str | None) -> Path | None:
    """Return where to save a model; refuse a missing folder before any work is done."""
    if value is None:
        return None
    path = Path(value)
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise click.BadParameter(
            f"{value} cannot be written: it is a folder, or its folder does not exist"
        )
    return path
