"""Notices when scikit-learn-intelex hands a call back to scikit-learn, which it does silently."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.worker import FellBackError

__all__ = ["accelerated"]


class _Listener(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.messages.append(record.getMessage())


@contextmanager
def accelerated() -> Iterator[None]:
    """Run calls of scikit-learn-intelex; raise FellBackError unless oneDAL did all of them."""
    log, listener = logging.getLogger("sklearnex"), _Listener()
    level_before = log.level
    log.addHandler(listener)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(listener)
        log.setLevel(level_before)
    fallbacks = [text for text in listener.messages if "fallback" in text]
    if fallbacks:
        raise FellBackError(fallbacks[0])
    if not any("accelerated" in text for text in listener.messages):
        msg = "scikit-learn-intelex did not log an accelerated call; is the class its own?"
        raise FellBackError(msg)
