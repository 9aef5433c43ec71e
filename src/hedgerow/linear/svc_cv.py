"""The linear support vector classifier that chooses its C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hedgerow._base.parameters import class_weights, one_of
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, labels, numbers, optional, several, truths
from hedgerow.calibrators.maps import METHODS, ScoreMap
from hedgerow.data.training_data import TrainingData, check_classification_data, class_factors
from hedgerow.linear._cross_validated import CV_RULES, FITTED_BY_FOLDS, CrossValidatedMachine
from hedgerow.linear._machine import FITTED_BY_SOLVER
from hedgerow.linear.svc import LinearSVC
from hedgerow.losses import LOSSES
from hedgerow.monitor import monitored_fit
from hedgerow.penalties import PENALTIES
from hedgerow.problems.certificates import Certificate
from hedgerow.problems.linear import LinearProblem
from hedgerow.reduction import labels_from_scores
from hedgerow.search.known_predictions import KnownClassifier

__all__ = ["LinearSVCCV"]

Vector = NDArray[np.float64]

_RULES = {
    **CV_RULES,
    "penalty": one_of(*PENALTIES),
    "loss": one_of(*LOSSES),
    "multi_class": one_of("ovr"),
    "class_weight": class_weights,
    "calibrate": one_of(None, *METHODS),
}


@stateful(
    _RULES,
    coef_=numbers("planes", "features", or_sparse=True),
    intercept_=numbers("planes"),
    classes_=labels("classes", one_vs_rest="planes"),
    alpha_=numbers("planes", "rows", low=0.0),
    at_bound_=optional(truths("planes", "rows")),
    certificates_=several(tuple, "planes", instance_of(Certificate)),
    probability_maps_=optional(several(tuple, "maps", instance_of(ScoreMap))),
    **FITTED_BY_SOLVER,
    **FITTED_BY_FOLDS,
)
class LinearSVCCV(CrossValidatedMachine, LinearSVC):
    """LinearSVC whose C is chosen by cross-validation along a path.

    Each fold is solved for all values of C in ascending order, each solution being the starting
    point for the next; the model with the chosen C is then fitted to all rows and certified.

    Parameters
    ----------
    Cs : int or sequence of float, default=20
        The values of C to try. A number of them is spread over six decades around 1 over the mean
        squared length of the rows.
    cv : int, splitter, iterable or None, default=None
        The folds, as in scikit-learn; None means five stratified folds.
    scoring : str, callable or None, default=None
        The score to maximise, as in scikit-learn; None means the weighted accuracy.
    choice : {"best", "one_standard_error"}, default="best"
        The C with the best mean score, or the smallest one whose mean is within one standard error
        of it.
    scale : {"standard", "minmax", None}, default=None
        Scale the columns, estimated in each fold on its training rows (sparse rows are not
        shifted); the scaling is folded into ``coef_`` and ``intercept_``.
    path_tol : float, default=1e-3
        The relative gap to which folds are solved; ``tol`` is for the final model.
    penalty, loss, tol, multi_class, fit_intercept, intercept_scaling, class_weight, verbose, \
random_state, max_iter, intercept, calibrate, solver, solver_options, n_jobs, max_time
        As for ``LinearSVC``.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray
        The values tried, ascending.
    scores_ : ndarray of shape (n_values, n_folds)
        The score of each.
    gaps_ : ndarray of shape (n_values, n_folds)
        The relative gap at which each was scored.
    cv_results_ : dict
        The scores as a table, with the keys that scikit-learn's searches have.
    coef_, intercept_, classes_, alpha_, support_, certificate_, certificates_, n_iter_, status_,
    solver_
        Of the model with the chosen C, as for ``LinearSVC``; with ``scale``, the certificate
        refers to the scaled rows.

    Warns
    -----
    EdgeOfGridWarning
        If the chosen C is the first or the last one tried.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import LinearSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVCCV(scale="standard").fit(X, y)
    >>> model.certificate_.is_certified, bool(model.score(X, y) > 0.98)
    (True, True)
    """

    _rules = _RULES
    _machine_class = LinearSVC

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] = 20,
        cv: Any = None,
        scoring: Any = None,
        choice: str = "best",
        scale: str | None = None,
        path_tol: float = 1e-3,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        tol: float = 1e-4,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        calibrate: str | None = None,
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
        self.penalty = penalty
        self.loss = loss
        self.tol = tol
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.calibrate = calibrate
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
            The labels.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows, in the folds as well.
        groups : array of shape (n_samples,) or None
            Which rows belong together, for splitters that ask for it.

        Returns
        -------
        LinearSVCCV
            Itself.
        """
        return self._choose_and_fit(X, y, sample_weight, groups)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        return check_classification_data(self, X, y, sample_weight)

    def _planes(self, data: TrainingData) -> list[LinearProblem]:
        return self._at(1.0)._problems(data)[0]  # type: ignore[no-any-return]

    def _truth(self, data: TrainingData) -> NDArray[Any]:
        return np.take(data.classes, data.y)

    def _known(self, scores: Vector, data: TrainingData) -> BaseEstimator:
        labels = labels_from_scores(scores, data.classes)
        known = scores[:, 0] if len(data.classes) == 2 else scores
        return KnownClassifier(labels, data.classes, known)

    def _plain_score(self, scores: Vector, rows: NDArray[np.int64], data: TrainingData) -> float:
        codes = labels_from_scores(scores, np.arange(len(data.classes)))
        weight = data.sample_weight[rows]
        return float(np.sum(weight[codes == data.y[rows]]) / np.sum(weight))

    def __sklearn_tags__(self) -> Any:
        """Say that a row has one label."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _fold_weight(self, data: TrainingData, train: NDArray[np.int64]) -> Vector:
        weight = super()._fold_weight(data, train)
        return weight * class_factors(self.class_weight, data.classes, data.y, weight)[data.y]
