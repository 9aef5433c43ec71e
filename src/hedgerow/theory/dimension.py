"""The VC dimension of hyperplanes, and whether points can be labelled in all ways by them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import linprog

from hedgerow.data.rows import dense
from hedgerow.errors import DataError
from hedgerow.kernels.blocks import read_finite
from hedgerow.theory._numbers import check_count

__all__ = ["hyperplane_vc_dimension", "shatters"]

_MOST_POINTS = 12
"""Of more there are more than 4096 ways to label them, each a linear program."""


def hyperplane_vc_dimension(n_features: int, *, through_origin: bool = False) -> int:
    """Return n_features + 1, or n_features for planes through the origin.

    Examples
    --------
    >>> from hedgerow.theory import hyperplane_vc_dimension
    >>> hyperplane_vc_dimension(2)  # lines in the plane
    3
    """
    check_count("n_features", n_features)
    return n_features if through_origin else n_features + 1


def shatters(X: Any, *, through_origin: bool = False) -> bool:
    """Say whether hyperplanes can part these points in every way that they can be labelled.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 12 points.
    through_origin : bool, default=False
        Whether only planes through the origin count.

    Examples
    --------
    >>> from hedgerow.theory import shatters
    >>> shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    True
    >>> shatters([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    False
    """
    points = dense(read_finite(X)).astype(np.float64)
    n = len(points)
    if n > _MOST_POINTS:
        msg = f"X has {n} points, and all 2^{n} ways to label them are tried; give at most {_MOST_POINTS}"
        raise DataError(msg)
    rows = points if through_origin else np.hstack([points, np.ones((n, 1))])
    # Swapping all labels turns the plane around, so that the first label may be fixed.
    labellings = (np.array([1.0, *rest]) for rest in product((-1.0, 1.0), repeat=n - 1))
    return all(_is_parted(rows, signs) for signs in labellings)


def _is_parted(rows: Any, signs: Any) -> bool:
    """Say whether some w has a functional margin of at least 1 on every row."""
    found = linprog(
        np.zeros(rows.shape[1]),
        A_ub=-signs[:, None] * rows,
        b_ub=-np.ones(len(rows)),
        bounds=(None, None),
    )
    return bool(found.status == 0)
