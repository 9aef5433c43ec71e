"""One-vs-rest planes of many classes at equal objectives, against LIBLINEAR's strategies."""

from __future__ import annotations

from benchmarks.contest import Case, Suite
from benchmarks.datasets import from_folder
from benchmarks.objectives import LinearTask
from benchmarks.peers.hedgerow import HedgerowLinear
from benchmarks.peers.liblinear import Liblinear
from benchmarks.suites.linear import LOSSES, TARGETS, certified_bound

__all__ = ["SUITE"]

_ROWS = (("20newsgroups", 1.0), ("mnist10", 0.03125))

SUITE = Suite(
    title="One class against the rest, 20 and 10 classes, penalised intercept",
    cases=[
        Case(f"{name} C={C:g} {loss}", from_folder(name), LinearTask(loss, C))
        for name, C in _ROWS
        for loss in LOSSES
    ],
    contestants=[HedgerowLinear(), Liblinear(is_dual=True), Liblinear(is_dual=False)],
    targets=TARGETS,
    referee=certified_bound,
)
