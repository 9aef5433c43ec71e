"""Several problems over the same rows: one pass serves them all as long as that is worth it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from hedgerow import _core
from hedgerow.problems.base import Solution
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.base import LinearRun, Settings
from hedgerow.solvers.choose import begin, first_try, solve
from hedgerow.solvers.linear.joint_descent import descend_together, is_alike

__all__ = ["in_groups", "is_swept", "solve_together"]

SWEEPS = "dual_coordinate_descent"
"""The solver whose passes can be shared."""
MOST_AT_ONCE = 8
"""Problems whose weights of one feature fill a line of the cache."""


Item = TypeVar("Item")


def in_groups(problems: Sequence[Item], *, multiple_of: int = 1) -> list[list[Item]]:
    """Return the problems, in order, as groups that are small enough, all about as large.

    Their number is a multiple of a given one, as far as there are problems, so that as many threads
    have the same to do: of two, say, whatever there are, for results must not depend on that.
    """
    n_groups = multiple_of * math.ceil(len(problems) / (multiple_of * MOST_AT_ONCE))
    ends = [len(problems) * k // n_groups for k in range(n_groups + 1)]
    return [list(problems[begin:end]) for begin, end in itertools.pairwise(ends) if begin < end]


def is_swept(problems: Sequence[LinearProblem], settings: Settings, solver: str) -> bool:
    """Say whether shared passes are what the problems would begin with."""
    return _shares(problems, settings, solver) is not None


def solve_together(
    problems: Sequence[LinearProblem],
    settings: Settings,
    solver: str = "auto",
    starts: Sequence[Solution | None] | None = None,
) -> list[Solution]:
    """Solve the problems of a group, each as ``solve`` does, with shared passes at first if they can be."""
    starts = [None] * len(problems) if starts is None else starts
    shares = _shares(problems, settings, solver)
    if shares is None:
        pairs = zip(problems, starts, strict=True)
        return [solve(problem, settings, solver, start) for problem, start in pairs]
    tasks = list(zip(problems, shares, starts, strict=True))
    begun = [begin(SWEEPS, problem, share, start) for problem, share, start in tasks]
    _descend(begun)
    return [
        solve(problem, settings, solver, start, run)
        for (problem, _, start), run in zip(tasks, begun, strict=True)
    ]


def _descend(runs: Sequence[LinearRun]) -> None:
    """Go as far as shared passes are worth it, or until all must stop."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        try:
            with runs[0].monitor.guard():
                descend_together(runs)
        except _core.system.Stopped:
            for run in runs:
                if run.when_stopped is not None:
                    run.when_stopped()


def _shares(
    problems: Sequence[LinearProblem], settings: Settings, solver: str
) -> list[Settings] | None:
    """Return how far the sweeps of each problem may go; None if they cannot be shared."""
    if len(problems) < 2 or not all(is_alike(problems[0], other) for other in problems):
        return None
    if solver == "auto":
        tries = [first_try(problem, settings) for problem in problems]
        return [share for _, share in tries] if all(first == SWEEPS for first, _ in tries) else None
    is_plain = settings.options.get("order", "shuffled") == "shuffled"
    return [settings] * len(problems) if solver == SWEEPS and is_plain else None
