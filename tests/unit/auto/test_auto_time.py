"""auto_fit within a time limit, and on other engines."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris

from hedgerow import engine
from hedgerow.auto import TableClassifier, auto_fit
from hedgerow.auto.choose import cross_validate, training_folds
from hedgerow.auto.columns import as_columns
from hedgerow.errors import NotCertifiedWarning
from hedgerow.linear import LinearSVC
from hedgerow.linear.paths import predictions_along
from hedgerow.monitor import monitored

IRIS = load_iris(return_X_y=True)
FEW_CS = [0.1, 1.0]


def blobs(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return generator.normal(size=(n, 3)) + 3 * y[:, None], y


def hard(n_samples: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return rows whose labels are noise, which large C take long to fit."""
    random = np.random.default_rng(0)
    return random.standard_normal((n_samples, 40)), random.integers(2, size=n_samples)


def test_a_search_that_keeps_to_its_time_says_what_it_left_undone() -> None:
    X, y = hard()
    began = time.monotonic()
    result = auto_fit(X, y, Cs=[2.0**k for k in range(-8, 12)], loss="hinge", max_time=1.5)
    assert time.monotonic() - began < 1.5 * 1.05 + 1
    assert result.unfinished
    assert result.unfinished in {h.name: h.sentence for h in result.advice}["search_cut_short"]
    assert result.model.predict(X).shape == y.shape
    assert json.dumps(result.as_dict(), allow_nan=False)


def test_without_time_to_compare_the_value_nearest_to_1_is_taken() -> None:
    with pytest.warns(NotCertifiedWarning, match="raise max_time"):
        result = auto_fit(*hard(), Cs=[0.25, 3.0, 64.0], max_time=1e-6)
    assert (result.C, result.scores, result.n_folds) == (3.0, (), 0)
    assert result.unfinished == "after 0 of 5 folds without a score for C = 0.25, 3, 64"
    assert {"not_certified", "search_cut_short"} <= {hint.name for hint in result.advice}


def test_a_fold_that_the_end_of_the_search_cut_short_does_not_count() -> None:
    X, y = blobs(60)
    folds = training_folds(y, 4, np.random.default_rng(0))
    whole = cross_validate(TableClassifier(LinearSVC()), as_columns(X), y, FEW_CS, folds)
    arguments = TableClassifier(LinearSVC(n_jobs=1)), as_columns(X), y, FEW_CS, folds
    counts = []
    for n_fits in range(1, 8):
        with monitored("search") as monitor:
            search = cross_validate(
                *arguments,
                n_jobs=1,
                progress=lambda done, _, n=n_fits, m=monitor: done == n and m.ask("stopped"),
            )
        counts.append(search.n_folds)
        assert [score.C for score in search.scores] == (FEW_CS if search.n_folds else [])
    assert counts == [0, 1, 1, 2, 2, 3, 3]
    assert whole.n_folds == 4
    assert not whole.unfinished


def test_a_value_whose_fits_run_out_of_time_is_out_of_the_search(monkeypatch) -> None:
    def slow(learner, X, y, Cs, others):
        found = predictions_along(learner, X, y, Cs, others)
        for C, (labels, status) in zip(Cs, found, strict=True):
            yield labels, "time_limit" if FEW_CS[1] == C else status

    monkeypatch.setattr("hedgerow.auto.choose.predictions_along", slow)
    result = auto_fit(*blobs(60), Cs=FEW_CS, cv=3)
    assert [score.C for score in result.scores] == FEW_CS[:1]
    assert result.unfinished == f"without a score for C = {FEW_CS[1]:g}"
    assert result.n_folds == 3


def test_one_fold_has_the_standard_error_of_a_share() -> None:
    X, y = blobs(60)
    folds = training_folds(y, 4, np.random.default_rng(0))
    y = np.where(np.arange(60) % 5 == 0, 1 - y, y)
    with monitored("search") as monitor:
        (score,) = cross_validate(
            TableClassifier(LinearSVC()),
            as_columns(X),
            y,
            [1.0],
            folds,
            n_jobs=1,
            progress=lambda *_: monitor.ask("stopped"),
        ).scores
    share, n = score.accuracy, len(folds[0].test)
    assert score.standard_error == pytest.approx(np.sqrt(share * (1 - share) / n))
    assert score.standard_error > 0


@pytest.mark.parametrize("where", [None, "threading", "loky"])
def test_where_the_search_runs_changes_nothing(where) -> None:
    expected = auto_fit(*IRIS, Cs=FEW_CS)
    with engine(where):
        assert auto_fit(*IRIS, Cs=FEW_CS).as_dict() == expected.as_dict()
