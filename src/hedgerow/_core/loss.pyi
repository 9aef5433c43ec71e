"""Losses of the residual over all rows."""

import numpy
from numpy.typing import NDArray

from .data import Matrix


class LossShape:
    """A loss of the residual."""

    @staticmethod
    def one_sided(steepness: float, bounded: bool) -> LossShape:
        """alpha = clip(shift + c steepness r, 0, c if bounded else inf)."""

    @staticmethod
    def two_sided(epsilon: float, steepness: float, bounded: bool) -> LossShape:
        """The same on both sides of 0, beyond a tube of half-width epsilon."""

    @staticmethod
    def logistic() -> LossShape:
        """alpha = c / (1 + e^-r)."""

class LossSums:
    """Sums over all rows."""

    @property
    def balance(self) -> float: ...

    @property
    def smooth(self) -> float: ...

    @property
    def value(self) -> float: ...

    @property
    def gain(self) -> float: ...

def loss_pass(matrix: Matrix, loss: LossShape, y: NDArray[numpy.float64], target: NDArray[numpy.float64], weight: NDArray[numpy.float64], shift: NDArray[numpy.float64] | None, w: NDArray[numpy.float64], intercept: float, residual: NDArray[numpy.float64], alpha: NDArray[numpy.float64], curvature: NDArray[numpy.float64], n_threads: int) -> tuple[NDArray[numpy.float64], LossSums]:
    """
    Write residual, alpha and curvature at (w, intercept); the sum of alpha_i y_i x_i, and the sums.
    """

def loss_at(loss: LossShape, y: NDArray[numpy.float64], target: NDArray[numpy.float64], weight: NDArray[numpy.float64], shift: NDArray[numpy.float64] | None, residual: NDArray[numpy.float64], alpha: NDArray[numpy.float64], curvature: NDArray[numpy.float64], n_threads: int) -> LossSums:
    """Write alpha and curvature at the residuals given; the sums."""

def loss_along(loss: LossShape, weight: NDArray[numpy.float64], shift: NDArray[numpy.float64] | None, residual: NDArray[numpy.float64], change: NDArray[numpy.float64], step: float, n_threads: int) -> tuple[float, float, float]:
    """
    The smoothed loss at residual + step * change, its slope and its second derivative in step.
    """
