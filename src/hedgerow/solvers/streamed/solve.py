"""From rows in blocks to certified solutions: the choice of the solver, and its run."""

from __future__ import annotations

from functools import partial
from typing import Protocol

import numpy as np

from hedgerow.data.blocks import RowVector
from hedgerow.solvers.base import Settings
from hedgerow.solvers.choose import SOLVERS
from hedgerow.solvers.streamed.block_descent import BlockDescent, reach
from hedgerow.solvers.streamed.block_newton import BlockNewton
from hedgerow.solvers.streamed.fit import BlockSolver, StreamedFit
from hedgerow.solvers.streamed.task import StreamedTask

__all__ = ["DESCENT", "FINE", "NEWTONS", "most_sampled_features", "solve_blocks"]

DESCENT = "dual_coordinate_descent"
NEWTONS = ("newton", "augmented_lagrangian")
"""The names of block Newton, for smooth losses and for those with kinks."""
FEW_FEATURES = 500
"""Up to this many features Newton's method takes fewer passes, and its sums no longer than reading."""
ANY_FEATURES = 2**31
"""More features than any rows have."""
FINE = 0.1
"""A violation, as a share of tol and in the unit of the scores, below which a block is not swept again."""


class Vectors(Protocol):
    """Makes vectors of one value per row, all 0; none if they must be in memory and are too long."""

    def __call__(self, n: int, *, only_in_memory: bool = False) -> list[RowVector]: ...


def most_sampled_features(solver: str) -> int:
    """Return the number of features up to which a solver starts from a sample of the rows."""
    return {"auto": FEW_FEATURES, DESCENT: 0}.get(solver, ANY_FEATURES)


def solve_blocks(
    task: StreamedTask,
    settings: Settings,
    solver: str = "auto",
    *,
    vectors: Vectors | None = None,
    n_threads: int = 1,
    key: str | None = None,
    seconds_of_pass: float = 0.0,
) -> StreamedFit:
    """Solve and certify the problems of a task by passes over its blocks.

    Parameters
    ----------
    task : StreamedTask
        The problems, whose rows may come from anywhere.
    settings : Settings
        When to stop; an iteration is a pass.
    solver : str
        "dual_coordinate_descent"; "newton" or "augmented_lagrangian", which are one solver, for
        smooth losses and for others; or "auto", the one that is likely to need the fewest passes.
    vectors : callable or None
        Makes the vectors that keep alpha; None keeps them in memory.
    n_threads : int
        Threads for several problems.
    key : str or None
        The key of the state in the monitor's store.
    seconds_of_pass : float
        How long a pass takes, if that is known.

    Returns
    -------
    StreamedFit
        With ``w``, ``intercepts`` and ``certificates``, one of each per problem.
    """
    make = partial(_arrays, task.rows.n_rows) if vectors is None else vectors
    chosen, alpha = _chosen(task, settings, solver, make)
    fit = StreamedFit(task, chosen, alpha, settings, n_threads, key=key)
    fit.run(seconds_of_pass)
    return fit


def _chosen(
    task: StreamedTask, settings: Settings, solver: str, vectors: Vectors
) -> tuple[BlockSolver, list[RowVector]]:
    """Return the solver and the alphas that it keeps."""
    rows, tol, seed = task.rows, settings.tol, settings.seed
    if solver == DESCENT or (solver == "auto" and rows.n_features > FEW_FEATURES):
        alpha = vectors(task.n_problems)
        first_reach = reach(task.loss, task.survey.mean_sq_norm, task.weight, rows.n_rows)
        options = SOLVERS[DESCENT].settle(settings.options)
        fine = FINE * tol * task.unit
        descent = BlockDescent(alpha, rows.n_features, first_reach, task.unit, fine, seed, options)
        return descent, alpha
    kept = vectors(task.n_problems, only_in_memory=True)
    name = NEWTONS[not task.loss.is_smooth]
    return BlockNewton(tol, task.unit, task.sampled(), seed, name), kept


def _arrays(n_rows: int, n: int, *, only_in_memory: bool = False) -> list[RowVector]:  # noqa: ARG001
    return list(np.zeros((n, n_rows)))
