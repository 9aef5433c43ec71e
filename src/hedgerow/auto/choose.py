"""Choosing C by cross-validation, the encoder fitted anew inside every fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.auto.columns import Columns
from hedgerow.auto.encoder import TableEncoder
from hedgerow.errors import NotCertifiedWarning, ParameterError

__all__ = ["DEFAULT_CS", "CandidateScore", "Progress", "best_candidate", "cross_validate"]

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
        Standard error of that mean.
    """

    C: float
    accuracy: float
    standard_error: float


def cross_validate(
    model: Any,
    X: Columns,
    y: NDArray[Any],
    Cs: Sequence[float],
    folds: NDArray[np.int64],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[CandidateScore, ...]:
    """Return the score of every C, in increasing order of C.

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
    accuracies = np.empty((n_folds, len(Cs)))
    with warnings.catch_warnings():
        # A C that is far off may be hard to certify; only the chosen one has to be.
        warnings.simplefilter("ignore", NotCertifiedWarning)
        for fold in range(n_folds):
            scores = _fold_accuracies(model, X, y, Cs, left_out=folds == fold, n_threads=n_threads)
            for i, accuracy in enumerate(scores):
                accuracies[fold, i] = accuracy
                if progress is not None:
                    progress(fold * len(Cs) + i + 1, n_folds * len(Cs))
    errors = accuracies.std(axis=0, ddof=1) / np.sqrt(n_folds)
    means = accuracies.mean(axis=0)
    return tuple(
        CandidateScore(C, float(m), float(e)) for C, m, e in zip(Cs, means, errors, strict=True)
    )


def best_candidate(scores: Sequence[CandidateScore]) -> CandidateScore:
    """Return the most accurate candidate, of equally accurate ones the smallest C."""
    best = max(score.accuracy for score in scores)
    return next(score for score in scores if score.accuracy >= best - _TIE)


def _fold_accuracies(
    model: Any,
    X: Columns,
    y: NDArray[Any],
    Cs: Sequence[float],
    *,
    left_out: NDArray[np.bool_],
    n_threads: int,
) -> Iterator[float]:
    """Yield the accuracy of every C on the rows left out, fitted on the others."""
    inside, outside = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    encoder = TableEncoder(model.scale)
    train, test = encoder.fit_transform(X.take(inside)), encoder.transform(X.take(outside))

    def accuracy(C: float) -> float:
        learner = clone(model.learner).set_params(C=C).fit(train, y[inside])
        return float(np.mean(learner.predict(test) == y[outside]))

    return side_by_side(accuracy, Cs, n_threads)


def _checked(Cs: Sequence[float]) -> list[float]:
    values = sorted({float(C) for C in Cs})
    if not values or not all(np.isfinite(C) and C > 0 for C in values):
        raise ParameterError(f"Cs={list(Cs)} must be one or more finite numbers above 0")
    return values
