"""Data that no plane separates, and a way to fit them without the warning that says so."""

from __future__ import annotations

import warnings

from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

__all__ = ["fit_quietly", "overlapping"]


def overlapping(n_samples=60, n_classes=2):
    """Return rows with six features of classes that overlap, and their labels 0, 1, ..."""
    return make_classification(
        n_samples, 6, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=0
    )


def fit_quietly(model, *args, **kwargs):
    """Fit where it is known that the data are not separable."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*args, **kwargs)
