"""A picture of a report: the time of everybody against the number of rows."""

from __future__ import annotations

import math
from pathlib import Path

from benchmarks.report import Report
from hedgerow.errors import UnavailableError

__all__ = ["draw_growth", "refuse_without_matplotlib"]


def refuse_without_matplotlib() -> None:
    """Raise before hours are spent on what cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401 - whether it can be
    except ImportError as error:
        msg = "--plot needs matplotlib, which is not installed: pip install matplotlib"
        raise UnavailableError(msg) from error


def draw_growth(report: Report, file: Path) -> None:
    """Save a line a contestant, seconds over rows, both logarithmic; the suffix says the format.

    Only who reached the target has a point; the first target counts.
    """
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7, 5), layout="constrained").subplots()
    for contestant in report.suite.contestants:
        points = sorted(_points(report, contestant.name))
        if points:
            axes.plot(*zip(*points, strict=True), marker="o", label=contestant.name)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title=report.suite.title)
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    axes.figure.savefig(file)


def _points(report: Report, contestant: str) -> list[tuple[int, float]]:
    """Return rows and seconds of each case in which the contestant reached the first target."""
    target = report.suite.targets[0].name
    standings = [(case.shape[0], case.of(target).get(contestant)) for case in report.cases]
    return [
        (n_rows, standing.seconds)
        for n_rows, standing in standings
        if standing is not None and standing.status == "reached" and math.isfinite(standing.seconds)
    ]
