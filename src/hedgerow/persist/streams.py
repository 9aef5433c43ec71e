"""Arrays to a file and back without a second copy of them, each digested on its way.

An array is cut into leaves of 8 MB. Leaves are written or read and digested side by side: digests
and reading leave Python's lock, so the digest is hidden behind the disk. What vouches for an array
is the list of the SHA-256 digests of its leaves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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

    def write(leaf: _Leaf) -> bytes:
        data = _bytes_of(arrays[leaf.tensor.name], leaf)
        _write_at(descriptor, header.payload + leaf.tensor.start + leaf.start, data)
        return hashlib.sha256(data).digest()

    return _for_every_leaf(header.tensors, write)


def read_arrays(descriptor: int, header: Header) -> tuple[dict[str, NDArray[Any]], Leaves]:
    """Return the arrays, read into the memory they stay in, and the digests of their leaves."""
    arrays = {tensor.name: np.empty(tensor.shape, tensor.dtype) for tensor in header.tensors}
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)  # the kernel reads further ahead

    def read(leaf: _Leaf) -> bytes:
        room = _bytes_of(arrays[leaf.tensor.name], leaf)
        _read_at(descriptor, header.payload + leaf.tensor.start + leaf.start, room)
        return hashlib.sha256(room).digest()

    return arrays, _for_every_leaf(header.tensors, read)


def _for_every_leaf(tensors: Iterable[Tensor], task: Callable[[_Leaf], bytes]) -> Leaves:
    """Return the task's digest of every leaf of every array."""
    leaves = [leaf for tensor in tensors for leaf in _leaves(tensor)]
    is_small = sum(leaf.stop - leaf.start for leaf in leaves) <= LEAF
    digests: Leaves = {tensor.name: [] for tensor in tensors}
    results = in_threads(task, leaves, 1 if is_small else check_n_threads(None))
    for leaf, digest in zip(leaves, results, strict=True):
        digests[leaf.tensor.name].append(digest)
    return digests


def _leaves(tensor: Tensor) -> Iterable[_Leaf]:
    n_bytes = tensor.stop - tensor.start
    return (_Leaf(tensor, k, min(k + LEAF, n_bytes)) for k in range(0, n_bytes, LEAF))


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
