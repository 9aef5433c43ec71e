"""Ctrl-C during auto_fit: raised at once, and nothing that was found is lost."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from hedgerow import AutoInterrupt, watch
from hedgerow.auto import auto_fit
from hedgerow.auto import fit as module
from hedgerow.auto.encoder import TableEncoder
from hedgerow.monitor import current

CS = [0.01, 0.1, 1.0, 10.0]


def rows(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return generator.normal(size=(n, 5)) + y[:, None], y


def press() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.raise_signal(signal.SIGINT)
    else:  # the main thread takes it
        os.kill(os.getpid(), signal.SIGINT)
        deadline = time.monotonic() + 30
        while current().reason is None and time.monotonic() < deadline:
            time.sleep(0.01)


def press_after(n_fits: int):
    return lambda done, _total: press() if done == n_fits else None


@pytest.fixture(autouse=True)
def _handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_that_is_interrupted_ends_with_the_best_of_its_whole_folds(n_jobs) -> None:
    X, y = rows()
    with pytest.raises(AutoInterrupt) as caught:
        auto_fit(X, y, Cs=CS, n_jobs=n_jobs, progress=press_after(2 * len(CS) + 1))
    stop = caught.value
    assert stop.step == "search"
    result = stop.finish()
    n_folds = result.n_folds
    assert n_folds == 2 or (n_jobs == 2 and n_folds == 1)  # of two at a time, one may be late
    assert stop.what_follows.startswith(f"Interrupted after {n_folds} of 5 folds")
    whole = auto_fit(X, y, Cs=[result.C])
    assert result.interrupted == "search"
    assert result.certificate.is_certified
    np.testing.assert_array_equal(result.model.learner_.coef_, whole.model.learner_.coef_)
    assert result.C == max(result.scores, key=lambda score: score.accuracy).C
    assert f"Interrupted in the search, after {n_folds} of 5 folds" in " ".join(str(result).split())


def test_before_the_first_fold_is_whole_the_value_nearest_to_1_is_taken() -> None:
    with pytest.raises(AutoInterrupt) as caught:
        auto_fit(*rows(), Cs=CS, progress=press_after(1), n_jobs=1)
    result = caught.value.finish()
    assert (result.C, result.n_folds, result.scores) == (1.0, 0, ())
    assert result.certificate.is_certified


def test_a_fit_that_is_interrupted_is_tested_as_far_as_it_came() -> None:
    X, y = rows(3000)

    def press_in_the_fit(event) -> None:
        if "fit" in event.path and event.done == 1:
            press()

    with pytest.raises(AutoInterrupt) as caught, watch(press_in_the_fit):
        auto_fit(X, y, Cs=CS, loss="hinge")
    assert caught.value.step == "fit"
    result = caught.value.finish()
    assert result.interrupted == "fit"
    assert result.model.learner_.status_ == result.certificate.status == "interrupted"
    assert "let it come to its end" in {h.name: h.sentence for h in result.advice}["not_certified"]
    assert "tested below as far as it came" in " ".join(str(result).split())


def test_before_the_learner_has_begun_the_model_is_fitted_anew(monkeypatch) -> None:
    fit, n_fits = TableEncoder.fit_transform, []

    def press_in_the_last(self, X):
        n_fits.append(len(X.numbers))
        if len(n_fits) == 6:  # after five folds
            press()
        return fit(self, X)

    monkeypatch.setattr(TableEncoder, "fit_transform", press_in_the_last)
    with pytest.raises(AutoInterrupt) as caught:
        auto_fit(*rows(), Cs=CS)
    assert caught.value.step == "fit"
    result = caught.value.finish()
    assert result.certificate.is_certified
    assert result.n_folds == 5


def test_in_the_test_ctrl_c_is_raised_at_once_and_the_test_can_be_made_again(monkeypatch) -> None:
    judge, calls = module.judge, []

    def press_in_the_first(*arguments, **options):
        calls.append("judge")
        if len(calls) == 1:
            press()
        return judge(*arguments, **options)

    monkeypatch.setattr(module, "judge", press_in_the_first)
    with pytest.raises(AutoInterrupt) as caught:
        auto_fit(*rows(), Cs=CS)
    assert caught.value.step == "test"
    result = caught.value.finish()
    assert result.interrupted == "test"
    assert result.test == auto_fit(*rows(), Cs=CS).test


@pytest.mark.parametrize("when", ["search", "finish"])
def test_the_second_ctrl_c_leaves_at_once_with_nothing(when: str, monkeypatch) -> None:
    def press_twice(_done, _total) -> None:
        press()
        press()

    if when == "search":
        with pytest.raises(KeyboardInterrupt) as caught:
            auto_fit(*rows(), Cs=CS, n_jobs=1, progress=press_twice)
    else:
        with pytest.raises(AutoInterrupt) as first:
            auto_fit(*rows(), Cs=CS, progress=press_after(1), n_jobs=1)
        monkeypatch.setattr(TableEncoder, "fit", lambda *_: press())
        with pytest.raises(KeyboardInterrupt) as caught:
            first.value.finish()
    assert not isinstance(caught.value, AutoInterrupt)


def test_before_the_search_there_is_nothing_to_keep(monkeypatch) -> None:
    monkeypatch.setattr(module, "training_sample", lambda *_: press())
    with pytest.raises(KeyboardInterrupt) as caught:
        auto_fit(*rows(), Cs=CS)
    assert not isinstance(caught.value, AutoInterrupt)


def test_a_handler_of_the_users_own_is_called_and_the_result_is_returned() -> None:
    called = []

    def own(*_) -> None:
        called.append("own")

    signal.signal(signal.SIGINT, own)
    result = auto_fit(*rows(), Cs=CS, n_jobs=1, progress=press_after(len(CS) + 1))
    assert called == ["own"]
    assert (result.interrupted, result.n_folds) == ("search", 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
