"""When a forest is large enough: the rule that stops its growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._base.parameters import is_number, is_whole

__all__ = ["PlateauRule", "plateau_rule"]

DEFAULT_WINDOW = 10

_EXPECTED = "None, a positive number, or a dictionary {'tol': a positive number, 'n_trees': a positive integer}"


@dataclass(frozen=True)
class PlateauRule:
    """The curve is flat when more trees no longer lower it by much.

    The mean of the out-of-bag error over the last ``n_trees`` trees is compared with its mean over
    as many before. If it is lower by less than ``tol``, or not lower, the curve is flat.

    Attributes
    ----------
    tol : float
        A share of misclassified rows or, for numbers, of the variance of the target.
    n_trees : int
        The length of either stretch.
    """

    tol: float
    n_trees: int = DEFAULT_WINDOW

    def holds(self, curve: Sequence[float], scale: float) -> bool:
        """Say whether the curve, of errors in units of ``scale``, is flat at its end."""
        if len(curve) < 2 * self.n_trees:
            return False
        before, last = np.reshape(curve[-2 * self.n_trees :], (2, self.n_trees)).mean(axis=1)
        return bool(before - last < self.tol * scale)

    @staticmethod
    def read(stop_when_flat: Any) -> PlateauRule | None:
        """Return the rule that the parameter stands for."""
        if stop_when_flat is None:
            return None
        if isinstance(stop_when_flat, Mapping):
            return PlateauRule(**stop_when_flat)
        return PlateauRule(float(stop_when_flat))


def plateau_rule(value: Any) -> str | None:
    """Allow what ``stop_when_flat`` may be."""
    if value is None or _is_positive(value):
        return None
    if not isinstance(value, Mapping) or not set(value) <= {"tol", "n_trees"}:
        return _EXPECTED
    window = value.get("n_trees", DEFAULT_WINDOW)
    fine = _is_positive(value.get("tol")) and is_whole(window) and window > 0
    return None if fine else _EXPECTED


def _is_positive(value: Any) -> bool:
    return is_number(value) and 0 < value < np.inf
