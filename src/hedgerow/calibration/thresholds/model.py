"""A classifier with a decision threshold that optimises a metric or the cost of errors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import any_number, any_of, check_parameters, none
from hedgerow._base.state import stateful
from hedgerow.calibration.thresholds.curve import ThresholdCurve
from hedgerow.calibration.thresholds.metrics import cost_curve, metric_curve, metric_rule
from hedgerow.calibration.wrapped import FITTED_AROUND, WRAPPER_RULES, Judged, WrappedClassifier
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, ParameterError
from hedgerow.monitor import monitored_fit
from hedgerow.search.out_of_fold import probabilities_of, scores_of

__all__ = ["ThresholdModel", "tune_threshold"]


def _cost_rule(costs: Any) -> str | None:
    """Allow None and square matrices of numbers."""
    if costs is None:
        return None
    try:
        matrix = np.asarray(costs, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        matrix = np.empty(0)
    is_square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2
    fine = is_square and bool(np.isfinite(matrix).all())
    return None if fine else "None or a square matrix costs[true, predicted] of finite numbers"


def _curve_rule(curve: Any) -> str | None:
    """Allow None and curves."""
    return None if curve is None or isinstance(curve, ThresholdCurve) else "a ThresholdCurve"


_RULES = WRAPPER_RULES | {"metric": metric_rule, "costs": _cost_rule}


def tune_threshold(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: Any = None,
    costs: Any = None,
    cv: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ThresholdModel:
    """Return a model with the threshold at which a metric is best, or the mean cost is least.

    Parameters
    ----------
    model : classifier
        Hedgerow's or scikit-learn's, with ``decision_function`` or otherwise ``predict_proba``.
    X, y : array, sparse matrix or data frame; array of labels
        With ``cv=None``, rows that the fitted model has not seen. Otherwise the rows to fit it to.
    metric, costs
        See :class:`ThresholdModel`.
    cv : None, int, splitter, or list of pairs of row numbers, default=None
        None uses the model as it is. Otherwise it is fitted again to all rows, and the threshold
        uses the scores of clones fitted without the rows that they score.
    sample_weight : array of shape (n_samples,) or None
        Sample weights.
    random_state : int, RandomState, Generator or None
        Seed that assigns the rows to folds, if cv is a number, and seeds a learner without a seed;
        None is the same as 0.
    n_jobs : int or None, default=None
        The number of fits that run in parallel; the result does not depend on it.

    Returns
    -------
    ThresholdModel
        The fitted model.

    Examples
    --------
    >>> from hedgerow import LinearSVC, tune_threshold
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)     # 0 is malignant: to miss it is ten times worse
    >>> model = LinearSVC().fit(X[:300], y[:300])
    >>> careful = tune_threshold(model, X[300:], y[300:], costs=[[0, 10], [1, 0]])
    >>> round(careful.threshold_, 2), round(careful.value_, 2)
    (0.18, 0.05)
    """
    wrapped = ThresholdModel(
        model, metric, costs=costs, cv=cv, random_state=random_state, n_jobs=n_jobs
    )
    return wrapped.fit(X, y, sample_weight)


@stateful(
    _RULES,
    threshold_=any_of(none, any_number),
    curve_=_curve_rule,
    value_=any_number,
    **FITTED_AROUND,
)
class ThresholdModel(WrappedClassifier):
    """A classifier with a tuned decision threshold.

    Parameters
    ----------
    learner : classifier, default=None
        The classifier that gives the scores; None means ``LinearSVC()``. It is cloned, unless
        ``cv=None``.
    metric : str, ("precision_at_recall", share), callable or None, default=None
        The metric to maximise: "accuracy", "balanced_accuracy", "f1", "jaccard",
        "matthews_corrcoef", "precision" or "recall" of the second class, or the precision with a
        recall of at least a given share, all with an exact search; or any other scikit-learn scorer
        of labels, or a function of true and predicted labels, evaluated at 200 thresholds. None
        means "f1", unless there are costs.
    costs : matrix of shape (n_classes, n_classes) or None, default=None
        ``costs[true, predicted]`` in the order of ``classes_``, instead of a metric. With two
        classes the threshold of least mean cost is found. With more, the learner must have
        ``predict_proba``, and the class of least expected cost is predicted.
    cv : int, splitter, list of pairs of row numbers, or None, default=5
        The folds whose scores are used: a number (fewer if a class is small) or a splitter. None
        uses the learner as it is; it must be fitted, to other rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed that assigns the rows to folds, if cv is a number, and seeds a learner without a seed;
        None is the same as 0.
    n_jobs : int or None, default=None
        The number of fits that run in parallel; None means all cores. The result does not depend on
        it.
    max_time : float or None, default=None
        Time limit of a fit in seconds, including the folds, if the learner is one of Hedgerow's.

    Attributes
    ----------
    threshold_ : float or None
        Rows with a score above it are predicted as the second class; None with more than two classes.
    curve_ : ThresholdCurve or None
        The metric, or the mean cost, at every threshold.
    value_ : float
        The metric, or the mean cost, at the chosen threshold.
    learner_ : classifier
        The fitted learner.
    classes_ : ndarray
        The labels, sorted.
    status_ : str
        How the fits ended: the ``status_`` of the learner if it has one, otherwise "fitted".
    n_features_in_, feature_names_in_
        The columns seen in fit, if the learner knows them.

    Examples
    --------
    >>> from hedgerow import ThresholdModel
    >>> from sklearn.datasets import load_breast_cancer
    >>> model = ThresholdModel(metric="f1", random_state=0)
    >>> model = model.fit(*load_breast_cancer(return_X_y=True))
    >>> round(model.threshold_, 2), round(model.value_, 2)
    (0.15, 0.97)
    """

    def __init__(
        self,
        learner: Any = None,
        metric: Any = None,
        *,
        costs: Any = None,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.learner = learner
        self.metric = metric
        self.costs = costs
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner, unless ``cv=None``, and find the threshold.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The training rows.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of 2 is the same as giving the row twice if both copies are in
            the same fold, which a list of splits can ensure. With a number of folds, copies may be
            in different folds, as other equal rows may: keeping them together would fit the learner
            without any row like those it must score.

        Returns
        -------
        ThresholdModel
            The fitted model itself.
        """
        check_parameters(self, _RULES)
        if self.metric is not None and self.costs is not None:
            msg = f"metric={self.metric!r} and costs exclude each other; give only one of them"
            raise ParameterError(msg)
        by_cost = self._takes_several_classes()
        seen = self._fit_learner(X, y, sample_weight, probabilities_of if by_cost else scores_of)
        if by_cost:
            self.threshold_, self.curve_ = None, None
            self.value_ = self._mean_cost(seen)
        else:
            self.curve_ = self._curve(seen, is_weighted=sample_weight is not None)
            self.threshold_, self.value_ = self.curve_.best()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score minus the threshold or, with several classes, minus the expected cost of each.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decision values.
        """
        check_fitted(self)
        if self.threshold_ is None:
            return -self._expected_costs(probabilities_of(self.learner_, X))
        return scores_of(self.learner_, X) - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        decisions = self.decision_function(X)
        best = decisions > 0 if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.take(self.classes_, best.astype(np.int64))

    def _takes_several_classes(self) -> bool:
        return self.costs is not None and len(self.costs) > 2

    def _curve(self, seen: Judged, *, is_weighted: bool) -> ThresholdCurve:
        counted = seen.weights > 0
        scores, weights = seen.scores[counted], seen.weights[counted]
        is_positive = seen.codes[counted] == 1
        if is_positive.all() or not is_positive.any():
            msg = "the rows for tuning the threshold are all of one class; give rows of both"
            raise DataError(msg)
        if self.costs is not None:
            return cost_curve(np.asarray(self.costs, np.float64), scores, is_positive, weights)
        metric = "f1" if self.metric is None else self.metric
        given = weights if is_weighted else None
        return metric_curve(metric, scores, is_positive, given, self.classes_)

    def _expected_costs(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected cost of predicting each class, with one row per row of probabilities."""
        costs: NDArray[np.float64] = np.asarray(self.costs, np.float64)
        expected: NDArray[np.float64] = np.einsum("ij,jk->ik", shares, costs)
        return expected

    def _mean_cost(self, seen: Judged) -> float:
        chosen = self._expected_costs(seen.scores).argmin(axis=1)
        each = np.asarray(self.costs, np.float64)[seen.codes, chosen]
        return float(np.sum(seen.weights * each) / np.sum(seen.weights))

    def _check_classes(self, classes: NDArray[Any]) -> None:
        """Refuse more than two classes without costs, and costs for another number of them."""
        if len(classes) > 2 and not self._takes_several_classes():
            msg = (
                "Only binary classification is supported. The type of the target is multiclass: it "
                f"has {len(classes)} classes, but a threshold separates only two; give costs for all classes"
            )
            raise ParameterError(msg)
        if self.costs is not None and len(self.costs) != len(classes):
            msg = (
                f"costs have {len(self.costs)} rows and columns but there are {len(classes)} "
                "classes; give one for each"
            )
            raise ParameterError(msg)

    def __sklearn_tags__(self) -> Any:
        """Declare whether more than two classes are supported."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._takes_several_classes()
        return tags
