"""The linear support vector classifier."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from hedgerow import _core
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow._parameters import (
    any_of,
    check_parameters,
    check_seed,
    none,
    one_of,
    real_number,
    short_text,
    true_or_false,
    whole_number,
)
from hedgerow._state import stateful
from hedgerow._state.rules import instance_of, labels, numbers, several
from hedgerow._targets import labels_from_scores, one_vs_rest_signs
from hedgerow._validation import TrainingData, check_classification_data, check_prediction_data
from hedgerow.certificates import Certificate, certify, worst
from hedgerow.errors import NotCertifiedWarning, NotSeparableError, ParameterError, warn_user
from hedgerow.linear._hard_margin import hard_margins, not_separable
from hedgerow.losses import LOSSES, loss_by_name
from hedgerow.monitor import CallbackSupport, current, monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems import LinearProblem
from hedgerow.solvers import SOLVERS, Settings, Solution, solve

__all__ = ["LinearSVC"]

_log = logging.getLogger("hedgerow")

_BY_RANK = ("optimal", "approximate", "max_iter", "stalled", "stopped", "time_limit", "interrupted")
"""How a fit can end, the worst last."""

_RULES = {
    "penalty": one_of(*PENALTIES),
    "loss": one_of(*LOSSES),
    "dual": one_of("auto", True, False),
    "tol": real_number(0, open_low=True),
    "C": real_number(0, open_low=True, or_infinite=True),
    "multi_class": one_of("ovr"),
    "fit_intercept": true_or_false,
    "intercept_scaling": real_number(0, open_low=True),
    "verbose": whole_number(0),
    "max_iter": whole_number(1),
    "intercept": one_of("free", "penalized"),
    "solver": one_of("auto", *SOLVERS),
}


@stateful(
    _RULES | {"reg_lambda": any_of(none, real_number(0, open_low=True))},
    coef_=numbers("planes", "features"),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    alpha_=numbers("planes", "rows", low=0.0),
    n_iter_=whole_number(0),
    status_=short_text,
    solver_=short_text,
    certificate_=instance_of(Certificate),
    certificates_=several(tuple, "planes", instance_of(Certificate)),
)
class LinearSVC(CallbackSupport, ClassifierMixin, BaseEstimator):
    r"""Linear support vector classifier whose fit ends with a certificate.

    For each binary problem it minimises

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \, loss(y_i (\langle w, x_i \rangle + b))

    with loss(m) = max(0, 1 - m) or its square and s_i the weight of row i. More than two classes are
    handled one against the rest.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        The penalty on w: 1/2 \|w\|^2, or the sum of \|w_j\|, which makes many of them 0; the latter with
        loss="squared_hinge" or "logistic".
    loss : {"hinge", "squared_hinge"}, default="squared_hinge"
        The loss of the functional margin.
    dual : {"auto", True, False}, default="auto"
        Taken for scikit-learn's sake; every solver here returns the primal and the dual solution.
    tol : float, default=1e-4
        Stop when (primal - dual) / max(\|primal\|, \|dual\|) is at most this, and certify that it is.
    C : float, default=1.0
        Weight of the losses; the larger, the less the model is held back. Infinity asks for a hard
        margin: a NotSeparableError with a proof if no plane separates the classes.
    multi_class : {"ovr"}, default="ovr"
        One against the rest.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, default=1.0
        For ``intercept="penalized"``: the value s of the constant feature that carries it.
    class_weight : dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced" gives all classes equal weight.
    verbose : int, default=0
        If positive, the solver that ran and the certificate go to the ``hedgerow`` logger.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the order of coordinate descent.
    max_iter : int, default=1000
        Most iterations of the solver.
    intercept : {"free", "penalized"}, default="free"
        A free intercept is not penalised, as in the textbook and LIBSVM; "penalized" adds
        (b / intercept_scaling)^2 / 2 to the objective, as LIBLINEAR and scikit-learn's LinearSVC do.
    reg_lambda : float or None, default=None
        The other parametrisation, lambda \|w\|^2 + weighted mean of the losses; replaces C by
        1 / (2 lambda sum of the weights). Giving both is an error.
    solver : str, default="auto"
        How to solve, by name (``hedgerow.SOLVERS``); "auto" picks by loss and shape, and ``solver_``
        says what it picked.
    solver_options : dict or None, default=None
        Options that the named solver alone has.
    n_jobs : int or None, default=None
        Threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Seconds that a fit may take, its certificate included; it then keeps the best it has.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The normal vectors w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts b.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    alpha_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The dual variables, one a row of the training data.
    certificate_ : Certificate
        The proof of quality; of several binary problems, the worst one's.
    certificates_ : tuple of Certificate
        One for each binary problem.
    n_iter_ : int
        Iterations of the solver, the most over the binary problems.
    status_ : str
        "optimal", or why the solver stopped before: "max_iter", "stalled", "time_limit",
        "interrupted" by Ctrl-C, or "stopped" by a callback.
    solver_ : str
        The solver that ran.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import LinearSVC
    >>> model = LinearSVC(loss="hinge", C=5 / 16)
    >>> model = model.fit([[1, 2], [-1, 2], [-1, -2], [3, 1]], [-1, -1, 1, 1])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[ 0.375, -0.5  ]]), array([0.375]))
    >>> model.certificate_.is_certified
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: str | bool = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        reg_lambda: float | None = None,
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.reg_lambda = reg_lambda
        self.solver = solver
        self.solver_options = solver_options
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine and certify it.

        Parameters
        ----------
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        LinearSVC
            Itself. A NotCertifiedWarning says so if a gap above ``tol`` remains.
        """
        self._check()
        data = check_classification_data(self, X, y, sample_weight, self.class_weight)
        problems = self._problems(data)
        if len(problems) == 1:
            current().model_at = partial(_model_at, classes=data.classes)
        results = self._solve(problems)
        self._keep(data, results)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores <w, x> + b: shape (n,) for two classes, else (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row: the class with the largest score."""
        return labels_from_scores(self._scores(X), self.classes_)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        matrix = check_prediction_data(self, X)
        return _core.scores(matrix, self.coef_, self.intercept_, check_n_threads(self.n_jobs))

    def _check(self) -> None:
        check_parameters(self, _RULES)
        if self.reg_lambda is not None:
            check_parameters(self, {"reg_lambda": real_number(0, open_low=True)})
            if self.C != 1.0:
                msg = f"C={self.C} and reg_lambda={self.reg_lambda} say the same thing twice; give one of them"
                raise ParameterError(msg)
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            msg = f"class_weight={self.class_weight!r} is not known; give 'balanced', a dictionary or None"
            raise ParameterError(msg)

    def _problems(self, data: TrainingData) -> list[LinearProblem]:
        """Return one problem for two classes, else one a class."""
        C = 1.0 if np.isinf(self.C) else self.C
        if self.reg_lambda is not None:
            C = 1.0 / (2.0 * self.reg_lambda * float(np.sum(data.sample_weight)))
        signs = one_vs_rest_signs(data.y, len(data.classes))
        n_threads = check_n_threads(self.n_jobs)
        problems = [
            LinearProblem(
                matrix=data.matrix,
                y=sign,
                weight=C * data.sample_weight,
                loss=loss_by_name(self.loss),
                intercept=self.intercept if self.fit_intercept else "none",  # type: ignore[arg-type]
                intercept_scaling=float(self.intercept_scaling),
                n_threads=n_threads if len(signs) == 1 else 1,
                penalty=PENALTIES[self.penalty],
            )
            for sign in signs
        ]
        return hard_margins(problems, data.classes) if np.isinf(self.C) else problems

    def _solve(self, problems: list[LinearProblem]) -> list[tuple[Solution, Certificate]]:
        """Solve and certify every problem; several problems run side by side."""
        settings = Settings(
            float(self.tol),
            int(self.max_iter),
            check_seed(self.random_state),
            dict(self.solver_options or {}),
        )
        solve_one = partial(_solve_and_certify, settings=settings, solver=self.solver)
        return list(side_by_side(solve_one, problems, check_n_threads(self.n_jobs)))

    def _keep(self, data: TrainingData, results: list[tuple[Solution, Certificate]]) -> None:
        """Set the fitted attributes, and warn if a certificate is missing."""
        solutions = [solution for solution, _ in results]
        self.classes_ = data.classes
        self.coef_ = np.array([solution.w for solution in solutions])
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.alpha_ = np.array([solution.alpha for solution in solutions])
        self.certificates_ = tuple(certificate for _, certificate in results)
        self.certificate_ = worst(self.certificates_)
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        self.status_ = max((solution.status for solution in solutions), key=_BY_RANK.index)
        self.solver_ = "+".join(sorted({solution.solver for solution in solutions} - {"constant"}))
        if self.verbose:
            _log.info("%s by %s in %d iterations", self.certificate_, self.solver_, self.n_iter_)
        # Whoever stopped the fit by hand or by a callback needs no telling.
        if not self.certificate_.is_certified and self.status_ not in ("interrupted", "stopped"):
            more = "max_time" if self.status_ == "time_limit" else "max_iter"
            advice = f"raise {more} or tol, lower C, or scale the features"
            warn_user(f"{self.certificate_} To close the gap, {advice}.", NotCertifiedWarning)

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _solve_and_certify(
    problem: LinearProblem, settings: Settings, solver: str
) -> tuple[Solution, Certificate]:
    try:
        solution = solve(problem, settings, solver)
    except NotSeparableError as error:
        raise not_separable(problem, error) from None
    return solution, certify(problem, solution, settings.tol)


def _model_at(point: tuple[NDArray[np.float64], float], classes: NDArray[Any]) -> dict[str, Any]:
    """Return the attributes with which a machine for two classes predicts."""
    w, intercept = point
    return {"coef_": w[None, :], "intercept_": np.array([intercept]), "classes_": classes}
