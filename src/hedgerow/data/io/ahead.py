"""Reading ahead: a thread makes the next item while the current one is processed."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from typing import Any, TypeAlias, TypeVar

__all__ = ["read_ahead"]

Item = TypeVar("Item")
Made: TypeAlias = tuple[Any, BaseException | None]

_END: Any = object()


def read_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items while a thread makes the next one; what that raises is raised here.

    No more than two exist at a time: the current one, and the next.
    """
    queue: SimpleQueue[Made] = SimpleQueue()
    room = threading.Semaphore(1)
    unwanted = threading.Event()
    thread = threading.Thread(target=_fill, args=(queue, items, room, unwanted), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # the system has no thread left, so nothing is read ahead
        yield from items
        return
    try:
        while True:
            item, error = queue.get()
            if error is not None:
                raise error
            if item is _END:
                return
            room.release()
            yield item
            del item
    finally:
        unwanted.set()
        room.release()
        thread.join()


def _fill(
    queue: SimpleQueue[Made],
    items: Iterator[Any],
    room: threading.Semaphore,
    unwanted: threading.Event,
) -> None:
    """Put every item into the queue when there is room, then the end, or the error that was raised."""
    item = None
    while item is not _END:
        room.acquire()
        if unwanted.is_set():
            return
        try:
            item = next(items, _END)
        except BaseException as error:  # noqa: BLE001 - raised where the items are wanted
            queue.put((None, error))
            return
        queue.put((item, None))
        if item is not _END:
            item = None
