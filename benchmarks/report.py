"""The report of a run: a document for machines, a table a target for people."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.contest import Limits, Run, Standing, Suite
from benchmarks.timing import geometric_mean

__all__ = ["CaseReport", "Report"]


QUIET = 0.9
"""The share of a core that a thread gets on a machine where nothing else runs, at least."""


@dataclass(frozen=True)
class CaseReport:
    """What came of one case.

    Attributes
    ----------
    name : str
        The case.
    shape : tuple of int
        Rows and features of its training data.
    standings, runs : list
        Charges, and every fit as measured.
    problem : str
        Why there is no contest, if there is none.
    """

    name: str
    shape: tuple[int, int]
    standings: list[Standing]
    runs: list[Run]
    problem: str = ""

    def of(self, target: str) -> dict[str, Standing]:
        """Return the standings for a target, by contestant."""
        return {s.contestant: s for s in self.standings if s.target == target}


@dataclass
class Report:
    """A run of a suite: what it was, and its cases as they come in."""

    name: str
    suite: Suite
    limits: Limits
    about: dict[str, Any]
    cases: list[CaseReport] = field(default_factory=list)

    def ratio(self, case: CaseReport, target: str) -> float:
        """Return our charge over that of the best peer; not a number if no peer is charged."""
        standings = case.of(target)
        charges: dict[bool, list[float]] = {True: [], False: []}
        for contestant in self.suite.contestants:
            standing = standings.get(contestant.name)
            if standing is not None and not math.isnan(standing.seconds):
                charges[contestant.is_ours].append(standing.seconds)
        if not charges[True] or not charges[False]:
            return math.nan
        return min(charges[True]) / min(charges[False])

    def mean_ratio(self, target: str) -> float:
        """Return the geometric mean of the ratios over the cases that have one."""
        ratios = (self.ratio(case, target) for case in self.cases)
        return geometric_mean(ratio for ratio in ratios if not math.isnan(ratio))

    def processor_share(self) -> float:
        """Return processor over wall time of what is charged and runs in one thread: 1 if quiet."""
        phase = "repeat" if self.limits.repeats else "climb"
        single = {c.name for c in self.suite.contestants if c.threads(self.limits.threads) == 1}
        runs = [
            run
            for case in self.cases
            for run in case.runs
            if run.contestant in single and run.phase == phase and run.status == "done"
        ]
        wall = sum(run.seconds for run in runs)
        return sum(run.cpu_seconds for run in runs) / wall if wall > 0 else 1.0

    def as_document(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        targets = [target.name for target in self.suite.targets]
        cases = [
            {**asdict(case), "ratio_to_best_peer": {t: self.ratio(case, t) for t in targets}}
            for case in self.cases
        ]
        document = {
            "suite": self.name,
            **self.about,
            "limits": asdict(self.limits),
            "threads": {c.name: c.threads(self.limits.threads) for c in self.suite.contestants},
            "processor_share": self.processor_share(),
            "geometric_mean_ratio": {t: self.mean_ratio(t) for t in targets},
            "cases": cases,
        }
        if self.suite.conclude is not None:
            document["conclusion"] = self.suite.conclude(self).as_document()
        cleaned: dict[str, Any] = _without_nan(document)
        return cleaned

    def write(self, path: Path) -> None:
        """Write the document."""
        path.write_text(json.dumps(self.as_document(), indent=1, allow_nan=False) + "\n")

    def show(self, console: Console) -> None:
        """Print a table for each target, and below them all that a figure alone would hide."""
        for target in self.suite.targets:
            console.print(self._table(target.name))
        if self.suite.conclude is not None:
            console.print(self.suite.conclude(self).table())
        for note in self._notes():
            console.print(note, style="dim", soft_wrap=True, highlight=False)

    def _table(self, target: str) -> Table:
        """Return the table of a target: a line a case, a column a contestant."""
        table = Table(title=f"{self.suite.title}: {target}", title_justify="left")
        table.add_column("case")
        for contestant in self.suite.contestants:
            n_threads = contestant.threads(self.limits.threads)
            threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
            table.add_column(f"{contestant.name}\n{threads}", justify="right")
        table.add_column("ours /\nbest peer", justify="right")
        for case in self.cases:
            standings = case.of(target)
            cells = [_cell(standings.get(c.name)) for c in self.suite.contestants]
            table.add_row(case.name, *cells, _figure(self.ratio(case, target)))
        table.add_section()
        blanks = [""] * len(self.suite.contestants)
        table.add_row("geometric mean", *blanks, _figure(self.mean_ratio(target)))
        return table

    def _notes(self) -> Iterable[str]:
        """Yield a line for whatever was not a plain timing."""
        how = f"Median seconds of {self.limits.repeats} interleaved repeats ± half their range"
        yield (
            f"{how if self.limits.repeats else 'Seconds of one fit each'}; "
            f"> charged the budget of {self.limits.budget:g} s, ~ not every repeat got there."
        )
        if self.suite.remark:
            yield self.suite.remark
        share = self.processor_share()
        if share < QUIET:
            yield (
                f"The machine was not quiet: contestants with one thread had {100 * share:.0f} % "
                "of a core while they ran; run again before you believe a figure."
            )
        missing = {
            s.contestant for case in self.cases for s in case.standings if s.status == "missing"
        }
        if missing:
            yield f"Missing, not installed: {', '.join(sorted(missing))}."
        for case in self.cases:
            if case.problem:
                yield f"{case.name}: {case.problem}."
            for standing in case.standings:
                if standing.note:
                    who = f"{standing.contestant}, {standing.target}"
                    yield f"{case.name}: {who}: {standing.status}, {standing.note}."


def _cell(standing: Standing | None) -> str:
    """Return a charge as it stands in the table."""
    if standing is None:
        return "-"
    if standing.status == "reached":
        doubt = "~" if standing.n_missed else ""
        half_range = 50 * standing.spread
        return f"{doubt}{_figure(standing.seconds)} ±{half_range:.0f}%"
    if standing.status == "never reached":
        return f"> {standing.seconds:g}"
    return standing.status


def _figure(value: float) -> str:
    """Return three significant digits without exponent, or a dash."""
    if math.isnan(value):
        return "-"
    decimals = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{decimals}f}"


def _without_nan(value: Any) -> Any:
    """Return a copy in which what is not finite is null: JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: _without_nan(entry) for key, entry in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_nan(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
