"""Batteries that every loss and every solver passes, for ours and for yours.

A battery raises AssertionError with a sentence that says which law does not hold, and where.
"""

from hedgerow.testing.losses import check_loss
from hedgerow.testing.solvers import check_solver

__all__ = ["check_loss", "check_solver"]
