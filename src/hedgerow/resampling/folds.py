"""Folds: which rows a model is fitted on, and which it is then asked about."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import generator_of, is_whole
from hedgerow.errors import DataError

__all__ = ["Split", "deal", "fold_rule", "splits_of"]

Split: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
"""The rows to fit, and those left out."""

_FOLD_STREAM = 1 << 62
"""Keeps the draw of the folds apart from whatever else the same seed draws."""


def deal(
    codes: NDArray[np.int64], n_folds: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the fold of every row: the rows of each class are dealt out like cards."""
    shuffled = generator.permutation(len(codes))
    dealt = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), np.int64)
    folds[dealt] = np.arange(len(codes)) % n_folds
    return folds


def fold_rule(cv: Any) -> str | None:
    """Allow what ``cv`` may be."""
    is_count = is_whole(cv) and cv >= 2
    is_splitter = hasattr(cv, "split") and not isinstance(cv, str)
    fine = cv is None or is_count or is_splitter or _is_list_of_pairs(cv)
    return (
        None
        if fine
        else "None, a number of folds of at least 2, a splitter, or a list of pairs of row numbers"
    )


def splits_of(
    cv: Any,
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    weights: NDArray[np.float64],
    seed: int,
    *,
    X: Any = None,
) -> list[Split]:
    """Return the folds: dealt out by the seed if cv is a number, else as the splitter has them.

    A number is made smaller where a class has fewer rows, so that every fold has rows of every
    class. Rows without weight are in no fold, and are there for every fit.
    """
    if not is_whole(cv):
        pairs = cv.split(X, codes) if hasattr(cv, "split") else cv
        return [(np.asarray(fitted), np.asarray(left_out)) for fitted, left_out in pairs]
    counted = np.flatnonzero(weights > 0)
    sizes = np.bincount(codes[counted], minlength=len(classes))
    single = np.flatnonzero(sizes == 1)
    if len(single):
        label = classes.tolist()[single[0]]
        msg = (
            f"class {label!r} has a single row of positive weight, but cross-validation needs at least "
            "two; add rows of this class or remove it"
        )
        raise DataError(msg)
    n_folds = min(int(cv), int(sizes[sizes > 0].min()))
    numbers = np.full(len(codes), -1)
    numbers[counted] = deal(codes[counted], n_folds, generator_of(seed, _FOLD_STREAM))
    return [(np.flatnonzero(numbers != k), np.flatnonzero(numbers == k)) for k in range(n_folds)]


def _is_list_of_pairs(cv: Any) -> bool:
    is_list = isinstance(cv, list | tuple) and len(cv) > 0
    return is_list and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in cv)
