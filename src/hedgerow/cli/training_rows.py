"""Does a support vector machine know these rows? Its dual variables tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._targets import one_vs_rest_signs
from hedgerow.cli.loaded_model import BoundModel, is_known

__all__ = ["are_training_rows"]

_ON_THE_MARGIN = 1e-3
"""A functional margin this near to 1 leaves its alpha open."""
_ROUNDING = 1e-9
"""An alpha this small, relative to the largest, is 0."""
_CHANCE = 1e-6
"""Agreement that other rows would show with a larger probability than this proves nothing."""


def are_training_rows(model: BoundModel, y: NDArray[Any]) -> bool:
    """Say whether the rows a model is bound to, with these labels, are those it was fitted on.

    They are if the optimality conditions hold row by row, alpha being 0 where the functional margin
    is above 1 and positive where it is below, and if that cannot well be chance. Learners without
    alpha, or with one of another length, know nothing.
    """
    alpha = getattr(getattr(model.estimator, "learner_", model.estimator), "alpha_", None)
    classes = model.classes_
    if alpha is None or alpha.shape[-1] != len(y) or not is_known(y, classes).all():
        return False
    codes = np.searchsorted(classes, y)
    margins = np.array(one_vs_rest_signs(codes, len(classes))) * model.decision_function().T
    if alpha.shape != margins.shape:  # planes of pairs of classes
        return False
    is_active = alpha > _ROUNDING * alpha.max()
    agrees = (is_active == (margins < 1)) | (np.abs(margins - 1) < _ON_THE_MARGIN)
    least = min(_log_chance(active, codes) for active in is_active)
    return bool(agrees.all()) and least < math.log(_CHANCE)


def _log_chance(is_active: NDArray[np.bool_], codes: NDArray[np.int64]) -> float:
    """Return how likely rows of the same classes in the same order would agree by chance.

    Within a class that has a share p of active rows, another row agrees with probability
    p^2 + (1 - p)^2.
    """
    n_rows = np.bincount(codes)
    share = np.bincount(codes, is_active) / np.maximum(n_rows, 1)
    return float(np.sum(n_rows * np.log(share**2 + (1 - share) ** 2)))
