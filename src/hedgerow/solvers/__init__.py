"""Solvers: one file per algorithm, each from a problem and settings to a solution."""

from hedgerow.problems.base import Solution
from hedgerow.solvers.base import Settings
from hedgerow.solvers.choose import SOLVERS, solve

__all__ = ["SOLVERS", "Settings", "Solution", "solve"]
