"""How long a fresh interpreter takes to import a library, or a class of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.contest import Case, Judge, Measure, Suite, Target, Verdict
from benchmarks.datasets import Dataset, nothing

__all__ = ["SUITE", "ImportTask", "Importer"]


@dataclass(frozen=True)
class ImportTask:
    """What to import: a package, or its LinearSVC."""

    what: str


@dataclass(frozen=True)
class Importer:
    """A library, and the statement for each task; the interpreter's own start is part of its time."""

    name: str
    packages: tuple[str, ...]
    statements: Mapping[str, str]
    is_ours: bool = False

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: imports run in one."""
        return 1

    def ladder(self, task: ImportTask) -> Sequence[float]:
        """One rung: there is nothing to tune."""
        return (0.0,) if task.what in self.statements else ()

    def fit(self, task: ImportTask, data: Dataset, tolerance: float, n_threads: int) -> Any:  # noqa: ARG002
        """Import in a new interpreter."""
        statement = self.statements[task.what]
        return subprocess.run([sys.executable, "-c", statement], check=True, capture_output=True)

    def result(self, fitted: Any) -> Mapping[str, NDArray[np.float64]]:  # noqa: ARG002
        """Nothing to judge."""
        return {}

    def ran(self, fitted: Any) -> str:
        """Return the statement."""
        return str(fitted.args[-1])


def _everybody_arrives(task: ImportTask, data: Dataset, measure: Measure) -> Judge:  # noqa: ARG001
    """Return a judge that is content with an import that did not fail."""
    return lambda result: Verdict(0.0)  # noqa: ARG005


SUITE = Suite(
    title="Import in a fresh interpreter",
    cases=[Case(what, nothing, ImportTask(what)) for what in ("package", "LinearSVC")],
    contestants=[
        Importer(
            "hedgerow",
            ("hedgerow",),
            {"package": "import hedgerow", "LinearSVC": "from hedgerow import LinearSVC"},
            is_ours=True,
        ),
        Importer(
            "scikit-learn",
            ("scikit-learn",),
            {"package": "import sklearn", "LinearSVC": "from sklearn.svm import LinearSVC"},
        ),
    ],
    targets=(Target("imported", 0.0),),
    referee=_everybody_arrives,
)
