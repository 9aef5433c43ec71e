"""LIBSVM by its own Python package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.datasets import Dataset
from benchmarks.kernel_objectives import KernelTask, of_sorted_pairs
from benchmarks.peers.ladders import half_decades

__all__ = ["Libsvm"]

_C_SVC, _EPSILON_SVR = 0, 3
"""LIBSVM's numbers of its machines."""


@dataclass(frozen=True)
class _Fitted:
    """LIBSVM's model, which points into the memory of its problem."""

    model: Any
    problem: Any
    n_rows: int


class Libsvm:
    """``libsvm.svmutil.svm_train`` with ``-s 0`` or ``-s 3`` and ``-t 2``."""

    name = "libsvm"
    packages = ("libsvm-official",)
    is_ours = False

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: its wheel is built without OpenMP."""
        return 1

    def ladder(self, task: KernelTask) -> Sequence[float]:  # noqa: ARG002 - the protocol's form
        """Values of ``-e``: its default first."""
        return half_decades(1e-3, 1e-5)

    def fit(self, task: KernelTask, data: Dataset, tolerance: float, n_threads: int) -> _Fitted:  # noqa: ARG002
        """Convert to LIBSVM's rows and train, with the cache scikit-learn has."""
        from libsvm import svm, svmutil

        # As for LIBLINEAR: its path for dense rows is a Python loop over the entries.
        problem = svm.svm_problem(data.y.astype(np.float64), sparse.csr_matrix(data.X, dtype=float))
        machine = _C_SVC if task.kind == "classes" else _EPSILON_SVR
        numbers = f"-c {float(task.C)!r} -g {float(task.gamma)!r} -p {float(task.epsilon)!r}"
        parameter = svm.svm_parameter(
            f"-s {machine} -t 2 {numbers} -e {float(tolerance)!r} -m 200 -q"
        )
        return _Fitted(svmutil.svm_train(problem, parameter), problem, len(data.y))

    def predict(self, fitted: _Fitted, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows."""
        from libsvm import svmutil

        labels, _, _ = svmutil.svm_predict(
            [], sparse.csr_matrix(X, dtype=float), fitted.model, "-q"
        )
        return np.asarray(labels)

    def result(self, fitted: _Fitted) -> Mapping[str, NDArray[np.float64]]:
        """Coefficients and intercepts, problem by problem."""
        model = fitted.model
        support = np.array(model.get_sv_indices(), dtype=np.int64) - 1
        coef = np.array(model.get_sv_coef(), dtype=np.float64).T
        n_problems = model.nr_class * (model.nr_class - 1) // 2
        intercept = -np.ctypeslib.as_array(model.rho, (n_problems,))
        if model.param.svm_type == _EPSILON_SVR:
            row = np.zeros((1, fitted.n_rows))
            row[0, support] = coef[0]
            return {"dual_coef": row, "intercept": intercept[:1].copy()}
        n_support = [model.nSV[k] for k in range(model.nr_class)]
        labels = np.array(model.get_labels())
        return of_sorted_pairs(
            coef, support, n_support, intercept, labels=labels, n_rows=fitted.n_rows
        )

    def ran(self, fitted: _Fitted) -> str:
        """Return how many support vectors there are."""
        return f"{fitted.model.get_nr_sv()} support vectors"
