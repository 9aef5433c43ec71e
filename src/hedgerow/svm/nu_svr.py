"""Support vector regression whose share of values outside the tube is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import positive_number, real_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import optional
from hedgerow.data.training_data import RegressionData
from hedgerow.kernels.gram import Gram
from hedgerow.problems.kernel import KernelProblem
from hedgerow.problems.nu_svr import NuSvrProblem
from hedgerow.svm._machine import Part
from hedgerow.svm._regressor import FITTED_REGRESSOR_RULES, REGRESSOR_RULES, KernelRegressor

__all__ = ["NuSVR"]

Vector = NDArray[np.float64]

_RULES = {**REGRESSOR_RULES, "nu": positive_number(1)}


@stateful(_RULES, epsilon_=optional(real_number(0)), **FITTED_REGRESSOR_RULES)
class NuSVR(KernelRegressor):
    r"""Support vector regression that also fits the width of the tube.

    It minimises, over w, b and epsilon, with W the sum of the weights s_i,

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \max(0, |y_i - \langle w, \phi(x_i) \rangle - b| - \epsilon) + C \nu W \epsilon

    At most a fraction nu of the rows lies outside the tube, and at least this fraction are support
    vectors.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction, above 0 and at most 1.
    C : float, default=1.0
        The factor of the losses; a larger C means less regularisation.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter, scale
        As in :class:`SVC`.
    warm_start, n_jobs, max_time
        As in :class:`SVC`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube; not set in a model read from a LIBSVM file, which does not
        contain it.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, kernel_, scaling_
        As in :class:`SVR`.
    certificate_, n_iter_, status_, fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in :class:`SVR`.

    Examples
    --------
    >>> from hedgerow import NuSVR
    >>> model = NuSVR(kernel="linear", C=100.0, tol=1e-6).fit([[0], [1], [2]], [1, 3, 5])
    >>> model.predict([[3]]).round(3)
    array([7.])
    """

    _rules = _RULES

    epsilon_: float

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 2000,
        verbose: int = 0,
        max_iter: int = -1,
        scale: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.scale = scale
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    def _tube(self, target: Vector, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem."""
        return partial(NuSvrProblem, target=target, weight=weight, nu=float(self.nu))

    def _keep(
        self, data: RegressionData, part: Part, figures: Mapping[str, Any], beta: Vector
    ) -> None:
        """Set the support vectors and the tube."""
        super()._keep(data, part, figures, beta)
        self.epsilon_ = float(figures["epsilon"])
