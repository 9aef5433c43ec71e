"""Tasks on a backend of joblib's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import joblib
from joblib.parallel import BACKENDS, ParallelBackendBase

from hedgerow._engine.elsewhere import Caller, Elsewhere, SharedTask
from hedgerow._engine.group import TaskGroup
from hedgerow.monitor import raising_at_once

__all__ = ["Joblib"]

Result = TypeVar("Result")

LARGE = 2**16
"""Bytes from which on joblib writes an array to a file that all workers map into their memory."""


@dataclass(frozen=True)
class Joblib(Elsewhere):
    """On a backend of joblib's."""

    backend: str | ParallelBackendBase

    def _computed(
        self, group: TaskGroup[Result], missing: Sequence[int]
    ) -> Generator[Result, None, None]:
        """Yield the results of some items.

        Ctrl-C ends the wait for the backend; what it has not returned is then done here, where it
        stops at once with as much of a result as there can be.
        """
        n_done, n_known = 0, len(group.items) - len(missing)
        try:
            for result in _interruptible(self._parallel(group, missing)):
                group.keep(missing[n_done], result, group.monitor)
                n_done += 1
                group.report(n_known + n_done)
                yield result
        except KeyboardInterrupt:
            if group.monitor.reason is None:
                raise
            yield from (group.result(number) for number in missing[n_done:])

    def _parallel(self, group: TaskGroup[Result], missing: Sequence[int]) -> Iterator[Result]:
        """Yield joblib's results, each computed within its part of the time that is left."""
        caller = Caller.of(group)
        shared = SharedTask(group.task, group.shared)
        backend = BACKENDS[self.backend]() if isinstance(self.backend, str) else self.backend
        return_as = "generator" if backend.supports_return_generator else "list"
        parallel = joblib.Parallel(
            group.n_workers, backend=backend, return_as=return_as, max_nbytes=LARGE
        )
        calls = (
            joblib.delayed(_run)(
                _Item(shared, group.items[number]),
                caller,
                group.share_of_time(len(missing) - place),
            )
            for place, number in enumerate(missing)
        )
        results = parallel(calls)
        try:
            for result in results:  # noqa: UP028 - "yield from" would close them with a warning
                yield result
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of tasks that nobody wants any more
                if return_as == "generator":
                    results.close()


class _Item:
    """An item on its way to a worker, which may be a thread: then it is never packed."""

    def __init__(self, shared: SharedTask[Any], value: Any) -> None:
        self.shared = shared
        self.value = value

    def __reduce__(self) -> tuple[Callable[..., _Item], tuple[SharedTask[Any], bytes]]:
        return _unpacked, (self.shared, self.shared.pack(self.value))


_last_received: list[SharedTask[Any]] = []
"""The task that this worker process was sent last: while it is held it is not unpacked again."""


def _unpacked(shared: SharedTask[Any], packed: bytes) -> _Item:
    _last_received[:] = [shared]
    return _Item(shared, shared.unpack(packed))


def _run(item: _Item, caller: Caller, share: float) -> Any:
    """Run a task in a worker of joblib's, under the caller's monitor if it is in this process."""
    with caller.monitored(share):
        return item.shared.task(item.value)


def _interruptible(results: Iterator[Result]) -> Iterator[Result]:
    """Yield the results; while waiting for them Ctrl-C raises KeyboardInterrupt at once."""
    while True:
        with raising_at_once():
            result = next(results, _END)
        if result is _END:
            return
        yield result


_END: Any = object()
