"""The certificate of a kernel machine: its figures computed from the data, whatever the solver did.

:func:`certify_kernel` sees only a problem and a solution. It makes a beta that meets every constraint
out of the returned one, computes the products of its w with all points in float64, and from these the
primal, the dual and the largest violation of the optimality conditions.
"""

from __future__ import annotations

import numpy as np

from hedgerow.certificates import Certificate, Criterion
from hedgerow.kernel_problems import KernelProblem, KernelSolution

__all__ = ["certify_kernel"]


def certify_kernel(
    problem: KernelProblem,
    solution: KernelSolution,
    tolerance: float,
    criterion: Criterion = "kkt_violation",
) -> Certificate:
    """Return the certificate of a solution.

    Parameters
    ----------
    problem : KernelProblem
        What was to be minimised.
    solution : KernelSolution
        What a solver returned; its beta is used, nothing else is believed.
    tolerance : float
        The largest figure that counts as solved.
    criterion : {"kkt_violation", "relative_gap"}
        Which figure that is: LIBSVM's largest violation, or the gap.

    Notes
    -----
    With a kernel that is not positive semi-definite a dual value bounds nothing: the certificate's is
    minus infinity, and it is none.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is not certified
        point = problem.point(solution.beta)
        return Certificate(
            primal=problem.primal(point),
            dual=problem.dual(point) if problem.is_convex else -np.inf,
            kkt_violation=point.violation,
            criterion=criterion,
            tolerance=tolerance,
            status=solution.status,
        )
