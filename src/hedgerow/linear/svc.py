"""The linear support vector classifier."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hedgerow._parameters import one_of, real_number
from hedgerow._state import stateful
from hedgerow._state.rules import instance_of, labels, numbers, optional, several, truths
from hedgerow._targets import labels_from_scores, one_vs_rest_signs
from hedgerow._validation import TrainingData, check_classification_data
from hedgerow.certificates import Certificate
from hedgerow.errors import ParameterError
from hedgerow.linear._hard_margin import hard_margins
from hedgerow.linear._machine import FITTED_BY_SOLVER, SUPERVISED_RULES
from hedgerow.linear._partial_fit import ClassifierByParts, PartialSums
from hedgerow.losses import LOSSES, loss_by_name
from hedgerow.monitor import monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems import LinearProblem

__all__ = ["LinearSVC"]

_RULES = {
    **SUPERVISED_RULES,
    "penalty": one_of(*PENALTIES),
    "loss": one_of(*LOSSES),
    "C": real_number(0, open_low=True, or_infinite=True),
    "multi_class": one_of("ovr"),
}


@stateful(
    _RULES,
    coef_=numbers("planes", "features"),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    alpha_=numbers("planes", "rows", low=0.0),
    at_bound_=optional(truths("planes", "rows")),
    certificates_=several(tuple, "planes", instance_of(Certificate)),
    partial_sums_=optional(instance_of(PartialSums)),
    **FITTED_BY_SOLVER,
)
class LinearSVC(ClassifierMixin, ClassifierByParts):
    r"""Linear support vector classifier whose fit ends with a certificate.

    For each binary problem it minimises

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \, loss(y_i (\langle w, x_i \rangle + b))

    with loss(m) = max(0, 1 - m), its square, or log(1 + e^-m), and s_i the weight of row i. More than
    two classes are handled one against the rest.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        The penalty on w: 1/2 \|w\|^2, or the sum of \|w_j\|, which makes many of them 0; the latter with
        loss="squared_hinge" or "logistic".
    loss : {"hinge", "squared_hinge", "logistic"}, default="squared_hinge"
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
        How to solve, by name (``hedgerow.solvers.SOLVERS``); "auto" picks by loss and shape, and
        ``solver_`` says what it picked.
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
    at_bound_ : ndarray of bool, of the shape of alpha_
        Which of them are at their bound C s_i, as a hinge has one; see also ``point_groups``.
    support_ : ndarray of int64
        The support vectors: rows with an alpha other than 0; none are told for the logistic loss.
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
    partial_sums_ : PartialSums
        After ``partial_fit``: what all rows given so far add up to.
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

    _rules = _RULES

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
        # The checked data are not kept: of them a fit needs no more than the problems and the classes.
        problems, classes = self._problems(
            check_classification_data(self, X, y, sample_weight, self.class_weight)
        )
        results = self._solve(problems, partial(_model_at, classes=classes))
        self.classes_ = classes
        self.certificates_ = tuple(certificate for _, certificate in results)
        self._keep(problems, results)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores <w, x> + b: shape (n,) for two classes, else (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row: the class with the largest score."""
        return labels_from_scores(self._scores(X), self.classes_)

    def _check(self) -> None:
        super()._check()
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            msg = f"class_weight={self.class_weight!r} is not known; give 'balanced', a dictionary or None"
            raise ParameterError(msg)

    def _problems(self, data: TrainingData) -> tuple[list[LinearProblem], NDArray[Any]]:
        """Return one problem for two classes, else one a class; and the classes."""
        matrix, signs = self._matrix(data), one_vs_rest_signs(data.y, len(data.classes))
        parts: dict[str, Any] = {
            "weight": self._row_weights(data.sample_weight),
            "loss": loss_by_name(self.loss),
            "penalty": PENALTIES[self.penalty],
        }
        if len(signs) > 1:
            parts["n_threads"] = 1
        problems = [self._problem(matrix, y=sign, **parts) for sign in signs]
        if np.isinf(self.C):
            problems = hard_margins(problems, data.classes)
        return problems, data.classes


def _model_at(point: tuple[NDArray[np.float64], float], classes: NDArray[Any]) -> dict[str, Any]:
    """Return the attributes with which a machine for two classes predicts."""
    w, intercept = point
    return {"coef_": w[None, :], "intercept_": np.array([intercept]), "classes_": classes}
