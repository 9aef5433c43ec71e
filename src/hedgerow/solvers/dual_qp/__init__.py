"""Solvers of the quadratic programs of kernel machines."""
