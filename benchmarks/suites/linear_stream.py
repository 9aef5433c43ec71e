"""A fit to a file larger than memory, against only parsing it.

The file is covtype, repeated until it has so many bytes, as LIBSVM text in the folder that TMPDIR
names; it is written before the contest and removed after it. The rival to match is our own parser,
reading the file once and doing nothing. The quality that is judged is memory: the most that the work
took beyond what its process held before, in GB. Large sizes need a ``--budget``.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, from_folder
from benchmarks.memory import peak_growth

__all__ = ["SUITE", "StreamTask", "Streamer", "repeated_covtype"]

SIZES = {"0.2 GB": 2 * 10**8, "1 GB": 10**9, "10 GB": 10**10}
_FEW_ROWS = 1000
_GIGABYTE = 1e9


@dataclass(frozen=True)
class StreamTask:
    """To fit a classifier with this loss to the file of so many bytes."""

    loss: str
    n_bytes: int


def path_of(n_bytes: int) -> Path:
    """Return where the file of that size is."""
    return Path(tempfile.gettempdir()) / f"hedgerow-benchmark-covtype-{n_bytes}.svm"


def repeated_covtype(n_bytes: int, folder: Path | None) -> Dataset:
    """Write the file, which goes with this process, and return a few of its rows."""
    from sklearn.datasets import dump_svmlight_file

    data, path = from_folder("covtype")(folder), path_of(n_bytes)
    if not path.exists():
        atexit.register(path.unlink, missing_ok=True)
        dump_svmlight_file(data.X, data.y, str(path), zero_based=False)
        once = path.read_bytes()
        with path.open("ab") as stream:
            for _ in range(round(n_bytes / len(once)) - 1):
                stream.write(once)
    return data.thinned(_FEW_ROWS)


@dataclass(frozen=True)
class Streamer:
    """A way to read the file: once, or as often as a fit needs it."""

    name: str
    fits: bool
    cache: bool = True
    packages: tuple[str, ...] = ("hedgerow",)

    @property
    def is_ours(self) -> bool:
        """Whether it is a fit."""
        return self.fits

    def threads(self, allowed: int) -> int:
        """Fits use those they are allowed; parsing uses one."""
        return allowed if self.fits else 1

    def ladder(self, task: StreamTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """One rung: the tolerance of the certificate."""
        return (1e-4,)

    def fit(self, task: StreamTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Do the work; return what came of it, and the bytes that it took."""
        return peak_growth(partial(self._work, task, tolerance, n_threads))

    def _work(self, task: StreamTask, tolerance: float, n_threads: int) -> Any:
        from hedgerow import LinearSVC
        from hedgerow.io import RowFiles

        path = path_of(task.n_bytes)
        if not self.fits:
            return sum(block.n_rows for block in RowFiles(path).blocks())
        model = LinearSVC(loss=task.loss, tol=tolerance, random_state=0, n_jobs=n_threads)
        return model.fit_files(path, cache=self.cache)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:
        """Return the bytes, and the relative gap of a fit."""
        done, n_bytes = fitted
        gap = done.certificate_.relative_gap if self.fits else 0.0
        return {"n_bytes": np.array([n_bytes], dtype=np.float64), "gap": np.array([gap])}

    def ran(self, fitted: Any) -> str:
        """Return how many passes a fit made, or how many rows there are, and the memory it took."""
        done, n_bytes = fitted
        memory = f"{n_bytes / _GIGABYTE:.2f} GB"
        if not self.fits:
            return f"{done} rows, {memory}"
        return f"{done.solver_}, {done.n_iter_} passes, {done.status_}, {memory}"


def _judge_memory(task: StreamTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the memory in GB."""

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        return Verdict(float(result["n_bytes"][0]) / _GIGABYTE, {"gap": float(result["gap"][0])})

    return judge


SUITE = Suite(
    title="covtype from a file, in blocks",
    cases=[
        Case(f"{size} {loss}", partial(repeated_covtype, n_bytes), StreamTask(loss, n_bytes))
        for size, n_bytes in SIZES.items()
        for loss in ("squared_hinge", "hinge")
    ],
    contestants=[
        Streamer("hedgerow", fits=True),
        Streamer("hedgerow, parsing every pass", fits=True, cache=False),
        Streamer("only parsing", fits=False),
    ],
    targets=(Target("in any memory", float("inf")), Target("in 1 GB", 1.0)),
    referee=_judge_memory,
)
