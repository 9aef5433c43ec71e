"""Probabilities of a support vector machine, learnt from cross-validated scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from hedgerow._base.parameters import repeatable_seed
from hedgerow.calibrators.maps import ScoreMap, fit_maps, maps_problem, most_probable, probabilities
from hedgerow.data.training_data import LabelMatrixData, TrainingData, check_fitted
from hedgerow.errors import NotCertifiedWarning, UnavailableError, warn_user
from hedgerow.monitor import current
from hedgerow.search.folds import Fold, class_folds
from hedgerow.search.out_of_fold import ScoredData, cross_scores

__all__ = ["CalibratedScores"]

_N_FOLDS = 5


def _gives_probabilities(model: Any) -> bool:
    """Return whether the model has probabilities; raise an error that says how to get them if not."""
    if model._calibration is None:
        msg = f"this {type(model).__name__} has no probabilities; set calibrate='sigmoid'"
        raise UnavailableError(msg)
    return True


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds that scores are taken from.

    Attributes
    ----------
    splits : list of Fold
        Rows to fit and rows to score, for each fold.
    data : TrainingData
        The rows, their labels and their weights.
    """

    splits: list[Fold]
    data: TrainingData


class CalibratedScores(ABC):
    """A classifier with probabilities if its parameter ``calibrate`` names a method."""

    _in_folds: ClassVar[Mapping[str, Any]] = {"calibrate": None, "max_time": None, "verbose": 0}
    """Parameters of the machines that scores are taken from, other than those of the machine itself."""

    calibrate: str | None
    random_state: Any
    n_jobs: int | None

    classes_: NDArray[Any]
    probability_maps_: tuple[ScoreMap, ...]

    def _state_problem(self) -> str | None:
        maps = getattr(self, "probability_maps_", None)
        return None if maps is None else maps_problem(maps, len(self.classes_))

    status_: str

    @property
    def _calibration(self) -> str | None:
        """The method, or None."""
        return self.calibrate

    @abstractmethod
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per row for two classes, otherwise one per class.
        """

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class for each row.

        The method exists only if ``calibrate`` is set. No probability is 0 or 1, each increases with the score
        of its class, and ``predict`` returns the most probable class.

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
        if not hasattr(self, "probability_maps_"):
            msg = f"this {type(self).__name__} was fitted without probabilities; fit it again"
            raise NotFittedError(msg)
        return probabilities(self.probability_maps_, self._one_score_a_class(X))

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
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
        logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    def _one_score_a_class(self, X: Any) -> NDArray[np.float64]:
        """Return the scores that probabilities are made of, whatever the shape users ask for."""
        return self.decision_function(X)

    def _most_probable(self, X: Any) -> NDArray[Any]:
        shares = probabilities(self.probability_maps_, self._one_score_a_class(X))
        return most_probable(self.classes_, shares)

    def _folds(self, data: TrainingData | LabelMatrixData) -> Folds | None:
        """Return the folds to take scores from; None if there are to be no probabilities."""
        if self._calibration is None or isinstance(data, LabelMatrixData):
            return None
        seed, weights = repeatable_seed(self.random_state), data.given_weight
        return Folds(class_folds(_N_FOLDS, data.y, data.classes, weights, seed), data)

    def _time_beside(self, folds: Folds | None) -> AbstractContextManager[Any]:
        """Leave the folds their part of the time limit."""
        return nullcontext() if folds is None else current().part("", 1 / len(folds.splits))

    def _learn_probabilities(self, folds: Folds | None) -> None:
        """Fit the maps to the scores that machines like this give the rows they have not seen.

        Class weights are the machine's alone: probabilities are those of the rows as they come.
        """
        vars(self).pop("probability_maps_", None)
        method = self._calibration
        if folds is None or method is None:
            return
        seed, data = repeatable_seed(self.random_state), folds.data
        machine = clone(self).set_params(**self._in_folds, random_state=seed)
        scored = ScoredData(data.X, data.classes[data.y], data.classes, data.given_weight)
        found = cross_scores(machine.set_callbacks(), scored, folds.splits, n_jobs=self.n_jobs)
        codes, weights = data.y[found.rows], data.given_weight[found.rows]
        self.probability_maps_ = fit_maps(found.scores, codes, len(data.classes), weights, method)
        self._tell_of_folds(found.statuses)
        self.status_ = found.status(self.status_)

    def _tell_of_folds(self, statuses: tuple[str, ...]) -> None:
        """Warn if folds did not converge although the model itself did."""
        late = [status for status in statuses if status in ("max_iter", "stalled", "time_limit")]
        if late and self.status_ == "optimal":
            msg = (
                f"{len(late)} of the {len(statuses)} fits for the calibration ended with status "
                f"{late[0]!r}, above tol; raise max_iter, max_time or tol"
            )
            warn_user(msg, NotCertifiedWarning)
