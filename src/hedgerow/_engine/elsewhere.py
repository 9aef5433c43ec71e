"""Running tasks where the memory of this process is not seen: what is sent, and what is known there."""

from __future__ import annotations

import io
import math
import os
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar
from uuid import uuid4
from weakref import WeakValueDictionary

import cloudpickle
import numpy as np
from numpy.typing import NDArray

from hedgerow._engine.group import TaskGroup
from hedgerow.errors import Line, line_of_user, warning_at
from hedgerow.monitor import Monitor

__all__ = ["Caller", "Elsewhere", "SharedTask"]

Result = TypeVar("Result")
Buffer = NDArray[np.uint8]


class Elsewhere(ABC):
    """An engine whose tasks run elsewhere."""

    is_in_this_process = False

    def run(self, group: TaskGroup[Result]) -> Iterator[Result]:
        """Yield the results in the order of the items; those of an earlier run are not computed again."""
        known = [group.known(number) for number in range(len(group.items))]
        missing = [number for number, result in enumerate(known) if result is None]
        with closing(self._computed(group, missing)) as computed:
            for result in known:
                yield next(computed) if result is None else result

    @abstractmethod
    def _computed(
        self, group: TaskGroup[Result], missing: Sequence[int]
    ) -> Generator[Result, None, None]:
        """Yield the results of some items, in this order, keep them, and report how many are done."""


# -------------------------------------------------------------------------------- what is sent


class SharedTask(Generic[Result]):
    """A task, and objects that its items refer to: packed once, unpacked once in a process.

    In the process that made it nothing is packed. An item is packed by itself; it only names the
    objects that are shared.
    """

    def __init__(self, task: Callable[[Any], Result], objects: tuple[Any, ...]) -> None:
        self.task = task
        self._objects = objects

    @cached_property
    def _packed(self) -> tuple[str, Buffer, list[Buffer]]:
        """A name of its own, and the bytes: large arrays are views of the caller's memory."""
        buffers: list[pickle.PickleBuffer] = []
        head = cloudpickle.dumps((self.task, self._objects), 5, buffers.append)
        arrays = [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
        return uuid4().hex, np.frombuffer(head, np.uint8), arrays

    def __reduce__(self) -> tuple[Callable[..., SharedTask[Any]], tuple[Any, ...]]:
        return _received, self._packed

    def pack(self, item: Any) -> bytes:
        """Return the bytes of an item, in which shared objects are named by their place."""
        file = io.BytesIO()
        _ItemPickler(file, self._objects).dump(item)
        return file.getvalue()

    def unpack(self, packed: bytes) -> Any:
        """Return an item of which these are the bytes."""
        return _ItemUnpickler(io.BytesIO(packed), self._objects).load()


_received_tasks: WeakValueDictionary[str, SharedTask[Any]] = WeakValueDictionary()
"""What this process has been sent and still holds."""


def _received(name: str, head: Buffer, buffers: list[Buffer]) -> SharedTask[Any]:
    """Return what was sent: if it has come before, the same object."""
    known = _received_tasks.get(name)
    if known is None:
        task, objects = pickle.loads(head.data, buffers=buffers)
        known = _received_tasks.setdefault(name, SharedTask(task, objects))
        vars(known)["_packed"] = name, head, buffers  # sent on as it came
    return known


class _ItemPickler(cloudpickle.CloudPickler):
    """Names shared objects instead of pickling them."""

    def __init__(self, file: io.BytesIO, objects: Sequence[Any]) -> None:
        super().__init__(file, protocol=5)
        self._places = {id(shared): place for place, shared in enumerate(objects)}

    def persistent_id(self, value: Any) -> int | None:
        """Return the place of a shared object, None for any other."""
        return self._places.get(id(value))


class _ItemUnpickler(pickle.Unpickler):
    """Finds shared objects by their place."""

    def __init__(self, file: io.BytesIO, objects: Sequence[Any]) -> None:
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, place: int) -> Any:
        """Return the shared object of a place."""
        return self._objects[place]


# ------------------------------------------------------------------------------ what is known there


_monitors: WeakValueDictionary[tuple[int, int], Monitor] = WeakValueDictionary()
"""The monitors of groups under way, by process and address, for workers that are threads."""


@dataclass(frozen=True)
class Caller:
    """What a task that runs elsewhere knows of the group it belongs to.

    Attributes
    ----------
    deadline : float
        When the group must be done, by the clock on the wall.
    place_of_monitor : tuple of int
        The process and address of the group's monitor, which a thread of that process can ask.
    line : Line
        The line of the user's program that warnings point at.
    """

    deadline: float
    place_of_monitor: tuple[int, int]
    line: Line

    @staticmethod
    def of(group: TaskGroup[Any]) -> Caller:
        """Return what is to be known of a group."""
        place = os.getpid(), id(group.monitor)
        _monitors[place] = group.monitor
        return Caller(time.time() + group.monitor.time_left, place, line_of_user())

    @contextmanager
    def monitored(self, share: float) -> Iterator[Monitor]:
        """Run the block as a task that may take a share of the time that is left."""
        left = self.deadline - time.time()
        max_time = None if math.isinf(left) else max(share * left, 0.0)
        above = _monitors.get(self.place_of_monitor)
        with Monitor("", above, max_time, is_part=True) as monitor, warning_at(self.line):
            yield monitor
