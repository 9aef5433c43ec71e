"""Tasks on a Dask cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hedgerow._engine.elsewhere import Caller, Elsewhere, SharedTask
from hedgerow._engine.group import TaskGroup
from hedgerow.errors import ParameterError, UnavailableError
from hedgerow.monitor import Monitor, raising_at_once

__all__ = ["Dask"]

Result = TypeVar("Result")

_LARGE = 2**16
"""Bytes of an item from which on it is stored on a worker, and not a part of the task's description."""

_POLL = 0.1
"""Seconds between two looks at whether the tasks must stop."""

_GRACE = 0.3
"""Seconds beyond the time limit in which results that are on their way may arrive."""

_MOST_LOSSES = 3
"""How often the shared data may be lost with all the workers that had them, as Dask counts deaths."""


@dataclass(frozen=True)
class Dask(Elsewhere):
    """On the cluster that a ``distributed.Client`` is connected to; it starts and closes nothing."""

    client: Any

    @staticmethod
    def of(client: Any) -> Dask:
        """Return the engine of a client that can be waited for."""
        if client.asynchronous:
            msg = f"engine({client!r}) cannot wait for an asynchronous client; give distributed.Client(...) without asynchronous=True"
            raise ParameterError(msg)
        engine = Dask(client)
        engine._refuse_closed()
        return engine

    def _refuse_closed(self) -> None:
        if self.client.status != "running":
            msg = f"the client {self.client!r} is {self.client.status}; give one that is connected to a cluster"
            raise ParameterError(msg)

    def _computed(
        self, group: TaskGroup[Result], missing: Sequence[int]
    ) -> Generator[Result, None, None]:
        """Yield the results of some items.

        What the cluster has not returned when it must stop, or some time after the time limit, is
        then done here, where it stops at once with as much of a result as there can be.
        """
        self._refuse_closed()
        group.n_workers = max(sum(self.client.nthreads().values()), 1)
        submission = _Submission(self.client, group, missing)
        try:
            for number in missing:
                result = submission.wait_for(number)
                yield group.result(number) if result is None else result[0]
        finally:
            submission.cancel()


class _Submission(Generic[Result]):
    """The items of a group on a cluster.

    Tasks may run more than once: if a worker dies, Dask runs its tasks on another one. If the data
    that all tasks share died with the last worker that had them, they are sent again.
    """

    def __init__(self, client: Any, group: TaskGroup[Result], numbers: Sequence[int]) -> None:
        self._client = client
        self._group = group
        self._caller = Caller.of(group)
        self._shared = SharedTask(group.task, group.shared)
        self._place = {number: place for place, number in enumerate(numbers)}
        self._results: dict[int, Result] = {}
        self._futures: dict[int, Any] = {}
        self._data: Any = None
        self._n_losses = 0
        self._has_news = threading.Event()
        self._is_submitted = False

    def wait_for(self, number: int) -> tuple[Result] | None:
        """Return the result of an item, None if there is no time left to wait for it."""
        try:
            with raising_at_once():
                self._wait_for(number)
        except KeyboardInterrupt:
            if self._group.monitor.reason is None:
                raise
        if number in self._results:
            return (self._results.pop(number),)
        self.cancel()
        return None

    def _wait_for(self, number: int) -> None:
        """Collect results until that of an item is there, or until there is no time left."""
        if not self._is_submitted:
            self._is_submitted = True
            self._submit(list(self._place))
        while number not in self._results and not self._is_over():
            self._has_news.wait(_POLL)
            self._has_news.clear()
            self._collect()

    def cancel(self) -> None:
        """Let the cluster drop what it has not done; what it is doing is asked to stop."""
        if self._futures and self._client.status == "running":
            self._client.cancel(list(self._futures.values()))
        self._futures, self._data = {}, None

    def _submit(self, numbers: list[int]) -> None:
        """Send what all items share, and a task for each of some items."""
        # Under a name of its own: data of the same name may be just about to be dropped.
        self._data = self._scattered(self._shared, broadcast=True)
        packed = [self._shared.pack(self._group.items[number]) for number in numbers]
        sent: list[Any] = [self._scattered(each) if len(each) > _LARGE else each for each in packed]
        self._futures = {}
        for number, item in zip(numbers, sent, strict=True):
            share = self._group.share_of_time(len(self._place) - self._place[number])
            future = self._client.submit(_run, self._data, item, self._caller, share, pure=False)
            future.add_done_callback(lambda _: self._has_news.set())
            self._futures[number] = future

    def _scattered(self, data: Any, *, broadcast: bool = False) -> Any:
        try:
            return self._client.scatter(data, broadcast=broadcast, hash=False)
        except TimeoutError as error:
            msg = f"{self._client!r} has no worker; start some, and try again"
            raise UnavailableError(msg) from error

    def _collect(self) -> None:
        """Fetch what is done, and send again what was lost."""
        from distributed import CancelledError

        n_all = len(self._group.items)
        for number, future in list(self._futures.items()):
            if future.status not in ("finished", "error"):
                continue
            try:
                result = future.result()
            except CancelledError:  # its worker has died, and the data with it
                continue
            del self._futures[number]
            self._results[number] = result
            self._group.keep(number, result, self._group.monitor)
            self._group.report(n_all - len(self._futures))
        if self._futures and self._is_lost():
            self._n_losses += 1
            if self._n_losses > _MOST_LOSSES:
                msg = f"all workers of {self._client!r} died {self._n_losses} times while they worked on the task; see their logs, and whether they have enough memory"
                raise UnavailableError(msg)
            self._submit(list(self._futures))

    def _is_lost(self) -> bool:
        """Say whether what all items share, or an item, is on no worker any more."""
        statuses = {future.status for future in self._futures.values()}
        return self._data.status != "finished" or "cancelled" in statuses

    def _is_over(self) -> bool:
        """Say whether results need not be waited for any longer."""
        reason = self._group.monitor.reason
        if reason == "time_limit":
            return time.time() > self._caller.deadline + _GRACE
        return reason is not None


def _run(shared: SharedTask[Any], packed: bytes, caller: Caller, share: float) -> Any:
    """Run a task on a worker, under the caller's monitor if it is in this process."""
    with caller.monitored(share) as monitor, _stopping_if_cancelled(monitor):
        return shared.task(shared.unpack(packed))


@contextmanager
def _stopping_if_cancelled(monitor: Monitor) -> Iterator[None]:
    """Ask the task of the block to stop when its client has cancelled it: Dask itself lets it run on."""
    from distributed import get_worker

    worker, is_done = get_worker(), threading.Event()
    key = worker.get_current_task()

    def watch() -> None:
        while not is_done.wait(_POLL):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                monitor.ask("interrupted")
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()
