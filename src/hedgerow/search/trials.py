"""Trials: the candidates of a search, their scores, and which of them to take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hedgerow._base.parameters import is_number, one_of
from hedgerow.errors import EdgeOfGridWarning, ParameterError, warn_user

__all__ = ["CHOICES", "Parameters", "Trial", "Trials", "edge_of"]

Vector: TypeAlias = NDArray[np.float64]
Parameters: TypeAlias = Mapping[str, Any]

CHOICES = ("best", "one_standard_error")

_FEWEST_FOR_AN_EDGE = 3
"""Values of a parameter below which all of them are at an edge, and none is worth a warning."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate of a search, and how well it did.

    Attributes
    ----------
    parameters : mapping of str to object
        What was set.
    scores : ndarray of shape (n_folds,)
        Its score on each fold, the larger the better; NaN where it was not judged.
    status : str
        "complete", or why it was not judged on all folds.
    seconds : float
        How long fitting and judging took, all folds together.
    """

    parameters: Parameters
    scores: Vector
    status: str = "complete"
    seconds: float = float("nan")

    @property
    def mean(self) -> float:
        """The mean score; NaN if a fold lacks one."""
        return float(np.mean(self.scores)) if len(self.scores) else float("nan")

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; 0 for a single fold."""
        n_folds = len(self.scores)
        if n_folds < 2:
            return 0.0
        return float(np.std(self.scores, ddof=1) / np.sqrt(n_folds))


@dataclass(frozen=True, eq=False)
class Trials:
    """All candidates of a search.

    Attributes
    ----------
    trials : tuple of Trial
        One for each candidate, in their order.
    n_folds : int
        How many folds there were to be; a search that was stopped has scores on fewer.
    """

    trials: tuple[Trial, ...]
    n_folds: int = 1

    @classmethod
    def of_scores(cls, candidates: Iterable[Parameters], scores: Vector) -> Trials:
        """Return the trials of a search that is done, by scores of shape (n_candidates, n_folds)."""
        pairs = zip(candidates, scores, strict=True)
        return cls(tuple(Trial(each, row) for each, row in pairs), scores.shape[1])

    @property
    def complete(self) -> tuple[Trial, ...]:
        """Those that were judged on all folds that count."""
        return tuple(trial for trial in self.trials if trial.status == "complete")

    @property
    def means(self) -> Vector:
        """The mean score of each candidate."""
        return np.mean(self._scores, axis=1) if self.trials else np.empty(0)

    @property
    def standard_errors(self) -> Vector:
        """The standard error of each mean."""
        scores = self._scores
        if scores.shape[1] < 2:
            return np.zeros(len(scores))
        return np.asarray(np.std(scores, axis=1, ddof=1) / np.sqrt(scores.shape[1]))

    def choose(
        self,
        choice: str = "best",
        *,
        simplest_first: Sequence[int] | None = None,
        tie: float = 0.0,
    ) -> int:
        """Return the number of the candidate to take, a complete one if there is any.

        Parameters
        ----------
        choice : {"best", "one_standard_error"}, default="best"
            The candidate with the largest mean, of equal ones the simplest; or the simplest one whose
            mean is within a standard error of that.
        simplest_first : sequence of int or None
            The numbers of the candidates in order of simplicity; None for the order they are in.
        tie : float, default=0.0
            By how much means may differ, through rounding, and still be equal.
        """
        expected = one_of(*CHOICES)(choice)
        if expected is not None:
            raise ParameterError(f"choice={choice!r} is not known; give {expected}")
        means = self._comparable_means()
        if np.all(np.isnan(means)):
            msg = "no candidate could be scored; look at scoring= and at the folds of cv="
            raise ParameterError(msg)
        best = int(np.nanargmax(means))
        error = self.trials[best].standard_error if choice == "one_standard_error" else tie
        order = range(len(means)) if simplest_first is None else simplest_first
        return next(k for k in order if means[k] >= means[best] - error)

    def warn_at_edge(self, chosen: int, add_to: str) -> None:
        """Warn of each parameter whose chosen value is the smallest or the largest one tried.

        There is nothing to warn of if the candidate was chosen for being simple, or if all are equal.
        """
        means, parameters = self._comparable_means(), self.trials[chosen].parameters
        if means[chosen] < np.nanmax(means) or np.nanmin(means) == np.nanmax(means):
            return
        for name, value in parameters.items():
            values: list[Any] = [trial.parameters.get(name) for trial in self.trials]
            if not all(map(is_number, values)) or len(set(values)) < _FEWEST_FOR_AN_EDGE:
                continue
            side = edge_of(value, values)
            if side is None:
                continue
            way = "smaller" if side == "smallest" else "larger"
            msg = f"the best {name} is {value:.4g}, the {side} one tried: a {way} one may be better; add some to {add_to}"
            warn_user(msg, EdgeOfGridWarning)

    def cv_results(self) -> dict[str, Any]:
        """Return the table that scikit-learn's searches have as ``cv_results_``."""
        scores, n_folds = self._scores, self._scores.shape[1]
        names = dict.fromkeys(name for trial in self.trials for name in trial.parameters)
        seconds, means = np.array([trial.seconds for trial in self.trials]), self.means
        return {
            **({} if np.isnan(seconds).any() else {"mean_fit_time": seconds / max(n_folds, 1)}),
            **{f"param_{name}": self._column(name) for name in names},
            "params": [dict(trial.parameters) for trial in self.trials],
            **{f"split{k}_test_score": scores[:, k] for k in range(n_folds)},
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": rankdata(-np.nan_to_num(means, nan=-np.inf), "min").astype(np.int32),
        }

    @property
    def _scores(self) -> Vector:
        """The scores, of shape (n_trials, folds that count)."""
        return np.stack([trial.scores for trial in self.trials])

    def _column(self, name: str) -> Any:
        """Return the values of a parameter, masked where a candidate does not have it."""
        values = np.array([trial.parameters.get(name) for trial in self.trials], dtype=object)
        return np.ma.array(values, mask=[name not in trial.parameters for trial in self.trials])

    def _comparable_means(self) -> Vector:
        """Return the means, NaN for those of incomplete trials beside complete ones."""
        is_complete = np.array([trial.status == "complete" for trial in self.trials])
        return np.where(is_complete, self.means, np.nan) if is_complete.any() else self.means


def edge_of(value: float, values: Iterable[float]) -> Literal["smallest", "largest"] | None:
    """Say whether a value is the smallest or the largest of all that were tried."""
    tried = list(values)
    if value == min(tried):
        return "smallest"
    return "largest" if value == max(tried) else None
