"""The column of ones by which a solver without a penalised intercept gets one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["with_constant_column"]


def with_constant_column(X: Any, layout: str) -> Any:
    """Return the rows with a last column of ones; sparse ones in the layout asked for."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.hstack([X, ones], layout) if sparse.issparse(X) else np.hstack([X, ones])
