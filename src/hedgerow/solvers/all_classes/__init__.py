"""Solvers of Crammer-Singer problems, linear and with kernels."""
