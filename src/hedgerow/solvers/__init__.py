"""Solvers: one file per algorithm, each from a problem and settings to a solution."""

from hedgerow.problems.base import Solution
from hedgerow.solvers.choose import SOLVERS, solve
from hedgerow.solvers.settings import Settings

__all__ = ["SOLVERS", "Settings", "Solution", "solve"]
