"""The command line: ``python -m benchmarks SUITE --data DIR [--json FILE] [--plot FILE]``."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rich_click as click
from rich.console import Console

from benchmarks.contest import Case, Contest, Limits, Suite, UnjudgeableError
from benchmarks.machine import available_cores, busy_cores, describe_machine, installed_versions
from benchmarks.plot import draw_growth, refuse_without_matplotlib
from benchmarks.report import CaseReport, Report
from benchmarks.suites import SUITES, load_suite
from benchmarks.worker import Worker
from hedgerow.errors import HedgerowError, ParameterError

__all__ = ["main"]

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "threadpoolctl")
_TABLE_WIDTH = 200


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("suite", type=click.Choice(list(SUITES)))
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="HEDGEROW_DATA",
    help="Folder of the data sets; HEDGEROW_DATA otherwise.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write machine, versions and every timing here.",
)
@click.option(
    "--plot",
    "plot_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw seconds against rows into this file, .svg or .png.",
)
@click.option(
    "--repeats",
    type=click.IntRange(0),
    default=3,
    help="Timed fits of each; with 0 the first fit counts, for long ones. [3]",
)
@click.option("--only", default="", help="Only the cases whose name contains this.")
@click.option("--target", default="", help="Only the qualities whose name contains this.")
@click.option("--without", multiple=True, help="Leave out who has this name; may be repeated.")
@click.option(
    "--budget",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    help="Seconds a fit may take. [60]",
)
@click.option(
    "--threads",
    type=click.IntRange(1, available_cores()),
    default=min(2, available_cores()),
    help="Threads for those who can use several. [2]",
)
def main(
    *,
    suite: str,
    data: Path | None,
    json_file: Path | None,
    plot_file: Path | None,
    repeats: int,
    only: str,
    target: str,
    without: tuple[str, ...],
    budget: float,
    threads: int,
) -> None:
    """Time Hedgerow and its peers on the same data, at equal quality."""
    try:
        if plot_file is not None:
            refuse_without_matplotlib()
        chosen = _narrowed(load_suite(suite), target, without)
        cases = _cases(chosen, only)
        report = Report(suite, chosen, Limits(repeats, budget, threads), _about(chosen))
        _run(report, cases, data, json_file)
        if plot_file is not None:
            draw_growth(report, plot_file)
    except HedgerowError as error:
        raise click.ClickException(str(error)) from error
    width = None if sys.stdout.isatty() else _TABLE_WIDTH
    report.show(Console(width=width))


def _run(report: Report, cases: list[Case], data: Path | None, json_file: Path | None) -> None:
    """Hold the contests one after the other; the document is written after each."""
    console = Console(stderr=True)
    if busy_cores() > 0.5:
        console.print(f"{busy_cores():.1f} cores are busy already: expect figures that are off.")
    crew: dict[str, Worker] = {}
    try:
        with console.status("Starting") as status:
            for case in cases:
                rows = case.load(data)
                contest = Contest(
                    report.suite, case, rows, limits=report.limits, crew=crew, say=status.update
                )
                report.cases.append(_held(contest, case, rows.X.shape))
                if json_file is not None:
                    report.write(json_file)
    finally:
        for worker in crew.values():
            worker.stop()


def _held(contest: Contest, case: Case, shape: tuple[int, int]) -> CaseReport:
    """Hold a contest; a case that cannot be judged is a line of the report, not the end."""
    try:
        contest.hold()
    except UnjudgeableError as error:
        return CaseReport(case.name, shape, [], contest.runs, str(error))
    return CaseReport(case.name, shape, contest.standings(), contest.runs)


def _narrowed(suite: Suite, target: str, without: tuple[str, ...]) -> Suite:
    """Return the suite with some of its targets and without some of its contestants."""
    names = [contestant.name for contestant in suite.contestants]
    for name in without:
        if name not in names:
            msg = f"--without {name!r} is no contestant; those are {', '.join(map(repr, names))}"
            raise ParameterError(msg)
    targets = [each for each in suite.targets if target in each.name]
    if not targets:
        there = ", ".join(repr(each.name) for each in suite.targets)
        msg = f"--target {target!r} is in no quality's name; those are {there}"
        raise ParameterError(msg)
    staying = [each for each in suite.contestants if each.name not in without]
    return replace(suite, targets=targets, contestants=staying)


def _cases(suite: Suite, only: str) -> list[Case]:
    """Return the cases whose name contains a text."""
    cases = [case for case in suite.cases if only in case.name]
    if not cases:
        names = ", ".join(repr(case.name) for case in suite.cases)
        msg = f"--only {only!r} is in no case's name; the cases are {names}"
        raise ParameterError(msg)
    return cases


def _about(suite: Suite) -> dict[str, Any]:
    """Return what the figures depend on: command, time, machine, versions."""
    packages = {name for contestant in suite.contestants for name in contestant.packages}
    return {
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": describe_machine(),
        "versions": installed_versions(sorted({*packages, *_LIBRARIES})),
    }


if __name__ == "__main__":
    main()
