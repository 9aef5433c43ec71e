"""Is a linear classifier too simple? A random forest and an SVC tell, on a sample of the rows.

All three learners are fitted to the same folds of some training rows and judged on the rows left
out. The sample is small beside the rows of the search, and depends on the table and the seed alone,
so that a result does not depend on how fast a machine is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import generator_of
from hedgerow.auto.choose import Search
from hedgerow.auto.sample import Sample
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.data.rows import dense
from hedgerow.data.targets import encode_labels
from hedgerow.linear import LinearSVC
from hedgerow.monitor import current
from hedgerow.search.folds import Fold, dealt_folds
from hedgerow.search.out_of_fold import ScoredData, cross_scores

__all__ = ["Rival", "Rivals", "compare_rivals", "is_worthwhile"]

_ROOM = 0.03
"""A linear classifier with fewer errors leaves too little to win."""
_FIRST_ROWS = 1000
_MOST_ROWS = 3000
_SHARE = 0.05
"""The sample is the first 1000 rows that are drawn, and so many of the rows more."""
_MOST_VALUES = 500_000
_FEWEST_ROWS = 60
_N_FOLDS = 3
_CLEAR = 2.5
"""Standard errors by which a difference must exceed 0."""
_STREAM = 1
"""Keeps the draw of the sample apart from that of the test rows."""


@dataclass(frozen=True)
class Rival:
    """A learner that is not linear.

    Attributes
    ----------
    name : str
        What it is, in words.
    learner : str
        The same in Python.
    accuracy : float
        The share of rows left out that it gets right.
    gain, standard_error : float
        By how much that exceeds the linear classifier's on the same rows, and how sure that is.
    """

    name: str
    learner: str
    accuracy: float
    gain: float
    standard_error: float

    @property
    def is_better(self) -> bool:
        """Whether it beats the linear classifier by a percentage point, and not by chance."""
        return self.gain >= max(0.01, _CLEAR * self.standard_error)


@dataclass(frozen=True)
class Rivals:
    """Learners that are not linear, beside a linear classifier.

    Attributes
    ----------
    n_rows : int
        Training rows that all were compared on, each by models that had not seen it.
    accuracy : float
        That of the linear classifier on them.
    others : tuple of Rival
        The most accurate first.
    """

    n_rows: int
    accuracy: float
    others: tuple[Rival, ...]


def is_worthwhile(found: Search) -> bool:
    """Say whether the linear classifier leaves room for a better one."""
    return found.best is not None and found.best.accuracy <= 1 - _ROOM


def compare_rivals(model: TableClassifier, train: Sample) -> Rivals | None:
    """Return how learners that are not linear do; None without enough rows or time."""
    from hedgerow.ensemble import RandomForestClassifier
    from hedgerow.svm import SVC

    width = len(model.encoder_.get_feature_names_out())
    wanted = min(_FIRST_ROWS + int(_SHARE * len(train.y)), _MOST_ROWS)
    n_rows = min(len(train.y), wanted, _MOST_VALUES // max(width, 1))
    generator = generator_of(model.learner_.random_state, _STREAM)
    drawn = np.sort(generator.permutation(len(train.y))[:n_rows])
    codes = encode_labels(train.y[drawn])[1]
    if n_rows < _FEWEST_ROWS or np.sort(np.append(np.bincount(codes), 0))[-2] < _N_FOLDS:
        return None
    X = model.encoder_.transform(train.X.take(drawn))
    data = ScoredData(dense(X), codes, classes=np.empty(0))
    folds = dealt_folds(codes, _N_FOLDS, generator)
    n_jobs, seed = model.learner_.n_jobs, model.learner_.random_state
    is_right = partial(_is_right, data=data, folds=folds, n_jobs=n_jobs)
    linear = _linear(is_right, model.learner_, len(train.y) / n_rows)
    forest = is_right(RandomForestClassifier(random_state=seed, n_jobs=n_jobs))
    svc = is_right(SVC(n_jobs=n_jobs))
    if linear is None or forest is None or svc is None:
        return None
    others = [
        _rival("a random forest", "RandomForestClassifier(random_state=0)", forest, linear),
        _rival("an SVC with an RBF kernel", "SVC()", svc, linear),
    ]
    others.sort(key=lambda rival: -rival.accuracy)
    return Rivals(n_rows, float(linear.mean()), tuple(others))


def _is_right(
    learner: Any, data: ScoredData, folds: Sequence[Fold], n_jobs: int | None
) -> NDArray[np.bool_] | None:
    """Return which rows the learner gets right when it has not seen them; None if stopped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # these models are not the user's
        found = cross_scores(learner, data, folds, n_jobs=n_jobs, ask=_predictions)
    if current().reason is not None:
        return None
    right = np.zeros(len(data.y), np.bool_)
    right[found.rows] = found.scores == data.y[found.rows]
    return right


def _predictions(model: Any, X: Any) -> NDArray[np.float64]:
    """Return the numbers of the predicted classes."""
    return np.asarray(model.predict(X), np.float64)


def _linear(
    is_right: Callable[[Any], NDArray[np.bool_] | None], chosen: LinearSVC, ratio: float
) -> NDArray[np.bool_] | None:
    """Return what the linear classifier gets right with its C, or with C for fewer rows if better.

    C weighs the sum of the losses: for a sample of a large table the same balance with the penalty
    needs a larger C.
    """
    Cs = [chosen.C] if ratio < 2 else [chosen.C, chosen.C * ratio]
    right: Sequence[NDArray[np.bool_] | None] = [
        is_right(LinearSVC(loss=chosen.loss, C=C, n_jobs=chosen.n_jobs)) for C in Cs
    ]
    known = [each for each in right if each is not None]
    return max(known, key=lambda each: float(each.mean())) if len(known) == len(Cs) else None


def _rival(name: str, learner: str, right: NDArray[np.bool_], linear: NDArray[np.bool_]) -> Rival:
    gains = right.astype(float) - linear
    error = float(gains.std(ddof=1)) / len(gains) ** 0.5
    return Rival(name, learner, float(right.mean()), float(gains.mean()), error)
