"""The smallest ball around rows, or around most of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import any_of, none, positive_number, real_number
from hedgerow._base.state import stateful
from hedgerow.data.items import as_kept
from hedgerow.data.rows import Rows
from hedgerow.data.training_data import WeightedRows
from hedgerow.errors import ParameterError, UnavailableError
from hedgerow.kernels.gram import Gram
from hedgerow.problems.kernel import KernelProblem, KernelSolution
from hedgerow.problems.svdd import SvddProblem
from hedgerow.svm._machine import COMMON_RULES, Part
from hedgerow.svm._outliers import FITTED_OUTLIER_RULES, KernelOutlierMachine
from hedgerow.svm.compress import Compressed

__all__ = ["SVDD"]

Vector = NDArray[np.float64]

_RULES = {
    **COMMON_RULES,
    "C": positive_number(or_infinite=True),
    "nu": any_of(none, positive_number(1)),
}


@stateful(_RULES, radius_=real_number(0, 1e150), sq_norm_=real_number(0), **FITTED_OUTLIER_RULES)
class SVDD(KernelOutlierMachine):
    r"""Support vector data description: the smallest ball in the feature space of a kernel.

    It minimises, over the centre a and the radius R,

    .. math:: R^2 + C \sum_i s_i \max(0, |\phi(x_i) - a|^2 - R^2)

    and a row is an outlier if it lies outside. With C of at least 1 no training row does. With a
    kernel for which k(x, x) is the same for every row, such as RBF, the model is equivalent to
    :class:`OneClassSVM`.

    Parameters
    ----------
    C : float, default=1.0
        The cost of a row outside, per unit of squared distance; at least 1 / n_samples.
    nu : float or None, default=None
        An upper bound on the fraction of rows outside: C is then 1 / (nu sum of the weights).
        Giving both is an error.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter, scale
        As in :class:`SVC`.
    warm_start, n_jobs, max_time
        As in :class:`SVC`.

    Attributes
    ----------
    radius_ : float
        R.
    offset_ : ndarray of shape (1,)
        -R^2: ``decision_function = score_samples - offset_``.
    sq_norm_ : float
        The squared length of the centre a = sum_i dual_coef_i phi(x_i).
    dual_coef_ : ndarray of shape (1, n_support)
        The coefficients alpha_i, which sum to 1.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    n_iter_ : int
        The number of steps of the solver.
    support_, support_vectors_, intercept_, kernel_, scaling_, certificate_, status_
        As in :class:`SVC`.
    fit_status_, shape_fit_, n_features_in_, feature_names_in_
        As in :class:`SVC`.

    Examples
    --------
    >>> from hedgerow import SVDD
    >>> model = SVDD(kernel="linear").fit([[0, 0], [2, 0], [1, 0.5]])
    >>> model.radius_, model.predict([[1, 0.9], [1, 1.1]])
    (1.0, array([ 1, -1]))
    """

    _rules = _RULES
    _keeps_sum = True

    radius_: float
    sq_norm_: float

    def __init__(
        self,
        *,
        C: float = 1.0,
        nu: float | None = None,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        shrinking: bool = True,
        cache_size: float = 2000,
        verbose: int = 0,
        max_iter: int = -1,
        scale: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.C = C
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
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
        """-R^2."""
        return np.array([-(self.radius_**2)])

    def score_samples(self, X: Any) -> Vector:
        """Return -|phi(x) - a|^2 for each row; larger scores are more typical.

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
        """Return R^2 - |phi(x) - a|^2, and R^2."""
        scores = self._scores_of(rows, matrix)[:, 0]
        return 2.0 * scores - self._sq_lengths(rows), self.radius_**2

    def _check(self) -> None:
        super()._check()
        if self.nu is not None and self.C != 1.0:
            msg = f"C={self.C} and nu={self.nu} say the same thing twice; give one of them"
            raise ParameterError(msg)

    def _surface(self, weight: Vector) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem."""
        cost = self.C if self.nu is None else 1.0 / (self.nu * float(np.sum(weight)))
        return partial(SvddProblem, weight=cost * weight)

    def _sq_lengths(self, rows: Rows) -> Vector:
        """Return K(x, x) of each row."""
        if self.kernel_.is_precomputed:
            msg = (
                "SVDD needs the kernel of each new row with itself, which a precomputed kernel does not "
                "tell; give the kernel, or take OneClassSVM"
            )
            raise UnavailableError(msg)
        scaled = self.scaling_.apply(rows) if hasattr(self, "scaling_") else rows
        return self.kernel_.diagonal(as_kept(scaled))

    def _keep(self, data: WeightedRows, part: Part, solution: KernelSolution) -> None:
        """Set the support vectors and the ball."""
        super()._keep(data, part, solution)
        sq_radius = float(solution.figures["sq_radius"])
        self.radius_ = float(np.sqrt(sq_radius))
        self.sq_norm_ = max(0.0, sq_radius - 2.0 * float(self.intercept_[0]))

    def _keep_compressed(self, found: Compressed) -> None:
        """Set the support vectors that stay, and the ball on which they lie as they did."""
        super()._keep_compressed(found)
        self.sq_norm_ = max(0.0, float(found.sq_lengths[0]))
        self.radius_ = float(np.sqrt(max(0.0, 2.0 * float(self.intercept_[0]) + self.sq_norm_)))
