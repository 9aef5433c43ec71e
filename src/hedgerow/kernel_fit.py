"""A kernel machine from its problem to its certificate, in one call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.certificates import Certificate
from hedgerow.kernel_certificates import certify_kernel
from hedgerow.kernel_classes import KernelClasses
from hedgerow.kernel_problems import KernelProblem, KernelSolution
from hedgerow.solvers.class_decomposition import decompose_classes
from hedgerow.solvers.decomposition import decompose
from hedgerow.solvers.kernel_run import KernelSettings

__all__ = ["fit_kernel"]


def fit_kernel(
    problem: KernelProblem | KernelClasses,
    settings: KernelSettings,
    start: NDArray[np.float64] | None = None,
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

    Returns
    -------
    KernelSolution
        beta, and the figures of the model beside it.
    Certificate
        Primal, dual and the largest violation, from the data in float64.
    """
    if isinstance(problem, KernelClasses):
        solution = decompose_classes(problem, settings, start)
        return solution, certify_kernel(problem, solution, settings.tol)
    solution = decompose(problem, settings, start)
    return solution, certify_kernel(problem, solution, settings.tol)
