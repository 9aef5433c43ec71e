"""What the bootstrap suite asks for, the data, and how results are judged to be equally good.

Two honest bootstraps of the same data differ by chance alone. How much chance may do is known: the
standard deviation of R values has an error of 1 / sqrt(2 R) of itself, and a quantile one of
sqrt(p (1 - p) / R) over the density there. A result is as good as the reference if none of its
figures is farther from it than a few such errors; too few resamples, a wrong level or another
statistic are far outside.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Judge, Verdict
from benchmarks.datasets import Dataset

__all__ = ["LEVEL", "STATISTICS", "BootstrapTask", "columns", "judge_by", "ten_thousand_rows"]

LEVEL = 0.95

STATISTICS = ("mean", "median", "correlation", "Gini coefficient", "AUC")

Result: TypeAlias = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class BootstrapTask:
    """An interval of a statistic from so many resamples."""

    statistic: str
    method: Literal["percentile", "BCa"]
    n_resamples: int = 10_000


def ten_thousand_rows(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return a skewed column, one that goes with it, and a score of two overlapping classes."""
    random = np.random.default_rng(0)
    y = (random.random(10_000) < 0.4).astype(np.int64)
    x = random.exponential(size=10_000)
    X = np.column_stack([x, x + random.normal(size=10_000), y + random.normal(size=10_000)])
    return Dataset(X, y, X[:1], y[:1])


def columns(task: BootstrapTask, data: Dataset) -> tuple[NDArray[np.float64], ...]:
    """Return the columns the statistic is of."""
    x, with_x, score = np.ascontiguousarray(data.X.T)
    if task.statistic == "correlation":
        return x, with_x
    if task.statistic == "AUC":
        return data.y.astype(np.float64), score
    return (x,)


def judge_by(reference: Result, task: BootstrapTask) -> Judge:
    """Return a judge whose figure is the largest distance in standard errors of chance."""
    error = float(reference["standard_error"])
    scale = {
        "standard_error": error / math.sqrt(2 * task.n_resamples),
        "low": error * _error_of_end(task),
        "high": error * _error_of_end(task),
    }

    def judge(result: Result) -> Verdict:
        distances = {
            # Both the result and the reference are drawn by chance.
            name: abs(float(result[name] - reference[name])) / (math.sqrt(2) * scale[name])
            for name in scale
        }
        same = np.isclose(result["estimate"], reference["estimate"], rtol=1e-9, atol=0)
        return Verdict(max(distances.values()) if same else math.inf, distances)

    return judge


def _error_of_end(task: BootstrapTask) -> float:
    """Return the error of an interval's end, in standard errors of a normal statistic.

    BCa shifts the end by twice its bias correction, the normal score of the share of resamples
    below the estimate. That share is near a half, and its covariance with the share in the tail is
    tail / 2R.
    """
    from scipy.stats import norm

    tail = (1 - LEVEL) / 2
    density = norm.pdf(norm.ppf(tail))
    shift = 0.0 if task.method == "percentile" else 2 * density / norm.pdf(0)
    variance = tail * (1 - tail) + shift**2 / 4 - shift * tail
    return math.sqrt(variance / task.n_resamples) / float(density)
