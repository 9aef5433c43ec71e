"""Support vector regression."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import HUGE, real_number, true_or_false
from hedgerow._base.state import stateful
from hedgerow.kernels.gram import Gram
from hedgerow.problems.kernel import KernelProblem
from hedgerow.problems.svr import SvrProblem
from hedgerow.svm._regressor import FITTED_REGRESSOR_RULES, REGRESSOR_RULES, KernelRegressor

__all__ = ["SVR"]

Vector = NDArray[np.float64]

_RULES = {**REGRESSOR_RULES, "epsilon": real_number(0, HUGE), "fit_intercept": true_or_false}


@stateful(_RULES, **FITTED_REGRESSOR_RULES)
class SVR(KernelRegressor):
    r"""Support vector regression with a kernel, whose fit ends with a certificate.

    It minimises, over w and b,

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \max(0, |y_i - \langle w, \phi(x_i) \rangle - b| - \epsilon)

    where :math:`\langle \phi(x), \phi(z) \rangle` is the kernel and s_i the weight of row i.

    Parameters
    ----------
    C : float, default=1.0
        The factor of the losses; a larger C means less regularisation.
    epsilon : float, default=0.1
        Residuals up to epsilon have no loss.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, fit_intercept
        As in :class:`SVC`.
    scale, warm_start, n_jobs, max_time
        As in :class:`SVC`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, n_support)
        The coefficients beta_i, positive for targets above the tube.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    n_iter_ : int
        The number of steps of the solver.
    support_, support_vectors_, intercept_, coef_, kernel_, scaling_, certificate_, status_
        As in :class:`SVC`.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in :class:`SVC`.

    Examples
    --------
    >>> from hedgerow import SVR
    >>> model = SVR(kernel="linear", C=100.0, epsilon=0.0, tol=1e-6).fit([[0], [1], [2]], [1, 3, 5])
    >>> model.predict([[3]]).round(3)
    array([7.])
    """

    _linear_machine = "LinearSVR"
    _rules = _RULES

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 2000,
        verbose: int = 0,
        max_iter: int = -1,
        fit_intercept: bool = True,
        scale: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    def _tube(self, target: Vector, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem."""
        return partial(
            SvrProblem,
            target=target,
            weight=weight,
            epsilon=float(self.epsilon),
            has_intercept=bool(self.fit_intercept),
        )
