"""What every problem shares: how a fit can end, solutions, sums in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import record

__all__ = [
    "BLOCK",
    "Intercept",
    "Solution",
    "Status",
    "Vector",
    "blocks",
    "extended",
    "inner",
    "relative_gap",
    "worst_status",
]

Vector = NDArray[np.float64]
Intercept = Literal["free", "penalized", "none"]
Status = Literal[
    "optimal",
    "approximate",
    "max_iter",
    "stalled",
    "no_margin",
    "stopped",
    "time_limit",
    "interrupted",
]
"""How a fit can end, the worst last."""

BLOCK = 1 << 14
"""Rows of which something is computed at a time."""


def worst_status(statuses: Iterable[Status]) -> Status:
    """Return how several fits ended together."""
    return max(statuses, key=get_args(Status).index)


def inner(a: Vector, b: Vector) -> float:
    """Return <a, b>, summed in an order that does not depend on the number of BLAS threads."""
    if len(a) <= BLOCK:
        return float((a * b).sum())
    return sum(float((a[rows] * b[rows]).sum()) for rows in blocks(len(a)))


def blocks(n_rows: int) -> Iterator[slice]:
    """Yield stretches of the rows, so that what is computed of each row needs no array of them all."""
    for begin in range(0, n_rows, BLOCK):
        yield slice(begin, begin + BLOCK)


def extended(values: Any) -> Any:
    """Return an array, or a CSR array, of the same values in NumPy's extended precision."""
    return values.astype(np.longdouble)


def relative_gap(primal: float, dual: float, least_scale: float = 0.0) -> float:
    """Return the gap over max(|primal|, |dual|, least_scale); 0 when all are 0."""
    scale = max(abs(primal), abs(dual), least_scale)
    return (primal - dual) / scale if scale > 0 else 0.0


@record()
@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver returns.

    Attributes
    ----------
    w, intercept : ndarray, float
        The primal point.
    alpha : ndarray
        The dual point.
    status : {"optimal", "approximate", "max_iter", "stalled", "interrupted", "time_limit", "stopped"}
        Why the solver stopped, in its own opinion; a certificate is the proof.
    n_iter : int
        Its iterations: sweeps, rounds or steps.
    solver : str
        Its name.
    history : tuple of (int, float, float)
        (iteration, primal, dual) at every check of the gap.
    """

    w: Vector
    intercept: float
    alpha: Vector
    status: Status
    n_iter: int
    solver: str
    history: tuple[tuple[int, float, float], ...] = ()
