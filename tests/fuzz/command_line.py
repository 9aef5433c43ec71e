"""Mutate valid inputs, read each in a child process, and save those that lead to a problem."""

from __future__ import annotations

import argparse
import importlib
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import hedgerow
from tests.fuzz.campaign import Finding, judge, minimal, run_inputs
from tests.fuzz.child import Inputs, Limits
from tests.fuzz.target import TARGETS, Seeds, Target, find_target

__all__ = ["main"]

_BATCH = 250
_LONG_BATCH = 2000
"""Mutations that a child makes before another takes its place: if time is short, every target has its turn."""
_MOST_SAVED = 3
"""Inputs that are saved of findings of one kind."""
_TOLD_EVERY = 10_000


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; return 1 if there are findings."""
    options = _options().parse_args(arguments)
    names = [
        name
        for given in options.target or ["all"]
        for name in (TARGETS if given == "all" else [given])
    ]
    limits = Limits(options.patience, options.megabytes)
    if options.replay:
        return _replay(names, options.replay, limits)
    return _Session({name: find_target(name) for name in names}, options, limits).run()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    add = parser.add_argument
    add("--target", action="append", help=f"{', '.join(TARGETS)}, all, or module:NAME")
    add("--seed", type=int, default=0, help="another seed gives other mutations")
    add("--seconds", type=float, help="how long to go on")
    add("--count", type=int, help="how many mutations of all targets together")
    add("--first", type=int, default=0, help="the number of the first mutation of each target")
    add("--jobs", type=int, default=1, help="child processes at a time")
    add("--patience", type=float, default=Limits.seconds, help="seconds that an input may take")
    add("--megabytes", type=int, default=Limits.megabytes, help="memory that an input may take")
    add("--findings", type=Path, default=Path("build/fuzz"), help="the folder for findings")
    add(
        "--replay",
        type=Path,
        nargs="+",
        help="inputs to read again; of several targets each lies in a folder of its target's name",
    )
    return parser


def _replay(names: list[str], files: list[Path], limits: Limits) -> int:
    """Read given inputs, each in a child of its own."""
    n_problems = 0
    for file in files:
        target = find_target(names[0] if len(names) == 1 else file.parent.name)
        target.seeds()
        problem = judge(Inputs(target, {}, 0, range(1), given=(file.read_bytes(),)), limits)
        n_problems += problem is not None
        print(f"{file}: {'fine' if problem is None else problem.kind}", flush=True)
        if problem is not None:
            print(problem.report)
    return int(n_problems > 0)


class _Session:
    """One run of a campaign: what is done, what is found, and where that is written."""

    def __init__(
        self, targets: dict[str, Target], options: argparse.Namespace, limits: Limits
    ) -> None:
        self.targets, self.options, self.limits = targets, options, limits
        self.done: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.seeds: dict[str, Seeds] = {}
        self.given_names = {target.name: name for name, target in targets.items()}

    def run(self) -> int:
        """Run the campaign; return 1 if there are findings."""
        self.seeds = {target.name: target.seeds() for target in self.targets.values()}
        self._import_what_is_needed()
        began = time.monotonic()
        for finding in run_inputs(self._batches(), self.options.jobs, self.limits, self._count):
            self._keep(finding)
        counts = ", ".join(f"{name} {self.done[name]}" for name in self.seeds)
        print(f"{self.done.total()} mutations in {time.monotonic() - began:.0f} s ({counts})")
        print(f"{self.kinds.total()} findings of {len(self.kinds)} kinds")
        for (target, kind), n in self.kinds.most_common():
            print(f"  {n:6d}  {target}: {kind}")
        return int(bool(self.kinds))

    def _import_what_is_needed(self) -> None:
        """Import what inputs may need before the forks, so that no child has to do so again."""
        for name in hedgerow.__all__:
            getattr(hedgerow, name)
        importlib.import_module("matplotlib.pyplot")
        for target in self.targets.values():
            seed = next(iter(self.seeds[target.name].values()))
            with tempfile.TemporaryDirectory() as folder, suppress(Exception):
                target.consume(seed, Path(folder))

    def _batches(self) -> Iterator[Inputs]:
        """Yield batches of the targets in turn, each as often as its share, until time or count is up."""
        options, given = self.options, dict.fromkeys(self.targets, 0)
        most = math.inf if options.count is None else options.count
        deadline = math.inf if options.seconds is None else time.monotonic() + options.seconds
        batch = _BATCH if options.seconds is not None else _LONG_BATCH
        while sum(given.values()) < most and time.monotonic() < deadline:
            name = min(given, key=lambda name: given[name] / self.targets[name].share)
            target, first = self.targets[name], options.first + given[name]
            size = int(min(batch, most - sum(given.values())))
            given[name] += size
            numbers = range(first, first + size)
            seeds = self.seeds[target.name]
            yield Inputs(target, seeds, options.seed, numbers, deadline=deadline)

    def _count(self, target: str, n: int) -> None:
        before = self.done.total()
        self.done[target] += n
        if before // _TOLD_EVERY != self.done.total() // _TOLD_EVERY:
            counts = ", ".join(f"{name} {n}" for name, n in self.done.items())
            print(f"{self.done.total()} mutations ({counts}), {len(self.kinds)} kinds", flush=True)

    def _keep(self, finding: Finding) -> None:
        """Save a finding, and print what it is and how to repeat it."""
        kind = finding.target.name, finding.problem.kind
        self.kinds[kind] += 1
        if self.kinds[kind] > _MOST_SAVED:
            return
        data = minimal(finding, self.seeds[finding.target.name], self.limits)
        target = f"python -m tests.fuzz --target {self.given_names[finding.target.name]}"
        path = self.options.findings / _file_name(finding)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        origin = f"{target} --seed {finding.seed} --first {finding.problem.number} --count 1"
        path.with_suffix(".txt").write_text(
            f"{origin}\n{finding.problem.kind}\n{finding.problem.report}"
        )
        print(f"FOUND {kind[0]}: {kind[1]}\n  {target} --replay {path}", flush=True)


def _file_name(finding: Finding) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", finding.problem.kind)[:60].strip("-")
    return f"{finding.target.name}-{finding.seed}-{finding.problem.number}-{words}.input"
