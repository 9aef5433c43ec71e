"""The linear support vector regressor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hedgerow._base.parameters import HUGE, any_of, one_of, real_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, numbers, optional, truths
from hedgerow.data.training_data import RegressionData, check_regression_data
from hedgerow.linear._machine import FITTED_BY_SOLVER, SUPERVISED_RULES
from hedgerow.linear._partial_fit import PartialSums, RegressorByParts
from hedgerow.losses import REGRESSION_LOSSES, Loss, own_loss, regression_loss
from hedgerow.monitor import monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems.base import Solution
from hedgerow.problems.linear import LinearProblem

__all__ = ["LinearSVR"]

_RULES = {
    **SUPERVISED_RULES,
    "epsilon": real_number(0, HUGE),
    "loss": any_of(one_of(*REGRESSION_LOSSES), own_loss(is_two_sided=True)),
    "penalty": one_of(*PENALTIES),
}


@stateful(
    _RULES,
    coef_=numbers("features"),
    intercept_=numbers("one"),
    alpha_=optional(numbers("rows")),
    at_bound_=optional(truths("rows")),
    partial_sums_=optional(instance_of(PartialSums)),
    **FITTED_BY_SOLVER,
)
class LinearSVR(RegressorMixin, RegressorByParts):
    r"""Linear support vector regressor whose fit ends with a certificate.

    It minimises

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \, loss(t_i - \langle w, x_i \rangle - b)

    with loss(r) = max(0, \|r\| - epsilon) or its square, t_i the target and s_i the weight of row i.

    Parameters
    ----------
    epsilon : float, default=0.0
        Residuals up to epsilon have no loss; in units of y.
    tol : float, default=1e-4
        The relative gap (primal - dual) / max(\|primal\|, \|dual\|) to reach and certify.
    C : float, default=1.0
        The factor of the losses; a larger C means less regularisation.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"} or Loss, default="epsilon_insensitive"
        The loss of the residual, by name or as a smooth :class:`hedgerow.losses.Loss` of your own, which
        ignores ``epsilon``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1.0
        For ``intercept="penalized"``: the value s of the constant feature.
    dual : {"auto", True, False}, default="auto"
        Accepted for compatibility with scikit-learn; every solver here returns the primal and the
        dual solution.
    verbose : bool or int, default=0
        If positive, the solver and the certificate are logged to the ``hedgerow`` logger.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order of coordinate descent; None is the same as 0.
    max_iter : int, default=1000
        The maximum number of iterations of the solver.
    intercept : {"free", "penalized"}, default="free"
        A free intercept is not penalised, as in the textbook and LIBSVM; "penalized" adds
        (b / intercept_scaling)^2 / 2 to the objective, as LIBLINEAR and scikit-learn's LinearSVR do.
    penalty : {"l2", "l1"}, default="l2"
        The penalty on w: 1/2 \|w\|^2, or the sum of \|w_j\|, which makes many of them 0 and needs
        loss="squared_epsilon_insensitive".
    reg_lambda : float or None, default=None
        The other parametrisation, lambda \|w\|^2 + weighted mean of the losses; C is then 1 / (2
        lambda sum of the weights). Giving both is an error.
    solver : str, default="auto"
        The name of the solver (``hedgerow.solvers.SOLVERS``); "auto" chooses by loss and shape,
        and ``solver_`` names the choice.
    solver_options : dict or None, default=None
        Options of the named solver.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Time limit of a fit in seconds, including the certificate; the best model so far is kept.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The coefficients w.
    intercept_ : ndarray of shape (1,)
        The intercept b.
    alpha_ : ndarray of shape (n_samples,)
        The dual variables: positive where the target is above the prediction, negative below.
    at_bound_ : ndarray of bool of shape (n_samples,)
        Which of them are at a bound, C s_i or -C s_i; see also ``point_groups``.
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
    partial_sums_ : PartialSums
        After ``partial_fit``: sums over all rows given so far.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import LinearSVR
    >>> model = LinearSVR(epsilon=0.5, C=10.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([0.5]), array([0.5]))
    >>> model.predict([[4.0]])
    array([2.5])
    """

    _rules = _RULES

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str | Loss = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: str | bool = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        penalty: str = "l2",
        reg_lambda: float | None = None,
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.penalty = penalty
        self.reg_lambda = reg_lambda
        self.solver = solver
        self.solver_options = solver_options
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        LinearSVR
            The fitted model itself. A NotCertifiedWarning is issued if the gap remains above ``tol``.
        """
        self._check()
        data = check_regression_data(self, X, y, sample_weight)
        problems = [self._regression(data)]
        self._keep(problems, self._solve(problems, self._model_at))
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the prediction <w, x> + b for each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions.
        """
        return self._scores(X)[:, 0]

    def _regression(self, data: RegressionData) -> LinearProblem:
        return self._problem(
            self._matrix(data),
            y=np.ones(len(data.targets)),
            targets=data.targets,
            weight=self._row_weights(data.sample_weight),
            loss=regression_loss(self.loss, float(self.epsilon)),
            penalty=PENALTIES[self.penalty],
        )

    def _keep_planes(self, problems: list[LinearProblem], solutions: list[Solution]) -> None:
        """Set the coefficients and the alphas in the shapes of scikit-learn's regressors."""
        super()._keep_planes(problems, solutions)
        self.coef_, self.alpha_, self.at_bound_ = self.coef_[0], self.alpha_[0], self.at_bound_[0]
