"""The rules of a contest, shown with contestants whose manners are known."""

# ruff: noqa: ARG002 - the contestants here have the protocol's form and little to say

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from benchmarks.contest import (
    Case,
    Contest,
    Limits,
    Suite,
    Target,
    UnjudgeableError,
    Verdict,
)
from benchmarks.datasets import two_clouds
from benchmarks.report import CaseReport, Report
from benchmarks.worker import FellBackError

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
LADDER = {1.0: 0.01, 0.1: 0.02, 0.01: 0.2}
"""Seconds by tolerance, far enough apart that a busy machine does not change their order."""

TARGETS = (Target("loose", 0.5), Target("tight", 0.05))


@dataclass(frozen=True)
class Sleeper:
    """Takes a given time at each tolerance, and delivers exactly that tolerance."""

    name: str = "sleeper"
    seconds: dict = field(default_factory=lambda: dict(LADDER))
    packages: tuple = ("numpy",)
    is_ours: bool = False

    def threads(self, allowed):
        return 1

    def ladder(self, task):
        return tuple(self.seconds)

    def fit(self, task, data, tolerance, n_threads):
        if len(data.y) > 300:  # the warm-up's rows are fewer
            self.spend(self.seconds[tolerance])
        return tolerance

    def spend(self, seconds):
        time.sleep(seconds)

    def result(self, fitted):
        return {"figure": np.array([fitted]), "pid": np.array([os.getpid()])}

    def ran(self, fitted):
        return "sleep"


class Toiler(Sleeper):
    """Spends processor time."""

    def spend(self, seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass


class Fickle(Sleeper):
    """Delivers what is asked for the first time only."""

    asked: ClassVar[set[float]] = set()

    def fit(self, task, data, tolerance, n_threads):
        delivered = super().fit(
            task, data, 1.0 if tolerance in self.asked else tolerance, n_threads
        )
        if len(data.y) > 300:
            self.asked.add(tolerance)
        return delivered


class Crasher(Sleeper):
    """Takes its process down at the second rung."""

    def fit(self, task, data, tolerance, n_threads):
        if tolerance < 1.0:
            os._exit(7)
        return super().fit(task, data, tolerance, n_threads)


class Raiser(Sleeper):
    """Raises whenever it is asked."""

    def fit(self, task, data, tolerance, n_threads):
        raise RuntimeError("no")


class Impostor(Sleeper):
    """Lets another library do its work."""

    def ran(self, fitted):
        raise FellBackError("somebody else's code ran")


class Witness(Sleeper):
    """Tells how many cores and threads it was given."""

    def threads(self, allowed):
        return allowed

    def ran(self, fitted):
        return f"{len(os.sched_getaffinity(0))} {os.environ['OMP_NUM_THREADS']}"


def referee(task, data, measure):
    return lambda result: Verdict(float(result["figure"][0]))


def hold(*contestants, limits=None, referee=referee, targets=TARGETS, teller=None):
    limits = limits or Limits(repeats=2, budget=5.0, threads=1)
    case = Case("clouds", two_clouds, task=None)
    suite = Suite("Known manners", [case], contestants, targets, referee, teller)
    crew = {}
    contest = Contest(suite, case, two_clouds(None), limits=limits, crew=crew, say=[].append)
    try:
        contest.hold()
    finally:
        for worker in crew.values():
            worker.stop()
    report = Report("test", suite, limits, {})
    report.cases.append(CaseReport("clouds", (400, 8), contest.standings(), contest.runs))
    return report


def standing(report, contestant, target):
    return report.cases[0].of(target)[contestant]


def test_a_contestant_is_charged_the_rung_that_reaches_the_target():
    report = hold(Toiler(seconds={1.0: 0.01, 0.1: 0.05, 0.01: 0.2, 0.001: 0.01}))
    loose, tight = (standing(report, "sleeper", t.name) for t in TARGETS)
    assert (loose.tolerance, tight.tolerance) == (0.1, 0.01)
    # It takes at least as long as asked for; how much longer depends on who else runs.
    assert loose.seconds >= 0.05
    assert tight.seconds >= 0.2
    assert all(run.tolerance > 0.001 for run in report.cases[0].runs)


def test_of_two_rungs_that_reach_the_target_the_one_with_less_work_is_charged():
    report = hold(Toiler(seconds={1.0: 0.01, 0.4: 0.5, 0.3: 0.01, 0.01: 0.01}))
    # The loosest rung that reaches 0.5 is 0.4, but it works fifty times as much.
    assert standing(report, "sleeper", "loose").tolerance < 0.4


def test_repeats_go_round_the_contestants():
    report = hold(Toiler("a"), Toiler("b"))
    order = [run.contestant for run in report.cases[0].runs if run.phase == "repeat"]
    # Two rungs count for each, one a target.
    assert order == ["a", "a", "b", "b"] * 2


def test_without_repeats_the_first_fit_is_charged():
    seconds = {1.0: 0.01, 0.1: 0.05, 0.01: 0.2, 0.001: 0.01}
    report = hold(Toiler(seconds=seconds), limits=Limits(0, 5.0, 1))
    assert {run.phase for run in report.cases[0].runs} == {"warm-up", "climb"}
    tight = standing(report, "sleeper", "tight")
    assert (tight.status, tight.n_missed) == ("reached", 0)
    assert tight.seconds >= 0.2


def test_who_is_too_slow_is_stopped_charged_the_budget_and_marked():
    slow = Sleeper("slow", {1.0: 0.01, 0.1: 60.0})
    start = time.monotonic()
    report = hold(slow, Sleeper("ours", is_ours=True), limits=Limits(1, 0.5, 1))
    assert time.monotonic() - start < 30
    late = standing(report, "slow", "tight")
    assert (late.status, late.seconds) == ("never reached", 0.5)
    assert standing(report, "ours", "tight").status == "reached"
    assert report.ratio(report.cases[0], "tight") < 1


def test_who_climbs_for_ever_is_stopped_and_charged_the_budget():
    ladder = {10.0 - rung: 0.2 for rung in range(9)}
    report = hold(Sleeper(seconds=ladder), limits=Limits(1, 0.25, 1))
    climbed = [run for run in report.cases[0].runs if run.phase == "climb"]
    # Five budgets are spent with the seventh rung, or sooner on a busy machine.
    assert 2 <= len(climbed) <= 7
    assert all(run.status == "done" for run in climbed)
    assert standing(report, "sleeper", "tight").status == "never reached"
    assert standing(report, "sleeper", "tight").seconds == 0.25


def test_who_ends_short_of_the_target_is_charged_the_budget():
    report = hold(Sleeper(seconds={1.0: 0.01, 0.1: 0.01}))
    assert standing(report, "sleeper", "loose").status == "reached"
    short = standing(report, "sleeper", "tight")
    assert (short.status, short.seconds) == ("never reached", 5.0)
    assert "1.0e-01" in short.note


def test_who_reached_the_target_in_the_climb_alone_is_charged_that_and_marked():
    report = hold(Fickle(seconds={0.01: 0.2, 1.0: 0.01}))
    tight = standing(report, "sleeper", "tight")
    assert (tight.status, tight.n_missed) == ("reached", 2)
    assert 0.2 <= tight.seconds < 5.0


@pytest.mark.parametrize(
    ("contestant", "status", "words"),
    [
        (Crasher("odd"), "failed", "exit code 7"),
        (Raiser("odd"), "failed", "RuntimeError: no"),
        (Impostor("odd"), "fell back", "somebody else's code ran"),
    ],
)
def test_a_peer_that_breaks_is_named_and_neither_charged_nor_in_the_way(contestant, status, words):
    report = hold(contestant, Sleeper("ours", is_ours=True))
    odd = standing(report, "odd", "tight")
    assert odd.status == status
    assert words in odd.note
    assert math.isnan(odd.seconds)
    assert standing(report, "ours", "tight").status == "reached"


def test_that_we_broke_is_charged_in_full():
    report = hold(Raiser("ours", is_ours=True), Sleeper("peer"))
    assert standing(report, "ours", "tight").seconds == 5.0
    assert report.ratio(report.cases[0], "tight") > 1


def test_a_contestant_whose_package_is_not_there_is_listed_as_missing():
    report = hold(Sleeper("absent", packages=("no-such-package",)), Sleeper())
    assert standing(report, "absent", "loose").status == "missing"
    assert any("absent" in note and "Missing" in note for note in report._notes())


def test_a_contestant_without_the_task_is_listed_as_not_offering_it():
    report = hold(Sleeper("other", {}), Sleeper())
    assert standing(report, "other", "loose").status == "not offered"


@pytest.mark.parametrize("n_threads", [1, min(2, len(os.sched_getaffinity(0)))])
def test_a_contestant_has_the_cores_and_threads_that_are_stated(n_threads):
    report = hold(Witness(), limits=Limits(1, 5.0, n_threads))
    assert report.cases[0].runs[-1].ran == f"{n_threads} {n_threads}"
    assert report.as_document()["threads"] == {"sleeper": n_threads}


def test_a_case_without_reference_says_so():
    def refuse(task, data, measure):
        outcome = measure(Raiser(), 0.0)
        raise UnjudgeableError(outcome.message)

    with pytest.raises(UnjudgeableError, match="RuntimeError: no"):
        hold(Sleeper(), referee=refuse)


def test_where_no_target_asks_for_anything_no_reference_is_fitted():
    def refuse(task, data, measure):
        msg = "asked"
        raise UnjudgeableError(msg)

    report = hold(Sleeper(), referee=refuse, targets=[Target("any", math.inf)], teller=referee)
    assert standing(report, "sleeper", "any").status == "reached"
    with pytest.raises(UnjudgeableError, match="asked"):
        hold(Sleeper(), referee=refuse, teller=referee)


def test_waiting_for_others_is_seen_in_the_processor_share():
    assert hold(Sleeper()).processor_share() < 0.5
    assert any("not quiet" in note for note in hold(Sleeper())._notes())


def test_a_fit_ends_with_the_run_that_was_killed(tmp_path):
    """A parent that is killed in the middle of a fit leaves no process behind."""
    script = (
        "import os, sys\n"
        "from benchmarks.datasets import two_clouds\n"
        "from benchmarks.worker import Worker\n"
        "from tests.unit.benchmarks.test_benchmarks_contest import Toiler\n"
        "if __name__ == '__main__':\n"
        "    worker = Worker(Toiler(seconds={1.0: 60.0}), 1)\n"
        "    worker.load(None, two_clouds(None), 30.0)\n"
        "    print(worker._process.pid, flush=True)\n"
        "    worker.fit(1.0, 60.0)\n"
    )
    (tmp_path / "parent.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(tmp_path / "parent.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        child = int(parent.stdout.readline())
        _wait_until_busy(child)  # an idle process would end by itself, its pipe being closed
        parent.kill()
    deadline = time.monotonic() + 10
    while _is_running(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(child)


def _wait_until_busy(pid):
    """Wait until a process has used processor time while being watched."""

    def ticks():
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11])

    before, deadline = ticks(), time.monotonic() + 30
    while ticks() < before + 20:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _is_running(pid):
    """Whether a process is there and no zombie that its new parent has yet to bury."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
