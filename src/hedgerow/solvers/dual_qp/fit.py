"""A kernel machine from its problem to its certificate, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotSeparableError
from hedgerow.problems.c_svc import CSvcProblem
from hedgerow.problems.certificates import (
    Certificate,
    certify,
    certify_overlap,
    largest_gap,
    not_separable,
)
from hedgerow.problems.kernel import KernelSolution, ProblemByPoints
from hedgerow.problems.kernel_crammer_singer import KernelCrammerSingerProblem
from hedgerow.solvers.all_classes.decomposition import decompose_classes
from hedgerow.solvers.dual_qp.decomposition import SharedRows, decompose
from hedgerow.solvers.dual_qp.hard_margin import solve_hard_margin
from hedgerow.solvers.dual_qp.margin import solve_by_margin
from hedgerow.solvers.dual_qp.run import KernelSettings
from hedgerow.solvers.solver import Solver

__all__ = ["KERNEL_SOLVERS", "fit_kernel"]

Beta = NDArray[np.float64]


def _separate(
    problem: CSvcProblem, settings: KernelSettings, _: Beta | None, shared: SharedRows | None
) -> KernelSolution:
    """Solve a problem with a hard margin; where there is none, prove that."""
    try:
        return solve_hard_margin(
            problem,
            settings,
            lambda overlap: certify_overlap(problem, overlap).is_certified,
            shared,
        )
    except NotSeparableError as error:
        raise not_separable(problem, error.proof) from None


def _solve_classes(
    problem: KernelCrammerSingerProblem,
    settings: KernelSettings,
    start: Beta | None,
    _: SharedRows | None,
) -> KernelSolution:
    """Solve a problem of all classes at once, which shares no rows with others."""
    return decompose_classes(problem, settings, start)


@dataclass(frozen=True, kw_only=True)
class KernelSolver(Solver):
    """A solver of kernel machines: from a problem, settings, a start and shared rows to a solution."""

    run: Callable[..., KernelSolution]


KERNEL_SOLVERS = (
    KernelSolver(name="hard_margin", run=_separate, needs=("is_hard_margin", "program")),
    KernelSolver(name="margin", run=solve_by_margin, needs=("is_divided_by_margin", "program")),
    KernelSolver(name="decomposition", run=decompose, needs=("program",)),
    KernelSolver(name="class_decomposition", run=_solve_classes, needs=("classes", "gram")),
)
"""Of several that a problem has all for that they need, the first is taken."""


def fit_kernel(
    problem: ProblemByPoints[Any],
    settings: KernelSettings,
    start: Beta | None = None,
    shared: SharedRows | None = None,
) -> tuple[KernelSolution, Certificate]:
    """Solve a problem and certify what comes out.

    Parameters
    ----------
    problem : KernelProblem or KernelCrammerSingerProblem
        What to solve.
    settings : KernelSettings
        When to stop.
    start : ndarray or None
        A beta to begin at.
    shared : SharedRows or None
        What problems over the same points share.

    Returns
    -------
    KernelSolution
        beta, and the figures of the model beside it.
    Certificate
        Primal, dual and the largest violation, from the data in float64.

    Raises
    ------
    NotSeparableError
        A hard margin is asked for and there is none; the error carries the certified proof.
    """
    settings = replace(settings, gap_tol=largest_gap(settings.tol))
    solver = next(solver for solver in KERNEL_SOLVERS if solver.can_take(problem))
    solution = solver.run(problem, settings, start, shared)
    certificate = certify(problem, solution, settings.tol)
    if solution.status == "no_margin":
        return solution, certificate
    point = problem.point(solution.beta)
    return replace(solution, beta=point.beta, figures=problem.figures(point)), certificate
