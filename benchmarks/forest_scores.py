"""What a forest is worth: its score on test rows, and who is fast enough among those with a good one.

Forests draw by chance and have no optimum to come near to, so that a score can only be held against the others'. That is
done when all have run: every fit of a contestant has another seed, its score is the mean over them, and the peer that
counts is the fastest of those whose score is as good as the best peer's.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Judge, Measure, Verdict
from benchmarks.datasets import Dataset
from benchmarks.timing import geometric_mean

if TYPE_CHECKING:
    from rich.table import Table

    from benchmarks.report import CaseReport, Report

__all__ = ["Comparison", "Entry", "ForestTask", "compare_scores", "judge_score", "score"]

PEER_MAY_MISS = 0.005
"""What a peer's score may be below that of the best one."""

WE_MAY_MISS = 0.003
"""What ours may be below it."""

N_ERRORS = 2.0
"""A peer is not left out for what so many standard errors of the difference explain."""


@dataclass(frozen=True)
class ForestTask:
    """A forest of so many full-grown trees, or one tree; its leaves have so many rows at least.

    Attributes
    ----------
    by_entropy : bool
        Whether classes are parted by entropy, where a library lets one choose, and not by Gini's index.
    """

    kind: Literal["classes", "numbers"] = "classes"
    n_trees: int = 100
    min_leaf: int = 1
    by_entropy: bool = False

    def n_candidates(self, n_features: int) -> int:
        """Return how many features a node of a forest looks at: for classes the square root of all."""
        return math.isqrt(n_features) if self.kind == "classes" else n_features


def score(task: ForestTask, y: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Return the accuracy of labels, or R^2 of numbers."""
    if task.kind == "classes":
        return float(np.mean(predicted == y))
    return float(1.0 - np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2))


def judge_score(task: ForestTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is what the score of the test rows lacks to 1."""

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        reached = score(task, data.y_test, result["predicted"])
        return Verdict(1.0 - reached, {"score": reached})

    return judge


@dataclass(frozen=True)
class Entry:
    """How a contestant did in a case.

    Attributes
    ----------
    seconds : float
        What it is charged.
    score, error : float
        The mean over its fits and the standard error of that, 0 if there is but one fit. If we did
        not come to an end, we are charged the budget, and have no score.
    """

    contestant: str
    is_ours: bool
    seconds: float
    score: float
    error: float

    def is_as_good_as(self, best: Entry) -> bool:
        """Whether it is not worse than the best peer by more than is allowed and chance explains."""
        allowed = PEER_MAY_MISS + N_ERRORS * math.hypot(self.error, best.error)
        return self.score >= best.score - allowed


@dataclass(frozen=True)
class Line:
    """What came of one case."""

    case: str
    entries: list[Entry]

    @property
    def ours(self) -> Entry | None:
        """What we did, the fastest of us."""
        ours = [entry for entry in self.entries if entry.is_ours]
        return min(ours, key=lambda entry: entry.seconds) if ours else None

    @property
    def best(self) -> Entry | None:
        """The peer with the best score."""
        peers = [entry for entry in self.entries if not entry.is_ours]
        return max(peers, key=lambda entry: entry.score) if peers else None

    @property
    def rival(self) -> Entry | None:
        """The fastest peer whose score is good enough."""
        best = self.best
        if best is None:
            return None
        good = [e for e in self.entries if not e.is_ours and e.is_as_good_as(best)]
        return min(good, key=lambda entry: entry.seconds)

    @property
    def ratio(self) -> float:
        """Our time over the rival's."""
        if self.ours is None or self.rival is None:
            return math.nan
        return self.ours.seconds / self.rival.seconds

    @property
    def lacks(self) -> float:
        """What our score is below the best peer's; negative if ours is better."""
        if self.ours is None or self.best is None:
            return math.nan
        return self.best.score - self.ours.score

    @property
    def lacks_error(self) -> float:
        """The standard error of it."""
        if self.ours is None or self.best is None:
            return math.nan
        return math.hypot(self.best.error, self.ours.error)


@dataclass(frozen=True)
class Comparison:
    """Scores of everybody, and our time over that of the fastest peer with a good one."""

    contestants: Sequence[str]
    lines: Sequence[Line]

    @property
    def mean_ratio(self) -> float:
        """The geometric mean over the cases that have a ratio."""
        return geometric_mean(line.ratio for line in self.lines if not math.isnan(line.ratio))

    def table(self) -> Table:
        """Return scores in columns, and who counts."""
        from rich.table import Table

        title = f"Scores, and the fastest peer within {PEER_MAY_MISS} of the best peer's"
        table = Table(title=title, title_justify="left")
        table.add_column("case")
        for name in self.contestants:
            table.add_column(name.replace(", ", "\n"), justify="right")
        table.add_column("fastest good peer")
        table.add_column("ours / it", justify="right")
        table.add_column("ours below\nthe best", justify="right")
        for line in self.lines:
            table.add_row(line.case, *self._cells(line), *_conclusion(line))
        table.add_section()
        blanks = [""] * (len(self.contestants) + 1)
        table.add_row("geometric mean", *blanks, _rounded(self.mean_ratio, 2), "")
        return table

    def as_document(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        lines = [
            {
                "case": line.case,
                "entries": [asdict(entry) for entry in line.entries],
                "best_peer": line.best.contestant if line.best else None,
                "fastest_good_peer": line.rival.contestant if line.rival else None,
                "ratio": line.ratio,
                "ours_below_the_best": line.lacks,
                "its_standard_error": line.lacks_error,
            }
            for line in self.lines
        ]
        allowed = {"peers": PEER_MAY_MISS, "ours": WE_MAY_MISS, "standard_errors": N_ERRORS}
        return {"allowed": allowed, "geometric_mean_ratio": self.mean_ratio, "cases": lines}

    def _cells(self, line: Line) -> list[str]:
        """Return the scores of a case in the order of the columns."""
        entries = {entry.contestant: entry for entry in line.entries}
        return [_cell(entries.get(name), line.best) for name in self.contestants]


def compare_scores(report: Report) -> Comparison:
    """Return the comparison of a suite whose first target is to have come to an end."""
    target = report.suite.targets[0].name
    names = [contestant.name for contestant in report.suite.contestants]
    ours = {contestant.name for contestant in report.suite.contestants if contestant.is_ours}
    lines = [Line(case.name, list(_entries(case, target, ours))) for case in report.cases]
    return Comparison(names, lines)


def _entries(case: CaseReport, target: str, ours: set[str]) -> Iterator[Entry]:
    """Yield those who came to an end, with the scores of all their fits, and us in any case."""
    for name, standing in case.of(target).items():
        runs = [run for run in case.runs if run.contestant == name]
        scores = [run.details["score"] for run in runs if "score" in run.details]
        if standing.status == "reached":
            error = statistics.stdev(scores) / math.sqrt(len(scores)) if len(scores) > 1 else 0.0
            mean = statistics.fmean(scores)
            yield Entry(name, name in ours, standing.seconds, mean, error)
        elif name in ours and not math.isnan(standing.seconds):
            yield Entry(name, True, standing.seconds, math.nan, math.nan)


def _cell(entry: Entry | None, best: Entry | None) -> str:
    """Return a score as it stands in the table, in brackets if it is too low for a peer."""
    if entry is None or math.isnan(entry.score):
        return "-"
    text = f"{entry.score:.4f} ±{entry.error:.4f}"
    is_low = best is not None and not entry.is_as_good_as(best)
    return f"({text})" if is_low else text


def _conclusion(line: Line) -> tuple[str, str, str]:
    """Return who counts, our ratio, and what ours lacks, with a mark if that is too much."""
    rival = f"{line.rival.contestant} {_rounded(line.rival.seconds, 2)} s" if line.rival else "-"
    doubt = "" if line.ours is None or line.lacks <= WE_MAY_MISS else " !"
    return rival, _rounded(line.ratio, 2), _rounded(line.lacks, 4) + doubt


def _rounded(value: float, decimals: int) -> str:
    """Return so many decimals, or a dash."""
    return "-" if math.isnan(value) else f"{value:.{decimals}f}"
