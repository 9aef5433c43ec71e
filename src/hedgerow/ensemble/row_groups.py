"""Rows that belong together: they are in the sample of a tree, or out of it, as one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import generator_of
from hedgerow.errors import DataError, ParameterError

__all__ = ["EQUAL_ROWS", "read_groups"]

Indices = NDArray[np.int64]

EQUAL_ROWS = "equal rows"
"""Says that rows are one group if all their features are equal."""


def read_groups(oob_group: Any, codes: _core.tree.CodeTable) -> Indices | None:
    """Return the number of every row's group, from 0; None if each row is on its own."""
    if oob_group is None:
        return None
    if isinstance(oob_group, str):
        if oob_group != EQUAL_ROWS:
            msg = f"oob_group={oob_group!r} is not known; give {EQUAL_ROWS!r}, or one label a row"
            raise ParameterError(msg)
        return _numbered(_digests(codes))
    labels = np.asarray(oob_group)
    if labels.shape != (codes.n_rows,):
        msg = f"oob_group has shape {labels.shape} and X has {codes.n_rows} rows; give one label a row"
        raise DataError(msg)
    return _numbered(labels)


def _numbered(labels: NDArray[Any]) -> Indices:
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _digests(codes: _core.tree.CodeTable) -> NDArray[np.uint64]:
    """Return a number for every row that is equal for equal rows.

    Of different rows two have the same with a chance of about n^2 / 2^65: 10^-6 for ten million.
    All that would follow is that these two are taken as one group.
    """
    generator = generator_of(0)
    digests = np.zeros(codes.n_rows, dtype=np.uint64)
    for feature in range(codes.n_features):
        # An odd factor is a permutation of the 64-bit numbers; the shift brings high bits down.
        factor = generator.integers(2**63, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        digests ^= codes.codes(feature).astype(np.uint64)
        digests *= factor
        digests ^= digests >> np.uint64(32)
    return digests
