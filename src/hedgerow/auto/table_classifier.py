"""A classifier for whole tables: encoder and learner in one model that can be saved."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import any_of, none, text, whole_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, labels, optional
from hedgerow.auto.encoder import RULES, TableEncoder
from hedgerow.auto.sample import series_name
from hedgerow.calibration.wrapped import classifier_or_none
from hedgerow.data.io import Table
from hedgerow.data.row_sketch import RowSketch, kept_rows
from hedgerow.data.training_data import check_fitted
from hedgerow.linear import LinearSVC
from hedgerow.monitor import CallbackSupport, member_of, monitored_fit, raising_at_once

__all__ = ["TableClassifier"]


def _has_scores(model: TableClassifier) -> bool:
    """Say whether the learner, fitted or not, has a decision function."""
    learner = getattr(model, "learner_", model.learner)
    return learner is None or hasattr(learner, "decision_function")


@stateful(
    RULES | {"learner": classifier_or_none},
    encoder_=instance_of(
        TableEncoder,
        features=lambda encoder: encoder.n_features_in_,
        columns=lambda encoder: len(encoder.get_feature_names_out()),
    ),
    learner_=instance_of(
        BaseEstimator,
        columns=lambda learner: getattr(learner, "n_features_in_", None),
        classes=lambda learner: len(learner.classes_),
    ),
    classes_=labels("classes"),
    target_=any_of(none, text, whole_number(0)),
    row_sketch_=optional(instance_of(RowSketch)),
)
class TableClassifier(CallbackSupport, ClassifierMixin, Estimator):
    """Encode a table and classify its rows.

    Parameters
    ----------
    learner : classifier, default=None
        The classifier that is fitted on the encoded table; None is ``LinearSVC()``. It is cloned.
    scale : {"auto", "standard", "maxabs", None}, default="auto"
        How columns of numbers are scaled; see :class:`TableEncoder`.
    max_time : float or None, default=None
        Seconds that a fit may take. A learner of Hedgerow gets the time that encoding leaves; others
        are not stopped.

    Attributes
    ----------
    encoder_ : TableEncoder
        The fitted encoder.
    learner_ : classifier
        The fitted learner.
    classes_ : ndarray
        The labels, sorted.
    target_ : str, int or None
        The column the labels came from, if that is known: its name, or its position in a file
        without a header.
    status_ : str
        The learner's, if it has one.
    row_sketch_ : RowSketch
        Digests of some training rows, by which ``hedgerow evaluate`` recognises them.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import TableClassifier
    >>> table = {"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", "red", "blue", "red"]}
    >>> model = TableClassifier().fit(table, ["small", "small", "large", "large"])
    >>> model.predict({"size": [7.0], "colour": ["green"]}).tolist()
    ['large']
    """

    def __init__(
        self,
        learner: Any = None,
        scale: str | None = "auto",
        max_time: float | None = None,
    ) -> None:
        self.learner = learner
        self.scale = scale
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the encoder, then the learner.

        Parameters
        ----------
        X : Table, mapping, dataframe, 2-D array or sparse matrix
            The rows.
        y : array of labels, optional
            Not needed if X is a Table with labels.

        Returns
        -------
        TableClassifier
            Itself.
        """
        labels = X.y if y is None and isinstance(X, Table) else y
        learner = LinearSVC() if self.learner is None else clone(self.learner)
        encoder = TableEncoder(self.scale)
        with raising_at_once():  # without an encoder there is no model to leave behind
            encoded = encoder.fit_transform(X)
        with member_of(self, learner):
            learner.fit(encoded, labels)
        self.encoder_, self.learner_ = encoder, learner
        self.classes_ = self.learner_.classes_
        self.target_ = X.target if isinstance(X, Table) else series_name(y)
        self.row_sketch_ = RowSketch.of(encoded[kept_rows(encoded.shape[0])], encoded.shape[0])
        self._remember_columns()
        return self

    @property
    def status_(self) -> str:
        """How the fit of the learner ended."""
        return str(self.learner_.status_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        matrix = self._encoded(X)
        return np.asarray(self.learner_.predict(matrix))

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of each row.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One score per row for two classes, otherwise one per class.
        """
        matrix = self._encoded(X)
        return np.asarray(self.learner_.decision_function(matrix))

    def notes(self, X: Any) -> tuple[str, ...]:
        """Return sentences about values that a prediction for this table will ignore.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        tuple of str
            The notes.
        """
        check_fitted(self)
        return self.encoder_.notes(X)

    def _encoded(self, X: Any) -> Any:
        check_fitted(self)
        return self.encoder_.transform(X)

    def _state_problem(self) -> str | None:
        """Say whether the classes are not those of the learner."""
        fine = np.array_equal(self.classes_, self.learner_.classes_)
        return None if fine else "classes_ are not those of the learner"

    def _remember_columns(self) -> None:
        self.n_features_in_ = self.encoder_.n_features_in_
        names = getattr(self.encoder_, "feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input, text and missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
