"""The one-class support vector machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import positive_number
from hedgerow._base.state import stateful
from hedgerow.data.rows import Rows
from hedgerow.kernels.gram import Gram
from hedgerow.problems.kernel import KernelProblem
from hedgerow.problems.one_class import OneClassProblem
from hedgerow.svm._machine import COMMON_RULES
from hedgerow.svm._outliers import FITTED_OUTLIER_RULES, KernelOutlierMachine

__all__ = ["OneClassSVM"]

Vector = NDArray[np.float64]

_RULES = {**COMMON_RULES, "nu": positive_number(1)}


@stateful(_RULES, **FITTED_OUTLIER_RULES)
class OneClassSVM(KernelOutlierMachine):
    r"""One-class support vector machine with a kernel, whose fit ends with a certificate.

    It minimises, over w and rho, with W the sum of the weights s_i,

    .. math:: \tfrac12 |w|^2 + \sum_i s_i \max(0, \rho - \langle w, \phi(x_i) \rangle) - \nu W \rho

    and a row is an outlier if its :math:`\langle w, \phi(x) \rangle` is below rho. At most a
    fraction nu of the rows are outliers, and at least this fraction are support vectors.

    Parameters
    ----------
    nu : float, default=0.5
        The fraction, above 0 and at most 1.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, scale
        As in :class:`SVC`.
    warm_start, n_jobs, max_time
        As in :class:`SVC`.

    Attributes
    ----------
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    dual_coef_ : ndarray of shape (1, n_support)
        The coefficients alpha_i, which sum to nu W.
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
    >>> from hedgerow import OneClassSVM
    >>> model = OneClassSVM(gamma="auto").fit([[0], [0.44], [0.45], [0.46], [1]])
    >>> model.predict([[0], [0.44], [0.45], [0.46], [1]])
    array([-1,  1,  1,  1, -1])
    """

    _linear_machine = "LinearOneClassSVM"
    _rules = _RULES

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 2000,
        verbose: int = 0,
        max_iter: int = -1,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.scale = scale
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    @property
    def offset_(self) -> Vector:
        """Rho."""
        return -self.intercept_

    def score_samples(self, X: Any) -> Vector:
        """Return <w, phi(x)> for each row; larger scores are more typical.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        scores: Vector = self.decision_function(X) + self.offset_
        return scores

    def _inside(self, rows: Rows, matrix: Any) -> tuple[Vector, float]:
        """Return <w, phi(x)> - rho, and the size of rho."""
        return self._scores_of(rows, matrix)[:, 0], abs(float(self.intercept_[0]))

    def _surface(self, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem."""
        return partial(OneClassProblem, weight=weight, nu=float(self.nu))
