"""Probabilities of a support vector machine, learnt from cross-validated scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from hedgerow._base.parameters import repeatable_seed
from hedgerow.calibrators.maps import ScoreMap, fit_maps, maps_problem, most_probable, probabilities
from hedgerow.data.rows import read_rows
from hedgerow.data.training_data import check_fitted, check_labels, check_weights
from hedgerow.errors import NotCertifiedWarning, UnavailableError, warn_user
from hedgerow.monitor import current
from hedgerow.resampling.cross_scores import ScoredData, cross_scores
from hedgerow.resampling.folds import Split, splits_of

__all__ = ["CalibratedScores"]

_N_FOLDS = 5


def _gives_probabilities(model: Any) -> bool:
    """Return whether the model has probabilities; raise an error that says how to get them if not."""
    if model._calibration is None:
        msg = f"this {type(model).__name__} has no probabilities; set calibrate='sigmoid'"
        raise UnavailableError(msg)
    return True


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

    def _folds(self, y: Any, sample_weight: Any, n_rows: int) -> list[Split]:
        """Return the folds to take scores from; none if there are to be no probabilities."""
        if self._calibration is None:
            return []
        classes, codes = check_labels(y, n_rows)
        weights = check_weights(sample_weight, n_rows)
        return splits_of(_N_FOLDS, codes, classes, weights, repeatable_seed(self.random_state))

    def _time_beside(self, folds: list[Split]) -> AbstractContextManager[Any]:
        """Leave the folds their part of the time limit."""
        return current().part("", 1 / len(folds)) if folds else nullcontext()

    def _learn_probabilities(self, X: Any, y: Any, sample_weight: Any, folds: list[Split]) -> None:
        """Fit the maps to the scores that machines like this give the rows they have not seen.

        Class weights are the machine's alone: probabilities are those of the rows as they come.
        """
        vars(self).pop("probability_maps_", None)
        method = self._calibration
        if method is None:
            return
        rows, _ = read_rows(X)
        classes, codes = check_labels(y, rows.shape[0])
        weights = check_weights(sample_weight, rows.shape[0])
        seed = repeatable_seed(self.random_state)
        machine = clone(self).set_params(**self._in_folds, random_state=seed)
        data = ScoredData(rows, classes[codes], classes, weights)
        found = cross_scores(machine.set_callbacks(), data, folds, n_jobs=self.n_jobs)
        left_out = found.rows
        self.probability_maps_ = fit_maps(
            found.scores, codes[left_out], len(classes), weights[left_out], method
        )
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
