"""Second-order and dual solvers of linear problems."""
