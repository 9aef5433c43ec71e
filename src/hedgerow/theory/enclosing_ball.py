"""The smallest ball that contains a set of points, with a proof that no smaller one does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import NotCertifiedWarning, ParameterError, warn_user
from hedgerow.kernels import as_kernel
from hedgerow.theory._ball_points import KernelPoints, Points, RowPoints, Vector
from hedgerow.theory._ball_solvers import by_active_set, by_pairs
from hedgerow.theory._numbers import check_number

__all__ = ["EnclosingBall", "enclosing_ball"]


@dataclass(frozen=True, eq=False)
class EnclosingBall:
    """A ball that contains all points, with a lower bound on the radius of any such ball.

    The proof: for weights that sum to 1, the weighted mean of the squared distances to the weighted mean
    of the points is at most the squared radius of any ball that contains them.

    Attributes
    ----------
    radius : float
        The distance of the farthest point from the centre.
    least_radius : float
        A lower bound on the radius of any ball that contains all points.
    center : ndarray of shape (n_features,) or None
        The centre; None with a kernel, where it is the weighted mean of the support in the feature space.
    support : ndarray of int
        The points with positive weight; at the optimum they lie on the sphere.
    weights : ndarray of float64
        Their weights, which sum to 1.
    tolerance : float
        The relative gap up to which the ball counts as optimal.
    """

    radius: float
    least_radius: float
    center: Vector | None
    support: NDArray[np.intp]
    weights: Vector
    tolerance: float

    @property
    def relative_gap(self) -> float:
        """(radius - least_radius) / radius; 0 for a single point."""
        return (self.radius - self.least_radius) / self.radius if self.radius > 0 else 0.0

    @property
    def is_certified(self) -> bool:
        """Whether the relative gap is at most the tolerance."""
        return self.relative_gap <= self.tolerance

    def __str__(self) -> str:
        return (
            f"{'Certified' if self.is_certified else 'Not certified'}: a ball of radius "
            f"{self.radius:.6g} contains all points, and none below {self.least_radius:.6g} does "
            f"(relative gap {self.relative_gap:.1e}, tolerance {self.tolerance:.0e})."
        )


def enclosing_ball(
    X: Any, *, kernel: Any = None, tol: float = 1e-6, max_iter: int = 100_000
) -> EnclosingBall:
    """Return the smallest ball that contains all points.

    It is exact up to rounding if no more than some 300 points lie on the sphere.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The points; with ``kernel="precomputed"`` their Gram matrix.
    kernel : str, Kernel, callable or None, default=None
        The kernel in whose feature space the ball is computed; only the rows of the kernel matrix that
        are needed are evaluated. None uses the points themselves.
    tol : float, default=1e-6
        The relative gap between the radius and its lower bound to reach if more points lie on the sphere.
    max_iter : int, default=100000
        The maximum number of steps to reach it.

    Returns
    -------
    EnclosingBall
        The ball with its lower bound.

    Warns
    -----
    NotCertifiedWarning
        If the relative gap is above ``tol`` after ``max_iter`` steps.

    Examples
    --------
    >>> from hedgerow.theory import enclosing_ball
    >>> ball = enclosing_ball([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]])
    >>> ball.center, ball.radius, ball.support
    (array([2., 0.]), 2.0, array([0, 1]))
    """
    check_number("tol", tol, above=0.0)
    points = RowPoints(X) if kernel is None else _kernel_points(X, kernel)
    alpha = by_active_set(points)
    ball = _certified(points, alpha, tol)
    if not ball.is_certified:
        ball = _certified(points, by_pairs(points, alpha, tol, max_iter), tol)
    if not ball.is_certified:
        warn_user(f"{ball} Raise max_iter={max_iter} or tol={tol:g}.", NotCertifiedWarning)
    return ball


def _kernel_points(X: Any, kernel: Any) -> KernelPoints:
    """Return the images of the rows in the feature space; refuse an indefinite kernel."""
    chosen = as_kernel(kernel).resolved(X)
    if not chosen.is_positive_semidefinite:
        msg = (
            f"kernel={kernel!r} is indefinite and defines no distances; "
            "choose a positive semidefinite kernel"
        )
        raise ParameterError(msg)
    return KernelPoints(X, chosen)


def _certified(points: Points, alpha: Vector, tol: float) -> EnclosingBall:
    """Return the ball with these weights, with both radii recomputed from the points."""
    support = np.flatnonzero(alpha > 0)
    weights = alpha[support] / alpha[support].sum()
    squares = np.maximum(points.square_distances(support, weights), 0.0)
    farthest = float(squares.max())
    return EnclosingBall(
        radius=math.sqrt(farthest),
        least_radius=math.sqrt(min(float(weights @ squares[support]), farthest)),
        center=points.center(support, weights),
        support=support,
        weights=weights,
        tolerance=tol,
    )
