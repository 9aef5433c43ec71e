"""The VC dimension of hyperplanes, and whether hyperplanes shatter a set of points."""

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
"""More points have more than 4096 labellings, each of which is a linear program."""


def hyperplane_vc_dimension(n_features: int, *, through_origin: bool = False) -> int:
    """Return the VC dimension of hyperplanes: n_features + 1, or n_features through the origin.

    Parameters
    ----------
    n_features : int
        The dimension of the space.
    through_origin : bool, default=False
        Whether to consider only hyperplanes through the origin.

    Returns
    -------
    int
        The VC dimension.

    Examples
    --------
    >>> from hedgerow.theory import hyperplane_vc_dimension
    >>> hyperplane_vc_dimension(2)  # lines in the plane
    3
    """
    check_count("n_features", n_features)
    return n_features if through_origin else n_features + 1


def shatters(X: Any, *, through_origin: bool = False) -> bool:
    """Return whether hyperplanes can separate these points under every labelling.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 12 points.
    through_origin : bool, default=False
        Whether to consider only hyperplanes through the origin.

    Returns
    -------
    bool
        True if a hyperplane realises every labelling.

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
        msg = f"X has {n} points, which have 2^{n} labellings to try; give at most {_MOST_POINTS}"
        raise DataError(msg)
    rows = points if through_origin else np.hstack([points, np.ones((n, 1))])
    # Swapping all labels reverses the hyperplane, so the first label can be fixed.
    labellings = (np.array([1.0, *rest]) for rest in product((-1.0, 1.0), repeat=n - 1))
    return all(_is_separable(rows, signs) for signs in labellings)


def _is_separable(rows: Any, signs: Any) -> bool:
    """Return whether some w has a functional margin of at least 1 on every row."""
    found = linprog(
        np.zeros(rows.shape[1]),
        A_ub=-signs[:, None] * rows,
        b_ub=-np.ones(len(rows)),
        bounds=(None, None),
    )
    return bool(found.status == 0)
