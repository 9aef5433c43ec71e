"""Linear support vector regression that chooses its C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score

from hedgerow._base.parameters import HUGE, one_of, real_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import numbers, truths
from hedgerow.data.training_data import RegressionData, check_regression_data
from hedgerow.linear._cross_validated import CV_RULES, FITTED_BY_FOLDS, CrossValidatedMachine
from hedgerow.linear._machine import FITTED_BY_SOLVER
from hedgerow.linear.svr import LinearSVR
from hedgerow.losses import REGRESSION_LOSSES
from hedgerow.monitor import monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems.linear import LinearProblem
from hedgerow.search.known_predictions import KnownRegressor

__all__ = ["LinearSVRCV"]

Vector = NDArray[np.float64]

_RULES = {
    **CV_RULES,
    "epsilon": real_number(0, HUGE),
    "penalty": one_of(*PENALTIES),
    "loss": one_of(*REGRESSION_LOSSES),
}


@stateful(
    _RULES,
    coef_=numbers("features"),
    intercept_=numbers("one"),
    alpha_=numbers("rows"),
    at_bound_=truths("rows"),
    **FITTED_BY_SOLVER,
    **FITTED_BY_FOLDS,
)
class LinearSVRCV(CrossValidatedMachine, LinearSVR):
    """LinearSVR whose C is chosen by cross-validation along a path.

    Parameters
    ----------
    Cs, cv, scoring, choice, scale, path_tol
        As for ``LinearSVCCV``; folds are not stratified, and ``scoring=None`` is the coefficient of
        determination.
    epsilon, tol, loss, fit_intercept, intercept_scaling, verbose, random_state, max_iter, intercept, \
penalty, solver, solver_options, n_jobs, max_time
        As for ``LinearSVR``.

    Attributes
    ----------
    C_, Cs_, scores_, gaps_, cv_results_
        As for ``LinearSVCCV``.
    coef_, intercept_, alpha_, support_, certificate_, n_iter_, status_, solver_
        Of the machine with the chosen C, as for ``LinearSVR``.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import LinearSVRCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVRCV(scale="standard").fit(X, y)
    >>> model.certificate_.is_certified, bool(model.score(X, y) > 0.5)
    (True, True)
    """

    _rules = _RULES
    _machine_class = LinearSVR

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] = 20,
        cv: Any = None,
        scoring: Any = None,
        choice: str = "best",
        scale: str | None = None,
        path_tol: float = 1e-3,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        penalty: str = "l2",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.choice = choice
        self.scale = scale
        self.path_tol = path_tol
        self.epsilon = epsilon
        self.tol = tol
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.penalty = penalty
        self.solver = solver
        self.solver_options = solver_options
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose C, and fit the machine with it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            The values.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows, in the folds as well.
        groups : array of shape (n_samples,) or None
            Which rows belong together, for splitters that ask for it.

        Returns
        -------
        LinearSVRCV
            Itself.
        """
        return self._choose_and_fit(X, y, sample_weight, groups)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> RegressionData:
        return check_regression_data(self, X, y, sample_weight)

    def _planes(self, data: RegressionData) -> list[LinearProblem]:
        return [self._at(1.0)._regression(data)]

    def _truth(self, data: RegressionData) -> Vector:
        return data.targets

    def _known(self, scores: Vector, data: RegressionData) -> BaseEstimator:  # noqa: ARG002
        return KnownRegressor(scores[:, 0])

    def _plain_score(self, scores: Vector, rows: NDArray[np.int64], data: RegressionData) -> float:
        weight = data.sample_weight[rows]
        return float(r2_score(data.targets[rows], scores[:, 0], sample_weight=weight))
