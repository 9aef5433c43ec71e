"""Binned features, slowly: each number by itself."""

from __future__ import annotations

import numpy as np


def binned(x: np.ndarray, max_codes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the code of every number, -1 where it is missing, and the upper edges of the bins but the last.

    Of n numbers that are not missing, one with k smaller ones goes into bin floor(k * max_codes / n).
    """
    known = x[~np.isnan(x)]
    numbers = np.unique(known)
    if len(numbers) <= max_codes:
        quantiles = np.arange(len(numbers))
    else:
        quantiles = np.array([int(np.sum(known < v)) * max_codes // len(known) for v in numbers])
    bins = np.unique(quantiles, return_inverse=True)[1]
    codes = np.array([-1 if np.isnan(v) else bins[numbers == v][0] for v in x])
    last = np.flatnonzero(np.diff(bins))
    return codes, (numbers[last] + numbers[last + 1]) / 2
