"""A contestant's own process: what crashes or hangs there ends there.

The process is started with the stated number of threads and cores, gets the data of a case once, and
then one tolerance at a time over a pipe. Time is taken inside it, around ``fit`` alone.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset

if TYPE_CHECKING:
    from benchmarks.contest import Contestant

__all__ = ["FellBackError", "Outcome", "Worker", "die_with_parent"]

WARM_UP_ROWS = 200
"""Enough to run every line of a fit, few enough to take no time but that of compiling it."""

GRACE_SECONDS = 2.0
"""A result that comes this much after the budget is waited for: it may only have been in the pipe."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


class FellBackError(Exception):
    """A contestant let another library do its work, and its time would be the other's."""


@dataclass(frozen=True)
class Outcome:
    """How one fit ended.

    Attributes
    ----------
    status : {"done", "over budget", "failed", "fell back"}
        Only what is done has a result.
    seconds : float
        Time of ``fit``; of one over budget, the budget.
    result : mapping of str to ndarray
        What the judge needs.
    ran : str
        The algorithm that ran, in the contestant's own words.
    cpu_seconds : float
        Processor time of ``fit``, all threads and child processes: others on the machine that
        make it wait do not add to it.
    message : str
        Why it is not done.
    """

    status: Literal["done", "over budget", "failed", "fell back"]
    seconds: float = np.nan
    result: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    ran: str = ""
    cpu_seconds: float = np.nan
    message: str = ""


class Worker:
    """The parent's hold on a contestant's process; it lives until ``stop`` or its first lapse."""

    def __init__(self, contestant: Contestant, n_threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        # Libraries read these variables when they are loaded, so the child must be born with them.
        with _environment(dict.fromkeys(_THREAD_VARIABLES, str(n_threads))):
            self._process = context.Process(
                target=_serve, args=(theirs, contestant, n_threads), daemon=True
            )
            self._process.start()
        theirs.close()

    @property
    def is_alive(self) -> bool:
        """Whether it can still be asked to fit."""
        return self._process.is_alive()

    def load(self, task: Any, data: Dataset, patience: float) -> Outcome:
        """Send task and data, and fit a few rows, so that imports and compilation are not timed."""
        return self._ask((task, data), patience)

    def fit(self, tolerance: float, budget: float) -> Outcome:
        """Fit once; past the budget the process is killed."""
        outcome = self._ask(tolerance, budget)
        if outcome.status == "done" and outcome.seconds > budget:
            return Outcome("over budget", budget, message=f"took {outcome.seconds:.1f} s")
        return outcome

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()
        self._pipe.close()

    def _ask(self, request: Any, budget: float) -> Outcome:
        """Send a request and wait for the outcome as long as the budget allows."""
        try:
            self._pipe.send(request)
            if self._pipe.poll(budget + GRACE_SECONDS):
                answer: Outcome = self._pipe.recv()
                return answer
        except (EOFError, OSError):
            self._process.join()
            message = f"its process ended with exit code {self._process.exitcode}"
            return Outcome("failed", message=message)
        self.stop()
        return Outcome("over budget", budget, message=f"stopped after {budget:g} s")


def _serve(pipe: Connection, contestant: Contestant, n_threads: int) -> None:
    """Answer requests until the parent is gone: a new task with its data, or a tolerance."""
    die_with_parent()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:n_threads])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # peers print
    warnings.simplefilter("ignore")  # what did not converge is seen in its objective
    while True:
        try:
            request = pipe.recv()
        except EOFError:
            return
        if isinstance(request, tuple):
            task, data = request
            pipe.send(_warmed_up(contestant, task, data, n_threads))
        else:
            pipe.send(_attempt(contestant, task, data, request, n_threads))


def _warmed_up(contestant: Contestant, task: Any, data: Dataset, n_threads: int) -> Outcome:
    """Let the contestant prepare itself if it wants to, and fit a few rows."""
    try:
        if hasattr(contestant, "prepare"):
            contestant.prepare(task, data, n_threads)
    except Exception as error:  # noqa: BLE001 - whatever a peer raises belongs into the report
        return Outcome("failed", message=f"{type(error).__name__}: {error}")
    rows, tolerance = data.thinned(WARM_UP_ROWS), contestant.ladder(task)[0]
    return _attempt(contestant, task, rows, tolerance, n_threads)


def die_with_parent() -> None:
    """Ask the kernel to end this process with its parent: a fit would go on for hours alone."""
    set_death_signal = 1  # PR_SET_PDEATHSIG of linux/prctl.h
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _attempt(
    contestant: Contestant, task: Any, data: Dataset, tolerance: float, n_threads: int
) -> Outcome:
    """Fit, and say how it ended; an exception is an outcome like any other."""
    try:
        return _timed(contestant, task, data, tolerance, n_threads)
    except FellBackError as error:
        return Outcome("fell back", message=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a peer raises belongs into the report
        return Outcome("failed", message=f"{type(error).__name__}: {error}")


def _timed(
    contestant: Contestant, task: Any, data: Dataset, tolerance: float, n_threads: int
) -> Outcome:
    """Fit with the clock running, and ask for the result after it has stopped."""
    gc.collect()
    cpu_before, start = _cpu_seconds(), time.perf_counter()
    fitted = contestant.fit(task, data, tolerance, n_threads)
    seconds, cpu_seconds = time.perf_counter() - start, _cpu_seconds() - cpu_before
    return Outcome("done", seconds, contestant.result(fitted), contestant.ran(fitted), cpu_seconds)


def _cpu_seconds() -> float:
    """Return the processor time this process and its children have used."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for a while."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
