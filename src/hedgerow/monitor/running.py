"""A running task: what it tells, and how it learns that it must stop.

Tasks nest: a search runs fits, a fit runs a solver for each class. The innermost task of a thread
is its :func:`current` monitor. What a task reports reaches every listener above it; what stops a
task stops all below it. A task never stops by itself: loops ask, and the core asks for them while
it computes under a :meth:`Monitor.guard`.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

from hedgerow import _core
from hedgerow._base.parameters import check_max_time
from hedgerow.errors import ParameterError
from hedgerow.monitor.interrupts import interrupts_asked_for

__all__ = [
    "Attributes",
    "Event",
    "Listener",
    "Monitor",
    "Reason",
    "Store",
    "current",
    "keeping_in",
    "monitored",
    "stop_if_asked",
    "watch",
]

Attributes: TypeAlias = Callable[[], dict[str, Any]]
"""Makes the fitted attributes that a model would have if the task stopped now."""

Reason: TypeAlias = Literal["interrupted", "time_limit", "stopped"]
"""Why a task must stop: Ctrl-C, ``max_time``, or a callback that said so."""

_FOREVER = 1e9
"""Seconds that no task lasts."""


@dataclass(frozen=True)
class Event:
    """A step of a running task.

    Attributes
    ----------
    path : tuple of str
        The task and those it is part of, the outermost first.
    done : int
        Steps done.
    total : int or None
        The most steps there can be, if that is known.
    seconds : float
        Since the task began.
    figures : mapping of str to float
        What the task knows of itself, such as its "relative_gap".
    """

    path: tuple[str, ...]
    done: int
    total: int | None
    seconds: float
    figures: Mapping[str, float]

    @property
    def task(self) -> str:
        """The name of the task; "" for what runs outside any."""
        return self.path[-1] if self.path else ""


class Listener(Protocol):
    """Hears of every step; ``is_own`` if the step is of the task listened to, not of one within."""

    def __call__(self, event: Event, *, is_own: bool, attributes: Attributes | None) -> bool:
        """Take in an event and say whether the task must stop."""


class Store(Protocol):
    """Where tasks leave what they need to go on after a crash."""

    def recall(self, key: str) -> Any:
        """Return what is remembered under the key, or None."""

    def remember(self, key: str, state: Callable[[], Any]) -> None:
        """Remember where a task stands, if it is time to; a later state takes an earlier one's place."""

    def keep(self, key: str, result: Any, *, instead_of: Collection[str]) -> None:
        """Remember a result, and forget the states that led to it."""


@dataclass(eq=False)
class Monitor:
    """One running task, or a scope around tasks.

    Attributes
    ----------
    task : str
        Its name; "" for a scope that is no task itself.
    parent : Monitor or None
        The task it is part of.
    max_time : float or None
        Seconds it may take.
    listeners : tuple of Listener
        Who hears of its steps and of those of its parts.
    is_part : bool
        Whether its steps count as steps of its parent.
    store : Store or None
        Where it leaves checkpoints; the parent's, if there is one.
    model_at : callable or None
        Turns a point that is reported into the fitted attributes of a model.
    keys : set of str
        What it and its parts have left in the store.
    has_recalled : bool
        Whether it or one of its parts has gone on from what an earlier run left.
    """

    task: str
    parent: Monitor | None = None
    max_time: float | None = None
    listeners: tuple[Listener, ...] = ()
    is_part: bool = False
    store: Store | None = None
    model_at: Callable[[Any], dict[str, Any]] | None = None
    path: tuple[str, ...] = field(init=False)
    deadline: float = field(init=False)
    _asked: Reason | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        parent = self.parent
        self.began = time.monotonic()
        self.keys: set[str] = set()
        self.has_recalled = False
        self.path = ((*parent.path,) if parent else ()) + ((self.task,) if self.task else ())
        self.deadline = self.began + (math.inf if self.max_time is None else self.max_time)
        self._is_heard = bool(self.listeners)
        above = parent._token if parent else None
        self._token: _core.system.StopToken = _core.system.StopToken(above, above is None)
        self._lock: threading.RLock = parent._lock if parent else threading.RLock()
        if parent:
            self.deadline = min(self.deadline, parent.deadline)
            self._is_heard = self._is_heard or parent._is_heard
            self.store = self.store or parent.store
        self.reserve(0.0)

    @property
    def time_left(self) -> float:
        """Seconds until the deadline, or infinity."""
        return self.deadline - time.monotonic()

    @property
    def reason(self) -> Reason | None:
        """Why the task must stop, or None if it may go on."""
        if self._asked is None and self._token.is_stopped:
            above = self.parent.reason if self.parent else None
            self._asked = above or "time_limit"
        return self._asked

    def ask(self, reason: Reason) -> None:
        """Ask the task, and all within it, to stop."""
        if self.reason is None:
            self._asked = reason
        self._token.stop()

    def check(self) -> None:
        """Raise Stopped if the task must stop."""
        if self.reason is not None:
            raise _core.system.Stopped

    def reserve(self, seconds: float) -> None:
        """Stop so many seconds before the deadline, to have them for what must come after."""
        if math.isfinite(self.deadline):
            self._token.stop_after(min(self.time_left - seconds, _FOREVER))

    def guard(self) -> AbstractContextManager[None]:
        """Let the core raise Stopped, in this thread, as soon as the task must stop."""
        return _Guard(self._token)

    def report(
        self,
        done: int,
        total: int | None = None,
        figures: Mapping[str, float] | None = None,
        point: Any = None,
    ) -> None:
        """Tell all listeners of a step; ``point`` is what a model could be made of now."""
        if not self._is_heard:
            return
        event = Event(self.path, done, total, time.monotonic() - self.began, figures or {})
        hearer: Monitor | None = self
        outermost, is_own, attributes = self, True, None
        with self._lock:
            while hearer is not None:
                # A scope cannot stop, as other tasks may follow in it: what runs within it can.
                outermost = hearer if hearer.task else outermost
                if is_own and hearer.model_at is not None and point is not None:
                    attributes = partial(hearer.model_at, point)
                told = [
                    tell(event, is_own=is_own, attributes=attributes) for tell in hearer.listeners
                ]
                if any(told):
                    outermost.ask("stopped")
                is_own = is_own and hearer.is_part
                hearer = hearer.parent

    def recall(self, key: str) -> Any:
        """Return what an earlier, broken-off run left under the key, or None."""
        left = None if self.store is None else self.store.recall(key)
        holder: Monitor | None = None if left is None else self
        while holder is not None:
            holder.has_recalled = True
            holder = holder.parent
        return left

    def remember(self, key: str, state: Callable[[], Any]) -> None:
        """Leave a checkpoint, if there is where to and it is time to."""
        if self.store is None:
            return
        self._own(key)
        self.store.remember(key, state)

    def keep(self, key: str, result: Any, *, instead_of: Collection[str]) -> None:
        """Leave a result, if there is where to."""
        if self.store is None:
            return
        self._own(key)
        self.store.keep(key, result, instead_of=instead_of)

    def _own(self, key: str) -> None:
        """Note that this task and those around it have left something under the key."""
        holder: Monitor | None = self
        while holder is not None:
            holder.keys.add(key)
            holder = holder.parent

    def part(self, name: str, share: float = 1.0) -> Monitor:
        """Return the monitor of a part that may take a share of the time that is left."""
        max_time = None if math.isinf(self.deadline) else max(share * self.time_left, 0.0)
        return Monitor(name, self, max_time, is_part=True)

    def __enter__(self) -> Monitor:
        """Make it the thread's current monitor."""
        self._handle = _current.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._handle)


class _Guard(AbstractContextManager[None]):
    """Puts a token over the thread; a class, as a generator would be felt in short passes."""

    def __init__(self, token: _core.system.StopToken) -> None:
        self._token = token  # which must live as long as it is over the thread
        self._before: _core.system.StopToken | None = None

    def __enter__(self) -> None:
        self._before = _core.system.exchange_stop_token(self._token)

    def __exit__(self, *_: object) -> None:
        _core.system.exchange_stop_token(self._before)


def stop_if_asked() -> None:
    """Raise Stopped where the core would: under a guard whose task must stop."""
    token = _core.system.exchange_stop_token(None)
    _core.system.exchange_stop_token(token)
    if token is not None and token.is_stopped:
        raise _core.system.Stopped


_current: ContextVar[Monitor | None] = ContextVar("monitor", default=None)


def current() -> Monitor:
    """Return the monitor of the task that runs in this thread; outside any, one nobody hears."""
    return _current.get() or Monitor("")


@contextmanager
def monitored(
    task: str, max_time: float | None = None, listeners: tuple[Listener, ...] = ()
) -> Iterator[Monitor]:
    """Run the block as a task; Ctrl-C asks the outermost one to stop, and is raised after it."""
    check_max_time(max_time)
    parent = _current.get()
    with Monitor(task, parent, max_time, listeners) as monitor:
        is_outermost = not monitor.path[:-1]
        asked_for = interrupts_asked_for(lambda: monitor.ask("interrupted"))
        with asked_for if is_outermost else nullcontext():
            yield monitor


@contextmanager
def watch(
    report: Callable[[Event], Any] | None = None, *, max_time: float | None = None
) -> Iterator[None]:
    """Hear of every step of every task in the block, and limit the time of all together.

    Parameters
    ----------
    report : callable or None
        Called with an :class:`Event` at every step, one call at a time. If it returns True, the
        task that is running stops, and its model has the ``status_`` "stopped".
    max_time : float or None
        Seconds. A fit that runs out of them keeps what it has, with the ``status_`` "time_limit".

    Examples
    --------
    >>> import hedgerow
    >>> from sklearn.datasets import load_breast_cancer
    >>> steps = []
    >>> with hedgerow.watch(steps.append):
    ...     model = hedgerow.LinearSVC().fit(*load_breast_cancer(return_X_y=True))
    >>> steps[-1].task, steps[-1].figures["relative_gap"] < 1e-4
    ('LinearSVC', True)
    """
    check_max_time(max_time)
    given: object = report
    if not (given is None or callable(given)):
        msg = f"report={report!r} cannot be called; give a function of one event, or None"
        raise ParameterError(msg)
    listeners = () if report is None else (Plain(report),)
    with Monitor("", _current.get(), max_time, listeners):
        yield


@contextmanager
def keeping_in(store: Store) -> Iterator[None]:
    """Let the tasks of the block leave their checkpoints in a store."""
    with Monitor("", _current.get(), store=store):
        yield


@dataclass(frozen=True)
class Plain:
    """A plain callable as a listener."""

    function: Callable[[Event], Any]

    def __call__(
        self,
        event: Event,
        *,
        is_own: bool,  # noqa: ARG002
        attributes: Attributes | None,  # noqa: ARG002
    ) -> bool:
        """Call the function; only True itself, and not any true value, means stop."""
        return self.function(event) is True
