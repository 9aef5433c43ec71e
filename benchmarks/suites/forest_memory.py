"""How much memory a forest takes beyond its data, which are dense float32.

Weighed as linear machines are: a fresh process, the growth of the resident size at its peak. The figure is that over
what codes and work need: of every column two codes a row, as they are kept by columns and by rows, of 1, 2 or 4 bytes
as its values ask for, and its distinct values; and 64 bytes a row and thread. No copy of X as floats has room in it. Leaves have 100 rows at least, so that the trees themselves
weigh little. The seconds are those of the whole process, and mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, in_single_precision
from benchmarks.forest_scores import ForestTask
from benchmarks.suites.forest import CONTESTANTS, REMARK, some_of_covtype
from benchmarks.suites.linear_memory import Weighed

__all__ = ["SUITE", "WeighedForest", "codes_bytes", "work_bytes"]

_TASK = ForestTask(n_trees=4, min_leaf=100)
_BYTES_A_ROW = 64
_BYTES_A_THREAD = 4_000_000
"""What a thread needs whatever the data: buffers that fit a cache, a stack."""


def codes_bytes(X: NDArray[Any]) -> int:
    """Return the bytes of the columns' codes, kept twice, and of their distinct values in float64."""
    n_bytes = 0
    for column in X.T:
        n_distinct = len(np.unique(column))
        n_bytes += 2 * len(column) * (1 if n_distinct <= 2**8 else 2 if n_distinct <= 2**16 else 4)
        n_bytes += 8 * n_distinct
    return n_bytes


def work_bytes(n_rows: int, n_threads: int) -> int:
    """Return the bytes that threads may use while they grow trees."""
    return n_threads * (_BYTES_A_ROW * n_rows + _BYTES_A_THREAD)


@dataclass(frozen=True)
class WeighedForest(Weighed):
    """A contestant whose fits are weighed; the judge learns how many threads it had."""

    tolerance: float = 0.0

    def fit(self, task: Any, data: Dataset, tolerance: float, n_threads: int) -> Any:
        """Fit in a fresh process; return the result, the bytes beyond the data, and what ran."""
        result, *rest = super().fit(task, data, tolerance, n_threads)
        return {**result, "n_threads": np.array([n_threads], dtype=np.float64)}, *rest


def _judge_memory(task: ForestTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the memory beyond the data over what codes and work need."""
    codes = codes_bytes(data.X)

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        n_bytes = float(result["bytes_beyond_data"][0])
        work = work_bytes(len(data.y), int(result["n_threads"][0]))
        details = {
            "bytes_beyond_data": n_bytes,
            "bytes_of_codes": float(codes),
            "bytes_of_work": float(work),
            "bytes_of_data": float(data.X.nbytes),
        }
        return Verdict(n_bytes / (codes + work), details)

    return judge


def ten_million_rows(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return 10 columns of noise, of which three tell the class."""
    random = np.random.default_rng(0)
    X = random.standard_normal((10_000_000, 10), dtype=np.float32)
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(np.int64)
    return Dataset(X, y, X[:1], y[:1])


SUITE = Suite(
    title="Memory of forests, dense float32",
    cases=[
        Case("covtype 100 000", partial(some_of_covtype, 100_000), _TASK),
        Case("covtype 480 000", partial(some_of_covtype, 480_000), _TASK),
        Case("mnist", partial(in_single_precision, "mnist10"), _TASK),
        Case("10 000 000 rows of 10 numbers", ten_million_rows, _TASK),
    ],
    contestants=[WeighedForest(fitter) for fitter in CONTESTANTS],
    targets=(
        Target("in any memory", float("inf")),
        Target("in codes twice + 64 bytes a row and thread", 1.0),
    ),
    referee=_judge_memory,
    remark=REMARK,
)
