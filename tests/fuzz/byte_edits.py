"""Changes to bytes of any kind."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["compressed", "damaged"]

_ODD_BYTES = (0, 1, 0x0A, 0x20, 0x22, 0x2C, 0x3A, 0x7F, 0x80, 0xC0, 0xF0, 0xFF)
_ODD_WORDS = (0, 1, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1)


def damaged(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Change some bytes: a bit, a number, a stretch; or join two inputs."""
    at = rng.randrange(len(data) + 1)
    n = rng.choice([1, 1, 2, 4, 8, 16, 64, 300])
    return rng.choice(_CHANGES)(rng, data, at, n, rng.choice(others))


def _flip(rng: Random, data: bytes, at: int, _n: int, _other: bytes) -> bytes:
    if at == len(data):
        return data
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _overwrite(rng: Random, data: bytes, at: int, n: int, _other: bytes) -> bytes:
    return data[:at] + bytes(rng.choice(_ODD_BYTES) for _ in range(n)) + data[at + n :]


def _number(rng: Random, data: bytes, at: int, _n: int, _other: bytes) -> bytes:
    size = rng.choice([2, 4, 8])
    word = rng.choice(_ODD_WORDS).to_bytes(9, "little")[:size]
    at -= at % size if rng.random() < 0.5 else 0
    return data[:at] + word + data[at + size :]


def _insert(rng: Random, data: bytes, at: int, n: int, _other: bytes) -> bytes:
    return data[:at] + rng.randbytes(n) + data[at:]


def _delete(_rng: Random, data: bytes, at: int, n: int, _other: bytes) -> bytes:
    return data[:at] + data[at + n :]


def _repeat(rng: Random, data: bytes, at: int, n: int, _other: bytes) -> bytes:
    return data[:at] + data[at : at + n] * rng.choice([2, 2, 3, 50]) + data[at + n :]


def _cut(_rng: Random, data: bytes, at: int, _n: int, _other: bytes) -> bytes:
    return data[:at]


def _splice(rng: Random, data: bytes, at: int, _n: int, other: bytes) -> bytes:
    return data[:at] + other[rng.randrange(len(other) + 1) :]


_Change = Callable[[Random, bytes, int, int, bytes], bytes]
_CHANGES: tuple[_Change, ...] = (
    _flip,
    _flip,
    _overwrite,
    _number,
    _insert,
    _delete,
    _repeat,
    _cut,
    _splice,
)


def compressed(rng: Random, data: bytes) -> bytes:
    """Compress text, and now and then damage what comes of it."""
    packed = rng.choice([lambda text: gzip.compress(text, 1, mtime=0), bz2.compress])(data)
    if rng.random() < 0.2:
        packed += rng.choice([packed, b"\0" * 20, b"rubbish", data])
    if rng.random() < 0.5:
        packed = damaged(rng, packed, [packed])
    return packed
