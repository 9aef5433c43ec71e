"""How large the file of a forest is, against scikit-learn's pickle, node by node.

Everybody saves a forest of its own, grown before the clock starts. As no two forests have the same number of nodes, the
figure is bytes a node over those of scikit-learn's pickle. The files lie in the folder that TMPDIR names.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hedgerow
from benchmarks.contest import Case, Judge, Measure, Suite, Target, UnjudgeableError, Verdict
from benchmarks.datasets import Dataset
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forests_like_sklearn import HedgerowForest, ScikitLearnForest
from benchmarks.suites.forest import CASES, REMARK

__all__ = ["SUITE", "Saver"]

_Folder = tempfile.TemporaryDirectory[str]
_FILE = "forest"
_N_CHECKED = 1000
"""Rows that the forest of the file must predict as the one that was saved does."""

_NAMES = ("covtype 100 000", "letter", "adult raw", "california_housing raw")


@dataclass
class Saver:
    """Somebody's forest, which is grown when its process gets the data and saved on the clock."""

    fitter: Any
    _fitted: Any = field(default=None, init=False, repr=False)

    @property
    def name(self) -> str:
        """That of who fits, and how it saves."""
        return str(self.fitter.name) if self.is_ours else f"{self.fitter.name}, pickle"

    @property
    def packages(self) -> tuple[str, ...]:
        """Those of who fits."""
        packages: tuple[str, ...] = self.fitter.packages
        return packages

    @property
    def is_ours(self) -> bool:
        """Whether the forest is ours."""
        return bool(self.fitter.is_ours)

    def threads(self, allowed: int) -> int:
        """As many as who fits."""
        return int(self.fitter.threads(allowed))

    def ladder(self, task: ForestTask) -> Sequence[float]:
        """One rung, if the forest is there."""
        return tuple(self.fitter.ladder(task))

    def prepare(self, task: ForestTask, data: Dataset, n_threads: int) -> None:
        """Grow the forest."""
        self._fitted = self.fitter.fit(task, data, 0.0, n_threads)

    def fit(self, task: ForestTask, data: Dataset, tolerance: float, n_threads: int) -> _Folder:  # noqa: ARG002
        """Save the forest; return the folder of its file."""
        folder = tempfile.TemporaryDirectory()
        file = Path(folder.name) / _FILE
        if self.is_ours:
            hedgerow.save(self._fitted.model, file)
        else:
            with open(file, "wb") as stream:
                pickle.dump(self._fitted.model, stream, protocol=pickle.HIGHEST_PROTOCOL)
        return folder

    def result(self, fitted: _Folder) -> Mapping[str, NDArray[np.float64]]:
        """Return bytes and nodes of a file from which the same forest comes back; it is gone then."""
        file = Path(fitted.name) / _FILE
        n_bytes, n_nodes = file.stat().st_size, self.fitter.n_nodes(self._fitted)
        kept = hedgerow.load(file) if self.is_ours else pickle.loads(file.read_bytes())
        fitted.cleanup()
        rows, again = self._fitted.X_test[:_N_CHECKED], replace(self._fitted, model=kept)
        predictions = (self.fitter.predict(grown, rows) for grown in (self._fitted, again))
        if not np.array_equal(*predictions):
            msg = "the forest that came back from the file predicts otherwise than the one that was saved"
            raise ValueError(msg)
        return {"bytes": np.array([n_bytes], float), "nodes": np.array([n_nodes], float)}

    def ran(self, fitted: _Folder) -> str:  # noqa: ARG002 - the protocol's form
        """Return what who fits says of the forest."""
        return str(self.fitter.ran(self._fitted))


_PICKLE = Saver(ScikitLearnForest())


def _against_pickle(task: ForestTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge whose figure is the bytes a node over those of scikit-learn's pickle."""
    reference = measure(_PICKLE, 0.0)
    if reference.status != "done":
        msg = f"scikit-learn's pickle {reference.status}: {reference.message}"
        raise UnjudgeableError(msg)
    unit = float(reference.result["bytes"][0] / reference.result["nodes"][0])

    def judge(result: Mapping[str, NDArray[np.float64]]) -> Verdict:
        n_bytes, n_nodes = float(result["bytes"][0]), float(result["nodes"][0])
        details = {"bytes": n_bytes, "nodes": n_nodes, "bytes_a_node": n_bytes / n_nodes}
        return Verdict(n_bytes / n_nodes / unit, details)

    return judge


SUITE = Suite(
    title="Files of forests, 100 trees",
    cases=[Case(name, CASES[name].load, CASES[name].task) for name in _NAMES],
    contestants=[Saver(HedgerowForest()), _PICKLE],
    targets=(
        Target("of any size", float("inf")),
        Target("a quarter of scikit-learn's pickle", 0.25),
    ),
    referee=_against_pickle,
    remark=REMARK,
)
