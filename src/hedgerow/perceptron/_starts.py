"""Initial hyperplanes of a perceptron, and rows held out for early stopping."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import _core
from hedgerow.data.training_data import TrainingData
from hedgerow.errors import DataError, ParameterError
from hedgerow.perceptron._rosenblatt import stream_of

__all__ = ["Hyperplanes", "checked_hyperplanes", "held_out_rows", "random_hyperplanes"]

_SPLIT_STREAM = 2**63
"""The stream that early stopping draws from; those of passes and starts are all smaller."""


@dataclass(frozen=True)
class Hyperplanes:
    """Hyperplanes with normals ``coef``, shape (n_planes, n_features), and offsets ``intercept``."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]

    @classmethod
    def zero(cls, n_planes: int, n_features: int) -> Hyperplanes:
        """Return the default start, where every score is zero and so a mistake."""
        return cls(np.zeros((n_planes, n_features)), np.zeros(n_planes))


def checked_hyperplanes(
    what: str, coef: ArrayLike, intercept: ArrayLike, like: Hyperplanes
) -> Hyperplanes:
    """Return a copy of the hyperplanes, which must have the shape of ``like``."""
    try:
        normals = np.array(coef, dtype=np.float64)
        offsets = np.array(intercept, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        msg = f"{what} cannot be read as numbers: {error}; give a pair (coef, intercept)"
        raise ParameterError(msg) from error
    if normals.size != like.coef.size or offsets.shape != like.intercept.shape:
        msg = (
            f"{what} has coef of shape {normals.shape} and {offsets.size} intercept(s) but the data "
            f"need {like.coef.shape} and {like.intercept.size}; give one hyperplane for two "
            "classes, otherwise one per class"
        )
        raise ParameterError(msg)
    if not (np.isfinite(normals).all() and np.isfinite(offsets).all()):
        msg = f"{what} contains numbers that are not finite; give finite ones"
        raise ParameterError(msg)
    return Hyperplanes(normals.reshape(like.coef.shape), offsets)


def random_hyperplanes(like: Hyperplanes, seed: int, fit_intercept: bool) -> Hyperplanes:
    """Return hyperplanes drawn uniformly from [-1, 1), in the shape of ``like``."""
    n_planes, n_features = like.coef.shape
    draws = np.array(
        [
            _core.system.random_uniform(seed, stream_of(k, 0), n_features + 1)
            for k in range(n_planes)
        ]
    )
    planes = 2.0 * draws - 1.0
    intercept = planes[:, -1] if fit_intercept else np.zeros(n_planes)
    return Hyperplanes(planes[:, :-1].copy(), intercept)


def held_out_rows(data: TrainingData, fraction: float, seed: int) -> NDArray[np.int64]:
    """Return rows to hold out: the same proportion of each class, none of weight zero."""
    there = np.flatnonzero(data.sample_weight)
    order = there[_core.system.random_permutation(seed, _SPLIT_STREAM, len(there))]
    held_out: list[NDArray[np.int64]] = []
    for k, label in enumerate(data.classes):
        rows = order[data.y[order] == k]
        n_held_out = round(fraction * len(rows))
        if len(rows) and not 0 < n_held_out < len(rows):
            msg = (
                f"validation_fraction={fraction} holds out {n_held_out} of the {len(rows)} rows of "
                f"class {label!r}; change it, give more rows, or set early_stopping=False"
            )
            raise DataError(msg)
        held_out.append(rows[:n_held_out])
    return np.sort(np.concatenate(held_out))
