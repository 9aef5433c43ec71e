"""A group of independent tasks, and what every engine does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

from hedgerow.monitor import Monitor, current

__all__ = ["Engine", "Here", "TaskGroup", "in_blocks"]

MOST_BLOCKS = 256
"""Tasks that many small pieces of work are divided into."""

Result = TypeVar("Result")


class TaskGroup(Generic[Result]):
    """A task to be run on each of some items, and what is known of the results.

    Attributes
    ----------
    task : callable
        Takes an item and returns its result. Another process is handed it once, not with every item.
    items : list
        What the task is run on.
    n_workers : int
        How many items are worked on at a time in this process.
    shared : tuple
        Objects that items refer to. They are handed over along with the task.
    is_one_task : bool
        Whether the items are parts of one task: each may take all the time that is left, and the
        caller reports the steps.
    monitor : Monitor
        The scope that the tasks run in.
    """

    def __init__(
        self,
        task: Callable[[Any], Result],
        items: list[Any],
        n_workers: int,
        *,
        key: str | None = None,
        shared: tuple[Any, ...] = (),
        is_one_task: bool = False,
    ) -> None:
        self.task = task
        self.items = items
        self.n_workers = min(n_workers, len(items))
        self.shared = shared
        self.is_one_task = is_one_task
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
        share = self.share_of_time(len(self.items) - n_begun + 1)
        with self.monitor.part(name, share) as part:
            result = self.task(self.items[number])
        self.keep(number, result, part)
        return result

    def share_of_time(self, n_left: int) -> float:
        """Return what share of the time left an item may take that begins when so many are left."""
        return 1.0 if self.is_one_task else min(self.n_workers / max(n_left, 1), 1.0)

    def known(self, number: int) -> Result | None:
        """Return the result that an earlier run left, if any."""
        return None if self._key is None else self.monitor.recall(f"{self._key}/{number}")

    def keep(self, number: int, result: Result, part: Monitor) -> None:
        """Keep a result in the store, if it is complete."""
        if self._key is not None and part.reason is None:
            self.monitor.keep(f"{self._key}/{number}", result, instead_of=part.keys)

    def report(self, n_done: int) -> None:
        """Tell listeners how many items are done, unless the caller reports its own steps."""
        if not self.is_one_task:
            self.monitor.report(n_done, len(self.items))


def in_blocks(numbers: range) -> list[range]:
    """Return numbers as blocks that are worth a task each, however many workers there are."""
    size = max(1, -(-len(numbers) // MOST_BLOCKS))
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


class Engine(Protocol):
    """Runs the tasks of a group.

    Attributes
    ----------
    is_in_this_process : bool
        Whether tasks see the memory of the caller.
    """

    is_in_this_process: bool

    def run(self, group: TaskGroup[Result]) -> Iterator[Result]:
        """Yield the results in the order of the items."""


class Here:
    """One after the other, in the thread that asks."""

    is_in_this_process = True

    def run(self, group: TaskGroup[Result]) -> Iterator[Result]:
        """Yield the results in the order of the items."""
        return group.here()
