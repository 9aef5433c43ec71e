"""Labels to numbers and back; one-vs-rest and one-vs-one: used by every classifier."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core

__all__ = [
    "encode_labels",
    "is_label_matrix",
    "labels_from_scores",
    "one_vs_rest_signs",
    "pairs_of_classes",
    "scores_from_pairs",
]


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and, for every row, the number of its class."""
    if y.dtype.kind in "iu" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low <= len(y):  # so that a table of all that lies between is no longer than y
            return _encode_whole_numbers(y, low, high)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def _encode_whole_numbers(
    y: NDArray[Any], low: int, high: int
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the same without sorting."""
    wide = y if y.dtype.kind == "u" else y.astype(np.int64)  # differences of int8 may be larger
    offsets = (wide - wide.dtype.type(low)).astype(np.int64)
    row_of = np.full(high - low + 1, -1, dtype=np.int64)
    row_of[offsets] = np.arange(len(y))
    occurs = row_of >= 0
    number_of = np.cumsum(occurs, dtype=np.int64) - 1
    return y[row_of[occurs]], number_of[offsets]


def is_label_matrix(y: Any) -> bool:
    """Say whether y has several columns, each of which is a label that a row has or has not."""
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:  # lists of different lengths; what reads labels says so
        return False
    return len(shape) == 2 and shape[1] > 1


def one_vs_rest_signs(codes: NDArray[np.int64], n_classes: int) -> list[NDArray[np.float64]]:
    """Return the +1/-1 target of each binary problem: one for two classes, else one a class."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positive]


def pairs_of_classes(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their planes; scores above 0 are for the second."""
    return list(combinations(range(n_classes), 2))


def scores_from_pairs(scores: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return a score a class from the scores of all pairs: its votes, and less than 1/3 besides.

    The latter grows with the sum of its scores against the other classes, so that of classes with
    the same number of votes the one with the larger sum is first.
    """
    return _core.votes_of_pairs(np.ascontiguousarray(scores), n_classes)


def labels_from_scores(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each row of scores, shape (n, 1) for two classes, else (n, n_classes)."""
    best = scores[:, 0] > 0 if len(classes) == 2 else scores.argmax(axis=1)
    return np.take(classes, best.astype(np.int64))
