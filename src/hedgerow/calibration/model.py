"""Calibrated probabilities for any classifier with scores."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import check_parameters, one_of
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, several
from hedgerow.calibration.wrapped import FITTED_AROUND, WRAPPER_RULES, WrappedClassifier
from hedgerow.calibrators.maps import (
    METHODS,
    ScoreMap,
    fit_maps,
    maps_problem,
    most_probable,
    probabilities,
)
from hedgerow.data.training_data import check_fitted
from hedgerow.monitor import monitored_fit
from hedgerow.search.out_of_fold import scores_of

__all__ = ["CalibratedModel", "calibrate"]

_RULES = WRAPPER_RULES | {"method": one_of(*METHODS)}


def calibrate(
    model: Any,
    X: Any,
    y: Any,
    *,
    method: str = "sigmoid",
    cv: Any = None,
    sample_weight: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> CalibratedModel:
    """Return a calibrated model for any classifier with scores.

    Parameters
    ----------
    model : classifier
        Hedgerow's or scikit-learn's, with ``decision_function`` or otherwise ``predict_proba``.
    X, y : array, sparse matrix or data frame; array of labels
        With ``cv=None``, rows that the fitted model has not seen. Otherwise the rows to fit it to.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        See :class:`ScoreCalibrator`.
    cv : None, int, splitter, or list of pairs of row numbers, default=None
        None uses the model as it is. Otherwise it is fitted again to all rows, and the calibration
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
    CalibratedModel
        The fitted model.

    Examples
    --------
    >>> from hedgerow import LinearSVC, calibrate
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = calibrate(LinearSVC().fit(X[:300], y[:300]), X[300:500], y[300:500])
    >>> model.predict_proba(X[500:502]).round(2)
    array([[0.06, 0.94],
           [0.62, 0.38]])
    """
    wrapped = CalibratedModel(model, method, cv=cv, random_state=random_state, n_jobs=n_jobs)
    return wrapped.fit(X, y, sample_weight)


@stateful(
    _RULES,
    probability_maps_=several(tuple, "maps", instance_of(ScoreMap)),
    **FITTED_AROUND,
)
class CalibratedModel(WrappedClassifier):
    """A classifier with calibrated probabilities, which its predictions follow.

    Parameters
    ----------
    learner : classifier, default=None
        The classifier that gives the scores; None means ``LinearSVC()``. It is cloned, unless
        ``cv=None``.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        See :class:`ScoreCalibrator`.
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
    learner_ : classifier
        The fitted learner.
    probability_maps_ : tuple of ScoreMap
        The maps from its scores to probabilities.
    classes_ : ndarray
        The labels, sorted.
    status_ : str
        How the fits ended: the ``status_`` of the learner if it has one, otherwise "fitted".
    n_features_in_, feature_names_in_
        The columns seen in fit, if the learner knows them.

    Examples
    --------
    >>> from hedgerow import CalibratedModel
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CalibratedModel(RidgeClassifier(), random_state=0).fit(X, y)
    >>> bool((model.predict(X) == model.predict_proba(X).argmax(axis=1)).all())
    True
    """

    def __init__(
        self,
        learner: Any = None,
        method: str = "sigmoid",
        *,
        cv: Any = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.learner = learner
        self.method = method
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_time = max_time

    def _state_problem(self) -> str | None:
        problem = super()._state_problem()
        return problem or maps_problem(self.probability_maps_, len(self.classes_))

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner, unless ``cv=None``, and the maps from its scores to probabilities.

        Parameters
        ----------
        X : array, sparse matrix or data frame
            The training rows.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,) or None
            Sample weights. A weight of 2 is the same as giving the row twice if both copies are in
            the same fold; see :meth:`ThresholdModel.fit`.

        Returns
        -------
        CalibratedModel
            The fitted model itself.
        """
        check_parameters(self, _RULES)
        seen = self._fit_learner(X, y, sample_weight)
        self.probability_maps_ = fit_maps(
            seen.scores, seen.codes, len(self.classes_), seen.weights, self.method
        )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class for each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        check_fitted(self)
        return probabilities(self.probability_maps_, scores_of(self.learner_, X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of every class for each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The log-probabilities, in the order of ``classes_``.
        """
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels; the first of equally probable ones.
        """
        shares = self.predict_proba(X)
        return most_probable(self.classes_, shares)
