"""Choosing the settings of a forest by its out-of-bag error, without folds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.parameters import check_seed, whole_number
from hedgerow._engine import engine, side_by_side
from hedgerow.data.table import view_table
from hedgerow.ensemble.forest.fit import ForestFit
from hedgerow.ensemble.out_of_bag import Metric
from hedgerow.errors import ParameterError
from hedgerow.monitor import current, monitored
from hedgerow.resampling.bootstrapping import check
from hedgerow.search.trials import Trial, Trials
from hedgerow.tree._table import FeatureTable

__all__ = ["OobTuning", "TriedForest", "tune_by_oob"]

_WHOLE = ("grown", "flat")


@dataclass(frozen=True, eq=False)
class TriedForest:
    """A candidate forest.

    Attributes
    ----------
    parameters : dict
        What was set.
    figure, low, high : float
        The score by which forests are compared, and its interval.
    vote_error, tree_error : float
        The two out-of-bag errors.
    n_trees : int
        How many trees it has.
    seconds : float
        How long it took.
    status : str
        "grown", "flat", or why it has fewer trees than were asked for.
    """

    parameters: dict[str, Any]
    figure: float
    low: float
    high: float
    vote_error: float
    tree_error: float
    n_trees: int
    seconds: float
    status: str


@dataclass(frozen=True, eq=False, repr=False)
class OobTuning:
    """The result of :func:`tune_by_oob`; prints as a table in which the chosen row is marked.

    Attributes
    ----------
    forest : estimator
        The chosen forest, fitted.
    chosen : TriedForest
        Its figures.
    tried : tuple of TriedForest
        All candidates, in the order of the grid.
    metric : str
        The criterion: "vote_error", which is minimised, or a score, which is maximised.
    """

    forest: Any
    chosen: TriedForest
    tried: tuple[TriedForest, ...]
    metric: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen settings."""
        return self.chosen.parameters

    def __repr__(self) -> str:
        names = list(dict.fromkeys(name for each in self.tried for name in each.parameters))
        header = ["", *names, self.metric, "low", "high", "tree_error", "trees", "seconds"]
        lines = [header, *(self._line(each, names) for each in self.tried)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _line(self, each: TriedForest, names: list[str]) -> list[str]:
        settings = [str(each.parameters.get(name, "")) for name in names]
        figures = [f"{value:.4g}" for value in (each.figure, each.low, each.high, each.tree_error)]
        mark = ">" if each is self.chosen else ""
        return [mark, *settings, *figures, str(each.n_trees), f"{each.seconds:.2f}"]


@monitored("tune_by_oob")
def tune_by_oob(
    forest: Any,
    grid: Mapping[str, Any] | list[Mapping[str, Any]],
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    oob_group: Any = None,
    metric: Metric | None = None,
    n_resamples: int = 1000,
) -> OobTuning:
    """Choose the settings of a forest by their out-of-bag score.

    Each forest estimates its own error on out-of-bag rows, so each candidate takes one fit to all
    rows, where cross-validation takes one per fold. The table is encoded once, and all forests
    have the same seed. The best of several scores is slightly optimistic: evaluate the chosen
    forest on a separate test set.

    Parameters
    ----------
    forest : estimator
        The forest, which is cloned.
    grid : dict of str to list, or list of such
        The values to try for each parameter, in all combinations.
    X, y, sample_weight, oob_group
        As for the forest's ``fit``.
    metric : str, callable or None, default=None
        The score to maximise: the name of a scikit-learn scorer, or a function of true and
        predicted targets. None minimises ``vote_error``.
    n_resamples : int, default=1000
        The number of resamples of the rows for the intervals.

    Returns
    -------
    OobTuning
        The chosen settings, the fitted forest, and the table of all that were tried.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomForestClassifier, tune_by_oob
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> found = tune_by_oob(forest, {"max_depth": [1, 4]}, *load_iris(return_X_y=True))
    >>> found.parameters
    {'max_depth': 4}
    """
    if not isinstance(forest, ForestFit):
        msg = f"tune_by_oob needs a forest, such as RandomForestClassifier(), and got {type(forest).__name__}"
        raise ParameterError(msg)
    check("n_resamples", n_resamples, whole_number(2))
    judge = _OobJudge(forest, X, (y, sample_weight, oob_group), metric, n_resamples)
    tried: list[TriedForest] = []
    for parameters, figures in _until_stopped(judge, list(ParameterGrid(grid))):
        tried.append(TriedForest(parameters, **figures))
        best = Trials(tuple(map(judge.trial, tried))).choose()
        fitted = judge.last_forest()
        if best == len(tried) - 1:
            chosen = fitted
    if chosen is None:  # its figures are those that an earlier, broken-off run has left
        chosen = judge.fit(tried[best].parameters)
    return OobTuning(chosen, tried[best], tuple(tried), judge.name)


def _until_stopped(
    judge: _OobJudge, candidates: list[dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the candidates with their figures, the first in any case."""
    monitor = current()
    key = None if monitor.store is None else judge.key(candidates)
    with engine(None):  # forests run one after the other; each has all threads
        results = side_by_side(judge, candidates, 1, key=key)
    for number, (parameters, figures) in enumerate(zip(candidates, results, strict=True), start=1):
        yield parameters, figures
        monitor.report(number, len(candidates))
        if monitor.reason is not None:
            return


class _OobJudge:
    """Fits forests of different settings to the same table, and has them judge themselves."""

    def __init__(
        self,
        forest: ForestFit,
        X: Any,
        given: tuple[Any, Any, Any],
        metric: Metric | None,
        n_resamples: int,
    ) -> None:
        self._forest = clone(forest).set_params(random_state=check_seed(forest.random_state))
        self._X = X
        self._source = view_table(X)
        self._given = given
        self._metric = metric
        self._n_resamples = n_resamples
        self._tables: dict[str, FeatureTable] = {}
        self._last: Any = None

    @property
    def name(self) -> str:
        """What forests are compared by."""
        if self._metric is None:
            return "vote_error"
        return (
            self._metric
            if isinstance(self._metric, str)
            else getattr(self._metric, "__name__", "metric")
        )

    def key(self, candidates: list[dict[str, Any]]) -> str:
        """Return what the figures of the candidates are kept under."""
        data, how = (self._X, self._given), (self._metric, self._n_resamples)
        return fingerprint("tune_by_oob", self._forest, data, how, candidates)

    def last_forest(self) -> Any:
        """Return the forest that was fitted since this was last asked, or None."""
        last, self._last = self._last, None
        return last

    def trial(self, found: TriedForest) -> Trial:
        """Return a forest as a candidate: the out-of-bag rows are its only fold."""
        score = -found.figure if self._metric is None else found.figure
        status = "complete" if found.status in _WHOLE else found.status
        return Trial(found.parameters, np.array([score]), status, found.seconds)

    def __call__(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Fit a forest with these parameters and return its figures."""
        began = time.monotonic()
        forest = self._last = self.fit(parameters)
        seconds = time.monotonic() - began
        oob = forest.oob_
        found = oob.measure(self._metric or "vote_error", n_resamples=self._n_resamples)
        return {
            "figure": found.estimate,
            "low": found.low,
            "high": found.high,
            "vote_error": oob.vote_error,
            "tree_error": oob.tree_error,
            "n_trees": oob.n_trees,
            "seconds": seconds,
            "status": forest.status_,
        }

    def fit(self, parameters: dict[str, Any]) -> Any:
        """Return a fitted forest with these parameters."""
        forest = clone(self._forest).set_params(**parameters)
        forest.set_params(oob_score=self._metric or True, warm_start=False)
        with monitored(type(forest).__name__, forest.max_time):
            self._grow(forest)
        return forest

    def _grow(self, forest: Any) -> None:
        """Do what the forest's fit does, but encode the table only if it was not before."""
        y, sample_weight, oob_group = self._given
        forest._check()
        targets = forest._targets(y, sample_weight, self._source.shape[0])
        key = repr(forest.categorical_features)
        if key not in self._tables:
            self._tables[key] = forest._encoded(self._source)
        planting = forest._planting(self._tables[key], targets, oob_group)
        forest._grow(planting, self._source)
