"""Random forests of 100 trees: time, and the score it buys.

Everybody gets one setting: bootstraps, 100 trees, leaves of one row, at a node the square root of the features for
classes and all of them for numbers. On adult leaves have ten rows, as fewer learn its noise. On covtype classes are
parted by entropy where a library lets one choose, as ydf and fastforest always do. From the user's arrays or table on,
everything is on the clock. Meant for ``--budget 300``: on 480 000 rows of covtype some peers take minutes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.contest import Case, Suite, Target
from benchmarks.datasets import Dataset, from_folder, in_single_precision
from benchmarks.forest_scores import ForestTask, compare_scores, judge_score
from benchmarks.peers.fastforest_forest import FastforestForest
from benchmarks.peers.forest_base import Forest
from benchmarks.peers.forests_like_sklearn import (
    HedgerowForest,
    IntelexForest,
    ScikitLearnForest,
    hedgerow_has,
)
from benchmarks.peers.lightgbm_forest import LightgbmForest
from benchmarks.peers.ydf_forest import YdfForest
from hedgerow.errors import DataError

__all__ = ["CASES", "CONTESTANTS", "REMARK", "SUITE", "some_of_covtype"]

CONTESTANTS: tuple[Forest, ...] = (
    HedgerowForest(),
    ScikitLearnForest(),
    IntelexForest(is_exact=False),
    IntelexForest(is_exact=True),
    YdfForest(),
    LightgbmForest(),
    FastforestForest(),
)

REMARK = (
    ""
    if hedgerow_has("RandomForest")
    else "This version of Hedgerow has no forests yet: only the peers were measured."
)


def some_of_covtype(n_rows: int, folder: Path | None) -> Dataset:
    """Return so many training rows of covtype with all its classes, and 100 000 to test on."""
    data = in_single_precision("covtype raw", folder)
    if len(data.y) < n_rows:
        msg = f"covtype has {len(data.y)} training rows where {n_rows} are asked for; use the whole file"
        raise DataError(msg)
    return Dataset(data.X[:n_rows], data.y[:n_rows], data.X_test, data.y_test)


CASES = {
    case.name: case
    for case in (
        Case("covtype 100 000", partial(some_of_covtype, 100_000), ForestTask(by_entropy=True)),
        Case("covtype 480 000", partial(some_of_covtype, 480_000), ForestTask(by_entropy=True)),
        Case("mnist", partial(in_single_precision, "mnist10"), ForestTask()),
        Case("letter", partial(in_single_precision, "letter"), ForestTask()),
        Case("higgs", partial(in_single_precision, "higgs"), ForestTask()),
        Case("adult raw", from_folder("adult raw"), ForestTask(min_leaf=10)),
        Case("kddcup99", from_folder("kddcup99"), ForestTask()),
        Case(
            "california_housing raw", from_folder("california_housing raw"), ForestTask("numbers")
        ),
    )
}

SUITE = Suite(
    title="Random forests, 100 trees",
    cases=list(CASES.values()),
    contestants=CONTESTANTS,
    targets=(Target("grown", float("inf")),),
    referee=judge_score,
    remark=REMARK,
    conclude=compare_scores,
)
