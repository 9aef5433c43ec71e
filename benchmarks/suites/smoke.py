"""A few seconds of the linear suite on made-up data: shows that the harness works, not who is fast."""

from __future__ import annotations

from benchmarks.contest import Case, Suite
from benchmarks.datasets import two_clouds
from benchmarks.objectives import LinearTask
from benchmarks.peers.hedgerow import HedgerowLinear
from benchmarks.peers.liblinear import Liblinear
from benchmarks.peers.scikit_learn import ScikitLearnLinear, ScikitLearnLogistic
from benchmarks.suites.linear import LOSSES, TARGETS, certified_bound

__all__ = ["SUITE"]

SUITE = Suite(
    title="Smoke test on made-up data",
    cases=[Case(f"clouds C=1 {loss}", two_clouds, LinearTask(loss, 1.0)) for loss in LOSSES],
    contestants=[
        HedgerowLinear(),
        ScikitLearnLinear(is_dual=True),
        ScikitLearnLinear(is_dual=False),
        ScikitLearnLogistic("lbfgs"),
        Liblinear(is_dual=True),
    ],
    targets=TARGETS,
    referee=certified_bound,
)
