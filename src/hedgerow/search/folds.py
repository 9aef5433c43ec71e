"""Folds: the rows that a model is fitted to, and the rows that it is then judged by."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import generator_of, is_whole
from hedgerow.errors import DataError

__all__ = ["Fold", "class_folds", "cv_rule", "dealt_folds", "fold_generator", "given_folds"]

_FOLD_STREAM = 1 << 62
"""Keeps the draw of the folds apart from whatever else the same seed draws."""


class Fold(NamedTuple):
    """The rows to fit and the rows to judge by."""

    train: NDArray[np.int64]
    test: NDArray[np.int64]


def fold_generator(seed: int) -> np.random.Generator:
    """Return what draws the folds of a seed."""
    return generator_of(seed, _FOLD_STREAM)


def dealt_folds(
    codes: NDArray[np.int64],
    n_folds: int,
    generator: np.random.Generator,
    weights: NDArray[np.float64] | None = None,
) -> list[Fold]:
    """Return shuffled, stratified folds; rows without weight are never left out."""
    rows = np.arange(len(codes)) if weights is None else np.flatnonzero(weights > 0)
    shuffled = generator.permutation(len(rows))
    dealt = rows[shuffled[np.argsort(codes[rows][shuffled], kind="stable")]]
    numbers = np.full(len(codes), -1)
    numbers[dealt] = np.arange(len(dealt)) % n_folds
    return [
        Fold(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(n_folds)
    ]


def given_folds(cv: Any, X: Any, y: NDArray[Any], groups: Any = None) -> list[Fold]:
    """Return the folds of a splitter or of a list of pairs of row numbers."""
    given = {} if groups is None else {"groups": groups}
    pairs = cv.split(X, y, **given) if hasattr(cv, "split") else cv
    return [Fold(np.asarray(train), np.asarray(test)) for train, test in pairs]


def cv_rule(cv: Any) -> str | None:
    """Allow what ``cv`` may be."""
    is_count = is_whole(cv) and cv >= 2
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
    fine = cv is None or is_count or is_splitter or _is_list_of_pairs(cv)
    return (
        None
        if fine
        else "None, a number of folds of at least 2, a splitter, or a list of pairs of row numbers"
    )


def class_folds(
    cv: Any,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    weights: NDArray[np.float64],
    seed: int,
    *,
    X: Any = None,
) -> list[Fold]:
    """Return folds of which each has rows of every class, or those that cv gives.

    A number of folds is lowered to the number of rows, with weight, of the smallest class.
    """
    if not is_whole(cv):
        return given_folds(cv, X, codes)
    sizes = np.bincount(codes[weights > 0], minlength=len(classes))
    single = np.flatnonzero(sizes == 1)
    if len(single):
        label = classes.tolist()[single[0]]
        msg = (
            f"class {label!r} has a single row of positive weight, but cross-validation needs at least "
            "two; add rows of this class or remove it"
        )
        raise DataError(msg)
    n_folds = min(int(cv), int(sizes[sizes > 0].min()))
    return dealt_folds(codes, n_folds, fold_generator(seed), weights)


def _is_list_of_pairs(cv: Any) -> bool:
    is_list = isinstance(cv, list | tuple) and len(cv) > 0
    return is_list and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in cv)
