"""auto_fit: one call from a table to a tested model."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hedgerow._base.parameters import check_seed, generator_of
from hedgerow.auto.advice import Evidence, advise
from hedgerow.auto.choose import DEFAULT_CS, Search, cross_validate, training_folds
from hedgerow.auto.judge import judge
from hedgerow.auto.result import AutoResult
from hedgerow.auto.rivals import compare_rivals, is_worthwhile
from hedgerow.auto.sample import Sample, train_and_test, training_sample
from hedgerow.auto.table_classifier import TableClassifier
from hedgerow.data.targets import encode_labels
from hedgerow.describe.profile import profile_of
from hedgerow.errors import ParameterError
from hedgerow.linear import LinearSVC
from hedgerow.monitor import FirstInterrupt, Monitor, monitored, raising_at_once
from hedgerow.search.folds import Fold
from hedgerow.search.running import Progress
from hedgerow.search.trials import Trials

__all__ = ["AutoInterrupt", "auto_fit"]

_SEARCH = 0.8
"""The search's share of the time."""
_FIT = 0.9
"""The last fit's share of what is left then; the rest is for the test."""
_MOMENT = 1e-3
"""Seconds that are left when all are used up."""


class AutoInterrupt(KeyboardInterrupt):
    """Ctrl-C during :func:`auto_fit`; it carries what was found so far.

    Attributes
    ----------
    step : str
        The step that was interrupted: "search", "fit" or "test".

    Examples
    --------
    A search that is interrupted can still end with a model::

        try:
            result = auto_fit(X, y)
        except AutoInterrupt as stop:
            result = stop.finish()
    """

    def __init__(self, run: _Run) -> None:
        self.step = run.step
        self._run = run
        super().__init__(f"auto_fit was interrupted in its {run.step}; finish() keeps what it has")

    @property
    def what_follows(self) -> str:
        """What was interrupted, and what :meth:`finish` does, in words."""
        run = self._run
        if self.step == "search":
            return (
                f"Interrupted {run.found.unfinished}: a model is fitted with C = {run.best_C():g}"
            )
        if hasattr(run.model, "learner_"):
            return "Interrupted: the model is tested as far as it came"
        return f"Interrupted: the model with C = {run.best_C():g} is fitted"

    def finish(self) -> AutoResult:
        """Return the result with the best C so far.

        A model whose fit was interrupted is tested as it is. If the search was interrupted, a model is fitted
        with the best C. ``max_time`` still applies. Another Ctrl-C is raised immediately.

        Returns
        -------
        AutoResult
            The result.
        """
        run = self._run
        left = run.deadline - time.monotonic()
        max_time = None if math.isinf(left) else max(left, _MOMENT)
        with monitored("auto_fit", max_time) as monitor, raising_at_once():
            run.finish(monitor)
        return run.result(interrupted=self.step)


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
        Rows to test on; all of X is then used for training. Every label must occur in training.
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
        Called as ``progress(done, total)`` after every fit of the search, in the thread that made it.
    max_time : float or None, default=None
        Seconds for all of it. The search gets four fifths of them, and the last fit what is left. If
        the search is cut short, C is chosen among the values that were judged on every fold it got
        through, or is the one nearest to 1 if there is none, and the advice says so.

    Returns
    -------
    AutoResult
        The model with everything that was found out on the way; ``print`` shows it as a page.

    Raises
    ------
    AutoInterrupt
        Ctrl-C was pressed. It is a KeyboardInterrupt whose ``finish()`` returns the result with
        the best C so far.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import auto_fit
    >>> result = auto_fit(*load_iris(return_X_y=True))
    >>> result.test.accuracy.estimate > 0.8
    True
    """
    _check_numbers(test_size, cv)
    run: _Run | None = None
    try:
        with monitored("auto_fit", max_time) as monitor:
            with raising_at_once():
                seed = check_seed(random_state)
                generator = generator_of(seed)
                sample = training_sample(X, y)
                train, held_out = train_and_test(sample, test, test_size, generator)
                folds = training_folds(encode_labels(train.y)[1], cv, generator)
                learner = LinearSVC(loss=loss, random_state=seed, n_jobs=n_jobs)
                grid = tuple(DEFAULT_CS if Cs is None else Cs)
                run = _Run(sample, train, held_out, folds, learner, grid, monitor.deadline)
            run.go_on(monitor, progress)
    except KeyboardInterrupt as pressed:
        if run is None or run.was_left:
            raise
        raise AutoInterrupt(run) from pressed
    if run.evidence is None:  # Ctrl-C went to a handler of the user's own, which did not raise
        return AutoInterrupt(run).finish()
    return run.result(interrupted="")


def _check_numbers(test_size: float, cv: int) -> None:
    if not 0 < test_size < 1:
        msg = f"test_size={test_size!r} is not between 0 and 1; give a share such as 0.25"
        raise ParameterError(msg)
    if cv < 2:
        raise ParameterError(f"cv={cv!r} is too few folds; give at least 2")


@dataclass
class _Run:
    """The three steps of auto_fit, and what they have found so far.

    Attributes
    ----------
    sample, train, held_out : Sample
        All rows; those to learn from; those to test on.
    folds : list of Fold
        The folds of the training rows.
    learner : LinearSVC
        Not fitted, without its C.
    Cs : tuple of float
        The values to try.
    deadline : float
        When the time is over, by the monotonic clock.
    step : str
        The one that was begun last.
    was_left : bool
        Whether a second Ctrl-C ended it.
    """

    sample: Sample
    train: Sample
    held_out: Sample
    folds: list[Fold]
    learner: LinearSVC
    Cs: tuple[float, ...]
    deadline: float
    step: str = "search"
    was_left: bool = False
    found: Search = field(default_factory=lambda: Search(Trials(())))
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        self.model = TableClassifier(self.learner)

    def go_on(self, monitor: Monitor, progress: Progress | None) -> None:
        """Make all steps; the first Ctrl-C ends a search or a fit with what it has."""
        try:
            self._search(monitor, progress)
            if monitor.reason != "interrupted":
                self._fit(monitor)
            if monitor.reason != "interrupted":
                with raising_at_once():
                    self._test(monitor, with_rivals=True)
        except KeyboardInterrupt as pressed:
            self.was_left = not isinstance(pressed, FirstInterrupt)
            raise

    def finish(self, monitor: Monitor) -> None:
        """Make the steps that are missing after an interrupt."""
        if not hasattr(self.model, "learner_"):
            self._fit(monitor)
        self._test(monitor, with_rivals=False)

    def result(self, *, interrupted: str) -> AutoResult:
        """Return what was found."""
        assert self.evidence is not None
        evidence = replace(self.evidence, interrupted=interrupted)
        return AutoResult(
            **vars(evidence),
            model=self.model,
            C=self.model.learner_.C,
            n_folds=self.found.n_folds,
            n_train=len(self.train.y),
            advice=advise(evidence),
        )

    def best_C(self) -> float:  # noqa: N802 - C is the field's own name
        """Return the best C so far, or the one nearest to 1 if none has been compared."""
        return self.found.best_C(self.Cs)

    def _search(self, monitor: Monitor, progress: Progress | None) -> None:
        X, y, n_jobs = self.train.X, self.train.y, self.learner.n_jobs
        with monitor.part("search", _SEARCH):
            self.found = cross_validate(
                self.model, X, y, self.Cs, self.folds, n_jobs=n_jobs, progress=progress
            )

    def _fit(self, monitor: Monitor) -> None:
        self.step = "fit"
        self.model.set_params(learner__C=self.best_C())
        with monitor.part("fit", _FIT):
            self.model.fit(self.train.X, self.train.y)
        self.model.target_ = self.train.target

    def _test(self, monitor: Monitor, *, with_rivals: bool) -> None:
        self.step = "test"
        model, train, held_out = self.model, self.train, self.held_out
        labels, counts = np.unique(train.y, return_counts=True)
        commonest = labels.tolist()[counts.argmax()]
        seed = self.learner.random_state
        self.evidence = Evidence(
            profile=profile_of(self.sample.X.features, self.sample.y),
            scores=self.found.scores,
            train_accuracy=float(np.mean(model.predict(train.X) == train.y)),
            test=judge(model.predict(held_out.X), held_out.y, commonest, seed=seed),
            certificate=model.learner_.certificate_,
            unfinished=self.found.unfinished,
        )
        if with_rivals and is_worthwhile(self.found):
            with monitor.part("rivals"):
                rivals = compare_rivals(self.model, train)
            self.evidence = replace(self.evidence, rivals=rivals)
