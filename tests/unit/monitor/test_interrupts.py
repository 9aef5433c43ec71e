"""Ctrl-C: who hears of it, when it is raised, and what is left as it was."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import hedgerow
from hedgerow import LinearSVC, Perceptron, TableClassifier, auto_fit, bootstrap_error
from hedgerow.monitor import current, monitored, raising_at_once
from hedgerow.testing import check_interrupt


def noise(n_samples=60, n_features=3, n_classes=2):
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, n_features))
    return X, random.integers(n_classes, size=n_samples)


def endless(**others):
    return Perceptron(max_iter=10**9, tol=None, **others)


def press_at(*steps, and_then=None):
    """Return a callback that presses Ctrl-C at some steps, counted from 1."""
    seen = []

    def callback(event):
        seen.append(event)
        if len(seen) in steps:
            signal.raise_signal(signal.SIGINT)
        if and_then is not None:
            and_then(len(seen))

    return callback


@pytest.fixture(autouse=True)
def _handler():
    """Give every test Python's own handler, and see that it is left in place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    left = signal.signal(signal.SIGINT, before)
    assert left is signal.default_int_handler


# -------------------------------------------------------------------------------- the main thread


def test_the_model_of_an_interrupted_fit_is_that_of_the_steps_it_made():
    X, y = noise()
    model = endless().set_callbacks(press_at(3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.status_, model.n_iter_) == ("interrupted", 3)
    limited = endless().set_callbacks(lambda event: event.done == 3).fit(X, y)
    np.testing.assert_array_equal(model.coef_, limited.coef_)


def test_an_interrupted_machine_has_its_certificate():
    X, y = noise(300, 20)
    model = LinearSVC(solver="dual_coordinate_descent", tol=1e-12, max_iter=10**9)
    model.set_callbacks(press_at(4))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == model.certificate_.status == "interrupted"
    assert 0 < model.certificate_.dual <= model.certificate_.primal
    model.set_callbacks()
    assert model.set_params(tol=1e-3, max_iter=1000).fit(X, y).status_ == "optimal"


def test_the_second_ctrl_c_is_raised_at_once():
    reached = []

    def press_twice(_event):
        signal.raise_signal(signal.SIGINT)
        reached.append("after the first")
        signal.raise_signal(signal.SIGINT)
        reached.append("after the second")

    model = endless().set_callbacks(press_twice)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise())
    assert reached == ["after the first"]
    assert not hasattr(model, "coef_")


def test_ctrl_c_is_not_lost_if_the_fit_fails_after_it():
    def press_and_fail(_event):
        signal.raise_signal(signal.SIGINT)
        raise LookupError

    with pytest.raises(KeyboardInterrupt) as caught:
        endless().set_callbacks(press_and_fail).fit(*noise())
    assert isinstance(caught.value.__context__, LookupError)


def test_a_handler_of_the_users_own_is_called_once_the_model_is_in_order():
    called = []
    model = endless().set_callbacks(press_at(2))

    def own(number, _frame):
        called.append((number, model.status_))

    signal.signal(signal.SIGINT, own)
    model.fit(*noise())
    assert called == [(signal.SIGINT, "interrupted")]
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_handler_of_the_users_own_is_called_also_where_ctrl_c_is_raised_at_once():
    called = []

    def own(*_):
        called.append("own")

    signal.signal(signal.SIGINT, own)
    with pytest.raises(KeyboardInterrupt), monitored("task"), raising_at_once():
        signal.raise_signal(signal.SIGINT)
    assert called == ["own"]
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_that_is_ignored_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    steps = []
    model = Perceptron(max_iter=4, tol=None).set_callbacks(press_at(1, 2, and_then=steps.append))
    with pytest.warns(UserWarning, match="max_iter=4"):
        model.fit(*noise())
    assert steps == [1, 2, 3, 4]
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_a_fit_that_fails_leaves_the_handler_as_it_was():
    with pytest.raises(ValueError, match="max_iter"):
        Perceptron(max_iter=-1).fit(*noise())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_is_set_during_a_fit_is_kept():
    def own(*_):
        pass

    def change(_event):
        signal.signal(signal.SIGINT, own)
        return True

    endless().set_callbacks(change).fit(*noise())
    assert signal.getsignal(signal.SIGINT) is own
    signal.signal(signal.SIGINT, signal.default_int_handler)


# ------------------------------------------------------------------------------------------ nested


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_outer_of_two_nested_fits_raises_and_both_are_fitted(n_classes):
    X, y = noise(n_classes=n_classes)
    model = TableClassifier(endless(n_jobs=1)).set_callbacks(press_at(2))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == model.learner_.status_ == "interrupted"
    assert model.predict(X).shape == y.shape


def test_a_fit_within_a_watched_block_is_interrupted_and_the_block_is_not():
    X, y = noise()
    model, again = endless(), endless()
    with hedgerow.watch(press_at(2)):
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        again.set_callbacks(lambda event: event.done == 5).fit(X, y)
    assert (model.status_, again.status_, again.n_iter_) == ("interrupted", "stopped", 5)


def test_between_the_fits_of_a_watched_block_ctrl_c_is_pythons_own():
    with hedgerow.watch():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert current().reason is None


class Sleeper(ClassifierMixin, BaseEstimator):
    """A learner that knows nothing of monitors."""

    def fit(self, _X, _y):
        signal.raise_signal(signal.SIGINT)
        self.came_to_the_end_ = True
        return self


def test_a_learner_of_another_package_is_interrupted_at_once():
    model = TableClassifier(Sleeper())
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise())
    assert not hasattr(model, "learner_")


def test_a_search_is_interrupted_and_raises():
    X, y = noise(200)
    done = []

    def progress(*counts):
        done.append(counts)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        auto_fit(X, y, progress=progress, n_jobs=1)
    assert len(done) == 1


def test_an_error_estimate_is_interrupted_and_raises():
    X, y = noise(200)
    with pytest.raises(KeyboardInterrupt), hedgerow.watch(press_at(2)):
        bootstrap_error(LinearSVC(), X, y, n_resamples=50, random_state=0, n_jobs=1)


# ---------------------------------------------------------------------------------- other threads


def test_in_another_thread_a_fit_leaves_ctrl_c_alone():
    X, y = noise()
    handlers, model = [], endless()

    def look(event):
        handlers.append(signal.getsignal(signal.SIGINT))
        return event.done == 3

    thread = threading.Thread(target=lambda: model.set_callbacks(look).fit(X, y))
    thread.start()
    thread.join()
    assert model.status_ == "stopped"
    assert handlers == [signal.default_int_handler] * 3


# ------------------------------------------------------------------------------------- in the core


@pytest.mark.long
@pytest.mark.parametrize("shape", [(5000, 2500), (2500, 5000)])
def test_the_core_is_interrupted_within_products_and_factorisations(shape):
    # Either system has 2500 unknowns: a product takes 10^10 multiplications, and the factorisation
    # as many, so that Ctrl-C falls into the midst of one of them.
    X, y = noise(*shape)
    model = LinearSVC(loss="hinge", solver="interior_point", C=1e3, tol=1e-12, n_jobs=1)
    for after in (0.6, 1.1):
        check_interrupt(model, X, y, after=after)


def test_a_search_in_threads_is_interrupted_within_half_a_second():
    X, y = noise(30000, 60)  # a search of many seconds
    main = threading.main_thread().ident
    for _attempt in range(3):  # a busy machine may be late by itself
        timer = threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT])
        timer.start()
        began = time.monotonic()
        try:
            with pytest.raises(KeyboardInterrupt):
                auto_fit(X, y, Cs=10.0 ** np.arange(-6, 7), loss="hinge", n_jobs=2)
        finally:
            timer.cancel()
        late = time.monotonic() - began - 0.5
        if late < 0.5:
            break
    assert late < 0.5
