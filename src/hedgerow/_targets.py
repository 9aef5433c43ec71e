"""Labels to numbers and back, and one-vs-rest: used by every classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["encode_labels", "labels_from_scores", "one_vs_rest_signs"]


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted classes and, for every row, the number of its class."""
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64, copy=False)


def one_vs_rest_signs(codes: NDArray[np.int64], n_classes: int) -> list[NDArray[np.float64]]:
    """Return the +1/-1 target of each binary problem: one for two classes, else one a class."""
    positive = [1] if n_classes == 2 else range(n_classes)
    return [np.where(codes == k, 1.0, -1.0) for k in positive]


def labels_from_scores(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """Return the label of each row of scores, shape (n, 1) for two classes, else (n, n_classes)."""
    best = scores[:, 0] > 0 if len(classes) == 2 else scores.argmax(axis=1)
    return np.take(classes, best.astype(np.int64))
