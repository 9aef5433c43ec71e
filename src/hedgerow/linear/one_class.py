"""The linear one-class support vector machine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from hedgerow._base.parameters import positive_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import numbers, truths
from hedgerow.data.training_data import WeightedRows, check_rows
from hedgerow.linear._machine import COMMON_RULES, FITTED_BY_SOLVER, LinearMachine
from hedgerow.losses import Hinge
from hedgerow.monitor import monitored_fit
from hedgerow.problems.base import Solution
from hedgerow.problems.linear import LinearProblem

__all__ = ["LinearOneClassSVM"]

ON_MARGIN = 1e-12
"""Scores with a relative difference to rho below this differ from it by rounding."""

_RULES = {**COMMON_RULES, "nu": positive_number(1)}


@stateful(
    _RULES,
    coef_=numbers("one", "features"),
    intercept_=numbers("one"),
    offset_=numbers("one"),
    alpha_=numbers("one", "rows", low=0.0),
    at_bound_=truths("one", "rows"),
    **FITTED_BY_SOLVER,
)
class LinearOneClassSVM(OutlierMixin, LinearMachine):
    r"""Linear one-class SVM: the hyperplane farthest from the origin that has most rows beyond it.

    It minimises Schoelkopf's objective

    .. math:: \tfrac12 |w|^2 - \rho + \tfrac{1}{\nu \sum_i s_i} \sum_i s_i \max(0, \rho - \langle w, x_i \rangle)

    with s_i the weight of row i; rows with a score below rho are outliers. At most a fraction nu of
    the rows are outliers, and at least this fraction are support vectors. If the rows surround the
    origin, as centred data do, no hyperplane separates them from it: w = 0, rho = 0, and every row
    is an inlier.

    Parameters
    ----------
    nu : float, default=0.5
        An upper bound on the fraction of outliers and a lower bound on that of support vectors;
        above 0, at most 1.
    fit_intercept : bool, default=True
        Whether to fit rho; otherwise rho = 1.
    tol : float, default=1e-4
        The relative gap (primal - dual) / max(\|primal\|, \|dual\|) to reach and certify.
        If the optimum is 0, the gap is compared with 5e-13 times the largest \|x\|^2.
    intercept_scaling : float, default=1.0
        For ``intercept="penalized"``: the value s of the constant feature.
    verbose : bool or int, default=0
        If positive, the solver and the certificate are logged to the ``hedgerow`` logger.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order of coordinate descent; None is the same as 0.
    max_iter : int, default=1000
        The maximum number of iterations of the solver.
    intercept : {"free", "penalized"}, default="free"
        "penalized" adds (rho / intercept_scaling)^2 / 2 to the objective.
    solver : str, default="auto"
        The name of the solver (``hedgerow.solvers.SOLVERS``); "auto" chooses by shape, and
        ``solver_`` names the choice.
    solver_options : dict or None, default=None
        Options of the named solver.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Time limit of a fit in seconds, including the certificate; the best model so far is kept.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The normal vector w.
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    intercept_ : ndarray of shape (1,)
        -rho, the intercept of the hyperplane.
    alpha_ : ndarray of shape (1, n_samples)
        The dual variables, one per training row. With a free intercept they sum to 1; those of
        LIBSVM sum to nu n.
    at_bound_ : ndarray of bool of shape (1, n_samples)
        Which of them are at their bound s_i / (nu sum s); see also ``point_groups``.
    support_ : ndarray of int64
        The support vectors: rows with non-zero alpha.
    certificate_ : Certificate
        The proof of optimality.
    n_iter_ : int
        The number of iterations of the solver.
    status_ : str
        "optimal", or why the solver stopped early: "max_iter", "stalled", "time_limit",
        "interrupted" by Ctrl-C, or "stopped" by a callback.
    solver_ : str
        The solver that was used.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import LinearOneClassSVM
    >>> model = LinearOneClassSVM(nu=0.25).fit([[2, 0], [0, 2], [3, 3], [4, 3]])
    >>> model.coef_, model.offset_
    (array([[1., 1.]]), array([2.]))
    >>> model.predict([[1.5, 1.5], [0.5, 0.5]])
    array([ 1, -1])
    """

    _rules = _RULES

    def __init__(
        self,
        nu: float = 0.5,
        *,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        intercept_scaling: float = 1.0,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.nu = nu
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.solver_options = solver_options
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored; present for compatibility with scikit-learn.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        LinearOneClassSVM
            The fitted model itself. A NotCertifiedWarning is issued if the gap remains above ``tol``.
        """
        self._check()
        data = check_rows(self, X, sample_weight)
        problems = [self._one_class(data)]
        results = self._solve(problems, partial(_model_at, target=self._target))
        self._keep(problems, results)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return <w, x> for each row; larger scores are more typical.

        A score that equals rho up to rounding is returned as rho, so rows on the margin are inliers.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The scores.
        """
        scores = self._scores(X, np.zeros(1))[:, 0]
        on_margin = np.abs(scores - self.offset_) <= ON_MARGIN * np.abs(self.offset_)
        return np.where(on_margin, self.offset_, scores)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return <w, x> - rho for each row; negative for outliers.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The decision values.
        """
        scores: NDArray[np.float64] = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return -1 for each outlier and +1 for each inlier.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of int of shape (n_samples,)
            The predictions.
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def _target(self) -> float:
        """The target of the scores <w, x> + b of the problem: b = -rho, or rho = 1."""
        return 0.0 if self.fit_intercept else 1.0

    def _one_class(self, data: WeightedRows) -> LinearProblem:
        n_samples = len(data.sample_weight)
        return self._problem(
            self._matrix(data),
            y=np.ones(n_samples),
            targets=np.full(n_samples, self._target),
            weight=data.sample_weight / (self.nu * float(np.sum(data.sample_weight))),
            loss=Hinge(),
            pull=1.0 if self.fit_intercept else 0.0,
        )

    def _keep_planes(self, problems: list[LinearProblem], solutions: list[Solution]) -> None:
        """Set the hyperplane, whose intercept is -rho, and its alphas."""
        super()._keep_planes(problems, solutions)
        self.offset_ = self._target - self.intercept_
        self.intercept_ = -self.offset_


def _model_at(point: tuple[NDArray[np.float64], float], target: float) -> dict[str, Any]:
    """Return the attributes that are needed to predict."""
    w, intercept = point
    offset = np.array([target - intercept])
    return {"coef_": w[None, :], "intercept_": -offset, "offset_": offset}
