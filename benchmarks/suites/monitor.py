"""What it costs to be watched: a fit with its monitor over the same fit with none.

A contestant is a listener. Blocks of both fits take turns in its process, so that a change of the
machine's speed meets both alike; the quality that is judged is the median of the ratios of
neighbours, less one. The seconds are those of all the fits of such a comparison, and mean nothing.
"""

from __future__ import annotations

import io
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hedgerow
from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset

__all__ = ["SUITE", "FitTask", "Watched", "unmonitored"]

_SECONDS = 6.0
_BLOCK_SECONDS = 0.05
_FEWEST_PAIRS = 10


# ----------------------------------------------------------------------------- the fit without one


class _Nobody:
    """Stands in for a monitor, and does nothing."""

    reason = store = model_at = parent = None
    time_left = deadline = np.inf
    keys: frozenset[str] = frozenset()

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> _Nobody:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def part(self, *_: Any) -> _Nobody:
        return self

    def guard(self) -> Any:
        return nullcontext()

    def report(self, *_: Any) -> None:
        pass

    check = reserve = ask = recall = remember = keep = report


_NOBODY = _Nobody()
_USERS = {
    "hedgerow._engine.group.Monitor": _Nobody,
    "hedgerow._engine.group.current": lambda: _NOBODY,
    "hedgerow.perceptron._base.current": lambda: _NOBODY,
    "hedgerow.perceptron._rosenblatt.current": lambda: _NOBODY,
    "hedgerow.linear._machine.current": lambda: _NOBODY,
    "hedgerow.solvers.choose.current": lambda: _NOBODY,
    "hedgerow.solvers.base.current": lambda: _NOBODY,
}
"""Every name by which what is timed reaches a monitor."""


@contextmanager
def unmonitored(model: Any) -> Iterator[Callable[..., Any]]:
    """Give the model's fit with everything that has to do with monitors taken out."""
    bare = type(model).fit
    while hasattr(bare, "__wrapped__"):
        bare = bare.__wrapped__
    with ExitStack() as patches:
        for name, stand_in in _USERS.items():
            patches.enter_context(patch(name, stand_in))
        yield lambda *args: bare(model, *args)


# ---------------------------------------------------------------------------------- the contest


@dataclass(frozen=True)
class FitTask:
    """What to fit."""

    model: Any


@dataclass(frozen=True)
class Watched:
    """A way to watch a fit, as a contestant."""

    name: str
    packages: tuple[str, ...]
    callbacks: Callable[[], tuple[Any, ...]]
    is_ours: bool = False

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: what is compared are two fits in the same thread."""
        return 1

    def ladder(self, task: FitTask) -> Sequence[float]:  # noqa: ARG002
        """One rung: there is nothing to tune."""
        return (0.0,)

    def fit(self, task: FitTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Fit with and without a monitor in turn, for some seconds; return the medians of blocks."""
        model = task.model.set_params(n_jobs=1).set_callbacks(*self.callbacks())
        pairs: list[tuple[float, float]] = []
        began = time.perf_counter()
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            while len(pairs) < _FEWEST_PAIRS or time.perf_counter() - began < _SECONDS:
                with unmonitored(model) as bare:
                    without = _seconds(bare, data)
                pairs.append((_seconds(model.fit, data), without))
        return np.array(pairs)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Return the times."""
        return {"seconds": fitted}

    def ran(self, fitted: Any) -> str:
        """Return how many fits it is about."""
        return f"{len(fitted)} pairs of blocks"


def _seconds(fit: Callable[..., Any], data: Dataset) -> float:
    """Return the median time of a block of fits; the first, which finds caches cold, goes before.

    Processor time: neither fit waits for anything, and others may be using the machine.
    """
    fit(data.X, data.y)
    times: list[float] = []
    while sum(times) < _BLOCK_SECONDS:
        began = time.process_time()
        fit(data.X, data.y)
        times.append(time.process_time() - began)
    return float(np.median(times))


def _overhead(task: FitTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge of what the monitor adds to a fit."""

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        watched, bare = result["seconds"].T
        details = {"watched": float(np.median(watched)), "bare": float(np.median(bare))}
        return Verdict(float(np.median(watched / bare)) - 1.0, details)

    return judge


# ----------------------------------------------------------------------------------------- data


def _small(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return 200 rows with noisy labels."""
    random = np.random.default_rng(0)
    X = random.standard_normal((200, 10))
    return _labelled(X, X @ random.standard_normal(10) + random.standard_normal(200))


def _medium(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return sparse rows of zeros and ones, as many and as wide as a9a's."""
    random = np.random.default_rng(0)
    X = sp.random(30_000, 120, 0.11, "csr", rng=random, data_rvs=np.ones)
    return _labelled(X, X @ random.standard_normal(120) + random.standard_normal(30_000))


def _labelled(X: Any, scores: NDArray[np.float64]) -> Dataset:
    y = np.where(scores > np.median(scores), 1, -1)
    return Dataset(X, y, X[:1], y[:1])


_MODELS = {
    "LinearSVC": hedgerow.LinearSVC(),
    "LinearSVC, coordinate descent": hedgerow.LinearSVC(
        solver="dual_coordinate_descent", random_state=0
    ),
    "Perceptron": hedgerow.Perceptron(max_iter=20, tol=None),
}


def _nobody() -> tuple[Any, ...]:
    return ()


def _function() -> tuple[Any, ...]:
    return (id,)


def _progress_bar() -> tuple[Any, ...]:
    from sklearn.callback import ProgressBar

    return (ProgressBar(),)


SUITE = Suite(
    title="A fit with its monitor over one without",
    cases=[
        Case(f"{name}, {rows}", load, FitTask(model))
        for rows, load in {"200 rows": _small, "30 000 rows": _medium}.items()
        for name, model in _MODELS.items()
    ],
    contestants=[
        Watched("nobody listens", ("hedgerow",), _nobody, is_ours=True),
        Watched("a function", ("hedgerow",), _function),
        Watched("ProgressBar", ("hedgerow", "scikit-learn"), _progress_bar),
    ],
    targets=(Target("5 % more at most", 0.05), Target("1 % more at most", 0.01)),
    referee=_overhead,
)
