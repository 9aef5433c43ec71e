"""The entry point: commands, errors in one sentence, exit codes.

Nothing heavy is imported at the top of this package, so that ``hedgerow --help`` answers at once;
every verb imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import rich_click as click

import hedgerow
from hedgerow.cli.auto import auto
from hedgerow.cli.describe import describe
from hedgerow.cli.evaluate import evaluate
from hedgerow.cli.help import help_page
from hedgerow.cli.predict import predict
from hedgerow.cli.train import train

__all__ = ["main", "run"]

_BAD_INPUT = 2
_FAILED = 1
_INTERRUPTED = 130

_VERBS = (auto, train, predict, evaluate, describe)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@help_page(
    "hedgerow",
    {},
    [
        "hedgerow auto --example breast_cancer",
        "hedgerow auto table.csv --target outcome --save outcome.hedge",
        "hedgerow predict outcome.hedge new.csv > labels.txt",
        "hedgerow evaluate outcome.hedge labelled.csv",
        "hedgerow describe outcome.hedge",
    ],
    verbs=[verb.name or "" for verb in _VERBS],
)
@click.version_option(hedgerow.__version__, prog_name="hedgerow", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Support vector machines that end with a proof.

    Give a table; get a model tested on rows kept apart, with a certificate that no other model of
    its kind does better.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _verb in _VERBS:
    cli.add_command(_verb)


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code: 0, 2 for bad input, 130 for Ctrl-C, else 1."""
    try:
        cli.main(list(arguments), prog_name="hedgerow", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _fail(_usage(error), _BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone; pointing stdout elsewhere keeps Python from complaining at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except MemoryError:
        return _fail("there is not enough memory for this table; try fewer rows", _FAILED)
    except Exception as error:
        if not _is_ours(error):
            raise
        return _fail(str(error), _BAD_INPUT)
    return 0


def _is_ours(error: Exception) -> bool:
    """Say whether an error was raised on purpose, and its sentence says all there is to say."""
    from hedgerow.errors import HedgerowError

    return isinstance(error, HedgerowError)


def _usage(error: click.ClickException) -> str:
    """Return click's complaint and where to look as one sentence."""
    message = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hedgerow"
    return f"{message[:1].lower()}{message[1:]} (see '{command} --help')"


def _fail(sentence: str, code: int) -> int:
    sys.stderr.write(f"hedgerow: {sentence}\n")
    return code
