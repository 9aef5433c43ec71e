"""Solvers of linear and kernel problems."""

from typing import Any

import numpy
from numpy.typing import NDArray

from .data import Matrix
from .kernel import KernelSource


class DualCoordinateDescent:
    """
    Dual coordinate descent for linear machines; used by one thread at a time.
    """

    def __init__(self, matrix: Matrix, y: NDArray[numpy.float64], target: NDArray[numpy.float64], weight: NDArray[numpy.float64], *, loss: str, epsilon: float = 0.0, rho: float = 0.0, free_intercept: bool = False, balance: float = 0.0, order: str = 'shuffled', shrinking: bool = True, seed: int, n_threads: int = 1) -> None: ...

    def run(self, n_sweeps: int, tolerance: float) -> tuple[int, float]:
        """
        Make up to n_sweeps sweeps; the number made and the violation that is left.
        """

    def set_alpha(self, alpha: NDArray[numpy.float64], intercept: float) -> None:
        """Start from this alpha, and from this intercept if it is free."""

    def state(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float, float, int, bool]:
        """All that a later run depends on."""

    def restore(self, alpha: NDArray[numpy.float64], w: NDArray[numpy.float64], shift: float, excess: float, n_swept: int, multiplier_due: bool) -> None:
        """Go on from a state."""

    @property
    def alpha(self) -> NDArray[numpy.float64]: ...

    @property
    def w(self) -> NDArray[numpy.float64]: ...

    @property
    def scores(self) -> NDArray[numpy.float64]: ...

    @property
    def intercept(self) -> float: ...

def perceptron_pass(matrix: Matrix, y: NDArray[numpy.float64], weight: NDArray[numpy.float64], order: NDArray[numpy.int64], step: float, fit_intercept: bool, coef: NDArray[numpy.float64], intercept: float) -> tuple[int, NDArray[numpy.int64], float]:
    """
    One pass; coef is updated in place, and the number of visits, the mistakes and the new intercept are returned.
    """

class JointDescent:
    """
    Dual coordinate descent for several hyperplanes at once; used by one thread at a time.
    """

    def __init__(self, matrix: Matrix, weight: NDArray[numpy.float64], *, loss: str, target: float, rho: float = 0.0, free_intercept: bool = False, shrinking: bool = True, seed: int, n_threads: int = 1) -> None: ...

    def run(self, n_sweeps: int, tolerance: NDArray[numpy.float64]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], int, int]:
        """
        Make up to n_sweeps sweeps; of each hyperplane the sweeps made and the violation that is left, then how often a hyperplane and how often a row was visited.
        """

    def set_alpha(self, alpha: NDArray[numpy.float64], intercept: NDArray[numpy.float64]) -> None:
        """Start from these alphas, and from these intercepts if they are free."""

    def retire(self, hyperplane: int) -> None:
        """Leave a hyperplane as it is from now on."""

    @property
    def n_swept(self) -> int: ...

    @property
    def alpha(self) -> NDArray[numpy.float64]: ...

    @property
    def w(self) -> NDArray[numpy.float64]: ...

    @property
    def scores(self) -> NDArray[numpy.float64]: ...

    @property
    def intercept(self) -> NDArray[numpy.float64]: ...

    @property
    def excess(self) -> NDArray[numpy.float64]: ...

class SequentialDual:
    """
    The sequential dual method for all classes at once; used by one thread at a time.
    """

    def __init__(self, matrix: Matrix, label: NDArray[numpy.int64], weight: NDArray[numpy.float64], *, n_classes: int, rho: float = 0.0, free_intercept: bool = False, shuffled: bool = True, shrinking: bool = True, seed: int, n_threads: int = 1) -> None: ...

    def run(self, n_sweeps: int, tolerance: float) -> tuple[int, float]:
        """
        Make up to n_sweeps sweeps; the number made and the violation that is left.
        """

    def state(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], int, bool]:
        """All that a later run depends on."""

    def restore(self, alpha: NDArray[numpy.float64], w: NDArray[numpy.float64], shift: NDArray[numpy.float64], excess: NDArray[numpy.float64], n_swept: int, multiplier_due: bool) -> None:
        """Go on from a state."""

    @property
    def alpha(self) -> NDArray[numpy.float64]: ...

    @property
    def hyperplanes(self) -> NDArray[numpy.float64]:
        """One a row, with its intercept last."""

    @property
    def scores(self) -> NDArray[numpy.float64]: ...

def averaged_steps(matrix: Matrix, y: NDArray[numpy.float64], target: NDArray[numpy.float64], order: NDArray[numpy.int64], total_weight: float, constant: float, n_before: int, harmonic: float, theta: NDArray[numpy.float64], lagged: NDArray[numpy.float64], violations: NDArray[numpy.int64]) -> tuple[int, float]:
    """
    One step a row of order; theta, lagged and violations are updated in place, and the number of steps made and the new harmonic are returned.
    """

def steady_steps(matrix: Matrix, y: NDArray[numpy.float64], target: NDArray[numpy.float64], push: NDArray[numpy.float64], order: NDArray[numpy.int64], keep: float, keep_intercept: float, intercept_share: float, coef: NDArray[numpy.float64], intercept: float, violations: NDArray[numpy.int64]) -> tuple[int, float]:
    """
    One step a row of order; coef and violations are updated in place, and the number of steps made and the new intercept are returned.
    """

class Program:
    """The vectors of a QP, whose memory must outlive it."""

    def __init__(self, *, linear: NDArray[numpy.float64], lower: NDArray[numpy.float64], upper: NDArray[numpy.float64], ridge: NDArray[numpy.float64], diagonal: NDArray[numpy.float64], group: NDArray[numpy.uint8], keeps_sums: bool) -> None: ...

class BoxQp:
    """
    The QP of a kernel machine, by decomposition; used by one thread at a time.
    """

    def __init__(self, source: KernelSource, program: Program, *, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64], n_bytes: int, working_set: int, n_threads: int) -> None: ...

    def restart(self, program: Program, *, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64]) -> None:
        """Go on with another program over the same points."""

    def activate(self, points: NDArray[numpy.int64]) -> None:
        """Let more points take part."""

    def run(self, n_rounds: int, n_steps: int, tolerance: float) -> tuple[int, int, float, bool]:
        """
        Make up to so many rounds and steps; the rounds and steps made, the violation of the active points, and whether a round moved nothing.
        """

    def look(self) -> None:
        """Bring the scores of the points that rest up to date."""

    def set_linear(self, linear: NDArray[numpy.float64]) -> None:
        """Go on with another linear term."""

    def set_beta(self, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64]) -> None:
        """Go on from another beta with the same sums."""

    @property
    def beta(self) -> NDArray[numpy.float64]: ...

    @property
    def scores(self) -> NDArray[numpy.float64]: ...

    @property
    def is_active(self) -> NDArray[numpy.uint8]: ...

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """All that later rounds depend on, for set_state."""

    def set_state(self, *, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64], seen: NDArray[numpy.float64], points: NDArray[numpy.int64], ends: NDArray[numpy.int64], slot: NDArray[numpy.int64], last_wanted: NDArray[numpy.int64], computed: NDArray[numpy.int64]) -> None:
        """Go on from a state of a solver of the same program."""

class ClassQp:
    """
    All classes at once with a kernel, by decomposition; used by one thread at a time.
    """

    def __init__(self, source: KernelSource, *, label: NDArray[numpy.int64], weight: NDArray[numpy.float64], diagonal: NDArray[numpy.float64], rho: float, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64], intercept: NDArray[numpy.float64], n_bytes: int, working_set: int, n_threads: int) -> None: ...

    def run(self, n_rounds: int, n_steps: int, tolerance: float) -> tuple[int, int, float, bool]:
        """
        Make up to so many rounds and steps; the rounds and steps made, the violation, and whether a round moved nothing.
        """

    def set_point(self, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64], intercept: NDArray[numpy.float64]) -> None:
        """Go on from another point."""

    @property
    def state(self) -> dict[str, NDArray[Any]]:
        """All that later rounds depend on, for set_state."""

    def set_state(self, *, beta: NDArray[numpy.float64], scores: NDArray[numpy.float64], shift: NDArray[numpy.float64], excess: NDArray[numpy.float64], intercept: NDArray[numpy.float64], slot: NDArray[numpy.int64], last_wanted: NDArray[numpy.int64], computed: NDArray[numpy.int64]) -> None:
        """Go on from a state of a solver of the same problem."""

    @property
    def beta(self) -> NDArray[numpy.float64]: ...

    @property
    def intercept(self) -> NDArray[numpy.float64]: ...

def l1_sweeps(hessian: NDArray[numpy.float64], price: NDArray[numpy.float64], point: NDArray[numpy.float64], slope: NDArray[numpy.float64], n_sweeps: int, tolerance: float) -> float:
    """
    Coordinate descent on a quadratic with prices on |point_j|; point and slope are updated in place, and the largest violation of the last sweep is returned.
    """
