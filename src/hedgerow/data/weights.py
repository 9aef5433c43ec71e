"""Weights at the door: sample weights and class weights are read and checked here."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import HUGE, shown
from hedgerow.data.rows import some
from hedgerow.data.targets import as_array
from hedgerow.errors import DataError, ParameterError

__all__ = ["check_weights", "class_factors", "refuse_one_class"]


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64]:
    """Return one weight a row."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(as_array(sample_weight, "sample_weight"), dtype=np.float64)
    except DataError:
        raise
    except (ValueError, TypeError) as error:
        msg = f"sample_weight cannot be read as numbers: {error}; give one number a row"
        raise DataError(msg) from error
    weights = np.full(n_rows, float(weights)) if weights.ndim == 0 else weights
    if weights.shape != (n_rows,):
        msg = f"sample_weight has shape {weights.shape} but X has {n_rows} rows; give one weight a row"
        raise DataError(msg)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        msg = f"sample_weight is {weights[wrong[0]]} at row {wrong[0]}; weights must be finite and not negative"
        raise DataError(msg)
    if not weights.any():
        msg = "every sample_weight is zero, so there is nothing to learn from; give some row a positive weight"
        raise DataError(msg)
    largest = float(np.max(weights))
    if not 1.0 / HUGE <= largest <= HUGE:
        msg = f"the largest sample_weight is {largest:g}, where it must be from {1.0 / HUGE:g} to {HUGE:g}; scale the weights, for example to a mean of 1"
        raise DataError(msg)
    return _without_faint(weights, largest)


def _without_faint(weights: NDArray[np.float64], largest: float) -> NDArray[np.float64]:
    """Return the weights, 0 for those that no sum beside the largest one would see."""
    faint = (weights > 0.0) & (weights < largest / HUGE)
    return np.where(faint, 0.0, weights) if faint.any() else weights


def class_factors(
    class_weight: Any,
    classes: NDArray[Any],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return one factor a class; "balanced" gives every class the same total weight.

    A dictionary is read as scikit-learn reads it: it may leave classes out, which then have weight 1, or
    name classes that these rows lack, as a fold may lack a rare one. To do both is an error, as it
    is how a misspelt class shows.
    """
    if class_weight is None or len(class_weight) == 0:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights, minlength=len(classes))
        present = totals > 0
        share = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
        return np.where(present, share, 0.0)
    if not isinstance(class_weight, Mapping):
        msg = f"class_weight={shown(class_weight)} is not known; give 'balanced', a dictionary or None"
        raise ParameterError(msg)
    labels = set(classes.tolist())
    unknown = [label for label in class_weight if label not in labels]
    if unknown and not labels <= set(class_weight):
        unnamed = [label for label in classes.tolist() if label not in class_weight]
        msg = (
            f"class_weight names {unknown[0]!r}, which is not a class of y, and has no weight for "
            f"{some(unnamed)}; name classes of y, or give every class of y a weight"
        )
        raise DataError(msg)
    given: list[Any] = [class_weight.get(label, 1.0) for label in classes.tolist()]
    factors = np.array([float(each) if isinstance(each, Real) else np.nan for each in given])
    if not np.all((factors >= 0) & (factors <= HUGE)):
        msg = f"class_weight must hold finite numbers from 0 to {HUGE:g}, got {dict(class_weight)}"
        raise DataError(msg)
    return factors


def refuse_one_class(
    classes: NDArray[Any], codes: NDArray[np.int64], weights: NDArray[np.float64]
) -> None:
    """Refuse data in which fewer than two classes have any weight."""
    present = np.bincount(codes, weights, minlength=len(classes)) > 0
    if present.sum() < 2:
        label = classes[present][0] if present.any() else classes[0]
        msg = f"y holds one class with positive weight, {label!r}, where at least two are needed; add rows of another class"
        raise DataError(msg)
