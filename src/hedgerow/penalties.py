"""Penalties on w, and what they ask of the dual.

A penalty and its conjugate obey value(w) + conjugate(v) >= <w, v> for every v that it allows; for a
penalised intercept b with scaling s the vectors have one more entry, b / s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["L1", "L2", "PENALTIES", "QUADRATIC", "Penalty"]

Vector = NDArray[np.float64]


class Penalty(Protocol):
    """A convex penalty, the sum of a penalty on each entry of w."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def bounds_dual(self) -> bool:
        """Whether there are v that the dual does not allow."""

    def value(self, w: Vector) -> float:
        """Return the penalty on w."""

    def conjugate(self, v: Vector) -> float:
        """Return what v costs in the dual, if it is allowed."""

    def share_allowed(self, v: Vector) -> float:
        """Return the largest share of v, at most 1, that the dual allows."""


@dataclass(frozen=True)
class L2:
    """1/2 |w|^2; every v is allowed."""

    name: ClassVar[str] = "l2"
    bounds_dual: ClassVar[bool] = False

    def value(self, w: Vector) -> float:
        """Return 1/2 |w|^2."""
        return 0.5 * float(np.sum(w * w))

    def conjugate(self, v: Vector) -> float:
        """Return 1/2 |v|^2."""
        return 0.5 * float(np.sum(v * v))

    def share_allowed(self, v: Vector) -> float:  # noqa: ARG002 - the protocol's form
        """Return 1."""
        return 1.0


@dataclass(frozen=True)
class L1:
    """The sum of |w_j|; v is allowed if no |v_j| exceeds 1, and costs nothing."""

    name: ClassVar[str] = "l1"
    bounds_dual: ClassVar[bool] = True

    def value(self, w: Vector) -> float:
        """Return the sum of |w_j|."""
        return float(np.sum(np.abs(w)))

    def conjugate(self, v: Vector) -> float:  # noqa: ARG002 - the protocol's form
        """Return 0."""
        return 0.0

    def share_allowed(self, v: Vector) -> float:
        """Return 1 / max |v_j|, at most 1."""
        return 1.0 / max(1.0, float(np.max(np.abs(v), initial=0.0)))


QUADRATIC: Penalty = L2()

PENALTIES: dict[str, Penalty] = {penalty.name: penalty for penalty in (QUADRATIC, L1())}
