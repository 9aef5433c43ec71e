"""A child process that reads inputs one after the other, and says of each what went wrong."""

from __future__ import annotations

import json
import math
import mmap
import os
import resource
import shutil
import struct
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from hedgerow.errors import HedgerowError
from tests.fuzz.target import MOST_STEPS, Seeds, Target

__all__ = ["FAILED", "Board", "Inputs", "Limits", "Problem", "run_child"]

FAILED = 77
"""What a child exits with when the harness itself has failed."""
_OUR_CODE = "/hedgerow/"
_OUR_TESTS = "/tests/"


@dataclass(frozen=True)
class Limits:
    """What an input may take: seconds of wall time, and MB beyond what the process had before."""

    seconds: float = 20.0
    megabytes: int = 700


@dataclass(frozen=True)
class Problem:
    """What went wrong with an input.

    Attributes
    ----------
    number : int
        Which mutation it was.
    kind : str
        One line that is equal for findings of the same cause: what happened, and where.
    report : str
        The traceback, or what the process wrote before it died.
    """

    number: int
    kind: str
    report: str


@dataclass(frozen=True)
class Inputs:
    """Some mutations of a target, or given inputs instead of them; none is begun after the deadline."""

    target: Target
    seeds: Seeds
    seed: int
    numbers: range
    most_steps: int = MOST_STEPS
    given: tuple[bytes, ...] = ()
    deadline: float = math.inf

    def make(self, number: int) -> bytes:
        """Return the input of that number."""
        if self.given:
            return self.given[number]
        return self.target.mutation(self.seeds, self.seed, number, self.most_steps)


class Board:
    """Memory that a child shares with its parent: the last input, since when it is read, how many are done."""

    _LAYOUT = struct.Struct("=qdq")

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, mmap.PAGESIZE)
        self._number = -1
        self._n_done = 0

    def begin(self, number: int) -> None:
        """Say that the child now reads an input."""
        self._number = number
        self._write(time.monotonic())

    def end(self) -> None:
        """Say that it is done with it."""
        self._n_done += 1
        self._write(0.0)

    def read(self) -> tuple[int, float, int]:
        """Return the last input, for how many seconds it has been read (0 if done), how many are done."""
        number, began, n_done = self._LAYOUT.unpack_from(self._memory)
        return number, time.monotonic() - began if began else 0.0, n_done

    def _write(self, began: float) -> None:
        self._LAYOUT.pack_into(self._memory, 0, self._number, began, self._n_done)


def run_child(inputs: Inputs, board: Board, reports: int, limits: Limits) -> NoReturn:
    """Read all inputs and leave the process; problems go to the file descriptor, a line of JSON each."""
    warnings.simplefilter("ignore")
    folder = Path(tempfile.mkdtemp(prefix="hedgerow-fuzz-"))
    try:
        for problem in _problems(inputs, board, folder, limits):
            os.write(reports, json.dumps(asdict(problem)).encode() + b"\n")
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
        os._exit(FAILED)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _problems(inputs: Inputs, board: Board, folder: Path, limits: Limits) -> Iterable[Problem]:
    for number in inputs.numbers:
        if time.monotonic() > inputs.deadline:
            return
        data = inputs.make(number)
        before = _peak_megabytes()
        board.begin(number)
        found = _problem(inputs.target, data, folder)
        board.end()
        grown = _peak_megabytes() - before
        if found is None and grown > limits.megabytes:
            found = "memory", f"an input of {len(data)} bytes took {grown} MB"
        if found is not None:
            yield Problem(number, *found)
        for path in folder.iterdir():
            path.unlink()


def _problem(target: Target, data: bytes, folder: Path) -> tuple[str, str] | None:
    """Return what kind of problem an input led to and how, None if all was well."""
    try:
        target.consume(data, folder)
    except HedgerowError as error:
        if "\n" not in str(error):
            return None
        return f"several lines: {_where(error)}", traceback.format_exc()
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"{type(error).__name__}: {_where(error)}", traceback.format_exc()
    return None


def _where(error: BaseException) -> str:
    """Return the innermost function of ours that an error came through; else one of the tests'."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if _OUR_CODE in frame.filename and "/src/" in frame.filename]
    ours = ours or [frame for frame in frames if _OUR_TESTS in frame.filename] or list(frames)
    return f"{Path(ours[-1].filename).name} {ours[-1].name}"


def _peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
