"""Where independent fits run, and with how many threads."""

from __future__ import annotations

import contextvars
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import joblib
from joblib.parallel import BACKENDS, ParallelBackendBase, get_active_backend

from hedgerow import _core
from hedgerow._base.parameters import shown, thread_count
from hedgerow.errors import Line, ParameterError, line_of_user, warning_at
from hedgerow.monitor import Monitor, current, raising_at_once

__all__ = ["check_n_threads", "engine", "in_threads", "side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 256
"""What n_jobs is cut to where there are no more cores: more would only take memory."""

_thread = threading.local()


def check_n_threads(n_jobs: Any, *, is_worthwhile: bool = True) -> int:
    """Return how many threads to use: None is every core, or one where many fits run already.

    Counting cores takes longer than a small piece of work; one thread does what is not worthwhile.
    """
    expected = thread_count(n_jobs)
    if expected is not None:
        msg = f"n_jobs={shown(n_jobs)} is no number of threads; give {expected}"
        raise ParameterError(msg)
    if not is_worthwhile:
        return 1
    cores = _core.available_cores()
    if n_jobs is None:
        return 1 if _inside_worker() else cores
    if n_jobs > 0:
        return min(int(n_jobs), max(cores, MOST_THREADS))
    return max(1, cores + 1 + int(n_jobs))


@contextmanager
def engine(where: Any = None) -> Iterator[None]:
    """Choose where the independent fits of the block run; no result depends on it.

    Independent fits are the classes of a one-vs-rest machine, the candidates and folds of a search,
    the resamples of an error estimate. How many run at a time is up to ``n_jobs``.

    Parameters
    ----------
    where : None, "threads", or a joblib backend
        None runs them one after the other in this thread, "threads" side by side in threads of this
        process, which is what happens outside any block. A joblib backend, by its name ("loky",
        "multiprocessing", "threading", or one that was registered) or as an object, runs them there.

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_iris
    >>> with hedgerow.engine("threading"):
    ...     model = hedgerow.LinearSVC().fit(*load_iris(return_X_y=True))
    """
    handle = _current.set(_engine_of(where))
    try:
        yield
    finally:
        _current.reset(handle)


def side_by_side(
    task: Callable[[Item], Result],
    items: Iterable[Item],
    n_workers: int,
    *,
    key: str | None = None,
) -> Iterator[Result]:
    """Yield task(item) for every item, in their order, up to ``n_workers`` at a time.

    Where many share a time limit, each gets its part of what is left when it begins. If the caller
    stops or is interrupted, tasks that have not begun are dropped, and those that have are asked to
    stop and waited for. With a ``key``, results are kept in the monitor's store and taken from
    there; task and items must be such that processes can be handed them.
    """
    group = _Group(task, list(items), n_workers, key)
    return _current.get().run(group) if len(group.items) > 1 else group.here()


def in_threads(
    task: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Do the same in threads of this process, whatever the engine: for tasks too small to send."""
    group = _Group(task, list(items), n_threads, None)
    return Threads().run(group) if len(group.items) > 1 else group.here()


class Engine(Protocol):
    """Runs the tasks of a group."""

    def run(self, group: _Group[Result]) -> Iterator[Result]:
        """Yield the results in order."""


class _Group(Generic[Result]):
    """Independent tasks, and what is known of their results."""

    def __init__(
        self, task: Callable[[Any], Result], items: list[Any], n_workers: int, key: str | None
    ) -> None:
        self.task = task
        self.items = items
        self.n_workers = min(n_workers, len(items))
        self.monitor = Monitor("", current(), is_part=True)
        self._key = key
        self._begun = count(1)

    def here(self) -> Iterator[Result]:
        """Yield the results, computed one after the other in this thread."""
        self.n_workers = 1
        return (self.result(number) for number in range(len(self.items)))

    def result(self, number: int) -> Result:
        """Return the result of an item, computed in this thread unless it is known."""
        known = self.known(number)
        n_begun = next(self._begun)
        if known is not None:
            return known
        name = f"{number + 1}/{len(self.items)}" if len(self.items) > 1 else ""
        share = self.n_workers / max(len(self.items) - n_begun + 1, 1)
        with self.monitor.part(name, min(share, 1.0)) as part:
            result = self.task(self.items[number])
        self.keep(number, result, part)
        return result

    def known(self, number: int) -> Result | None:
        """Return the result that an earlier run left, if any."""
        return None if self._key is None else self.monitor.recall(f"{self._key}/{number}")

    def keep(self, number: int, result: Result, part: Monitor) -> None:
        """Keep a result in the store, if it is whole."""
        if self._key is not None and part.reason is None:
            self.monitor.keep(f"{self._key}/{number}", result, instead_of=part.keys)


class Here:
    """One after the other, in the thread that asks."""

    def run(self, group: _Group[Result]) -> Iterator[Result]:
        """Yield the results in order."""
        return group.here()


class Threads:
    """Side by side in threads of this process: as many as it is given, if these are fewer."""

    def run(self, group: _Group[Result]) -> Iterator[Result]:
        """Yield the results in order.

        However it ends, running tasks are waited for: Python must not shut down under a thread that
        is in the compiled core.
        """
        tasks: SimpleQueue[_Task[Result] | None] = SimpleQueue()
        threads = _started(partial(_serve, tasks), group.n_workers) if group.n_workers > 1 else []
        if not threads:
            yield from group.here()
            return
        group.n_workers = len(threads)
        with warning_at(line_of_user()):
            queued = [_Task(group, number) for number in range(len(group.items))]
        for task in [*queued, *[None] * len(threads)]:
            tasks.put(task)
        try:
            for task in queued:
                yield task.future.result()
        except BaseException:
            group.monitor.ask("interrupted")
            raise
        finally:
            for task in queued:
                task.future.cancel()
            for thread in threads:
                thread.join()


class _Task(Generic[Result]):
    """An item of a group that waits for a thread, and its result to be."""

    def __init__(self, group: _Group[Result], number: int) -> None:
        self.future: Future[Result] = Future()
        self._group = group
        self._number = number
        self._context = contextvars.copy_context()

    def run(self) -> None:
        """Find the result, unless nobody wants it any more."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._context.run(self._group.result, self._number)
        except BaseException as error:  # noqa: BLE001 - raised where the result is wanted
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


def _started(target: Callable[[], None], n_threads: int) -> list[threading.Thread]:
    """Return that many threads, started, or as many as the system has left."""
    threads: list[threading.Thread] = []
    for _ in range(n_threads):
        thread = threading.Thread(target=target)
        try:
            thread.start()
        except RuntimeError:  # "can't start new thread"
            break
        threads.append(thread)
    return threads


def _serve(tasks: SimpleQueue[_Task[Any] | None]) -> None:
    """Work on one task after the other, in a thread of its own."""
    _thread.is_worker = True
    while (task := tasks.get()) is not None:
        task.run()


@dataclass(frozen=True)
class Joblib:
    """On a backend of joblib's."""

    backend: str | ParallelBackendBase

    def run(self, group: _Group[Result]) -> Iterator[Result]:
        """Yield the results in order.

        Ctrl-C ends the wait for the backend; what it has not returned is then done here, where it
        stops at once with as much of a result as there can be.
        """
        known = [group.known(number) for number in range(len(group.items))]
        missing = [number for number, result in enumerate(known) if result is None]
        computed = self._computed(group, missing)
        for number, result in enumerate(known):
            yield next(computed) if result is None else result
            group.monitor.report(number + 1, len(group.items))

    def _computed(self, group: _Group[Result], missing: Sequence[int]) -> Iterator[Result]:
        n_done = 0
        try:
            for result in _interruptible(self._parallel(group, missing)):
                group.keep(missing[n_done], result, group.monitor)
                n_done += 1
                yield result
        except KeyboardInterrupt:
            if group.monitor.reason is None:
                raise
            yield from (group.result(number) for number in missing[n_done:])

    def _parallel(self, group: _Group[Result], missing: Sequence[int]) -> Iterator[Result]:
        """Yield joblib's results, each computed within its part of the time that is left."""
        deadline = time.time() + group.monitor.time_left
        place_of_monitor = os.getpid(), id(group.monitor)
        _monitors[place_of_monitor] = group.monitor
        backend = BACKENDS[self.backend]() if isinstance(self.backend, str) else self.backend
        line = line_of_user()
        return_as = "generator" if backend.supports_return_generator else "list"
        parallel = joblib.Parallel(group.n_workers, backend=backend, return_as=return_as)
        calls = (
            joblib.delayed(_run_elsewhere)(
                group.task,
                group.items[number],
                deadline,
                group.n_workers / (len(missing) - place),
                place_of_monitor,
                line=line,
            )
            for place, number in enumerate(missing)
        )
        yield from parallel(calls)


def _interruptible(results: Iterator[Result]) -> Iterator[Result]:
    """Yield the results; while waiting for them Ctrl-C raises KeyboardInterrupt at once."""
    while True:
        with raising_at_once():
            result = next(results, _END)
        if result is _END:
            return
        yield result


_END: Any = object()


_monitors: WeakValueDictionary[tuple[int, int], Monitor] = WeakValueDictionary()
"""The monitors of groups under way, by process and address, for workers that are threads."""


def _run_elsewhere(
    task: Callable[[Item], Result],
    item: Item,
    deadline: float,
    share: float,
    place_of_monitor: tuple[int, int],
    *,
    line: Line,
) -> Result:
    """Run a task in a worker of joblib's, under the caller's monitor if it is in this process."""
    left = deadline - time.time()
    max_time = None if math.isinf(left) else max(min(share, 1.0) * left, 0.0)
    monitor = Monitor("", _monitors.get(place_of_monitor), max_time, is_part=True)
    with monitor, warning_at(line):
        return task(item)


_current: contextvars.ContextVar[Engine] = contextvars.ContextVar("engine", default=Threads())  # noqa: B039


def _engine_of(where: Any) -> Engine:
    """Return the engine that is meant."""
    if where is None:
        return Here()
    if isinstance(where, str) and where == "threads":
        return Threads()
    if isinstance(where, ParallelBackendBase) or (isinstance(where, str) and where in BACKENDS):
        return Joblib(where)
    names = ", ".join(map(repr, sorted(BACKENDS)))
    msg = (
        f"engine({where!r}) is not known; give None, 'threads' or a joblib backend such as {names}"
    )
    raise ParameterError(msg)


def _inside_worker() -> bool:
    """Say whether this code already runs side by side with copies of itself."""
    if getattr(_thread, "is_worker", False) or get_active_backend()[0].nesting_level:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
