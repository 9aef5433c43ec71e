"""Optimization problems: objective, dual, feasible points and certificates, one file per problem."""

from hedgerow.problems.base import Solution
from hedgerow.problems.hard_margin import HardMarginProblem, Overlap
from hedgerow.problems.linear import LinearProblem

__all__ = ["HardMarginProblem", "LinearProblem", "Overlap", "Solution"]
