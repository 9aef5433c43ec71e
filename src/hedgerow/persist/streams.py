"""Arrays to a file and back without a second copy of them, each digested on its way.

An array is cut into leaves of 8 MB, and what vouches for it is the list of their SHA-256 digests.
Digests run beside the disk: while one thread writes all leaves and flushes them, others digest; on
the way back each thread reads a leaf and digests it. None of this needs Python's lock.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._engine import check_n_threads, in_threads
from hedgerow.persist.layout import Header, LayoutError, Tensor

__all__ = ["Leaves", "read_arrays", "write_arrays"]

Leaves: TypeAlias = dict[str, list[bytes]]
"""For every array the digests of its leaves, in order."""

LEAF = 2**23
"""Bytes; a multiple of every item's size, so that no number is cut in two."""


@dataclass(frozen=True)
class _Leaf:
    """The bytes from ``start`` to ``stop`` of an array."""

    tensor: Tensor
    start: int
    stop: int


def write_arrays(descriptor: int, header: Header, arrays: Mapping[str, NDArray[Any]]) -> Leaves:
    """Write the arrays into their places; return the digests of their leaves."""
    leaves = _leaves_of(header)

    def write_all() -> bytes:
        for leaf in leaves:
            data = _bytes_of(arrays[leaf.tensor.name], leaf)
            _write_at(descriptor, _position(header, leaf), data)
        if not _are_few(leaves):
            os.fsync(descriptor)  # the disk is at work while the digests still go on
        return b""

    def digest(leaf: _Leaf) -> bytes:
        return hashlib.sha256(_bytes_of(arrays[leaf.tensor.name], leaf)).digest()

    jobs: list[Callable[[], bytes]] = [write_all, *(partial(digest, leaf) for leaf in leaves)]
    n_waiting_for_the_disk = 0 if _are_few(leaves) else 1
    _, *digests = in_threads(_call, jobs, _n_threads(leaves) + n_waiting_for_the_disk)
    return _by_array(header, leaves, digests)


def read_arrays(descriptor: int, header: Header) -> tuple[dict[str, NDArray[Any]], Leaves]:
    """Return the arrays, read into the memory they stay in, and the digests of their leaves."""
    arrays = {tensor.name: np.empty(tensor.shape, tensor.dtype) for tensor in header.tensors}
    leaves = _leaves_of(header)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)  # the kernel reads further ahead

    def read(leaf: _Leaf) -> bytes:
        room = _bytes_of(arrays[leaf.tensor.name], leaf)
        _read_at(descriptor, _position(header, leaf), room)
        return hashlib.sha256(room).digest()

    digests = in_threads(read, leaves, _n_threads(leaves))
    return arrays, _by_array(header, leaves, digests)


def _leaves_of(header: Header) -> list[_Leaf]:
    """Return the leaves of all arrays, in the order of the payload."""
    sizes = [(tensor, tensor.stop - tensor.start) for tensor in header.tensors]
    return [
        _Leaf(tensor, first, min(first + LEAF, size))
        for tensor, size in sizes
        for first in range(0, size, LEAF)
    ]


def _by_array(header: Header, leaves: list[_Leaf], digests: Iterable[bytes]) -> Leaves:
    found: Leaves = {tensor.name: [] for tensor in header.tensors}
    for leaf, digest in zip(leaves, digests, strict=True):
        found[leaf.tensor.name].append(digest)
    return found


def _are_few(leaves: list[_Leaf]) -> bool:
    """Say whether threads are not worth their start."""
    return sum(leaf.stop - leaf.start for leaf in leaves) <= LEAF


def _n_threads(leaves: list[_Leaf]) -> int:
    return 1 if _are_few(leaves) else check_n_threads(None)


def _call(job: Callable[[], bytes]) -> bytes:
    return job()


def _position(header: Header, leaf: _Leaf) -> int:
    return header.payload + leaf.tensor.start + leaf.start


def _bytes_of(array: NDArray[Any], leaf: _Leaf) -> memoryview:
    """Return a leaf's memory: the array's own if it lies as in the file, else a copy of the leaf."""
    size = array.dtype.itemsize
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    part = flat[leaf.start // size : leaf.stop // size]
    return part.astype(leaf.tensor.dtype, copy=False).view(np.uint8).data


def _write_at(descriptor: int, position: int, data: memoryview) -> None:
    while data:
        n_written = os.pwrite(descriptor, data, position)
        position, data = position + n_written, data[n_written:]


def _read_at(descriptor: int, position: int, room: memoryview) -> None:
    while room:
        n_read = os.preadv(descriptor, [room], position)
        if n_read == 0:
            raise LayoutError("became shorter while it was read")
        position, room = position + n_read, room[n_read:]
