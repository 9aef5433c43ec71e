"""The support vector classifier whose share of margin errors is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import one_of, positive_number
from hedgerow._base.state import stateful
from hedgerow.kernels.gram import Gram
from hedgerow.problems.kernel import KernelProblem
from hedgerow.problems.nu_svc import NuSvcProblem
from hedgerow.svm._classifier import CLASSIFIER_RULES, FITTED_CLASSIFIER_RULES, KernelClassifier
from hedgerow.svm._coefficients import Found
from hedgerow.svm._machine import Part, Result

__all__ = ["NuSVC"]

Vector = NDArray[np.float64]

_RULES = {
    **CLASSIFIER_RULES,
    "nu": positive_number(1),
    "multi_class": one_of("ovo", "ovr"),
}


@stateful(_RULES, **FITTED_CLASSIFIER_RULES)
class NuSVC(KernelClassifier):
    r"""Support vector classifier whose parameter bounds the fractions of margin errors and support vectors.

    For each binary problem it minimises, with W the sum of the weights s_i,

    .. math:: \tfrac12 |w|^2 + \sum_i s_i \max(0, \rho - y_i (\langle w, \phi(x_i) \rangle + b)) - \nu W \rho

    over w, b and rho, and divides w and b by rho. The result is that of an :class:`SVC` with a C
    that follows from nu. At most a fraction nu of the rows has a functional margin below 1, and at
    least this fraction are support vectors.

    If nu is too small, the solution is rho = 0 and w = 0, and the division is not possible. A
    warning is then issued, ``status_`` is "no_margin", there is no certificate, and the model is
    that of an :class:`SVC` with C = 1 / tol, in units of the mean squared distance of the rows
    from their mean. This is the limit of the model as nu decreases to the smallest value with a
    margin.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction; at most twice that of the smaller class, otherwise the fit is refused.
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, class_weight
        As in :class:`SVC`.
    verbose, max_iter, decision_function_shape, break_ties, random_state, multi_class, scale
        As in :class:`SVC`.
    calibrate, warm_start, n_jobs, max_time
        As in :class:`SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, kernel_
        As in :class:`SVC`.
    scaling_, class_weight_, certificate_, certificates_, probability_maps_, n_iter_, status_
        As in :class:`SVC`.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in :class:`SVC`; certificates refer to the problem above, before the division by rho.

    Examples
    --------
    >>> from hedgerow import NuSVC
    >>> X, y = [[-1, -1], [-2, -1], [1, 1], [2, 1]], [1, 1, 2, 2]
    >>> NuSVC(gamma="auto").fit(X, y).predict([[-0.8, -1]])
    array([1])
    """

    _rules = _RULES

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 2000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        scale: str | None = None,
        calibrate: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.scale = scale
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    def _binary(self, y: Vector, weight: Vector, sides: str) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem of two classes."""
        return partial(NuSvcProblem, y=y, weight=weight, nu=float(self.nu), sides=sides)

    def _planes(self, part: Part, result: Result) -> list[Found]:
        """Return the plane of a solution with functional margin 1, or the one that stands in for it."""
        solution, certificate = result
        rho, intercept = (float(solution.figures[name]) for name in ("rho", "intercept"))
        if "stand_in" in solution.figures:
            return [Found(part.points, solution.figures["stand_in"], intercept)]
        if (
            not certificate.kkt_violation + certificate.violation_error < 1.0
        ):  # a fit that was stopped too early to know its margin
            rho = 1.0
        return [Found(part.points, solution.beta / rho, intercept / rho)]
