"""The command line: ``python -m tests.fuzz``."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: children are forked

from tests.sanitized_core import use_core_of_environment

use_core_of_environment()

from tests.fuzz.campaign import Finding, judge, minimal, run_inputs, seeds_of
from tests.fuzz.child import Inputs, Limits, Problem
from tests.fuzz.target import TARGETS, Seeds, Target, find_target

_BATCH = 500
_MOST_SAVED = 3
"""Inputs that are saved of findings of one kind."""


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked for; return 1 if there are findings."""
    options = _options().parse_args(arguments)
    names = [name for given in options.target for name in (TARGETS if given == "all" else [given])]
    targets = [find_target(name) for name in names]
    limits = Limits(options.patience, options.megabytes)
    if options.replay:
        return _replay(targets[0], options.replay, limits)
    return _Session(targets, options, limits).run()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--target", action="append", help=f"{', '.join(TARGETS)}, all, module:NAME")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=None, help="how long to go on")
    parser.add_argument("--count", type=int, default=None, help="how many mutations of all targets")
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutation")
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time")
    parser.add_argument("--patience", type=float, default=Limits.seconds, help="seconds an input may take")
    parser.add_argument("--megabytes", type=int, default=Limits.megabytes, help="memory an input may take")
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"), help="where findings go")
    parser.add_argument("--replay", type=Path, nargs="+", help="read these inputs of one target again")
    return parser


def _replay(target: Target, files: list[Path], limits: Limits) -> int:
    """Read given inputs, each in a child of its own."""
    n_problems = 0
    for file in files:
        inputs = Inputs(target, {}, 0, range(1), given=(file.read_bytes(),))
        problem = judge(inputs, limits)
        n_problems += problem is not None
        print(f"{file}: {'fine' if problem is None else problem.kind}")
        if problem is not None:
            print(problem.report)
    return int(n_problems > 0)


class _Session:
    """One run of a campaign: what is done, what is found, and where that is written."""

    def __init__(self, targets: list[Target], options: argparse.Namespace, limits: Limits) -> None:
        self.targets, self.options, self.limits = targets, options, limits
        self.done: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.seeds: dict[str, Seeds] = {}

    def run(self) -> int:
        """Run the campaign; return 1 if there are findings."""
        began = time.monotonic()
        self.seeds = {target.name: seeds_of(target) for target in self.targets}
        for finding in run_inputs(self._batches(), self.options.jobs, self.limits, self._count):
            self._keep(finding)
        seconds = time.monotonic() - began
        counts = ", ".join(f"{name} {self.done[name]}" for name in self.seeds)
        print(f"{self.done.total()} mutations in {seconds:.0f} s ({counts}); {sum(self.kinds.values())} findings of {len(self.kinds)} kinds")
        for (target, kind), n in self.kinds.most_common():
            print(f"  {n:6d}  {target}: {kind}")
        return int(bool(self.kinds))

    def _batches(self) -> Iterator[Inputs]:
        """Yield batches of the targets in turn, each as often as its share, until time or count is up."""
        options, began = self.options, time.monotonic()
        given = {target.name: 0 for target in self.targets}
        shares = {target.name: target.share / sum(t.share for t in self.targets) for target in self.targets}
        while True:
            total = sum(given.values())
            left = None if options.count is None else options.count - total
            late = options.seconds is not None and time.monotonic() - began > options.seconds
            if late or (left is not None and left <= 0):
                return
            target = min(self.targets, key=lambda t: given[t.name] / shares[t.name])
            size = _BATCH if options.seconds is None else _BATCH // 10
            size = size if left is None else min(size, left)
            first = options.first + given[target.name]
            given[target.name] += size
            yield Inputs(target, self.seeds[target.name], options.seed, range(first, first + size))

    def _count(self, target: str, n: int) -> None:
        before = self.done.total()
        self.done[target] += n
        if before // 10_000 != self.done.total() // 10_000:
            print(f"{self.done.total()} mutations: {dict(self.done)}, {len(self.kinds)} kinds of findings", flush=True)

    def _keep(self, finding: Finding) -> None:
        """Save a finding, and print what it is and how to repeat it."""
        kind = finding.target.name, finding.problem.kind
        self.kinds[kind] += 1
        if self.kinds[kind] > _MOST_SAVED:
            return
        data = minimal(finding, self.seeds[finding.target.name], self.limits)
        folder = self.options.findings
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / _file_name(finding)
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(f"{_command(finding)}\n{finding.problem.kind}\n{finding.problem.report}")
        target = _given_name(finding.target)
        print(f"FOUND {finding.target.name}: {finding.problem.kind}\n  python -m tests.fuzz --target {target} --replay {path}", flush=True)


def _given_name(target: Target) -> str:
    return target.name


def _command(finding: Finding) -> str:
    return f"python -m tests.fuzz --target {finding.target.name} --seed {finding.seed} --first {finding.problem.number} --count 1"


def _file_name(finding: Finding) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", finding.problem.kind)[:60].strip("-")
    return f"{finding.target.name}-{finding.seed}-{finding.problem.number}-{words}.input"


if __name__ == "__main__":
    sys.exit(main())
