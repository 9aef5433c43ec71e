"""Margins and bounds of fitted linear models, and norms in the feature space of a kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import _core
from hedgerow.data.rows import matrix_of, read_rows
from hedgerow.errors import DataError
from hedgerow.linear import Hyperplane
from hedgerow.theory._numbers import check_share
from hedgerow.theory.bounds import (
    balanced_error_bound,
    balancing_lambda,
    c_of_lambda,
    hard_margin_error_bound,
)
from hedgerow.theory.enclosing_ball import enclosing_ball
from hedgerow.theory.structural_risk import StructuralRisk, structural_risk

__all__ = ["LinearBounds", "bounds_of", "kernel_norm", "margin_of"]


@dataclass(frozen=True)
class LinearBounds:
    r"""Error bounds of a hyperplane, computed from the rows it was fitted to.

    Attributes
    ----------
    n_samples, n_features : int
        The shape of the data.
    radius : float
        The radius of the smallest ball that contains the rows.
    margin : float
        The margin of the sample; negative if a row is on the wrong side.
    delta : float
        The probability with which a bound may fail.
    risk : StructuralRisk
        The bounds for each candidate margin.
    rho, norm : float
        The largest \|x\|, and \|w\|. A hyperplane with an offset becomes one through the origin if every
        row has an additional feature 1, and these are the lengths with this feature.
    hard_margin_bound : float or None
        The bound for a hard margin through the origin; None if the sample is not separated.
    balanced_lambda, balanced_c : float
        The regularisation that balances the soft-margin bound for hyperplanes of at most this norm, in
        both parametrisations.
    balanced_excess : float
        A bound on how far the expected error at this lambda exceeds the best expected hinge loss of
        hyperplanes of at most this norm.
    """

    n_samples: int
    n_features: int
    radius: float
    margin: float
    delta: float
    risk: StructuralRisk
    rho: float
    norm: float
    hard_margin_bound: float | None
    balanced_lambda: float
    balanced_c: float
    balanced_excess: float

    @property
    def error_bound(self) -> float:
        """The smallest bound on the error over all margins."""
        return float(self.risk.error_bounds[self.risk.best])

    def __str__(self) -> str:
        best = self.risk.best
        return (
            f"With probability {1 - self.delta:g} the error is at most {self.error_bound:.3g}, from "
            f"a margin of {self.risk.margins[best]:.3g} that {self.risk.training_errors[best]:.1%} of "
            f"the rows violate, in a ball of radius {self.radius:.3g}: VC dimension "
            f"{self.risk.vc_dimensions[best]:.4g} instead of {self.n_features + 1}."
        )


def margin_of(model: Any, X: Any, y: ArrayLike, *, class_label: Any = None) -> float:
    """Return the margin of a sample: its smallest distance to the hyperplane of a model.

    It is negative if a row is on the wrong side.

    Parameters
    ----------
    model : object with ``coef_`` and ``intercept_``
        A fitted linear model.
    X, y : array-like
        The sample, with the labels of the model.
    class_label : label, optional
        With more than two classes, the class whose hyperplane is used.

    Returns
    -------
    float
        The smallest signed distance to the correct side.
    """
    return Hyperplane.of(model, class_label).margin(X, y)


def bounds_of(
    model: Any, X: Any, y: ArrayLike, *, delta: float = 0.05, class_label: Any = None
) -> LinearBounds:
    """Return error bounds of a fitted linear model.

    Parameters
    ----------
    model : object with ``coef_`` and ``intercept_``
        A fitted linear classifier.
    X, y : array-like
        The rows it was fitted to, with the labels of the model.
    delta : float, default=0.05
        The probability with which a bound may fail.
    class_label : label, optional
        With more than two classes, the class whose hyperplane is used.

    Returns
    -------
    LinearBounds
        The bounds; printing them gives a sentence.
    """
    check_share("delta", delta)
    plane = Hyperplane.of(model, class_label)
    functional = plane.functional_margin(X, y)
    rows, _ = read_rows(X)
    radius = enclosing_ball(rows).radius
    constant = 1.0 if plane.offset != 0.0 else 0.0
    rho = math.sqrt(float(_core.data.row_sq_norms(matrix_of(rows), 1).max()) + constant)
    norm = math.hypot(plane.norm, plane.offset)
    through_origin = float(functional.min()) / norm
    n_samples, n_features = rows.shape
    is_separated = through_origin > 0
    reg_lambda = balancing_lambda(rho, norm, n_samples)
    return LinearBounds(
        n_samples=n_samples,
        n_features=n_features,
        radius=radius,
        margin=float(functional.min()) / plane.norm,
        delta=delta,
        risk=structural_risk(functional / plane.norm, radius, n_features, delta=delta),
        rho=rho,
        norm=norm,
        hard_margin_bound=(
            hard_margin_error_bound(rho, through_origin, n_samples, delta) if is_separated else None
        ),
        balanced_lambda=reg_lambda,
        balanced_c=c_of_lambda(reg_lambda, n_samples),
        balanced_excess=balanced_error_bound(0.0, rho, norm, n_samples),
    )


def kernel_norm(gram: ArrayLike, coefficients: ArrayLike) -> float:
    """Return |w| = sqrt(a' K a) of w = sum_i a_i phi(x_i) in the feature space of a kernel.

    The margin of a kernel machine is its smallest functional margin divided by this norm.

    Parameters
    ----------
    gram : array-like of shape (n, n)
        The kernel matrix K.
    coefficients : array-like of shape (n,)
        The coefficients a.

    Returns
    -------
    float
        The norm of w.
    """
    table, a = np.asarray(gram, np.float64), np.asarray(coefficients, np.float64)
    if a.ndim != 1 or table.shape != (len(a), len(a)):
        msg = (
            f"the kernel matrix has shape {table.shape} and the coefficients {a.shape}; "
            "give a square matrix and one coefficient per row"
        )
        raise DataError(msg)
    return math.sqrt(max(0.0, float(a @ table @ a)))
