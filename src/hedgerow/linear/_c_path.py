"""What the machines that choose C share: the grid, folds along it, and the choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.parameters import HUGE, LEAST, is_whole, whole_number
from hedgerow._engine import side_by_side
from hedgerow.data.rows import array_of, by_use, matrix_of, rows_of
from hedgerow.data.scaling import Scaling
from hedgerow.monitor import current
from hedgerow.problems.base import relative_gap
from hedgerow.problems.linear import LinearProblem
from hedgerow.search.folds import Fold
from hedgerow.solvers import Settings
from hedgerow.solvers.path import solve_paths
from hedgerow.solvers.together import in_groups, is_swept

__all__ = ["c_values", "fold_scores", "grid"]

Vector = NDArray[np.float64]
Item: TypeAlias = tuple[LinearProblem, NDArray[np.int64]]
"""A problem in one fold, and the rows to judge by."""

MOST_VALUES = 1000
"""Values of C that are tried, at most."""
DECADES = 3
"""How far a grid goes to either side of where a row's loss and its pull on w weigh the same."""


def grid(value: Any) -> str | None:
    """Allow what ``Cs`` may be."""
    if is_whole(value):
        expected = whole_number(1, MOST_VALUES)(value)
        return None if expected is None else f"a number of values, {expected}, or the values"
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return "a number of values or a sequence of positive numbers"
    fine = values.ndim == 1 and len(values) > 0 and np.all((values >= LEAST) & (values <= HUGE))
    return None if fine else "a number of values or a sequence of positive numbers"


def c_values(Cs: int | Sequence[float], problem: LinearProblem) -> Vector:
    """Return the values of C, ascending; a number of them is spread evenly over six decades.

    Their middle is 1 over the mean of s_i |x_i|^2, so that a grid does not change when the data
    are scaled and C is with them.
    """
    if not isinstance(Cs, Integral):
        return np.unique(np.asarray(Cs, dtype=np.float64))
    used = np.flatnonzero(problem.weight)
    norms = _core.data.row_sq_norms(problem.matrix, problem.n_threads)[used]
    size = float(np.mean(norms * problem.weight[used])) or 1.0
    values = np.geomspace(10.0**-DECADES, 10.0**DECADES, int(Cs)) / size
    return np.unique(np.clip(values, LEAST, HUGE))


def fold_scores(
    problems: list[LinearProblem],
    folds: list[Fold],
    weights: list[Vector],
    Cs: Vector,
    *,
    settings: Settings,
    solver: str,
    scale: str | None,
    n_workers: int,
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the scores of each fold's test rows, and the gaps that were left.

    The weights are those of each fold for C = 1, and 0 for its test rows: the data are not copied. Of a fold, the array has the shape (values of C, rows, planes). Gaps are the largest over the
    planes, of shape (values of C, folds).
    """
    # Within a fold a problem has all threads only if there is nothing to run beside it.
    threads = 1 if len(folds) * len(problems) > 1 else n_workers
    problems = [replace(problem, n_threads=threads) for problem in problems]
    task = partial(_along, Cs=Cs, settings=settings, solver=solver, scale=scale)
    middle = replace(problems[0], weight=Cs[len(Cs) // 2] * problems[0].weight)
    if scale is None and is_swept([middle, middle], settings, solver):
        matrix, _ = by_use(middle.matrix)
        problems = [replace(problem, matrix=matrix) for problem in problems]
        multiple = 1 if len(problems) > 1 else 2
        in_folds = (_in_folds(problem, folds, weights) for problem in problems)
        families = [group for items in in_folds for group in in_groups(items, multiple_of=multiple)]
    else:  # a scale makes other rows of them in each fold
        families = [[item] for problem in problems for item in _in_folds(problem, folds, weights)]
    key = None if current().store is None else fingerprint("path", problems, folds, weights, task)
    found = side_by_side(task, families, n_workers, key=key, shared=(problems[0].matrix,))
    results = [result for of_family in found for result in of_family]
    groups = [results[k :: len(folds)] for k in range(len(folds))]
    scores = [np.stack([scores for scores, _ in group], axis=2) for group in groups]
    gaps = np.stack([np.max([gaps for _, gaps in group], axis=0) for group in groups], axis=1)
    return scores, gaps


def _in_folds(problem: LinearProblem, folds: list[Fold], weights: list[Vector]) -> list[Item]:
    """Return the problem as it is in each fold.

    These have most of their support vectors in common, and are best solved together.
    """
    pairs = zip(folds, weights, strict=True)
    return [(replace(problem, weight=weight), fold.test) for fold, weight in pairs]


def _along(
    items: list[Item],
    Cs: Vector,
    settings: Settings,
    solver: str,
    scale: str | None,
) -> list[tuple[Vector, Vector]]:
    """Return, for each of some problems over the same rows, the scores of its judged rows for each C, and the gaps."""
    problems, scaling = [problem for problem, _ in items], None
    tests = [rows_of(problem.matrix, judged) for problem, judged in items]
    if scale is not None:
        (problem,) = problems
        rows = array_of(problem.matrix)
        scaling = Scaling.of(rows, problem.weight, scale)
        problems = [replace(problem, matrix=matrix_of(scaling.apply(rows)))]
    results = [(np.empty((len(Cs), len(judged))), np.empty(len(Cs))) for _, judged in items]
    for k, solved in enumerate(solve_paths(problems, Cs.tolist(), settings, solver)):
        for (scores, gaps), test, (at_C, solution) in zip(results, tests, solved, strict=True):
            w, intercept = solution.w[None, :], np.array([solution.intercept])
            if scaling is not None:
                w, intercept = scaling.folded(w, intercept)
            scores[k] = _core.data.scores(test, w, intercept, at_C.n_threads)[:, 0]
            gaps[k] = _gap(at_C, solution.history)
    return results


def _gap(problem: LinearProblem, history: Sequence[tuple[int, float, float]]) -> float:
    """Return the relative gap that a solver ended with; 0 if it needed none."""
    if not history:
        return 0.0
    _, primal, dual = history[-1]
    return max(relative_gap(primal, dual, problem.least_scale), 0.0)
