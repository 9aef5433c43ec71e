"""Rows kept apart class by class: for the test, and for the folds of cross-validation.

Written here because scikit-learn's splitters refuse or warn where a class has a row or two, and
real tables have such classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import DataError
from hedgerow.search.folds import Fold, deal, numbered_folds

__all__ = ["held_out_mask", "training_folds"]


def held_out_mask(
    codes: NDArray[np.int64], share: float, generator: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows to keep apart: the share of every class, but never all of a class."""
    held_out = np.zeros(len(codes), np.bool_)
    for code in np.unique(codes):
        rows = generator.permutation(np.flatnonzero(codes == code))
        held_out[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    if not held_out.any():
        msg = (
            f"a share of {share:g} of {len(codes)} rows leaves none for the test; "
            "give more rows or a larger share"
        )
        raise DataError(msg)
    return held_out


def training_folds(
    codes: NDArray[np.int64], n_folds: int, generator: np.random.Generator
) -> list[Fold]:
    """Return shuffled, stratified folds.

    There are at most as many folds as the second largest class has rows, so that no fold takes
    away all classes but one.
    """
    second_largest = int(np.sort(np.append(np.bincount(codes), 0))[-2])
    n_folds = min(n_folds, second_largest)
    if n_folds < 2:
        msg = (
            "choosing C needs two classes with at least two training rows each, and the second "
            f"largest class has {second_largest}; add rows"
        )
        raise DataError(msg)
    return numbered_folds(deal(codes, n_folds, generator), n_folds)
