"""Rules of what a saved forest may hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._base.state.rules import Shaped, Sizes

__all__ = ["array_of"]


def array_of(*kinds: type, shape: tuple[str, ...]) -> Shaped:
    """Allow arrays of one of the kinds, whatever their values; NaN is one."""
    names = " or ".join(kind.__name__ for kind in kinds)

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = isinstance(value, np.ndarray) and value.dtype in kinds and value.ndim == len(shape)
        fine = fine and all(map(sizes.agree, shape, value.shape))
        return None if fine else f"{names} numbers of shape ({', '.join(shape)})"

    return Shaped(expected)
