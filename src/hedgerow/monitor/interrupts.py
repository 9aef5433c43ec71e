"""Ctrl-C during a task: first asked for, then obeyed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["FirstInterrupt", "interrupts_asked_for", "raising_at_once"]

_raises_at_once = False


class FirstInterrupt(KeyboardInterrupt):
    """The first Ctrl-C, raised at once; what the second one raises is no instance of this."""


@contextmanager
def raising_at_once() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block all the same: it waits for code that does not ask."""
    global _raises_at_once  # noqa: PLW0603 - as the signal handler itself, one for the process
    before, _raises_at_once = _raises_at_once, True
    try:
        yield
    finally:
        _raises_at_once = before


@contextmanager
def interrupts_asked_for(ask: Callable[[], None]) -> Iterator[None]:
    """Call ``ask`` at the first Ctrl-C, and hand the signal on when the block has ended, however.

    So a task can put what it has in order before KeyboardInterrupt is raised. A second Ctrl-C does
    at once what it would have done without this block. Signals arrive in the main thread alone;
    elsewhere, and where Ctrl-C is ignored or left to the system, nothing is changed.
    """
    before = _handler()
    if before is None:
        yield
        return
    pressed = False

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, before)
        ask()
        if _raises_at_once:
            raise FirstInterrupt

    signal.signal(signal.SIGINT, on_signal)
    try:
        yield
    finally:
        replaced = signal.signal(signal.SIGINT, before)
        if replaced is not on_signal:  # by the block itself
            signal.signal(signal.SIGINT, replaced)
        if pressed:
            before(signal.SIGINT, None)


def _handler() -> Callable[[int, FrameType | None], Any] | None:
    """Return what Python calls at Ctrl-C, if it calls anything in this thread."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    return handler if callable(handler) else None
