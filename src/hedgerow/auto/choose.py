"""Choosing C by cross-validation, the encoder fitted anew inside every fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from hedgerow._engine import check_n_threads
from hedgerow.auto.columns import Columns
from hedgerow.auto.encoder import TableEncoder
from hedgerow.errors import DataError, ParameterError
from hedgerow.linear.paths import predictions_along
from hedgerow.monitor import Reason
from hedgerow.search.folds import Fold, dealt_folds
from hedgerow.search.running import Progress, run_trials
from hedgerow.search.trials import Parameters, Trial, Trials

__all__ = ["DEFAULT_CS", "CandidateScore", "Search", "cross_validate", "training_folds"]

DEFAULT_CS = tuple(float(2.0**exponent) for exponent in range(-8, 9, 2))

_TIE = 1e-12
_MOST_VALUES = 50_000_000
"""Values of encoded tables in memory at a time, as far as that is up to the number of folds side by side."""


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


@dataclass(frozen=True, eq=False)
class Search:
    """What cross-validation found, as far as it came.

    Attributes
    ----------
    trials : Trials
        The values of C, ascending.
    n_rows : int
        How many rows the first fold left out.
    """

    trials: Trials
    n_rows: int = 0

    @property
    def n_folds(self) -> int:
        """The folds that count: a search that was stopped has fewer than there were to be."""
        return len(self.trials.trials[0].scores) if self.trials.trials else 0

    @property
    def scores(self) -> tuple[CandidateScore, ...]:
        """Those of the values that were judged on every fold that counts; maybe none."""
        return tuple(self._score(trial) for trial in self.trials.complete)

    @property
    def best(self) -> CandidateScore | None:
        """The most accurate value, of equally accurate ones the smallest; None without scores."""
        if not self.trials.complete:
            return None
        return self._score(self.trials.trials[self.trials.choose(tie=_TIE)])

    @property
    def unfinished(self) -> str:
        """What was left undone, in words, or nothing."""
        trials, n_folds = self.trials, self.n_folds
        if not trials.trials:
            return "before its first fold"
        lost = [
            f"{each.parameters['C']:g}" for each in trials.trials if each not in trials.complete
        ]
        words = "" if n_folds == trials.n_folds else f"after {n_folds} of {trials.n_folds} folds"
        return f"{words} without a score for C = {', '.join(lost)}".strip() if lost else words

    def best_C(self, Cs: Sequence[float]) -> float:  # noqa: N802 - C is the field's own name
        """Return the most accurate value, or the one nearest to 1 if there are no scores."""
        best = self.best
        return min(_checked(Cs), key=lambda C: abs(np.log(C))) if best is None else best.C

    def _score(self, trial: Trial) -> CandidateScore:
        mean, error = trial.mean, trial.standard_error
        if len(trial.scores) == 1:
            error = (mean * (1 - mean) / self.n_rows) ** 0.5
        return CandidateScore(trial.parameters["C"], mean, error)


def cross_validate(
    model: Any,
    X: Columns,
    y: NDArray[Any],
    Cs: Sequence[float],
    folds: Sequence[Fold],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Search:
    """Return the accuracies of all values of C, found along a warm-started path in each fold.

    Parameters
    ----------
    model : TableClassifier
        Its learner, a LinearSVC, and its scale are used; it is not changed.
    X, y : Columns and ndarray
        The training rows and their labels.
    Cs : sequence of float
        The values to try.
    folds : sequence of Fold
        The folds.
    n_jobs : int or None
        Threads; the scores do not depend on it.
    progress : callable or None
        Called with the number of fits done and the number of all, in the thread that has made the fit.
    """
    candidates = [{"C": C} for C in _checked(Cs)]
    n_threads = check_n_threads(n_jobs)
    n_values = X.shape[0] * X.shape[1]
    n_workers = min(n_threads, len(folds), max(1, _MOST_VALUES // max(n_values, 1)))
    learner = clone(model.learner).set_params(n_jobs=max(1, n_threads // n_workers))
    judge = _AccuracyAlongPath(learner, model.scale, X, y)
    trials = run_trials(
        judge, candidates, folds, n_workers=n_workers, at_once=True, progress=progress
    )
    return Search(trials, len(folds[0].test))


@dataclass(frozen=True)
class _AccuracyAlongPath:
    """Encodes a fold, the encoder knowing nothing of its test rows, and fits every C from the last."""

    learner: Any
    scale: str | None
    X: Columns
    y: NDArray[Any]

    def __call__(self, fold: Fold, candidates: Sequence[Parameters]) -> Iterator[float]:
        """Return the accuracies, which are computed one by one; NaN for a fit that was cut short."""
        encoder = TableEncoder(self.scale)
        train = encoder.fit_transform(self.X.take(fold.train))
        test, y = encoder.transform(self.X.take(fold.test)), self.y[fold.test]
        Cs = [parameters["C"] for parameters in candidates]
        path = predictions_along(self.learner, train, self.y[fold.train], Cs, test)
        return (
            np.nan if status in get_args(Reason) else float(np.mean(labels == y))
            for labels, status in path
        )


def training_folds(
    codes: NDArray[np.int64], n_folds: int, generator: np.random.Generator
) -> list[Fold]:
    """Return shuffled, stratified folds.

    There are at most as many folds as the second largest class has rows, so that no fold takes
    away all classes but one.
    """
    second_largest = int(np.sort(np.append(np.bincount(codes), 0))[-2])
    n_folds = min(n_folds, second_largest)
    if n_folds < 2:
        msg = (
            "choosing C needs two classes with at least two training rows each, and the second "
            f"largest class has {second_largest}; add rows"
        )
        raise DataError(msg)
    return dealt_folds(codes, n_folds, generator)


def _checked(Cs: Sequence[float]) -> list[float]:
    values = sorted({float(C) for C in Cs})
    if not values or not all(np.isfinite(C) and C > 0 for C in values):
        raise ParameterError(f"Cs={list(Cs)} must be one or more finite numbers above 0")
    return values
