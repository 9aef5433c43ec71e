"""SciPy's bootstrap, given statistics that work along an axis, as its users are told to write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.intervals import LEVEL, BootstrapTask, columns

__all__ = ["ScipyBootstrap"]

Values = NDArray[np.float64]


def correlation(x: Values, y: Values, axis: int) -> Values:
    """Pearson's."""
    x, y = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    return (x * y).sum(axis=axis) / np.sqrt((x * x).sum(axis=axis) * (y * y).sum(axis=axis))


def gini_coefficient(x: Values, axis: int) -> Values:
    """From ranks: the sorted values times 2 rank - n - 1."""
    ordered, n = np.sort(x, axis=axis), x.shape[axis]
    return (ordered @ (2.0 * np.arange(1, n + 1) - n - 1)) / (n * ordered.sum(axis=axis))


def auc(y: Values, score: Values, axis: int) -> Values:
    """From one sort: the data have no ties between classes."""
    ordered = np.take_along_axis(y, np.argsort(score, axis=axis), axis=axis)
    n_positive = ordered.sum(axis=axis)
    pairs = (np.cumsum(1 - ordered, axis=axis) * ordered).sum(axis=axis)
    return pairs / (n_positive * (y.shape[axis] - n_positive))


STATISTICS: Mapping[str, Callable[..., Values]] = {
    "mean": np.mean,
    "median": np.median,
    "correlation": correlation,
    "Gini coefficient": gini_coefficient,
    "AUC": auc,
}


@dataclass(frozen=True)
class ScipyBootstrap:
    """``scipy.stats.bootstrap``; how many resamples it makes at a time decides its speed."""

    batch: int
    is_reference: bool = False
    packages = ("scipy",)
    is_ours = False

    @property
    def name(self) -> str:
        """The batch size is part of the name."""
        return f"SciPy, batch {self.batch}{', reference' if self.is_reference else ''}"

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: it has no threads."""
        return 1

    def ladder(self, task: BootstrapTask) -> Sequence[float]:  # noqa: ARG002
        """One rung: the number of resamples is given."""
        return (0.0,)

    def fit(self, task: BootstrapTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Draw the resamples and make the interval."""
        from scipy.stats import bootstrap

        samples, statistic = columns(task, data), STATISTICS[task.statistic]
        result = bootstrap(
            samples,
            statistic,
            n_resamples=task.n_resamples,
            batch=self.batch,
            vectorized=True,
            paired=len(samples) > 1,
            confidence_level=LEVEL,
            method=task.method,
            # The reference must not share the draws of those it judges.
            rng=np.random.default_rng(2 if self.is_reference else 1),
        )
        return result, statistic(*samples, axis=-1)

    def result(self, fitted: Any) -> Mapping[str, Values]:
        """Estimate, standard error and interval."""
        result, estimate = fitted
        low, high = result.confidence_interval
        figures = {
            "estimate": estimate,
            "standard_error": result.standard_error,
            "low": low,
            "high": high,
        }
        return {name: np.asarray(value, dtype=np.float64) for name, value in figures.items()}

    def ran(self, fitted: Any) -> str:
        """Return how many resamples there were."""
        return f"{len(fitted[0].bootstrap_distribution)} resamples"
