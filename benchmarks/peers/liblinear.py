"""LIBLINEAR by its own Python package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.datasets import Dataset
from benchmarks.objectives import LinearTask
from benchmarks.peers.ladders import half_decades

__all__ = ["Liblinear"]

_SOLVERS = {
    ("hinge", True): 3,
    ("squared_hinge", True): 1,
    ("squared_hinge", False): 2,
    ("logistic", True): 7,
    ("logistic", False): 0,
}
"""LIBLINEAR's numbers by loss and whether the dual is solved."""


@dataclass
class _Fitted:
    """LIBLINEAR's model, and what it printed on the way."""

    words: list[str] = field(default_factory=list)
    model: Any = None


@dataclass(frozen=True)
class Liblinear:
    """``liblinear.liblinearutil.train`` with ``-s 0, 1, 2, 3`` or ``7`` and ``-B 1``."""

    is_dual: bool
    packages = ("liblinear-official",)
    is_ours = False

    @property
    def name(self) -> str:
        """The form is part of the name."""
        return f"liblinear {'dual' if self.is_dual else 'primal'}"

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: it has no threads."""
        return 1

    def ladder(self, task: LinearTask) -> Sequence[float]:
        """Values of ``-e``; only the primal solvers have a free intercept."""
        if (task.loss, self.is_dual) not in _SOLVERS or (task.intercept == "free" and self.is_dual):
            return ()
        return half_decades(1.0, 1e-9)

    def fit(self, task: LinearTask, data: Dataset, tolerance: float, n_threads: int) -> _Fitted:  # noqa: ARG002
        """Convert to LIBLINEAR's rows and train."""
        from liblinear import liblinear, liblinearutil

        fitted = _Fitted()
        # Its path for dense rows is a Python loop over the entries: CSR first is far faster.
        problem = liblinear.problem(data.y, sparse.csr_matrix(data.X), bias=1)
        solver = _SOLVERS[task.loss, self.is_dual]
        # As plain floats: what NumPy's are printed as is no number to LIBLINEAR.
        numbers = f"-c {float(task.C)!r} -e {float(tolerance)!r}"
        bias = "-B 1 -R" if task.intercept == "free" else "-B 1"
        parameter = liblinear.parameter(f"-s {solver} {numbers} {bias}")
        listen = liblinear.PRINT_STRING_FUN(lambda text: fitted.words.append(text.decode()))
        parameter.print_func = listen
        fitted.model = liblinearutil.train(problem, parameter)
        return fitted

    def result(self, fitted: _Fitted) -> Mapping[str, NDArray[np.float64]]:
        """Planes in the order of the sorted labels; LIBLINEAR's is that of their first rows."""
        labels = np.array(fitted.model.get_labels())
        n_planes = 1 if len(labels) == 2 else len(labels)
        n_columns = fitted.model.get_nr_feature() + 1
        shape = n_columns, n_planes
        planes = np.ctypeslib.as_array(fitted.model.w, (n_columns * n_planes,)).reshape(shape).T
        planes = (
            planes * np.sign(labels[0] - labels[1]) if n_planes == 1 else planes[labels.argsort()]
        )
        return {"coef": planes[:, :-1].copy(), "intercept": planes[:, -1].copy()}

    def ran(self, fitted: _Fitted) -> str:
        """Return its warnings: past 300 passes -s 1 hands over to -s 2, and -s 7 to -s 0."""
        words = "".join(fitted.words)
        lines = [line.strip() for line in words.splitlines()]
        marked = [line for line in lines if line.startswith(("WARNING", "Switching"))]
        return "; ".join(dict.fromkeys(marked)) or "as asked"
