"""How much memory there is, asked before something large is made."""

from __future__ import annotations

import os
from pathlib import Path

from hedgerow.errors import DataError

__all__ = ["refuse_beyond_memory"]

_GROUP = Path("/sys/fs/cgroup")
"""Where the limits of a container are written, if there are any."""


def refuse_beyond_memory(n_bytes: int, what: str, instead: str) -> None:
    """Refuse to make what does not fit into the memory that is free, where that is known."""
    available = available_bytes()
    if available is not None and n_bytes > available:
        msg = (
            f"{what} takes {n_bytes / 2**30:.3g} GB and {available / 2**30:.3g} GB of memory are "
            f"available; {instead}"
        )
        raise DataError(msg)


def available_bytes() -> int | None:
    """Return how many bytes a process may still take: the least of what machine and container have."""
    known = [each for each in (_of_machine(), _of_container()) if each is not None]
    return min(known, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return (
            next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024
        )
    except (OSError, ValueError, StopIteration):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_container() -> int | None:
    """Return what is left of a limit; pages of files that can be dropped count as free."""
    try:
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))  # "max" if there is none
        used = int((_GROUP / "memory.current").read_text(encoding="ascii"))
        figures = dict(
            map(str.split, (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        )
        return max(limit - used + int(figures.get("inactive_file", 0)), 0)
    except (OSError, ValueError):
        return None
