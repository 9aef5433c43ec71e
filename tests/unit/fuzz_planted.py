"""Targets with planted bugs, which a fuzz campaign must find."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from hedgerow.errors import DataError
from tests.fuzz.target import Seeds, Target, n_steps

BAD = 60
"""A byte from which on an input meets the bug."""


def _seeds() -> dict[str, bytes]:
    return {"one": bytes(8), "two": bytes(range(8))}


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    data = bytearray(seeds[rng.choice(list(seeds))])
    for _ in range(n_steps(rng, most)):
        data[rng.randrange(len(data))] = rng.randrange(64)
    return bytes(data)


def _with_bug(bug: Callable[[], object]) -> Callable[[bytes, Path], None]:
    def consume(data: bytes, folder: Path) -> None:
        (folder / "input").write_bytes(data)
        if max(data) >= BAD:
            bug()
        if sum(data) % 2:
            raise DataError("an odd sum; make it even")

    return consume


def _crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _hang() -> None:
    time.sleep(600)


def _eat_memory() -> None:
    held = []
    while True:
        held.append(b"x" * 2**24)
        time.sleep(0.001)


def _take_memory_for_a_moment() -> None:
    bytearray(2**29)[:: 2**10] = b"x" * 2**19


def _raise_foreign_error() -> None:
    raise KeyError("coef_")


def _raise_several_lines() -> None:
    raise DataError("one\ntwo")


def _write_beyond_the_end() -> None:
    ctypes.memset(0, 1, 1)


CRASH = Target("crash", 1, _seeds, _mutate, _with_bug(_crash))
HANG = Target("hang", 1, _seeds, _mutate, _with_bug(_hang))
EATER = Target("eater", 1, _seeds, _mutate, _with_bug(_eat_memory))
PEAK = Target("peak", 1, _seeds, _mutate, _with_bug(_take_memory_for_a_moment))
FOREIGN = Target("foreign", 1, _seeds, _mutate, _with_bug(_raise_foreign_error))
LINES = Target("lines", 1, _seeds, _mutate, _with_bug(_raise_several_lines))
WILD = Target("wild", 1, _seeds, _mutate, _with_bug(_write_beyond_the_end))
FINE = Target("fine", 1, _seeds, _mutate, _with_bug(lambda: None))
