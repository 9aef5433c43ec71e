"""A kernel machine from its problem to its certificate, in one call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.certificates import Certificate, largest_gap
from hedgerow.errors import NotSeparableError
from hedgerow.kernel_certificates import certify_kernel, certify_kernel_overlap
from hedgerow.kernel_classes import KernelClasses
from hedgerow.kernel_machines import Classes, NuClasses
from hedgerow.kernel_problems import KernelProblem, KernelSolution
from hedgerow.solvers.class_decomposition import decompose_classes
from hedgerow.solvers.decomposition import SharedRows, decompose
from hedgerow.solvers.kernel_hard_margin import solve_hard_margin
from hedgerow.solvers.kernel_run import KernelSettings

__all__ = ["fit_kernel"]

TIGHTENINGS = 6
LEAST_TOLERANCE = 1e-13
"""A violation, relative to the largest K(x, x), below which there is nothing but rounding."""


def fit_kernel(
    problem: KernelProblem | KernelClasses,
    settings: KernelSettings,
    start: NDArray[np.float64] | None = None,
    shared: SharedRows | None = None,
) -> tuple[KernelSolution, Certificate]:
    """Solve a problem and certify what comes out.

    Parameters
    ----------
    problem : KernelProblem or KernelClasses
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
    if isinstance(problem, KernelClasses):
        solution = decompose_classes(problem, settings, start)
        return solution, certify_kernel(problem, solution, settings.tol)
    solution = _solve(problem, settings, start, shared)
    return solution, certify_kernel(problem, solution, settings.tol, subject=problem.subject)


def _solve(
    problem: KernelProblem,
    settings: KernelSettings,
    start: NDArray[np.float64] | None,
    shared: SharedRows | None,
) -> KernelSolution:
    """Solve a problem; where it asks for a hard margin that does not exist, prove that."""
    if isinstance(problem, NuClasses):
        return _solve_by_margin(problem, settings, start, shared or SharedRows())
    if not (isinstance(problem, Classes) and problem.is_hard):
        return decompose(problem, settings, start, shared)
    try:
        return solve_hard_margin(
            problem,
            settings,
            lambda overlap: certify_kernel_overlap(problem, overlap).is_certified,
            shared,
        )
    except NotSeparableError as error:
        proof = certify_kernel_overlap(problem, error.proof)
    msg = f"C=inf asks for a plane between {problem.sides}, but {proof}; use a finite C"
    raise NotSeparableError(msg, proof)


def _solve_by_margin(
    problem: NuClasses,
    settings: KernelSettings,
    start: NDArray[np.float64] | None,
    shared: SharedRows,
) -> KernelSolution:
    """Solve a problem to a tolerance in units of its margin rho, by which the machine is divided.

    Where rho is so small that this cannot be had, the last solution is kept.
    """
    solution, n_iter = decompose(problem, settings, start, shared), 0
    for _ in range(TIGHTENINGS):
        rho, n_iter = float(solution.figures["rho"]), n_iter + solution.n_iter
        wanted = settings.tol * min(1.0, rho)
        if solution.status != "optimal" or problem.point(solution.beta).violation <= wanted:
            break
        if wanted <= LEAST_TOLERANCE * float(np.max(problem.gram.diagonal)):
            break
        tighter = replace(settings, tol=0.5 * wanted)
        better = decompose(problem, tighter, solution.beta, shared)
        if better.status not in ("optimal", "interrupted", "time_limit", "stopped"):
            break
        solution = better
    return replace(solution, n_iter=n_iter)
