"""The linear one-class machine."""

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
"""A score this near to rho, relatively, differs from it by rounding."""

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
    r"""Linear one-class machine: the plane farthest from the origin with most rows beyond it.

    It minimises Schoelkopf's objective

    .. math:: \tfrac12 |w|^2 - \rho + \tfrac{1}{\nu \sum_i s_i} \sum_i s_i \max(0, \rho - \langle w, x_i \rangle)

    with s_i the weight of row i; rows with a score below rho are outliers. At most the share nu of the
    rows are outliers, and at least that share are support vectors. If the rows surround the origin, as
    centred data do, no plane separates them from it: w = 0, rho = 0, and every row counts as inside.

    Parameters
    ----------
    nu : float, default=0.5
        Bounds the share of outliers from above and that of support vectors from below; above 0, at
        most 1.
    fit_intercept : bool, default=True
        Whether rho is fitted; if not, rho = 1.
    tol : float, default=1e-4
        Stop when (primal - dual) / max(\|primal\|, \|dual\|) is at most this, and certify that it is.
        Where the optimum is 0 the gap is held against 5e-13 times the largest \|x\|^2.
    intercept_scaling : float, default=1.0
        For ``intercept="penalized"``: the value s of the constant feature that carries it.
    verbose : bool or int, default=0
        If positive, the solver that ran and the certificate go to the ``hedgerow`` logger.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the order of coordinate descent; None is the same as 0.
    max_iter : int, default=1000
        Most iterations of the solver.
    intercept : {"free", "penalized"}, default="free"
        "penalized" adds (rho / intercept_scaling)^2 / 2 to the objective.
    solver : str, default="auto"
        How to solve, by name (``hedgerow.solvers.SOLVERS``); "auto" picks by shape, and ``solver_``
        says what it picked.
    solver_options : dict or None, default=None
        Options that the named solver alone has.
    n_jobs : int or None, default=None
        Threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Seconds that a fit may take, its certificate included; it then keeps the best it has.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The normal vector w.
    offset_ : ndarray of shape (1,)
        rho: ``decision_function = score_samples - offset_``.
    intercept_ : ndarray of shape (1,)
        -rho, the intercept of the plane.
    alpha_ : ndarray of shape (1, n_samples)
        The dual variables, one a row of the training data. They sum to 1, where LIBSVM's sum to
        nu n, if the intercept is free.
    at_bound_ : ndarray of bool of shape (1, n_samples)
        Which of them are at their bound s_i / (nu sum s); see also ``point_groups``.
    support_ : ndarray of int64
        The support vectors: rows with an alpha other than 0.
    certificate_ : Certificate
        The proof of quality.
    n_iter_ : int
        Iterations of the solver.
    status_ : str
        "optimal", or why the solver stopped before: "max_iter", "stalled", "time_limit",
        "interrupted" by Ctrl-C, or "stopped" by a callback.
    solver_ : str
        The solver that ran.
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
        """Fit the machine and certify it.

        Parameters
        ----------
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Not used; there for scikit-learn's sake.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        LinearOneClassSVM
            Itself. A NotCertifiedWarning says so if a gap above ``tol`` remains.
        """
        self._check()
        data = check_rows(self, X, sample_weight)
        problems = [self._one_class(data)]
        results = self._solve(problems, partial(_model_at, target=self._target))
        self._keep(problems, results)
        return self

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return <w, x> for each row: the larger, the more it is one of them.

        A score that is rho but for rounding is given as rho, so that rows on the margin count as
        inside, whatever their last bits.
        """
        scores = self._scores(X, np.zeros(1))[:, 0]
        on_margin = np.abs(scores - self.offset_) <= ON_MARGIN * np.abs(self.offset_)
        return np.where(on_margin, self.offset_, scores)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores <w, x> - rho of each row: negative for outliers."""
        scores: NDArray[np.float64] = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return -1 for each outlier, and +1 for each other row."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    @property
    def _target(self) -> float:
        """What the scores <w, x> + b of the problem are held against: b = -rho, or rho = 1."""
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
        """Set the plane, whose intercept is -rho, and its alphas."""
        super()._keep_planes(problems, solutions)
        self.offset_ = self._target - self.intercept_
        self.intercept_ = -self.offset_


def _model_at(point: tuple[NDArray[np.float64], float], target: float) -> dict[str, Any]:
    """Return the attributes with which a machine predicts."""
    w, intercept = point
    offset = np.array([target - intercept])
    return {"coef_": w[None, :], "intercept_": -offset, "offset_": offset}
