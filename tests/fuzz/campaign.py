"""A campaign: mutations of targets in child processes, watched for death, hanging and memory."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.fuzz.child import FAILED, Board, Inputs, Limits, Problem, run_child
from tests.fuzz.target import MOST_STEPS, Seeds, Target

__all__ = ["Finding", "judge", "minimal", "run_inputs"]

_POLL = 0.05
"""Seconds between looks at the children."""
_PAGE_MEGABYTES = os.sysconf("SC_PAGE_SIZE") / 2**20
_MOST_REPORT = 20_000
_SANITIZER = re.compile(r"(SUMMARY: .*|runtime error: .*|hard rss limit exhausted.*)")


@dataclass(frozen=True)
class Finding:
    """A problem, and the input that led to it."""

    target: Target
    seed: int
    problem: Problem
    data: bytes


@dataclass
class _Running:
    """A child process and what belongs to it."""

    inputs: Inputs
    pid: int
    board: Board
    reports: int
    errors: Path
    megabytes_at_start: float
    killed: str = ""
    text: bytes = b""

    @property
    def n_done(self) -> int:
        """How many inputs have been read, one that the child died of among them."""
        _, seconds, n_done = self.board.read()
        return n_done + (seconds > 0.0)


def run_inputs(
    batches: Iterator[Inputs], n_jobs: int, limits: Limits, count: Callable[[str, int], None]
) -> Iterator[Finding]:
    """Run batches in up to `n_jobs` children at a time; yield findings, and count what is done."""
    with tempfile.TemporaryDirectory(prefix="hedgerow-fuzz-") as folder:
        running: list[_Running] = []
        waiting: list[Inputs] = []
        while True:
            while len(running) < n_jobs:
                batch = waiting.pop() if waiting else next(batches, None)
                if batch is None:
                    break
                running.append(_start(batch, Path(folder), limits))
            if not running:
                return
            select.select([child.reports for child in running], [], [], _POLL)
            for child in list(running):
                _read(child)
                if not _has_ended(child, limits):
                    continue
                running.remove(child)
                found, rest = _closed(child)
                yield from found
                count(child.inputs.target.name, child.n_done)
                if rest is not None and len(rest.numbers):
                    waiting.append(rest)


def judge(inputs: Inputs, limits: Limits) -> Problem | None:
    """Return what one input leads to in a child of its own, None if all is well."""
    found = list(run_inputs(iter([inputs]), 1, limits, lambda _name, _n: None))
    return found[0].problem if found else None


def minimal(finding: Finding, seeds: Seeds, limits: Limits) -> bytes:
    """Return the input after as few steps of its mutation as still lead to the same problem."""
    number = finding.problem.number
    for steps in range(1, MOST_STEPS):
        inputs = Inputs(
            finding.target, seeds, finding.seed, range(number, number + 1), most_steps=steps
        )
        data = inputs.make(number)
        if data == finding.data:
            break
        problem = judge(inputs, limits)
        if problem is not None and problem.kind == finding.problem.kind:
            return data
    return finding.data


# ------------------------------------------------------------------------------- one child


def _start(inputs: Inputs, folder: Path, limits: Limits) -> _Running:
    board, (reports, sending) = Board(), os.pipe()
    errors = folder / f"errors-{time.monotonic_ns()}"
    pid = os.fork()
    if pid == 0:
        os.close(reports)
        # A sanitizer, glibc and LAPACK write to file descriptors, not to sys.stderr.
        descriptor = os.open(errors, os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(descriptor, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        run_child(inputs, board, sending, limits)
    os.close(sending)
    os.set_blocking(reports, False)
    return _Running(inputs, pid, board, reports, errors, _resident_megabytes(os.getpid()))


def _read(child: _Running) -> None:
    try:
        while text := os.read(child.reports, 2**16):
            child.text += text
    except BlockingIOError:
        return


def _has_ended(child: _Running, limits: Limits) -> bool:
    """Say whether a child has ended, and kill it if it hangs or takes too much memory."""
    _, seconds, _ = child.board.read()
    megabytes = _resident_megabytes(child.pid) - child.megabytes_at_start
    if seconds > limits.seconds:
        child.killed = "hang"
    elif megabytes > 2 * limits.megabytes:
        child.killed = "memory"
    if child.killed:
        os.kill(child.pid, signal.SIGKILL)
    ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    return ended is not None


def _closed(child: _Running) -> tuple[list[Finding], Inputs | None]:
    """Return what an ended child found, and the inputs that it left because it died."""
    _read(child)
    os.close(child.reports)
    _, status = os.waitpid(child.pid, 0)
    problems = [Problem(**json.loads(line)) for line in child.text.splitlines()]
    number = child.board.read()[0]
    rest = None
    if status != 0:
        errors = child.errors.read_text(errors="replace") if child.errors.exists() else ""
        if number < 0 or os.waitstatus_to_exitcode(status) == FAILED:
            raise RuntimeError(f"a child of {child.inputs.target.name} failed by itself:\n{errors}")
        problems.append(Problem(number, _cause(child, status, errors), errors[-_MOST_REPORT:]))
        rest = replace(child.inputs, numbers=range(number + 1, child.inputs.numbers.stop))
    child.errors.unlink(missing_ok=True)
    inputs = child.inputs
    found = [Finding(inputs.target, inputs.seed, p, inputs.make(p.number)) for p in problems]
    return found, rest


def _cause(child: _Running, status: int, errors: str) -> str:
    """Return in one line why a child ended before its time."""
    if child.killed:
        return child.killed
    code = os.waitstatus_to_exitcode(status)
    what = signal.Signals(-code).name if code < 0 else f"exit {code}"
    told = _SANITIZER.search(errors)
    return f"{what}: {told.group(1)}" if told else what


def _resident_megabytes(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_MEGABYTES
    except (OSError, IndexError):
        return 0.0
