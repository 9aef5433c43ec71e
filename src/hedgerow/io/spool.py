"""A compact copy of blocks in a file, for passes that need not parse again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.io.block import Block

__all__ = ["Spool"]

_NO_LABELS: NDArray[Any] = np.empty(0)


@dataclass(frozen=True)
class _Entry:
    """Where the arrays of a block are, and what they were."""

    layout: tuple[tuple[np.dtype[Any], tuple[int, ...]], ...]
    n_bytes: int


class Spool:
    """The arrays of blocks, one behind the other in a file; the labels are not kept.

    The memory of the file:: values | indices | row bounds | values | indices | ...
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: list[_Entry] = []
        self._stream = path.open("wb")

    def add(self, block: Block) -> None:
        """Append a block."""
        for part in block.parts:
            part.tofile(self._stream)
        layout = tuple((part.dtype, part.shape) for part in block.parts)
        self._entries.append(_Entry(layout, block.n_bytes))

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks as they were added."""
        self._stream.close()
        with self._path.open("rb") as stream:
            for entry in self._entries:
                parts = [
                    np.fromfile(stream, dtype, int(np.prod(shape))).reshape(shape)
                    for dtype, shape in entry.layout
                ]
                yield Block(tuple(parts), _NO_LABELS, entry.n_bytes)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()
