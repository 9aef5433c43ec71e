"""How fast a model goes to the disk and comes back, and in how much memory.

The rival to match is the disk itself: the same bytes, written and flushed, or read, with no model
around them. The quality that is judged is memory: the most that a fresh process ever held, without
what it held before there was a model, over the size of the model. Files are read when they have
been flushed and dropped from the page cache; they lie in the folder that TMPDIR names.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import joblib
import numpy as np
from numpy.typing import NDArray

import hedgerow
from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, nothing
from benchmarks.memory import in_fresh_process, peak_growth

__all__ = ["SUITE", "FileTask", "Keeper", "memory_ratio"]

SIZES = {"10 MB": 10**7, "1 GB": 10**9}
_STEP = 2**23


@dataclass(frozen=True)
class FileTask:
    """To save or to load a model of about so many bytes."""

    what: str
    n_bytes: int


# --------------------------------------------------------------------------- ways to keep a model


def _model(n_bytes: int) -> Any:
    """Return a linear machine whose coefficients have so many bytes."""
    model = hedgerow.LinearSVC().fit([[0.0], [1.0]], [0, 1])
    model.coef_ = np.random.default_rng(0).random((1, n_bytes // 8))
    model.n_features_in_ = model.coef_.shape[1]
    return model


def _write_plain(model: Any, file: str) -> None:
    """Write the coefficients' bytes and nothing else."""
    data = model.coef_.reshape(-1).view(np.uint8).data
    with open(file, "wb", buffering=0) as stream:
        for first in range(0, len(data), _STEP):
            stream.write(data[first : first + _STEP])
        os.fsync(stream.fileno())


def _read_plain(file: str) -> NDArray[np.uint8]:
    """Read the bytes into new memory."""
    with open(file, "rb", buffering=0) as stream:
        room = np.empty(os.fstat(stream.fileno()).st_size, np.uint8)
        for first in range(0, len(room), _STEP):
            stream.readinto(room[first : first + _STEP].data)
    return room


def _flushed(dump: Any, model: Any, file: str) -> None:
    """Write by a library that does not flush by itself."""
    with open(file, "wb") as stream:
        dump(model, stream)
        stream.flush()
        os.fsync(stream.fileno())


def _unpickle(file: str) -> Any:
    with open(file, "rb") as stream:
        return pickle.load(stream)


_WRITERS = {
    "hedgerow": hedgerow.save,
    "plain disk": _write_plain,
    "joblib": lambda model, file: _flushed(joblib.dump, model, file),
    "pickle": lambda model, file: _flushed(pickle.dump, model, file),
}
_READERS = {
    "hedgerow": hedgerow.load,
    "plain disk": _read_plain,
    "joblib": joblib.load,
    "pickle": _unpickle,
}


# ---------------------------------------------------------------------------------- the contest


@dataclass(frozen=True)
class Keeper:
    """A way to keep a model in a file, as a contestant."""

    name: str
    packages: tuple[str, ...]
    is_ours: bool = False

    def threads(self, allowed: int) -> int:
        """We digest on several threads; the others use one."""
        return allowed if self.is_ours else 1

    def ladder(self, task: FileTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """One rung: there is nothing to tune."""
        return (0.0,)

    def fit(self, task: FileTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Save or load; model and file are there from the warm-up on."""
        if task.what == "save":
            _WRITERS[self.name](_kept_model(task.n_bytes), _new_path(self.name))
        else:
            _READERS[self.name](_kept_file(self.name, task.n_bytes))
        return task

    def result(self, fitted: FileTask) -> Mapping[str, NDArray[np.float64]]:
        """Return the memory that it took, and leave the disk as the next repeat needs it."""
        if fitted.what == "save":
            Path(_new_path(self.name)).unlink(missing_ok=True)
        else:
            _drop_from_cache(_kept_file(self.name, fitted.n_bytes))
        _make_room(fitted.n_bytes)
        return {"memory_ratio": np.array([memory_ratio(self.name, fitted)])}

    def ran(self, fitted: FileTask) -> str:
        """Return what was done."""
        return f"{fitted.what} {fitted.n_bytes} bytes"


@lru_cache(maxsize=1)
def _kept_model(n_bytes: int) -> Any:
    return _model(n_bytes)


def _new_path(name: str) -> str:
    folder = Path(tempfile.gettempdir())
    return str(folder / f"hedgerow-benchmark-{name.replace(' ', '-')}-{os.getpid()}")


@lru_cache(maxsize=1)
def _open_file(name: str, n_bytes: int) -> BinaryIO:
    """Return a saved model that goes with this process: its name is removed at once."""
    path = _new_path(name)
    _WRITERS[name](_model(n_bytes), path)
    stream = open(path, "rb", buffering=0)  # noqa: SIM115 - open as long as the process lives
    Path(path).unlink()
    _drop_from_cache(path=f"/proc/self/fd/{stream.fileno()}")
    return stream


def _kept_file(name: str, n_bytes: int) -> str:
    return f"/proc/self/fd/{_open_file(name, n_bytes).fileno()}"


def _drop_from_cache(path: str) -> None:
    with open(path, "rb") as stream:
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _make_room(n_bytes: int) -> None:
    """Have the system find free memory now: else the first to ask for it pays for everybody."""
    np.ones(2 * n_bytes, np.uint8)


# --------------------------------------------------------------------------------------- memory


@lru_cache
def memory_ratio(name: str, task: FileTask) -> float:
    """Return the memory ratio of a task, measured once, in a process of its own."""
    return in_fresh_process(measure, name, task)


def measure(name: str, task: FileTask) -> float:
    """Do the task once and return the most memory it took, in sizes of the model."""
    path = _new_path(name)
    try:
        _save_new(name, 80, path)  # what is imported on the way is no part of the figure
        _READERS[name](path)
        if task.what == "save":
            _, n_bytes = peak_growth(partial(_save_new, name, task.n_bytes, path))
        else:
            in_fresh_process(_save_new, name, task.n_bytes, path)
            _, n_bytes = peak_growth(partial(_READERS[name], path))
        return n_bytes / task.n_bytes
    finally:
        Path(path).unlink(missing_ok=True)


def _save_new(name: str, n_bytes: int, path: str) -> None:
    """Make a model and save it."""
    _WRITERS[name](_model(n_bytes), path)


def _judge_memory(task: FileTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the memory ratio."""
    return lambda result: Verdict(float(result["memory_ratio"][0]))


SUITE = Suite(
    title="Models to the disk and back",
    cases=[
        Case(f"{what} {size}", nothing, FileTask(what, n_bytes))
        for size, n_bytes in SIZES.items()
        for what in ("save", "load")
    ],
    contestants=[
        Keeper("hedgerow", ("hedgerow",), is_ours=True),
        Keeper("plain disk", ()),
        Keeper("joblib", ("joblib",)),
        Keeper("pickle", ()),
    ],
    targets=(Target("in any memory", float("inf")), Target("in 1.2 x the model's memory", 1.2)),
    referee=_judge_memory,
)
