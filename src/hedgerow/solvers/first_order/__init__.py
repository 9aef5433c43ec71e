"""First-order and stochastic solvers of linear problems."""
