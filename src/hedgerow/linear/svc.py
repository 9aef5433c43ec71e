"""The linear support vector classifier."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hedgerow import _core
from hedgerow._base.parameters import any_of, class_weights, one_of, positive_number, true_or_false
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, labels, numbers, optional, several, truths
from hedgerow.calibrators.fold_scores import CalibratedScores
from hedgerow.calibrators.maps import METHODS, ScoreMap
from hedgerow.data.sparse_coef import SparseCoef
from hedgerow.data.targets import is_label_matrix
from hedgerow.data.training_data import (
    LabelMatrixData,
    TrainingData,
    check_classification_data,
    check_label_matrix_data,
)
from hedgerow.errors import ParameterError
from hedgerow.linear._machine import FITTED_BY_SOLVER, SUPERVISED_RULES
from hedgerow.linear._partial_fit import ClassifierByParts, PartialSums
from hedgerow.losses import ALL_CLASSES, LOSSES, Hinge, Loss, loss_by_name, own_loss
from hedgerow.monitor import monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems.certificates import Certificate
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.linear import LinearProblem
from hedgerow.reduction import (
    BinaryTask,
    check_all_at_once,
    labels_from_scores,
    one_task_per_label,
    reduction_by_name,
)

__all__ = ["LinearSVC"]

_RULES = {
    **SUPERVISED_RULES,
    "penalty": one_of(*PENALTIES),
    "loss": any_of(one_of(*LOSSES), own_loss(is_two_sided=False)),
    "C": positive_number(or_infinite=True),
    "multi_class": one_of("ovr", "ovo", "crammer_singer"),
    "class_weight": class_weights,
    "calibrate": one_of(None, *METHODS),
}


@stateful(
    _RULES,
    coef_=numbers("planes", "features", or_sparse=True),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes", or_pairs=True),
    multilabel_=optional(true_or_false),
    alpha_=optional(numbers("planes", "rows", low=0.0)),
    at_bound_=optional(truths("planes", "rows")),
    certificates_=several(tuple, "planes", instance_of(Certificate), or_one=True),
    probability_maps_=optional(several(tuple, "maps", instance_of(ScoreMap))),
    partial_sums_=optional(instance_of(PartialSums)),
    **FITTED_BY_SOLVER,
)
class LinearSVC(SparseCoef, ClassifierMixin, CalibratedScores, ClassifierByParts):
    r"""Linear support vector classifier whose fit ends with a certificate.

    For each binary problem it minimises

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \, loss(y_i (\langle w, x_i \rangle + b))

    with loss(m) = max(0, 1 - m), its square, or log(1 + e^-m), and s_i the weight of row i. More than
    two classes are handled one-vs-rest, one-vs-one or jointly, and multilabel targets one label at
    a time.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        The penalty on w: 1/2 \|w\|^2, or the sum of \|w_j\|, which makes many of them 0 and needs
        loss="squared_hinge" or "logistic".
    loss : {"hinge", "squared_hinge", "logistic"} or Loss, default="squared_hinge"
        The loss of the functional margin, by name or as a smooth :class:`hedgerow.losses.Loss` of
        your own.
    dual : {"auto", True, False}, default="auto"
        Accepted for compatibility with scikit-learn; every solver here returns the primal and the
        dual solution.
    tol : float, default=1e-4
        The relative gap (primal - dual) / max(\|primal\|, \|dual\|) to reach and certify.
    C : float, default=1.0
        The factor of the losses; a larger C means less regularisation. Infinity means a hard
        margin; a NotSeparableError with a proof is raised if no hyperplane separates the classes.
    multi_class : {"ovr", "ovo", "crammer_singer"}, default="ovr"
        One-vs-rest; one-vs-one, with a hyperplane for each pair of classes, fitted to the rows of
        the pair; or all classes jointly, which minimises
        1/2 sum_k \|w_k\|^2 + C sum_i s_i max(0, 1 - score of the row's class + largest other score).
        The latter always uses the hinge and the l2 penalty; losses other than the hinges are
        refused.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1.0
        For ``intercept="penalized"``: the value s of the constant feature.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
        Classes missing from a dictionary have weight 1, and it may contain classes that y does not
        have.
        With multilabel targets the classes are 0 and 1, for each label.
    verbose : bool or int, default=0
        If positive, the solver and the certificate are logged to the ``hedgerow`` logger.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order of coordinate descent; None is the same as 0.
    max_iter : int, default=1000
        The maximum number of iterations of the solver.
    intercept : {"free", "penalized"}, default="free"
        A free intercept is not penalised, as in the textbook and LIBSVM; "penalized" adds
        (b / intercept_scaling)^2 / 2 to the objective, as LIBLINEAR and scikit-learn's LinearSVC do.
    reg_lambda : float or None, default=None
        The other parametrisation, lambda \|w\|^2 + weighted mean of the losses; C is then 1 / (2
        lambda sum of the weights). Giving both is an error.
    solver : str, default="auto"
        The name of the solver (``hedgerow.solvers.SOLVERS``); "auto" chooses by loss and shape,
        and ``solver_`` names the choice.
    solver_options : dict or None, default=None
        Options of the named solver.
    calibrate : {"sigmoid", "isotonic", None}, default=None
        Whether to provide probabilities, and the map from scores to probabilities, learnt from the
        scores of 5 folds; ``predict`` then follows them.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Time limit of a fit in seconds, including the certificate; the best model so far is kept.

    Attributes
    ----------
    coef_ : ndarray of shape (n_planes, n_features)
        The normal vectors w: one for two classes, otherwise one per class or label, or with
        ``multi_class="ovo"`` one per pair of classes, (0, 1), (0, 2), ..., (1, 2), ..., positive
        for the second.
    intercept_ : ndarray of shape (n_planes,)
        The intercepts b.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with multilabel targets, their columns.
    multilabel_ : bool
        Whether the targets are multilabel.
    alpha_ : ndarray of shape (n_planes, n_samples)
        The dual variables, one per training row: w is the sum of y_i alpha_i x_i with y_i = 1 for
        rows of the class of the hyperplane and -1 for others. ``fit_files`` keeps them up to a
        certain size.
    at_bound_ : ndarray of bool, of the shape of alpha_
        Which of them are at their bound C s_i, which only the hinge has; see also ``point_groups``.
    support_ : ndarray of int64
        The support vectors: rows with non-zero alpha; not available for the logistic loss.
    certificate_ : Certificate
        The proof of optimality; the worst one of several binary problems.
    certificates_ : tuple of Certificate
        One for each binary problem; a single one with ``multi_class="crammer_singer"``.
    probability_maps_ : tuple of ScoreMap
        With ``calibrate``: the maps from scores to probabilities.
    n_iter_ : int
        The number of iterations of the solver, the maximum over the binary problems.
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
        loss: str | Loss = "squared_hinge",
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
        calibrate: str | None = None,
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
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,), or array or sparse matrix of shape (n_samples, n_labels)
            The classes; or, for several labels a row, 1 for each label that it has, else 0.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        LinearSVC
            The fitted model itself. A NotCertifiedWarning is issued if the gap remains above ``tol``.
        """
        self._check()
        data = self._data(X, y, sample_weight)
        problems, classes = self._problems(data)
        folds = self._folds(data)
        del data  # of the checked data a fit needs no more than these
        self.multilabel_ = is_label_matrix(y)
        fixed: dict[str, Any] = {"classes_": classes, "multilabel_": self.multilabel_}
        with self._time_beside(folds):
            results = self._solve(problems, partial(self._model_at, **fixed))
        self.classes_ = classes
        self._keep(problems, results)
        self._learn_probabilities(folds)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores <w, x> + b: shape (n,) for two classes, else (n, n_classes).

        With ``multi_class="ovo"`` the score of a class is its number of votes, and less than 1/3 that
        grows with the sum of its scores against the others. Of several labels: shape (n, n_labels).
        """
        scores = self._class_scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row: the class of the largest score, or probability if calibrated.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_labels)
            The labels; for multilabel targets a matrix with 1 for each label whose score is above 0.
        """
        if hasattr(self, "probability_maps_"):
            return self._most_probable(X)
        scores = self._class_scores(X)
        if self._is_multilabel:
            return (scores > 0.0).astype(np.int64)
        return labels_from_scores(scores, self.classes_)

    def _state_problem(self) -> str | None:
        """Say why the planes could not tell classes or labels from each other."""
        n_classes, n_planes = len(self.classes_), self.coef_.shape[0]
        of_classes = reduction_by_name(self.multi_class).n_tasks(n_classes)
        expected = n_classes if self._is_multilabel else of_classes
        if n_planes != expected:
            return f"coef_ has {n_planes} planes where {expected} must be"
        return super()._state_problem()

    @property
    def _is_multilabel(self) -> bool:
        """Whether rows have several labels; models of versions that did not know them lack the word."""
        return getattr(self, "multilabel_", False)

    def _class_scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes or labels, one column for two classes."""
        scores = self._scores(X)
        if self._is_multilabel:
            return scores
        return reduction_by_name(self.multi_class).class_scores(scores, len(self.classes_))

    def _check(self) -> None:
        super()._check()
        if self.multi_class == "crammer_singer":
            losses, penalties = ("hinge", "squared_hinge"), ("l2",)
            has = "the hinge and the l2 penalty"
            check_all_at_once(self, has, loss=losses, penalty=penalties)

    def _data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData | LabelMatrixData:
        """Return the checked data: a class a row, or several labels."""
        if not is_label_matrix(y):
            return check_classification_data(self, X, y, sample_weight, self.class_weight)
        if self.multi_class != "ovr":
            msg = (
                f"multi_class={self.multi_class!r} needs one class a row, but y has {np.shape(y)[1]} columns, "
                "a label each; use multi_class='ovr'"
            )
            raise ParameterError(msg)
        if self.calibrate is not None:
            msg = f"calibrate={self.calibrate!r} needs one class a row, but y has {np.shape(y)[1]} columns; leave it out, or fit a machine a label"
            raise ParameterError(msg)
        return check_label_matrix_data(self, X, y, sample_weight, self.class_weight)

    def _problems(
        self, data: TrainingData | LabelMatrixData
    ) -> tuple[list[LinearProblem], NDArray[Any]]:
        """Return the problems that the classes or labels are, and what these are called."""
        matrix = self._matrix(data)
        if isinstance(data, LabelMatrixData):
            tasks = one_task_per_label(data)
            return self._binary(matrix, tasks), np.arange(data.has_label.shape[1])
        if self.multi_class == "crammer_singer":
            return [self._all_at_once(matrix, data)], data.classes
        tasks = reduction_by_name(self.multi_class).tasks(data)
        return self._binary(matrix, tasks), data.classes

    def _binary(self, matrix: _core.data.Matrix, tasks: list[BinaryTask]) -> list[LinearProblem]:
        """Return the problem of each task; a label with one value only is a constant plane."""
        parts: dict[str, Any] = {
            "loss": loss_by_name(self.loss),
            "penalty": PENALTIES[self.penalty],
        }
        if len(tasks) > 1:
            parts["n_threads"] = 1
        problems: list[LinearProblem] = []
        for task in tasks:
            parts |= {"y": task.y, "weight": self._row_weights(task.sample_weight)}
            problem = self._problem(matrix, **parts)
            if task.is_constant:  # only a free intercept makes it so
                problem = replace(problem, intercept="free")
            if math.isinf(self.C):
                problem = HardMarginProblem.of(problem, task.sides)
            problems.append(problem)
        return problems

    def _all_at_once(self, matrix: _core.data.Matrix, data: TrainingData) -> LinearProblem:
        """Return the problem of Crammer and Singer; of two classes, the hinge with 2 C."""
        weight = self._row_weights(data.sample_weight)
        if len(data.classes) == 2:
            signs = np.where(data.y == 1, 1.0, -1.0)
            return self._problem(matrix, y=signs, weight=2.0 * weight, loss=Hinge())
        linear = self._problem(matrix, y=data.y.astype(np.float64), weight=weight, loss=ALL_CLASSES)
        return CrammerSingerProblem.of(linear, len(data.classes))

    def __sklearn_tags__(self) -> Any:
        """Say that a row may have several labels, one against the rest."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.multi_class == "ovr" and self.calibrate is None
        return tags
