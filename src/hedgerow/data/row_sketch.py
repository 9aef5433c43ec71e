"""Digests of some training rows, by which a fitted model recognises them.

A model keeps the digests of at most 1024 rows, evenly spread over the training rows: 8 kB, however
many rows there were. A digest is computed from the numbers that a learner sees, rounded to float32, so
that a row is recognised after it was written to a text file and read again. A zero adds nothing, so
that sparse and dense rows have the same digests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import betainc

from hedgerow._base.parameters import whole_number
from hedgerow._base.state import record
from hedgerow._base.state.rules import whole_numbers

__all__ = ["RowSketch", "kept_rows"]

_MOST_ROWS = 1024
_BLOCK = 2**20
"""Values that are turned into digests at a time."""
_FEWEST = 0.05
"""A smaller share of training rows is not reported."""
_CHANCE = 1e-6
"""The largest probability with which new rows may agree by chance as often as these do."""
_NAN_BITS = np.uint32(0x7FC00000)


def kept_rows(n_rows: int) -> NDArray[np.int64]:
    """Return the numbers of the rows whose digests are kept."""
    n_kept = min(n_rows, _MOST_ROWS)
    return np.arange(n_kept, dtype=np.int64) * n_rows // max(n_kept, 1)


@record(digests=whole_numbers("kept rows"), n_rows=whole_number(1))
@dataclass(frozen=True, eq=False)
class RowSketch:
    """Digests of some of the rows that a model was fitted on.

    Attributes
    ----------
    digests : ndarray of int64
        The digests of the kept rows, sorted.
    n_rows : int
        The number of training rows.
    """

    digests: NDArray[np.int64]
    n_rows: int

    @staticmethod
    def of(kept: Any, n_rows: int) -> RowSketch:
        """Return the sketch of ``n_rows`` training rows from the kept ones among them."""
        return RowSketch(np.sort(_digests(kept)), n_rows)

    def share_known(self, rows: Any) -> float:
        """Return an estimate of the share of rows that are training rows; 0 if it may be chance.

        In tables of few values, rows are often equal by chance. How often the kept rows equal each
        other tells how often new rows would equal them.
        """
        n_kept, n_rows = len(self.digests), rows.shape[0]
        _, counts = np.unique(self.digests, return_counts=True)
        by_chance = (counts[counts > 1].sum() + 1) / (n_kept + 1)
        n_equal = int(np.count_nonzero(np.isin(_digests(rows), self.digests)))
        if by_chance >= 1 or n_equal == 0:
            return 0.0
        if betainc(n_equal, n_rows - n_equal + 1, by_chance) > _CHANCE:  # P(so many or more)
            return 0.0
        is_kept = n_kept / self.n_rows
        share = (n_equal / n_rows - by_chance * (n_kept < self.n_rows)) / is_kept
        return float(min(share, 1.0)) if share >= _FEWEST else 0.0


def _digests(rows: Any) -> NDArray[np.int64]:
    """Return one number for each row of an array or CSR matrix: a sum modulo 2**64, without its last bit."""
    factors = _factors(rows.shape[1])
    if sp.issparse(rows):
        csr = rows.tocsr()
        bits = sp.csr_matrix((_bits(csr.data), csr.indices, csr.indptr), shape=csr.shape)
        return _without_sign(bits @ factors)
    height = max(_BLOCK // max(rows.shape[1], 1), 1)
    parts = [_bits(rows[i : i + height]) @ factors for i in range(0, len(rows), height)]
    return _without_sign(np.concatenate(parts))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers as float32, mixed; 0 for zero."""
    with np.errstate(over="ignore"):
        singles = np.asarray(values, dtype=np.float32) + np.float32(0)  # -0.0 becomes 0.0
    bits = singles.view(np.uint32)
    bits[np.isnan(singles)] = _NAN_BITS
    bits ^= bits >> np.uint32(15)
    return bits.astype(np.uint64)


def _factors(n_columns: int) -> NDArray[np.uint64]:
    """Return a fixed odd factor for each column: splitmix64 of its number."""
    z = np.arange(1, n_columns + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


def _without_sign(sums: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (sums >> np.uint64(1)).astype(np.int64)
