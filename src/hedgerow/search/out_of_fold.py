"""Out-of-fold scores: each row is scored by a model that has not seen it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from hedgerow._base.fingerprint import fingerprint
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.errors import DataError, NotCertifiedWarning, ParameterError
from hedgerow.monitor import Reason, current
from hedgerow.resampling.samples import take_rows
from hedgerow.search.folds import Fold

__all__ = ["CrossScores", "ScoredData", "cross_scores", "probabilities_of", "scores_of"]

Values: TypeAlias = NDArray[np.float64]
Ask: TypeAlias = Callable[[Any, Any], Values]
"""Takes a fitted model and rows; returns their scores."""


def scores_of(model: Any, X: Any) -> Values:
    """Return what a fitted classifier says of rows: shape (n,) for two classes, else (n, n_classes).

    These are its scores or, if it has none, its probabilities.
    """
    if not hasattr(model, "decision_function"):
        probabilities = probabilities_of(model, X)
        return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    n_classes = len(model.classes_)
    expected = (len(scores),) if n_classes == 2 else (len(scores), n_classes)
    if scores.shape != expected:
        msg = (
            f"{type(model).__name__} returns scores of shape {scores.shape} for {n_classes} classes, "
            f"but {expected} is needed; return one score per class"
        )
        raise ParameterError(msg)
    return scores


def probabilities_of(model: Any, X: Any) -> Values:
    """Return the probabilities that a fitted classifier gives, one column a class."""
    if not hasattr(model, "predict_proba"):
        msg = (
            f"{type(model).__name__} has no probabilities; calibrate it first "
            "with hedgerow.calibrate, or use LinearSVC(calibrate='sigmoid')"
        )
        raise ParameterError(msg)
    return np.asarray(model.predict_proba(X), dtype=np.float64)


@dataclass(frozen=True)
class ScoredData:
    """What models are fitted on and asked about.

    Attributes
    ----------
    X : array, sparse matrix or frame
        The rows.
    y : ndarray
        Their labels.
    classes : ndarray
        The sorted labels that every fit must see; none if fits may lack a class.
    sample_weight : ndarray or None
        Weights of the rows, if the fits are to have them.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    sample_weight: Values | None = None


@dataclass(frozen=True)
class CrossScores:
    """Scores of rows, each by a model that was fitted without the row.

    Attributes
    ----------
    rows : ndarray of int
        The row that each score is of.
    scores : ndarray of shape (len(rows),) or (len(rows), n_classes)
        The scores.
    statuses : tuple of str
        How the fits ended, of those that say so.
    """

    rows: NDArray[np.int64]
    scores: Values
    statuses: tuple[str, ...]

    def status(self, of_model: str) -> str:
        """Return how all fits ended, that of the model itself included: a broken-off one tells."""
        reasons = get_args(Reason)
        return next((one for one in (of_model, *self.statuses) if one in reasons), of_model)


def cross_scores(
    learner: Any,
    data: ScoredData,
    folds: Sequence[Fold],
    *,
    n_jobs: int | None = None,
    ask: Ask = scores_of,
) -> CrossScores:
    """Fit a clone of the learner for every fold, side by side, and ask it about the rows left out."""
    task = _OutOfFold(learner, data, ask)
    results: list[tuple[Values, str]] = []
    with current().part("folds") as part, warnings.catch_warnings():
        # The model of all rows is the one to be certified; of these, only the scores are used.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        key = None if part.store is None else fingerprint("cross_scores", task, list(folds))
        for result in side_by_side(task, folds, check_n_threads(n_jobs), key=key):
            results.append(result)
            part.report(len(results), len(folds))
    return CrossScores(
        rows=np.concatenate([left_out for _, left_out in folds]),
        scores=np.concatenate([scores for scores, _ in results]),
        statuses=tuple(status for _, status in results if status),
    )


@dataclass(frozen=True)
class _OutOfFold:
    """Fits a clone to some rows and asks it about others."""

    learner: Any
    data: ScoredData
    ask: Ask

    def __call__(self, fold: Fold) -> tuple[Values, str]:
        """Return the scores of the rows left out, and how the fit ended."""
        rows, left_out = fold
        model, data = clone(self.learner), self.data
        weight = {} if data.sample_weight is None else {"sample_weight": data.sample_weight[rows]}
        self._refuse_missing_class(data.y[rows])
        model.fit(self._of(rows, rows), data.y[rows], **weight)
        return self.ask(model, self._of(left_out, rows)), getattr(model, "status_", "")

    def _of(self, rows: NDArray[np.int64], fitted_on: NDArray[np.int64]) -> Any:
        """Return some rows; of a table of values of pairs, their values with those fitted on."""
        taken = take_rows(self.data.X, rows)
        is_table = get_tags(self.learner).input_tags.pairwise
        return taken[:, fitted_on] if is_table else taken

    def _refuse_missing_class(self, labels: NDArray[Any]) -> None:
        present = np.isin(self.data.classes, labels)
        if not present.all():
            label = self.data.classes[~present].tolist()[0]
            msg = (
                f"a split has no training row of class {label!r}; "
                "give a number of folds, or a stratified splitter"
            )
            raise DataError(msg)
