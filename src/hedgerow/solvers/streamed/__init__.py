"""Solvers of problems whose rows come in blocks."""
