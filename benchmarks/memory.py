"""How much memory a piece of work takes, seen from a process that has done nothing else."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.worker import die_with_parent

__all__ = ["in_fresh_process", "peak_growth"]

T = TypeVar("T")

_ROOT = Path(__file__).parents[1]


def peak_growth(work: Callable[[], T]) -> tuple[T, int]:
    """Do the work; return what came of it, and the most bytes it took beyond those held before.

    What malloc keeps of memory freed earlier goes back to the system first: the work would use it
    again, and seem to need less than it does.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now
    before = _peak_bytes()
    value = work()
    return value, _peak_bytes() - before


def in_fresh_process(function: Callable[..., T], *args: Any) -> T:
    """Return ``function(*args)`` as a new interpreter computes it; what it raises is raised here."""
    command = [sys.executable, "-c", "from benchmarks.memory import answer; answer()"]
    request = pickle.dumps((function, args), protocol=pickle.HIGHEST_PROTOCOL)
    run = subprocess.run(command, input=request, capture_output=True, check=True, cwd=_ROOT)
    is_done, value = pickle.loads(run.stdout)
    if not is_done:
        raise value
    returned: T = value
    return returned


def answer() -> None:
    """Do what ``in_fresh_process`` asks for on stdin, and answer on stdout."""
    die_with_parent()
    stdout = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # peers print
    function, args = pickle.load(sys.stdin.buffer)
    try:
        outcome = True, function(*args)
    except Exception as error:  # noqa: BLE001 - it is raised again where it was asked for
        outcome = False, error
    with open(stdout, "wb") as stream:
        pickle.dump(outcome, stream)


def _peak_bytes() -> int:
    """Return the largest resident size of this process since its peak was last cleared."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])
