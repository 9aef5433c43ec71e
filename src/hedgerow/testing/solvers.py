"""Problems that a solver of linear machines must bring to a certificate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from hedgerow._rows import matrix_of
from hedgerow.certificates import certify
from hedgerow.losses import loss_by_name
from hedgerow.problems import Intercept, LinearProblem
from hedgerow.solvers import Settings, solve

__all__ = ["check_solver"]

_INTERCEPTS: tuple[Intercept, ...] = ("free", "penalized", "none")


def check_solver(solver: str, loss: str, *, tol: float = 1e-4, max_iter: int = 5000) -> None:
    """Check that a solver certifies every problem of a small collection.

    Parameters
    ----------
    solver : str
        Its name, as ``hedgerow.solve`` takes it.
    loss : str
        The name of a loss it supports.
    tol : float, default=1e-4
        The relative gap to reach.
    max_iter : int, default=5000
        The iterations it may take.

    Raises
    ------
    AssertionError
        If a problem ends without a certificate, or another seed of the same problem with another
        optimum; the message names the problem.
    """
    for name, problem in _problems(loss):
        settings = Settings(tol=tol, max_iter=max_iter, seed=0)
        first = certify(problem, solve(problem, settings, solver), tol)
        assert first.is_certified, f"{solver} on {name}: {first}"
        other = Settings(tol=tol, max_iter=max_iter, seed=1)
        second = certify(problem, solve(problem, other, solver), tol)
        apart = abs(first.primal - second.primal)
        assert apart <= 2 * tol * first.primal, f"{solver} on {name}: the seed changes the optimum"


def _problems(loss: str) -> Iterator[tuple[str, LinearProblem]]:
    """Yield named problems: tall, wide, sparse, weighted, contradictory, each intercept."""
    rng = np.random.default_rng(0)
    tall = rng.normal(size=(80, 4))
    wide = rng.normal(size=(20, 60))
    twins = np.repeat(rng.normal(size=(15, 3)), 2, axis=0)
    sparse = sp.csr_array(rng.normal(size=(60, 30)) * (rng.random((60, 30)) < 0.1))
    tables = {"tall": tall, "wide": wide, "contradictory twins": twins, "sparse": sparse}
    for name, X in tables.items():
        n = X.shape[0]
        signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
        weight = 0.5 * rng.integers(0, 4, size=n)
        weight[:2] = 0.5
        for intercept in _INTERCEPTS:
            yield (
                f"the {name} table, intercept {intercept}",
                LinearProblem(matrix_of(X), signs, weight, loss_by_name(loss), intercept),
            )
