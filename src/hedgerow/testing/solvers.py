"""Problems that a solver of linear machines must solve to a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.data.rows import matrix_of
from hedgerow.losses import BUILT_IN, REGRESSION_LOSSES, Loss
from hedgerow.penalties import PENALTIES
from hedgerow.problems.base import Intercept
from hedgerow.problems.certificates import certify
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import SOLVERS, Settings, solve

__all__ = ["check_solver"]

Vector = NDArray[np.float64]

_N_CLASSES = 3
_INTERCEPTS: tuple[Intercept, ...] = ("free", "penalized", "none")


def check_solver(solver: str, loss: str | Loss, *, tol: float = 1e-4, max_iter: int = 5000) -> None:
    """Check that a solver certifies every problem of a small collection.

    Parameters
    ----------
    solver : str
        Its name, as ``hedgerow.solve`` takes it.
    loss : str or Loss
        A loss that it can minimise, by name or as an object.
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
        if not _can_take(solver, problem):
            continue
        settings = Settings(tol=tol, max_iter=max_iter, seed=0)
        first = certify(problem, solve(problem, settings, solver), tol)
        assert first.is_certified, f"{solver} on {name}: {first}"
        other = Settings(tol=tol, max_iter=max_iter, seed=1)
        second = certify(problem, solve(problem, other, solver), tol)
        apart = abs(first.primal - second.primal)
        assert apart <= 2 * tol * first.primal, f"{solver} on {name}: the seed changes the optimum"


def _can_take(solver: str, problem: LinearProblem) -> bool:
    """Say whether the solver, or for "auto" any exact one, is made for the problem."""
    able = [s.name for s in SOLVERS.values() if s.is_exact and not s.what_it_lacks(problem)]
    return bool(able) if solver == "auto" else solver in able


def _problems(loss: str | Loss) -> Iterator[tuple[str, LinearProblem]]:
    """Yield named problems: tall, wide, sparse, weighted, contradictory, each intercept and penalty."""
    rng = np.random.default_rng(0)
    tall = rng.normal(size=(80, 4))
    wide = rng.normal(size=(20, 60))
    twins = np.repeat(rng.normal(size=(15, 3)), 2, axis=0)
    sparse = sp.csr_array(rng.normal(size=(60, 30)) * (rng.random((60, 30)) < 0.1))
    tables = {"tall": tall, "wide": wide, "contradictory twins": twins, "sparse": sparse}
    for name, X in tables.items():
        n = X.shape[0]
        weight = 0.5 * rng.integers(0, 4, size=n)
        weight[:2] = 0.5
        numbers = np.where(np.arange(n) % 2 == 0, 1.0, -1.0) + rng.normal(size=n)
        for intercept, penalty in product(_INTERCEPTS, PENALTIES.values()):
            yield (
                f"the {name} table, intercept {intercept}, penalty {penalty.name}",
                _problem(loss, X, numbers, weight, intercept=intercept, penalty=penalty),
            )


def _problem(
    loss: str | Loss, X: Any, numbers: Vector, weight: Vector, **rest: Any
) -> LinearProblem:
    """Return a problem of classes, or of regression, by what the loss is for."""
    known = {each.name: each for each in BUILT_IN} | {
        name: make(0.3) for name, make in REGRESSION_LOSSES.items()
    }
    given = known[loss] if isinstance(loss, str) else loss
    if given.is_two_sided:
        ones, rest["targets"] = np.ones(len(numbers)), numbers
        return LinearProblem(matrix_of(X), ones, weight, given, **rest)
    if given.compares_classes:
        labels = (np.arange(len(numbers)) % _N_CLASSES).astype(np.float64)
        return CrammerSingerProblem(matrix_of(X), labels, weight, n_classes=_N_CLASSES, **rest)
    signs = np.where(np.arange(len(numbers)) % 2 == 0, 1.0, -1.0)
    if given.is_constraint:
        return HardMarginProblem(matrix_of(_parted(X, signs)), signs, weight, **rest)
    return LinearProblem(matrix_of(X), signs, weight, given, **rest)


def _parted(X: Any, signs: Vector) -> Any:
    """Return a table whose first feature alone tells the classes apart."""
    shift = np.zeros(X.shape)
    shift[:, 0] = 5.0 * signs
    return sp.csr_array(X + shift) if sp.issparse(X) else X + shift
