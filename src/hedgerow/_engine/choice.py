"""The engine of a block, and the two ways to run tasks."""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib.parallel import BACKENDS, ParallelBackendBase

from hedgerow._engine.dask_client import Dask
from hedgerow._engine.group import Engine, Here, TaskGroup
from hedgerow._engine.joblib_backend import Joblib
from hedgerow._engine.threads import Threads
from hedgerow.errors import ParameterError

__all__ = ["engine", "in_threads", "is_in_this_process", "side_by_side"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_current: contextvars.ContextVar[Engine] = contextvars.ContextVar("engine", default=Threads())  # noqa: B039


@contextmanager
def engine(where: Any = None) -> Iterator[None]:
    """Choose where the independent tasks of the block run; no result depends on it.

    Independent tasks are the classes or pairs of classes of a machine, the candidates and folds of
    a search, the trees of a forest, their importances, and the resamples of a bootstrap.

    Parameters
    ----------
    where : None, "threads", a joblib backend, or a distributed.Client
        None runs them one after the other in this thread, "threads" side by side in threads of this
        process, which is what happens outside any block. A joblib backend, by its name ("loky",
        "multiprocessing", "threading", or one that was registered) or as an object, runs them there.
        A ``distributed.Client`` runs them on its Dask cluster, as many at a time as the cluster has
        threads; elsewhere ``n_jobs`` says how many that are.

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
    shared: tuple[Any, ...] = (),
    is_one_task: bool = False,
) -> Iterator[Result]:
    """Yield task(item) for every item, in their order, up to ``n_workers`` at a time.

    The task is what all items have in common: another process is handed it once, along with the
    ``shared`` objects that items refer to. Task and items must be such that processes can be handed
    them, and the task must not change what it is given, as it may run again.

    Where many share a time limit, each gets its part of what is left when it begins, unless they are
    parts of one task. If the caller stops or is interrupted, tasks that have not begun are dropped,
    and those that have are asked to stop. With a ``key``, results are kept in the monitor's store
    and taken from there.
    """
    group = TaskGroup(task, list(items), n_workers, key=key, shared=shared, is_one_task=is_one_task)
    return _current.get().run(group) if len(group.items) > 1 else group.here()


def in_threads(
    task: Callable[[Item], Result], items: Iterable[Item], n_threads: int
) -> Iterator[Result]:
    """Do the same in threads of this process, whatever the engine: for tasks too small to send."""
    group = TaskGroup(task, list(items), n_threads)
    return Threads().run(group) if len(group.items) > 1 else group.here()


def is_in_this_process() -> bool:
    """Say whether the tasks of the engine see the memory of this process."""
    return _current.get().is_in_this_process


def _engine_of(where: Any) -> Engine:
    """Return the engine that is meant."""
    if where is None:
        return Here()
    if isinstance(where, str) and where == "threads":
        return Threads()
    if isinstance(where, ParallelBackendBase) or (isinstance(where, str) and where in BACKENDS):
        return Joblib(where)
    distributed = sys.modules.get("distributed")  # whoever has a client has imported it
    if distributed is not None and isinstance(where, distributed.Client):
        return Dask.of(where)
    names = ", ".join(map(repr, sorted(BACKENDS)))
    msg = (
        f"engine({where!r}) is not known; give None, 'threads' or a joblib backend such as {names}, "
        "or a distributed.Client"
    )
    raise ParameterError(msg)
