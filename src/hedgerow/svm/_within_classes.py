"""Kernel values within classes, which are the same in every pair that a class is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.solvers.dual_qp.run import KernelSettings
from hedgerow.svm._space import KernelSpace

__all__ = ["WithinClasses"]

Indices = NDArray[np.int64]
Values32 = NDArray[np.float32]
Pair = tuple[Indices, Indices]

SHARE = 0.5
"""Part of the budget that may go into values within classes."""
VALUE_BYTES = 4


@dataclass(frozen=True, eq=False)
class WithinClasses:
    """The values within each class, by its first point; none if there is no room, or little to share."""

    values: dict[int, Values32] = field(default_factory=dict)

    @classmethod
    def of(
        cls, space: KernelSpace, pairs: Sequence[Pair | None], settings: KernelSettings
    ) -> WithinClasses:
        """Compute the values of all classes that are in several pairs, if the budget allows."""
        classes = {int(points[0]): points for pair in pairs if pair for points in pair}
        n_bytes = VALUE_BYTES * sum(len(points) ** 2 for points in classes.values())
        if len(pairs) <= len(classes) / 2 or n_bytes > SHARE * settings.cache_bytes:
            return cls()
        found = {
            first: space.within(points, settings.n_threads) for first, points in classes.items()
        }
        return cls({first: values for first, values in found.items() if values is not None})

    @property
    def n_bytes(self) -> int:
        """What the values take."""
        return sum(values.nbytes for values in self.values.values())

    def of_pair(self, pair: Pair | None) -> tuple[Values32, Values32] | None:
        """Return the values within either class of a pair, if they are there."""
        if pair is None or not self.values:
            return None
        first, second = (self.values[int(points[0])] for points in pair)
        return first, second

    def __reduce__(self) -> tuple[type[WithinClasses], tuple[()]]:
        return WithinClasses, ()  # another process computes its own, pair by pair
