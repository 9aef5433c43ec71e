"""Batteries that every loss, kernel, problem, solver and estimator passes, for ours and for yours.

A battery raises AssertionError with a sentence that says which law does not hold, and where.
"""

from hedgerow.testing.kernels import check_kernel
from hedgerow.testing.losses import check_loss
from hedgerow.testing.problems import check_problem
from hedgerow.testing.solvers import check_solver
from hedgerow.testing.stopping import check_interrupt, check_max_time

__all__ = [
    "check_interrupt",
    "check_kernel",
    "check_loss",
    "check_max_time",
    "check_problem",
    "check_solver",
]
