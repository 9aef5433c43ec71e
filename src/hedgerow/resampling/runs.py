"""A statistic over all resamples of a plan: its distribution, its jackknife, its standard errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._engine import side_by_side
from hedgerow.errors import StoppedError
from hedgerow.monitor import current
from hedgerow.resampling.plan import Counts, Plan
from hedgerow.resampling.statistics import WeightedStatistic

__all__ = ["N_NESTED", "Run"]

Values: TypeAlias = NDArray[np.float64]
Block = TypeVar("Block")

N_NESTED = 50
"""Resamples of a resample: enough for a standard error (Efron and Tibshirani 1993, section 6.4)."""


@dataclass(frozen=True)
class Run:
    """The resamples of a plan under one seed; blocks of them run side by side."""

    plan: Plan
    seed: int
    n_resamples: int
    n_threads: int

    def estimate(self, statistic: WeightedStatistic) -> Values:
        """Return the statistic of the data."""
        value: Values = _values(statistic, np.ones((1, self.plan.n_rows), dtype=np.uint8))[0]
        return value

    def distribution(self, statistic: WeightedStatistic) -> Values:
        """Return the statistic of every resample, along the first axis."""

        def of_block(block: range) -> Values:
            return _values(statistic, self.plan.of_rows(self.plan.draw(self.seed, block)))

        return self._over(self.plan.blocks(self.n_resamples), of_block)

    def jackknife(self, statistic: WeightedStatistic) -> list[Values]:
        """Return for each pool the statistic without one part of it, part after part."""

        def without(parts: list[NDArray[np.int64]]) -> Values:
            return _values(statistic, self.plan.of_rows(self.plan.without(parts)))

        pools = []
        for parts in self.plan.deletions(self.seed):
            blocks = [parts[block.start : block.stop] for block in self.plan.blocks(len(parts))]
            pools.append(self._over(blocks, without))
        return pools

    def nested_errors(self, statistic: WeightedStatistic) -> Values:
        """Return the statistic's standard error in every resample, by resampling it in turn."""

        def of_resample(units: Counts, resample: int) -> Values:
            nested = self.plan.draw_nested(self.seed, resample, units, N_NESTED)
            error: Values = _values(statistic, self.plan.of_rows(nested)).std(axis=0, ddof=1)
            return error

        def of_block(block: range) -> Values:
            drawn = self.plan.draw(self.seed, block)
            return np.stack([of_resample(*each) for each in zip(drawn, block, strict=True)])

        return self._over(self.plan.blocks(self.n_resamples), of_block)

    def _over(self, blocks: list[Block], of_block: Callable[[Block], Values]) -> Values:
        """Return the values of all blocks, which run side by side, as one array."""
        monitor, values = current(), []
        for value in side_by_side(of_block, blocks, self.n_threads, is_one_task=True):
            values.append(value)
            monitor.report(len(values), len(blocks))
            if monitor.reason is not None:
                msg = f"the bootstrap was stopped ({monitor.reason}) after {len(values)} of {len(blocks)} blocks of resamples; let it run to the end, or draw fewer"
                raise StoppedError(msg)
        return np.concatenate(values)


def _values(statistic: WeightedStatistic, counts: Counts) -> Values:
    # Divisions by zero come out as NaN or infinity, which the caller refuses with a sentence.
    with np.errstate(divide="ignore", invalid="ignore"):
        return statistic(counts)
