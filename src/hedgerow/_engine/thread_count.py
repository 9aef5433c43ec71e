"""How many threads ``n_jobs`` stands for."""

from __future__ import annotations

import sys
import threading
from typing import Any

from joblib.parallel import get_active_backend

from hedgerow import _core
from hedgerow._base.parameters import shown, thread_count
from hedgerow.errors import ParameterError

__all__ = ["check_n_threads", "mark_as_worker"]

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
    cores = _core.system.available_cores()
    if n_jobs is None:
        return 1 if _is_inside_worker() else cores
    if n_jobs > 0:
        return min(int(n_jobs), max(cores, MOST_THREADS))
    return max(1, cores + 1 + int(n_jobs))


def mark_as_worker() -> None:
    """Note that this thread runs tasks side by side with other threads."""
    _thread.is_worker = True


def _is_inside_worker() -> bool:
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
