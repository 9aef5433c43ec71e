"""Single trees, full-grown on all features: ours take categories as they are, scikit-learn's get one-hot columns."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.contest import Suite, Target
from benchmarks.forest_scores import compare_scores, judge_score
from benchmarks.peers.forests_like_sklearn import HedgerowTree, ScikitLearnTree, hedgerow_has
from benchmarks.suites.forest import CASES

__all__ = ["SUITE"]

_NAMES = ("covtype 100 000", "letter", "adult raw", "california_housing raw")

SUITE = Suite(
    title="Single trees",
    cases=[replace(CASES[name], task=replace(CASES[name].task, n_trees=1)) for name in _NAMES],
    contestants=(HedgerowTree(), ScikitLearnTree()),
    targets=(Target("grown", float("inf")),),
    referee=judge_score,
    remark=(
        ""
        if hedgerow_has("DecisionTree")
        else "This version of Hedgerow has no trees yet: only the peer was measured."
    ),
    conclude=compare_scores,
)
