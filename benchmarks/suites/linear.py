"""Linear classifiers at equal objectives."""

from __future__ import annotations

from benchmarks.contest import Case, Judge, Measure, Suite, Target, UnjudgeableError
from benchmarks.datasets import Dataset, from_folder
from benchmarks.objectives import LinearTask, dual, judge_against
from benchmarks.peers.hedgerow import HedgerowLinear
from benchmarks.peers.liblinear import Liblinear
from benchmarks.peers.scikit_learn import ScikitLearnLinear, ScikitLearnLogistic
from benchmarks.peers.skglm import SkglmLinear
from benchmarks.peers.snapml import SnapmlLinear

__all__ = ["LOSSES", "SUITE", "TARGETS", "certified_bound"]

LOSSES = ("hinge", "squared_hinge", "logistic")

TARGETS = (Target("gap 1e-3", 1e-3), Target("gap 1e-6", 1e-6))

_ROWS = (
    ("a9a", 1.0),
    ("a9a", 32.0),
    ("ijcnn1", 32.0),
    ("covtype", 0.0625),
    ("mnist", 0.03125),
    ("20newsgroups", 1.0),
)


def certified_bound(task: LinearTask, data: Dataset, measure: Measure) -> Judge:
    """Return a judge by the best lower bound we can prove: ours, recomputed here from alpha."""
    reference = measure(HedgerowLinear(), 1e-9)
    if reference.status != "done":
        msg = f"the fit that gives the lower bound {reference.status}: {reference.message}"
        raise UnjudgeableError(msg)
    return judge_against(task, data, dual(task, data.X, data.y, reference.result["alpha"]))


SUITE = Suite(
    title="Linear classifiers, penalised intercept",
    cases=[
        Case(f"{name} C={C:g} {loss}", from_folder(name), LinearTask(loss, C))
        for name, C in _ROWS
        for loss in LOSSES
    ],
    contestants=[
        HedgerowLinear(),
        Liblinear(is_dual=True),
        Liblinear(is_dual=False),
        ScikitLearnLinear(is_dual=True),
        ScikitLearnLinear(is_dual=False),
        ScikitLearnLogistic("lbfgs"),
        ScikitLearnLogistic("newton-cholesky"),
        ScikitLearnLogistic("liblinear"),
        SkglmLinear(),
        SnapmlLinear(),
    ],
    targets=TARGETS,
    referee=certified_bound,
)
