"""Where independent fits run, and with how many threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from joblib.parallel import get_active_backend

from hedgerow import _core
from hedgerow._parameters import thread_count
from hedgerow.errors import ParameterError

__all__ = ["check_n_threads", "side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_thread = threading.local()


def check_n_threads(n_jobs: Any) -> int:
    """Return how many threads to use: None is every core, or one where many fits run already."""
    expected = thread_count(n_jobs)
    if expected is not None:
        msg = f"n_jobs={n_jobs!r} is no number of threads; give {expected}"
        raise ParameterError(msg)
    cores = _core.available_cores()
    if n_jobs is None:
        return 1 if _inside_worker() else cores
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def side_by_side(
    task: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Yield task(item) for every item, in their order, up to ``n_threads`` at a time.

    If the caller stops or is interrupted, tasks that have not begun are dropped and those that have
    are waited for: Python must not shut down under a thread that is in the compiled core.
    """
    items = list(items)
    if min(n_threads, len(items)) <= 1:
        yield from map(task, items)
        return
    pool = ThreadPoolExecutor(min(n_threads, len(items)), initializer=_mark_as_worker)
    try:
        yield from pool.map(task, items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _mark_as_worker() -> None:
    _thread.is_worker = True


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
