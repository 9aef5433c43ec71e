"""Running a search: candidates are judged on folds, side by side, as far as the time goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.fingerprint import fingerprint
from hedgerow._engine import side_by_side
from hedgerow.monitor import Monitor, current
from hedgerow.search.folds import Fold
from hedgerow.search.trials import Parameters, Trial, Trials

__all__ = ["Judge", "Progress", "run_trials"]

Vector: TypeAlias = NDArray[np.float64]

Judge: TypeAlias = Callable[[Fold, Sequence[Parameters]], Iterable[float]]
"""Fits candidates to the training rows of a fold; gives their scores on its test rows, NaN without time.

Scores that an iterator makes one by one are counted, and share the time, one by one. A judge is best a
frozen dataclass: processes are handed its fields, and checkpoints are known by them.
"""

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many fits are done, and of how many."""


def run_trials(
    judge: Judge,
    candidates: Iterable[Parameters],
    folds: Sequence[Fold],
    *,
    n_workers: int = 1,
    at_once: bool = False,
    progress: Progress | None = None,
) -> Trials:
    """Judge every candidate on every fold, fold by fold.

    A search that is stopped, by Ctrl-C, a time limit or a callback, ends with what it has: folds that
    it was stopped in do not count. A candidate that ran out of its share of the time in a fold that
    counts is not complete. Scores that an earlier, broken-off run left in the monitor's store are not
    computed again.

    Parameters
    ----------
    judge : callable
        What fits and scores.
    candidates : iterable of mapping
        The parameters of each candidate.
    folds : sequence of Fold
        The folds.
    n_workers : int, default=1
        How many tasks run side by side.
    at_once : bool, default=False
        Whether the judge is handed all candidates of a fold, as a warm-started path needs, or one.
    progress : callable or None
        Called with the number of fits done and the number of all, in the thread that has made the fit.
    """
    monitor, candidates = current(), list(candidates)
    each = [list(range(len(candidates)))] if at_once else [[k] for k in range(len(candidates))]
    places = [(fold, numbers) for fold in range(len(folds)) for numbers in each]
    blocks = [(folds[fold], [candidates[k] for k in numbers]) for fold, numbers in places]
    key = None if monitor.store is None else fingerprint("trials", judge, blocks)
    scores = np.full((len(candidates), len(folds)), np.nan)
    seconds = np.zeros(len(candidates))
    was_stopped = np.zeros(len(folds), np.bool_)
    count = _Count(monitor, scores.size, progress)
    handle = _counted.set(count)
    try:
        found = side_by_side(_Block(judge), blocks, n_workers, key=key)
        for (fold, numbers), (of_block, took) in zip(places, found, strict=True):
            scores[numbers, fold] = of_block
            seconds[numbers] += took / len(numbers)
            was_stopped[fold] = monitor.reason is not None
            count.reach(fold * len(candidates) + numbers[-1] + 1)
    finally:
        _counted.reset(handle)
    counts = _folds_that_count(scores, was_stopped)
    reason = monitor.reason or "time_limit"
    trials = (
        Trial(parameters, row, reason if np.isnan(row).any() or not len(row) else "complete", took)
        for parameters, row, took in zip(
            candidates, scores[:, counts], seconds.tolist(), strict=True
        )
    )
    return Trials(tuple(trials), len(folds))


def _folds_that_count(scores: Vector, was_stopped: NDArray[np.bool_]) -> list[int]:
    """Return the folds but for those in which a stop cost a candidate its score that had one so far."""
    counts, is_complete = [], np.ones(len(scores), np.bool_)
    for fold, is_missing in enumerate(np.isnan(scores).T):
        if not (was_stopped[fold] and is_missing[is_complete].any()):
            counts.append(fold)
            is_complete &= ~is_missing
    return counts


@dataclass(frozen=True)
class _Block:
    """Judges some candidates on one fold, each in its share of the time that is left."""

    judge: Judge

    def __call__(self, block: tuple[Fold, Sequence[Parameters]]) -> tuple[Vector, float]:
        """Return the scores, NaN for those there was no time for, and the seconds it took."""
        fold, candidates = block
        began, monitor = time.monotonic(), current()
        scores = np.full(len(candidates), np.nan)
        if monitor.reason is None:
            found = self.judge(fold, candidates)
            if isinstance(found, Iterator):
                self._take(found, scores, monitor)
            else:
                scores[:] = found
        if np.isnan(scores).any():
            monitor.ask("time_limit")  # so that a store does not keep what is not whole
        return scores, time.monotonic() - began

    def _take(self, found: Iterator[float], scores: Vector, monitor: Monitor) -> None:
        """Set the scores one by one until there is no time."""
        count = _counted.get()
        for k in range(len(scores)):
            if monitor.reason is not None:
                return
            with monitor.part("", 1 / (len(scores) - k)):
                scores[k] = next(found)
            if count is not None:
                count.reach()


class _Count:
    """Counts the fits that are done, in whichever threads, and reports them."""

    def __init__(self, monitor: Monitor, total: int, progress: Progress | None) -> None:
        self._monitor = monitor
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()

    def reach(self, done: int | None = None) -> None:
        """Count one more, or up to a number if other processes have done the fits."""
        with self._lock:
            known = self._done
            self._done = known + 1 if done is None else max(known, done)
            if self._done == known or self._monitor.reason is not None:
                return
            self._monitor.report(self._done, self._total)
            if self._progress is not None:
                self._progress(self._done, self._total)


_counted: ContextVar[_Count | None] = ContextVar("counted", default=None)
