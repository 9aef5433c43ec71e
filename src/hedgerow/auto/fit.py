"""auto_fit: one call from a table to a tested model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._parameters import check_seed, generator_of
from hedgerow._rows import is_missing, refuse_masked
from hedgerow._targets import encode_labels
from hedgerow._validation import check_labels, refuse_one_class
from hedgerow.auto.advice import Evidence, Hint, advise
from hedgerow.auto.choose import (
    DEFAULT_CS,
    CandidateScore,
    Progress,
    cross_validate,
)
from hedgerow.auto.columns import Columns, as_columns
from hedgerow.auto.judge import HeldOutReport, judge
from hedgerow.auto.profile import Profile, profile_of
from hedgerow.auto.split import fold_numbers, held_out_mask
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.certificates import Certificate
from hedgerow.errors import DataError, ParameterError
from hedgerow.io import Table
from hedgerow.linear import LinearSVC
from hedgerow.monitor import monitored, raising_at_once

__all__ = ["AutoResult", "auto_fit"]

_SEARCH = 0.8
"""The search's share of the time."""
_FIT = 0.9
"""The last fit's share of what is left then; the rest is for the test."""


@dataclass(frozen=True)
class AutoResult:
    """A tested model, and how it was found.

    Attributes
    ----------
    model : TableClassifier
        Fitted on the training rows with the chosen C.
    C : float
        The chosen C.
    scores : tuple of CandidateScore
        Cross-validated accuracy of every C tried, or of those there was time for.
    n_folds : int
        Folds of the cross-validation they were judged on.
    train_accuracy : float
        Accuracy on the training rows.
    test : HeldOutReport
        Accuracy on the rows kept apart, with its interval, a baseline and recalls.
    certificate : Certificate
        Proof of the quality of the fit.
    advice : tuple of Hint
        What to try next.
    profile : Profile
        What the table is like.
    n_train : int
        Number of training rows.
    unfinished : str
        What a search that was cut short has left undone, or nothing.
    """

    model: TableClassifier
    C: float
    scores: tuple[CandidateScore, ...]
    n_folds: int
    train_accuracy: float
    test: HeldOutReport
    certificate: Certificate
    advice: tuple[Hint, ...]
    profile: Profile
    n_train: int
    unfinished: str

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the model as what JSON can hold."""
        return {
            "C": self.C,
            "scores": [asdict(score) for score in self.scores],
            "n_folds": self.n_folds,
            "unfinished": self.unfinished,
            "n_train": self.n_train,
            "train_accuracy": self.train_accuracy,
            "test": asdict(self.test),
            "certificate": certificate_dict(self.certificate),
            "advice": [asdict(hint) for hint in self.advice],
            "profile": self.profile.as_dict(),
        }


@dataclass(frozen=True)
class _Sample:
    """Rows and their labels."""

    X: Columns
    y: NDArray[Any]
    target: str | int | None = None

    def take(self, rows: NDArray[np.bool_]) -> _Sample:
        places = np.flatnonzero(rows)
        return _Sample(self.X.take(places), self.y[places], self.target)


def auto_fit(
    X: Any,
    y: Any = None,
    *,
    test_size: float = 0.25,
    test: Any = None,
    Cs: Sequence[float] | None = None,
    cv: int = 5,
    loss: str = "squared_hinge",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    max_time: float | None = None,
) -> AutoResult:
    """Choose C by cross-validation, fit a linear SVM and test it on rows kept apart.

    Parameters
    ----------
    X : Table, mapping, dataframe, 2-D array or sparse matrix
        The rows.
    y : array of labels, optional
        Not needed if X is a Table with labels.
    test_size : float, default=0.25
        The share of every class that is kept apart for the test.
    test : Table or pair (X, y), optional
        Rows to test on; all of X is then used for training.
    Cs : sequence of float, optional
        Values of C to try; by default 2^-8, 2^-6, ..., 2^8.
    cv : int, default=5
        Folds of the cross-validation; fewer where classes are too small.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of the machine.
    random_state : int, RandomState, Generator or None, default=0
        Decides which rows go where.
    n_jobs : int or None, default=None
        Threads; None means all cores. The result does not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` after every fit of the search.
    max_time : float or None, default=None
        Seconds for all of it. The search gets four fifths of them, and the last fit what is left. If
        the search is cut short, C is chosen among the values that were judged on every fold it got
        through, or is the one nearest to 1 if there is none, and the advice says so.

    Returns
    -------
    AutoResult
        The model with everything that was found out on the way.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import auto_fit
    >>> result = auto_fit(*load_iris(return_X_y=True))
    >>> result.test.accuracy.estimate > 0.8
    True
    """
    _check_numbers(test_size, cv)
    with monitored("auto_fit", max_time) as monitor, raising_at_once():
        seed = check_seed(random_state)
        generator = generator_of(seed)
        sample = _training_sample(X, y)
        train, held_out = _train_and_test(sample, test, test_size, generator)
        folds = fold_numbers(encode_labels(train.y)[1], cv, generator)
        model = TableClassifier(LinearSVC(loss=loss, random_state=seed, n_jobs=n_jobs))
        Cs = DEFAULT_CS if Cs is None else Cs
        with monitor.part("search", _SEARCH):
            search = cross_validate(
                model, train.X, train.y, Cs, folds, n_jobs=n_jobs, progress=progress
            )
        with monitor.part("fit", _FIT):
            model.set_params(learner__C=search.best_C(Cs)).fit(train.X, train.y)
        model.target_ = train.target
        evidence = Evidence(
            profile=profile_of(sample.X, sample.y),
            scores=search.scores,
            train_accuracy=float(np.mean(model.predict(train.X) == train.y)),
            test=judge(model.predict(held_out.X), held_out.y, _commonest(train.y), seed=seed),
            certificate=model.learner_.certificate_,
            unfinished=search.unfinished,
        )
    return AutoResult(
        **vars(evidence),
        model=model,
        C=model.learner_.C,
        n_folds=search.n_folds,
        n_train=len(train.y),
        advice=advise(evidence),
    )


def _commonest(y: NDArray[Any]) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    return labels[counts.argmax()].item()


def certificate_dict(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate's figures, the derived ones too."""
    derived = ("gap", "relative_gap", "is_certified")
    return asdict(certificate) | {name: getattr(certificate, name) for name in derived}


# ------------------------------------------------------------------------------ rows and labels


def _check_numbers(test_size: float, cv: int) -> None:
    if not 0 < test_size < 1:
        msg = f"test_size={test_size!r} is not between 0 and 1; give a share such as 0.25"
        raise ParameterError(msg)
    if cv < 2:
        raise ParameterError(f"cv={cv!r} is too few folds; give at least 2")


def _sample(X: Any, y: Any) -> _Sample:
    """Return rows and labels as the search needs them."""
    target = None
    if isinstance(X, Table):
        y, target = X.y if y is None else y, X.target
    if y is None:
        raise DataError("there are no labels; give y, or read the table with a target")
    refuse_masked(y, "y")
    columns, labels = as_columns(X), np.asarray(y)
    if labels.shape != (columns.shape[0],):
        msg = f"X has {columns.shape[0]} rows but y has shape {labels.shape}; give one label a row"
        raise DataError(msg)
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise DataError(f"y has no label at row {row}; remove the row or give it a label")
    return _Sample(columns, labels, target)


def _training_sample(X: Any, y: Any) -> _Sample:
    """Return rows and labels that can be learnt from, by the rules of every classifier."""
    sample = _sample(X, y)
    classes, codes = check_labels(sample.y, len(sample.y))
    refuse_one_class(classes, codes, np.ones(len(codes)))
    return replace(sample, y=classes[codes])


def _train_and_test(
    sample: _Sample, test: Any, test_size: float, generator: np.random.Generator
) -> tuple[_Sample, _Sample]:
    """Return training rows and test rows, which are the ones given or some kept apart."""
    if test is None:
        _, codes = encode_labels(sample.y)
        held_out = held_out_mask(codes, test_size, generator)
        return sample.take(~held_out), sample.take(held_out)
    held = _sample(test, None) if isinstance(test, Table) else _sample(*test)
    if (held.y.dtype.kind in "OU") != (sample.y.dtype.kind in "OU"):
        msg = (
            f"the test labels, such as {held.y[0]!r}, and the training labels, such as "
            f"{sample.y[0]!r}, are of different kinds; write them alike"
        )
        raise DataError(msg)
    return sample, held
