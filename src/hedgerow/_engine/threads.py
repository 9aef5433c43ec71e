"""Tasks side by side in threads of this process."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from hedgerow._engine.group import TaskGroup
from hedgerow._engine.thread_count import mark_as_worker
from hedgerow.errors import line_of_user, warning_at

__all__ = ["Threads"]

Result = TypeVar("Result")


class Threads:
    """Side by side in threads of this process: as many as it is given, if these are fewer."""

    is_in_this_process = True

    def run(self, group: TaskGroup[Result]) -> Iterator[Result]:
        """Yield the results in the order of the items.

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

    def __init__(self, group: TaskGroup[Result], number: int) -> None:
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
    mark_as_worker()
    while (task := tasks.get()) is not None:
        task.run()
