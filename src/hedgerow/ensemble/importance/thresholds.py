"""Thresholds of importance: those of scikit-learn, and multiples of the standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import is_number
from hedgerow.ensemble.importance.record import OUT_OF_BAG, Importances
from hedgerow.errors import ParameterError

__all__ = ["is_above", "threshold_of", "threshold_rule"]

Vector: TypeAlias = NDArray[np.float64]

ERROR = "standard_error"

_REFERENCES: dict[str, Callable[[Importances], Any]] = {
    "mean": lambda found: float(found.values.mean()),
    "median": lambda found: float(np.median(found.values)),
    ERROR: lambda found: found.standard_error,
}

_EXPECTED = (
    "None, a number, 'mean', 'median', or a multiple such as '1.25*mean' or '2*standard_error'"
)


def threshold_rule(value: Any) -> str | None:
    """Check the value of ``threshold``."""
    fine = (
        value is None or is_number(value) or (isinstance(value, str) and _parts(value) is not None)
    )
    return None if fine else _EXPECTED


def threshold_of(threshold: Any, found: Importances) -> float | Vector:
    """Return the least importance: one number, or one for each feature if it is by standard errors."""
    if is_number(threshold):
        return float(threshold)
    parts = _parts(_in_words(threshold, found.kind))
    if parts is None:
        msg = f"threshold={threshold!r} is not understood; give {_EXPECTED}"
        raise ParameterError(msg)
    factor, reference = parts
    least: float | Vector = factor * _REFERENCES[reference](found)
    return least


def is_above(threshold: Any, found: Importances) -> NDArray[np.bool_]:
    """Return for each value whether it is important enough; 0 is never significant."""
    least = threshold_of(threshold, found)
    above: NDArray[np.bool_] = (
        found.values > least if isinstance(least, np.ndarray) else found.values >= least
    )
    return above


def _in_words(threshold: Any, kind: str) -> str:
    """Return what None stands for: significance, where values are 0 on average for what is useless."""
    if threshold is None:
        return f"2*{ERROR}" if kind in OUT_OF_BAG else "mean"
    return str(threshold)


def _parts(words: str) -> tuple[float, str] | None:
    """Return the factor and the reference, such as 1.25 and "mean"."""
    factor, star, reference = words.rpartition("*")
    try:
        number = float(factor) if star else 1.0
    except ValueError:
        return None
    reference = reference.strip()
    return (number, reference) if reference in _REFERENCES else None
