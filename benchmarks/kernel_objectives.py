"""The judge of kernel machines: dual objectives and scores of everybody by the same code.

Written from the formulas in NumPy, float64, in blocks of rows, and apart from the package. A machine
of classes is one problem for each pair of them, in the order (0, 1), (0, 2), ..., (1, 2), ...; its
coefficients and intercept are positive for the larger label. A machine of numbers is one problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.contest import Judge, Verdict
from benchmarks.datasets import Dataset

__all__ = ["KernelTask", "dual", "goodness", "judge_against", "of_sorted_pairs"]

Array = NDArray[np.float64]
Result = Mapping[str, Array]

_VALUES = 2**23
"""Kernel values held at a time: 64 MB."""


@dataclass(frozen=True)
class KernelTask:
    """A machine with the Gaussian kernel exp(-gamma |x - z|^2) and a free intercept.

    Of classes it minimises 1/2 |w|^2 + C sum_i max(0, 1 - y_i score_i) for each pair of them, of numbers
    1/2 |w|^2 + C sum_i max(0, |y_i - score_i| - epsilon).
    """

    C: float
    gamma: float
    kind: Literal["classes", "numbers"] = "classes"
    epsilon: float = 0.1


def of_sorted_pairs(
    dual_coef: Array,
    support: NDArray[Any],
    n_support: Sequence[int],
    intercept: Array,
    *,
    labels: NDArray[Any],
    n_rows: int,
) -> dict[str, Array]:
    """Return LIBSVM's coefficients of pairs in the judge's form.

    In LIBSVM's, support vectors come class by class in the order of ``labels``. Of the problem of
    classes i < j, those of class i are in row j - 1 and those of class j in row i, and what is
    positive speaks for class i.
    """
    ends = np.cumsum(n_support)
    of_class = [slice(end - n, end) for end, n in zip(ends, n_support, strict=True)]
    problems = {}
    for p, (i, j) in enumerate(combinations(range(len(labels)), 2)):
        row = np.zeros(n_rows)
        row[support[of_class[i]]] = dual_coef[j - 1, of_class[i]]
        row[support[of_class[j]]] = dual_coef[i, of_class[j]]
        sign = 1.0 if labels[i] > labels[j] else -1.0
        pair = min(labels[i], labels[j]), max(labels[i], labels[j])
        problems[pair] = sign * row, sign * intercept[p]
    ordered = [problems[pair] for pair in sorted(problems)]
    coef, offsets = zip(*ordered, strict=True)
    return {"dual_coef": np.array(coef), "intercept": np.array(offsets)}


def dual(task: KernelTask, X: Any, y: NDArray[Any], coef: Array) -> float:
    """Return the dual objective, summed over the problems, from any coefficients.

    They are brought to where weak duality holds: into the box, to the sign of the label, and to
    equal sums over both signs, so that no mistake can make the value larger than the optimum.
    """
    if task.kind == "numbers":
        feasible = _balanced(np.clip(coef, -task.C, task.C))
        linear = float(np.sum(feasible @ y) - task.epsilon * np.sum(np.abs(feasible)))
    else:
        signs = _signs(y)
        feasible = _balanced(signs * np.clip(signs * coef, 0.0, task.C))
        linear = float(np.sum(np.abs(feasible)))
    return linear - 0.5 * sum(_square_length(task, X, problem) for problem in feasible)


def goodness(task: KernelTask, data: Dataset, result: Result) -> float:
    """Return the share of test rows whose label is predicted, or R^2 of numbers."""
    coef, y = result["dual_coef"], data.y_test
    support = np.flatnonzero(coef.any(axis=0))
    centres, weights = data.X[support], coef[:, support]
    scores = np.vstack([K @ weights.T for _, K in _kernel_blocks(task.gamma, data.X_test, centres)])
    scores += result["intercept"]
    if task.kind == "numbers":
        return float(1.0 - np.sum((y - scores[:, 0]) ** 2) / np.sum((y - y.mean()) ** 2))
    return float(np.mean(_voted(scores, np.unique(data.y)) == y))


def judge_against(task: KernelTask, data: Dataset, reference: float | None) -> Judge:
    """Return the judge whose figure is how far the dual objective is below that of a reference.

    Without a reference the figure is 0: then everything is good enough, and details are kept.
    """

    def judge(result: Result) -> Verdict:
        value = dual(task, data.X, data.y, result["dual_coef"])
        short = 0.0 if reference is None else (reference - value) / abs(reference)
        details = {
            "dual_objective": value,
            "test_accuracy" if task.kind == "classes" else "test_r2": goodness(task, data, result),
            "n_support": float(np.count_nonzero(result["dual_coef"].any(axis=0))),
        }
        return Verdict(short, details)

    return judge


def _signs(y: NDArray[Any]) -> Array:
    """Return for each pair of classes +1 for rows of the larger, -1 for the smaller, else 0."""
    pairs = combinations(np.unique(y), 2)
    return np.array([(y == large) * 1.0 - (y == small) for small, large in pairs])


def _balanced(coef: Array) -> Array:
    """Return coefficients whose larger sum over a sign is scaled down to the other; none grows."""
    above, below = np.maximum(coef, 0.0), np.minimum(coef, 0.0)
    sums = above.sum(axis=1), -below.sum(axis=1)
    smaller = np.minimum(*sums)
    scales = [(smaller / np.where(total > 0, total, 1.0))[:, None] for total in sums]
    return scales[0] * above + scales[1] * below


def _square_length(task: KernelTask, X: Any, coef: Array) -> float:
    """Return |w|^2 of one problem."""
    support = np.flatnonzero(coef)
    rows, weights = X[support], coef[support]
    blocks = _kernel_blocks(task.gamma, rows, rows)
    return float(sum(weights[block] @ (K @ weights) for block, K in blocks))


def _kernel_blocks(gamma: float, A: Any, B: Any) -> Iterator[tuple[slice, Array]]:
    """Yield blocks of rows of the kernel's table of A with B."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    squares_of_A, squares_of_B = _squares(A), _squares(B)
    size = max(1, _VALUES // max(1, B.shape[0]))
    for first in range(0, A.shape[0], size):
        block = slice(first, first + size)
        products = A[block] @ B.T
        products = products.toarray() if sparse.issparse(products) else products
        distances = squares_of_A[block, None] + squares_of_B - 2.0 * products
        yield block, np.exp(-gamma * np.maximum(distances, 0.0))


def _squares(X: Any) -> Array:
    """Return |x|^2 of every row."""
    squared = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squared.sum(axis=1)).ravel()


def _voted(scores: Array, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the label with the most votes of the pairs; of equal ones the first, as LIBSVM does."""
    votes = np.zeros((len(scores), len(labels)))
    for p, (i, j) in enumerate(combinations(range(len(labels)), 2)):
        votes[:, j] += scores[:, p] > 0
        votes[:, i] += scores[:, p] <= 0
    return labels[votes.argmax(axis=1)]
