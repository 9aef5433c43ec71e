"""A contest: one case, several contestants, each charged for the quality it delivers.

A case is climbed first: every contestant walks its own ladder of tolerances, loosest first, until
its result meets every target, a fit exceeds the budget or the climb ``CLIMB`` of them. For each
target it is then charged the cheapest rung that met it (by processor time), timed anew by the wall
clock: repeats go round all contestants in turn, so that a change of the machine's speed meets
everybody alike. Who never meets a target is charged the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.machine import installed_versions
from benchmarks.timing import Timing
from benchmarks.worker import Outcome, Worker

__all__ = [
    "Case",
    "Conclusion",
    "Contest",
    "Contestant",
    "Judge",
    "Limits",
    "Measure",
    "Run",
    "Standing",
    "Suite",
    "Target",
    "UnjudgeableError",
    "Verdict",
    "is_missing",
]

PATIENCE = 10
"""What is not timed (warm-up, the reference's fit) may take so many budgets."""

CLIMB = 5
"""All rungs of a climb together may take so many budgets: a solver that ignores its tolerance does not spend the run."""


class Contestant(Protocol):
    """A way to do a task: one library, one of its algorithms. Pickled into its own process.

    One that needs something before its time is taken, such as a model to predict with, also has
    ``prepare(task, data, n_threads)``, which is called when its process gets a case.
    """

    @property
    def name(self) -> str:
        """What the report calls it."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages without which it is missing."""

    @property
    def is_ours(self) -> bool:
        """Whether it is the one the ratios are about."""

    def threads(self, allowed: int) -> int:
        """Return how many of the allowed threads it can use."""

    def ladder(self, task: Any) -> Sequence[float]:
        """Return the tolerances to try, loosest first; none if it does not offer the task."""

    def fit(self, task: Any, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Do the task from the user's arrays on: what this takes is the contestant's time."""

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Return what the judge needs of what ``fit`` returned, in the suite's convention."""

    def ran(self, fitted: Any) -> str:
        """Return which algorithm really ran; raise FellBackError if it was another library."""


class UnjudgeableError(Exception):
    """A case has no reference to judge by; the message says why."""


@dataclass(frozen=True)
class Verdict:
    """What a result is worth: the figure held against the targets, and others worth keeping."""

    figure: float
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Target:
    """A quality: the largest figure that counts as reached."""

    name: str
    at_most: float


@dataclass(frozen=True)
class Case:
    """One line of a suite: data and what to do with them."""

    name: str
    load: Callable[[Path | None], Dataset]
    task: Any


Measure = Callable[[Contestant, float], Outcome]
Judge = Callable[[Mapping[str, NDArray[np.float64]]], Verdict]


class Conclusion(Protocol):
    """What can only be said when all have run, such as who was fast among those as good as the best."""

    def table(self) -> Any:
        """Return it for people, as rich prints it."""

    def as_document(self) -> Mapping[str, Any]:
        """Return it for JSON."""


@dataclass(frozen=True)
class Suite:
    """What ``python -m benchmarks NAME`` runs.

    Attributes
    ----------
    title : str
        What is compared, as a heading.
    cases, contestants, targets
        The lines, the columns, and the qualities asked for, loosest first.
    referee : callable
        Makes the judge of a case; may run reference fits through the Measure it is given.
    teller : callable or None
        Takes the referee's place where no target asks for anything: then reference fits are idle.
    remark : str
        What a reader must know of all figures.
    conclude : callable or None
        Draws a conclusion from the report, once its cases are in.
    """

    title: str
    cases: Sequence[Case]
    contestants: Sequence[Contestant]
    targets: Sequence[Target]
    referee: Callable[[Any, Dataset, Measure], Judge]
    teller: Callable[[Any, Dataset, Measure], Judge] | None = None
    remark: str = ""
    conclude: Callable[[Any], Conclusion] | None = None


@dataclass(frozen=True)
class Limits:
    """How often and how long."""

    repeats: int = 3
    budget: float = 60.0
    threads: int = 2


@dataclass(frozen=True)
class Run:
    """One fit, kept as measured."""

    contestant: str
    phase: Literal["warm-up", "climb", "repeat"]
    tolerance: float
    status: str
    seconds: float
    figure: float
    details: Mapping[str, float]
    ran: str
    cpu_seconds: float
    message: str

    def meets(self, target: Target) -> bool:
        """Whether the fit ended in time with the quality asked for."""
        return self.status == "done" and self.figure <= target.at_most


Status = Literal["reached", "never reached", "failed", "fell back", "not offered", "missing"]


@dataclass(frozen=True)
class Standing:
    """What a contestant is charged for a target.

    Attributes
    ----------
    status : str
        Only who reached the target, or had the chance and never did, is charged.
    seconds : float
        The charge: the median of the repeats, or the budget; not a number where nothing is charged.
    spread : float
        (Slowest - fastest repeat) / median.
    tolerance : float
        The rung that is charged.
    n_missed : int
        Repeats of that rung that failed or fell short of the target.
    note : str
        What went wrong.
    """

    contestant: str
    target: str
    status: Status
    seconds: float = np.nan
    spread: float = np.nan
    tolerance: float = np.nan
    n_missed: int = 0
    note: str = ""


def is_missing(contestant: Contestant) -> bool:
    """Say whether a package the contestant needs is not installed."""
    return None in installed_versions(contestant.packages).values()


class Contest:
    """The contest of one case: ``hold`` runs it, ``runs`` and ``standings`` tell the story.

    Parameters
    ----------
    suite : Suite
        Whose contestants compete.
    case : Case
        For what.
    data : Dataset
        The case's data.
    limits : Limits
        Repeats, budget of a fit, threads.
    crew : dict of str to Worker
        The contestants' processes; those that are missing are started, and all go on after it.
    say : callable
        Told in a few words what is going on.
    """

    def __init__(
        self,
        suite: Suite,
        case: Case,
        data: Dataset,
        *,
        limits: Limits,
        crew: dict[str, Worker],
        say: Callable[[str], None],
    ) -> None:
        self._suite, self._case, self._data, self._limits = suite, case, data, limits
        self._crew, self._say = crew, say
        self._loaded: set[str] = set()
        self._judge: Judge
        self.runs: list[Run] = []
        self._entrants = [c for c in suite.contestants if not is_missing(c) and c.ladder(case.task)]

    def hold(self) -> None:
        """Climb every ladder, then repeat the rungs that count."""
        self._judge = self._referee()(self._case.task, self._data, self._reference_fit)
        for contestant in self._entrants:
            self._climb(contestant)
        for _ in range(self._limits.repeats):
            for contestant in self._entrants:
                for tolerance in self._counting_rungs(contestant):
                    self._fit(contestant, "repeat", tolerance)

    def standings(self) -> list[Standing]:
        """Return what everybody is charged, by target and contestant."""
        return [
            self._standing(contestant, target)
            for target in self._suite.targets
            for contestant in self._suite.contestants
        ]

    def _climb(self, contestant: Contestant) -> None:
        """Walk the ladder until every target is met, a fit does not end well or time is up."""
        seconds = 0.0
        for tolerance in contestant.ladder(self._case.task):
            run = self._fit(contestant, "climb", tolerance)
            seconds += run.seconds
            is_over = run.status != "done" or seconds > CLIMB * self._limits.budget
            if is_over or run.meets(self._suite.targets[-1]):
                return

    def _counting_rungs(self, contestant: Contestant) -> list[float]:
        """Return the rungs the contestant is charged for, each once."""
        rungs = (self._cheapest_rung(contestant, target) for target in self._suite.targets)
        return list(dict.fromkeys(rung for rung in rungs if rung is not None))

    def _cheapest_rung(self, contestant: Contestant, target: Target) -> float | None:
        """Return the rung of the climb that met the target with the least work, if any did.

        One wall-clock timing on a machine that others use too would often pick the wrong rung and
        overcharge the contestant; processor time tells its own rungs apart.
        """
        met = [run for run in self._runs_of(contestant, "climb") if run.meets(target)]
        return min(met, key=lambda run: run.cpu_seconds).tolerance if met else None

    def _standing(self, contestant: Contestant, target: Target) -> Standing:
        """Return the contestant's charge for the target."""
        about = contestant.name, target.name
        if is_missing(contestant):
            return Standing(*about, "missing")
        if contestant not in self._entrants:
            return Standing(*about, "not offered")
        rung = self._cheapest_rung(contestant, target)
        if rung is None:
            return self._short_of(contestant, target)
        repeats = [r for r in self._runs_of(contestant, "repeat") if r.tolerance == rung]
        n_missed = sum(not run.meets(target) for run in repeats)
        # A repeat that fell short is charged like the others, its time was spent; but if all did,
        # the climb still shows that the target can be reached, and in what time.
        charged = repeats
        if n_missed == len(repeats):
            charged = [r for r in self._runs_of(contestant, "climb") if r.tolerance == rung]
        timing = Timing(tuple(run.seconds for run in charged if np.isfinite(run.seconds)))
        return Standing(*about, "reached", timing.median, timing.spread, rung, n_missed)

    def _short_of(self, contestant: Contestant, target: Target) -> Standing:
        """Return the standing of who did not reach the target, with the reason.

        A peer that broke is not slow, so it is not charged; that we broke is charged in full.
        """
        last = self._runs_of(contestant, "climb")[-1]
        broke = last.status in {"failed", "fell back"}
        status: Status = last.status if broke else "never reached"  # type: ignore[assignment]
        charged = self._limits.budget if contestant.is_ours or not broke else np.nan
        note = last.message or f"came to {last.figure:.1e} at its last tolerance"
        return Standing(contestant.name, target.name, status, charged, note=note)

    def _runs_of(self, contestant: Contestant, phase: str) -> list[Run]:
        """Return the contestant's runs of a phase, in order."""
        return [r for r in self.runs if (r.contestant, r.phase) == (contestant.name, phase)]

    def _fit(
        self, contestant: Contestant, phase: Literal["climb", "repeat"], tolerance: float
    ) -> Run:
        """Fit once in the contestant's process, judge, and keep the run."""
        self._say(f"{self._case.name}: {contestant.name}, {phase}, tolerance {tolerance:.0e}")
        worker = self._ready_worker(contestant)
        outcome = worker.fit(tolerance, self._limits.budget)
        return self._keep(contestant, phase, tolerance, outcome)

    def _referee(self) -> Callable[[Any, Dataset, Measure], Judge]:
        """Return who makes the judge."""
        suite = self._suite
        asks_nothing = all(target.at_most == float("inf") for target in suite.targets)
        return suite.teller if suite.teller is not None and asks_nothing else suite.referee

    def _reference_fit(self, contestant: Contestant, tolerance: float) -> Outcome:
        """Fit for the referee, with patience; not a run of the contest."""
        self._say(f"{self._case.name}: reference by {contestant.name}")
        return self._ready_worker(contestant).fit(tolerance, PATIENCE * self._limits.budget)

    def _ready_worker(self, contestant: Contestant) -> Worker:
        """Return the contestant's process with the case in it; one that died is replaced."""
        worker = self._crew.get(contestant.name)
        if worker is None or not worker.is_alive:
            worker = Worker(contestant, contestant.threads(self._limits.threads))
            self._crew[contestant.name] = worker
            self._loaded.discard(contestant.name)
        if contestant.name not in self._loaded:
            self._loaded.add(contestant.name)
            warm_up = worker.load(self._case.task, self._data, PATIENCE * self._limits.budget)
            self._keep(contestant, "warm-up", contestant.ladder(self._case.task)[0], warm_up)
        return worker

    def _keep(
        self,
        contestant: Contestant,
        phase: Literal["warm-up", "climb", "repeat"],
        tolerance: float,
        outcome: Outcome,
    ) -> Run:
        """Judge an outcome and add it to the story."""
        verdict = Verdict(np.nan)
        if phase != "warm-up" and outcome.status == "done":
            verdict = self._judge(outcome.result)
        run = Run(
            contestant=contestant.name,
            phase=phase,
            tolerance=tolerance,
            status=outcome.status,
            seconds=outcome.seconds,
            figure=verdict.figure,
            details=verdict.details,
            ran=outcome.ran,
            cpu_seconds=outcome.cpu_seconds,
            message=outcome.message,
        )
        self.runs.append(run)
        return run
