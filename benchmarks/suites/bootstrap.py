"""Bootstrap intervals of one statistic from the same number of resamples."""

from __future__ import annotations

from benchmarks.contest import Case, Judge, Measure, Suite, Target, UnjudgeableError
from benchmarks.datasets import Dataset
from benchmarks.intervals import STATISTICS, BootstrapTask, judge_by, ten_thousand_rows
from benchmarks.peers.hedgerow import HedgerowBootstrap
from benchmarks.peers.scipy import ScipyBootstrap

__all__ = ["SUITE"]


def another_draw(task: BootstrapTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge by SciPy's result from another draw than that of the contestants."""
    reference = measure(ScipyBootstrap(batch=20, is_reference=True), 0.0)
    if reference.status != "done":
        msg = f"the reference {reference.status}: {reference.message}"
        raise UnjudgeableError(msg)
    return judge_by(reference.result, task)


SUITE = Suite(
    title="Bootstrap, 10 000 resamples of 10 000 rows",
    cases=[
        Case(f"{statistic}, {method}", ten_thousand_rows, BootstrapTask(statistic, method))
        for method in ("percentile", "BCa")
        for statistic in STATISTICS
    ],
    contestants=[
        HedgerowBootstrap(),
        HedgerowBootstrap(is_threaded=False),
        ScipyBootstrap(batch=5),
        ScipyBootstrap(batch=20),
        ScipyBootstrap(batch=100),
    ],
    # Ours and SciPy's give 60 different figures: one seed in 250 would put one of them beyond.
    targets=(Target("same interval within 4 errors of chance", 4.0),),
    referee=another_draw,
)
