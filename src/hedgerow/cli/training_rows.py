"""Was a model trained on these rows? Digests of its rows tell, or else its dual variables."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.auto import TableClassifier
from hedgerow.auto.judge import is_known
from hedgerow.cli.loaded_model import BoundModel
from hedgerow.errors import UnseenCategoryWarning
from hedgerow.reduction import one_vs_rest_signs
from hedgerow.tree._table import prediction_blocks

__all__ = ["share_of_training_rows"]

_ON_THE_MARGIN = 1e-3
"""A functional margin this near to 1 leaves its alpha open."""
_ROUNDING = 1e-9
"""An alpha this small, relative to the largest, is 0."""
_CHANCE = 1e-6
"""Agreement that other rows would show with a larger probability than this proves nothing."""


def share_of_training_rows(model: BoundModel, y: NDArray[Any]) -> float:
    """Return an estimate of the share of rows that the model was fitted on; 0 if it cannot tell.

    Models for tables, trees and forests have digests of their rows. Other support vector machines
    know their rows in the order of the fit, and all of them or none.
    """
    sketch = getattr(model.estimator, "row_sketch_", None)
    if sketch is None:
        return float(_are_training_rows(model, y))
    return float(sketch.share_known(_rows_of_learner(model)))


def _rows_of_learner(model: BoundModel) -> Any:
    """Return the rows as the numbers that digests are made of."""
    if isinstance(model.estimator, TableClassifier):
        return model.estimator.encoder_.transform(model.rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # the predictions tell of them
        return np.concatenate(list(prediction_blocks(model.estimator, model.rows)))


def _are_training_rows(model: BoundModel, y: NDArray[Any]) -> bool:
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
