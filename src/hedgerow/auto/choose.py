"""Choosing C by cross-validation, the encoder fitted anew inside every fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hedgerow._base.fingerprint import fingerprint
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.auto.columns import Columns
from hedgerow.auto.encoder import TableEncoder
from hedgerow.errors import NotCertifiedWarning, ParameterError
from hedgerow.monitor import Reason, current

__all__ = ["DEFAULT_CS", "CandidateScore", "Progress", "Search", "best_candidate", "cross_validate"]

DEFAULT_CS = tuple(float(2.0**exponent) for exponent in range(-8, 9, 2))

Progress = Callable[[int, int], None]
"""Is told how many fits are done, and of how many."""

_TIE = 1e-12


@dataclass(frozen=True)
class CandidateScore:
    """How well a value of C did in cross-validation.

    Attributes
    ----------
    C : float
        The value.
    accuracy : float
        Mean accuracy over the folds.
    standard_error : float
        Standard error of that mean; of a single fold, that of a share of its rows.
    """

    C: float
    accuracy: float
    standard_error: float


@dataclass(frozen=True)
class Search:
    """What cross-validation found, as far as it came.

    A fit that is cut short says nothing about its C. So a C whose fits ran out of their share of
    the time is out of the search; and if the search as a whole was stopped, the fold it was at does
    not count.

    Attributes
    ----------
    scores : tuple of CandidateScore
        Those of the values still in the search, in increasing order of C; maybe none.
    n_folds : int
        The folds that count.
    unfinished : str
        What was left undone, or nothing.
    """

    scores: tuple[CandidateScore, ...]
    n_folds: int
    unfinished: str = ""

    def best_C(self, Cs: Sequence[float]) -> float:  # noqa: N802 - C is the field's own name
        """Return the most accurate value, or the one nearest to 1 if there are no scores."""
        if self.scores:
            return best_candidate(self.scores).C
        return min(_checked(Cs), key=lambda C: abs(np.log(C)))


def cross_validate(
    model: Any,
    X: Columns,
    y: NDArray[Any],
    Cs: Sequence[float],
    folds: NDArray[np.int64],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """Return the scores of all values of C.

    Parameters
    ----------
    model : TableClassifier
        Its learner and its scale are used; it is not changed.
    X, y : Columns and ndarray
        The training rows and their labels.
    Cs : sequence of float
        The values to try.
    folds : ndarray of int
        The fold of every row.
    n_jobs : int or None
        Fits that run side by side; the scores do not depend on it.
    progress : callable or None
        Called with the number of fits done and the number of all.
    """
    Cs = _checked(Cs)
    n_folds, n_threads = int(folds.max()) + 1, check_n_threads(n_jobs)
    monitor = current()
    accuracies = np.empty((0, len(Cs)))
    with warnings.catch_warnings():
        # A C that is far off may be hard to certify; only the chosen one has to be.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        for fold in range(n_folds):
            row: list[float] = []
            with monitor.part(f"fold {fold + 1}/{n_folds}", 1 / (n_folds - fold)):
                trial = _trial(model, X, y, left_out=folds == fold)
                key = None if monitor.store is None else fingerprint("search", trial, Cs)
                for accuracy in side_by_side(trial, Cs, n_threads, key=key):
                    row.append(accuracy)
                    if monitor.reason is not None:
                        continue
                    done = fold * len(Cs) + len(row), n_folds * len(Cs)
                    monitor.report(*done)
                    if progress is not None:
                        progress(*done)
            in_search = ~np.isnan(accuracies).any(axis=0)
            if monitor.reason is not None and np.isnan(np.array(row)[in_search]).any():
                break
            accuracies = np.vstack([accuracies, row])
    return _search(Cs, accuracies, n_folds, n_rows=int(np.sum(folds == 0)))


def best_candidate(scores: Sequence[CandidateScore]) -> CandidateScore:
    """Return the most accurate candidate, of equally accurate ones the smallest C."""
    best = max(score.accuracy for score in scores)
    return next(score for score in scores if score.accuracy >= best - _TIE)


@dataclass(frozen=True)
class _Trial:
    """A fold: fits the learner with a C to the rows inside, and judges it by those left out."""

    learner: Any
    inside: tuple[Any, NDArray[Any]]
    left_out: tuple[Any, NDArray[Any]]

    def __call__(self, C: float) -> float:
        """Return the accuracy, or NaN if there is no time to find out."""
        if current().reason is not None:
            return np.nan
        learner = clone(self.learner).set_params(C=C).fit(*self.inside)
        if getattr(learner, "status_", None) in get_args(Reason):
            return np.nan
        rows, labels = self.left_out
        return float(np.mean(learner.predict(rows) == labels))


def _trial(model: Any, X: Columns, y: NDArray[Any], *, left_out: NDArray[np.bool_]) -> _Trial:
    """Encode a fold, the encoder knowing nothing of the rows left out."""
    inside, outside = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    encoder = TableEncoder(model.scale)
    return _Trial(
        learner=model.learner,
        inside=(encoder.fit_transform(X.take(inside)), y[inside]),
        left_out=(encoder.transform(X.take(outside)), y[outside]),
    )


def _search(
    Cs: Sequence[float], accuracies: NDArray[np.float64], n_folds: int, n_rows: int
) -> Search:
    """Return the scores of the values that were judged on every fold that counts."""
    n_counted = len(accuracies)
    scores = tuple(
        _score(C, column, n_rows)
        for C, column in zip(Cs, accuracies.T, strict=True)
        if n_counted and not np.isnan(column).any()
    )
    lost = [f"{C:g}" for C in Cs if C not in {score.C for score in scores}]
    unfinished = "" if n_counted == n_folds else f"after {n_counted} of {n_folds} folds"
    if lost:
        unfinished = f"{unfinished} without a score for C = {', '.join(lost)}".strip()
    return Search(scores, n_counted, unfinished)


def _score(C: float, accuracies: NDArray[np.float64], n_rows: int) -> CandidateScore:
    mean, n = float(accuracies.mean()), len(accuracies)
    spread = (
        float(accuracies.std(ddof=1)) / n**0.5 if n > 1 else (mean * (1 - mean) / n_rows) ** 0.5
    )
    return CandidateScore(C, mean, spread)


def _checked(Cs: Sequence[float]) -> list[float]:
    values = sorted({float(C) for C in Cs})
    if not values or not all(np.isfinite(C) and C > 0 for C in values):
        raise ParameterError(f"Cs={list(Cs)} must be one or more finite numbers above 0")
    return values
