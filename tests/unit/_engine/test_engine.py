"""Wherever independent fits run, the results are the same."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from joblib.parallel import ThreadingBackend
from sklearn.datasets import load_digits

import hedgerow
from hedgerow import LinearSVC, _core
from hedgerow._engine import check_n_threads, in_threads, side_by_side
from hedgerow.data.io.ahead import read_ahead
from hedgerow.data.rows import matrix_of
from hedgerow.errors import ParameterError
from hedgerow.monitor import current, monitored

X, Y = load_digits(return_X_y=True)
X, Y = np.ascontiguousarray(X[:600]), Y[:600]
ENGINES = [None, "threads", "threading", "loky", "multiprocessing"]

# Python warns of forks beside threads; the core makes a pool of its own in the child.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def reference():
    return LinearSVC(loss="hinge", n_jobs=1).fit(X, Y)


@pytest.mark.parametrize("rows", [np.ascontiguousarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("where", ENGINES)
def test_every_engine_gives_the_same_bits(where, rows, reference):
    expected = (
        reference if rows is np.ascontiguousarray else LinearSVC(loss="hinge").fit(rows(X), Y)
    )
    with hedgerow.engine(where):
        model = LinearSVC(loss="hinge", n_jobs=2).fit(rows(X), Y)
    for name in ("coef_", "intercept_", "alpha_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name))
    assert model.certificates_ == expected.certificates_


def test_a_backend_may_be_given_as_an_object(reference):
    with hedgerow.engine(ThreadingBackend()):
        model = LinearSVC(loss="hinge", n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, reference.coef_)


def process_of(_):
    return os.getpid()


def thread_of(_):
    time.sleep(0.02)
    return threading.get_ident()


def test_the_engine_decides_where_tasks_run():
    def where(name, task):
        with hedgerow.engine(name):
            return set(side_by_side(task, range(6), 2))

    assert where(None, thread_of) == {threading.get_ident()}
    assert threading.get_ident() not in where("threads", thread_of)
    assert where("threading", process_of) == {os.getpid()}
    assert os.getpid() not in where("loky", process_of)
    with hedgerow.engine("loky"):
        assert set(in_threads(process_of, range(6), 2)) == {os.getpid()}


def test_blocks_nest_and_end():
    with hedgerow.engine("loky"), hedgerow.engine(None):
        assert list(side_by_side(thread_of, range(2), 2)) == [threading.get_ident()] * 2
    assert threading.get_ident() not in set(side_by_side(thread_of, range(2), 2))


@pytest.mark.parametrize("where", ["nowhere", 3, object()])
def test_an_unknown_engine_is_refused(where):
    with (
        pytest.raises(ParameterError, match="give None, 'threads' or a joblib backend"),
        hedgerow.engine(where),
    ):
        pass


def fail_at_three(x):
    if x == 3:
        raise ZeroDivisionError
    return x


@pytest.mark.parametrize("where", ENGINES)
def test_results_come_in_order_and_errors_come_through(where):
    with hedgerow.engine(where):
        assert list(side_by_side(abs, range(-9, 0), 2)) == list(range(9, 0, -1))
        with pytest.raises(ZeroDivisionError):
            list(side_by_side(fail_at_three, range(9), 2))


def wait_until_asked(x):
    """Return how long it took to be asked to stop, at most ten seconds."""
    began = time.monotonic()
    monitor = current()
    while monitor.reason is None and time.monotonic() - began < 10:
        time.sleep(0.005)
    return time.monotonic() - began


@pytest.mark.parametrize("where", ENGINES)
def test_each_task_gets_its_share_of_the_time_left(where):
    with hedgerow.engine(where):
        list(side_by_side(abs, range(2), 2))  # the workers are there
        began = time.monotonic()
        with monitored("task", max_time=1.2):
            waits = list(side_by_side(wait_until_asked, range(6), 2))
    n_workers = 1 if where is None else 2
    assert max(waits) < 2 * 1.2 * n_workers / 6 + 0.5
    assert time.monotonic() - began < 1.2 + 3.0  # a pool of processes is made for each call


# joblib leaves the pipes of the workers it kills to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("where", ENGINES)
def test_ctrl_c_ends_the_wait(where):
    with hedgerow.engine(where):
        list(side_by_side(abs, range(2), 2))  # the workers are there
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt), monitored("task"):
            waits = list(side_by_side(wait_until_asked, range(6), 2))
    assert len(waits) == 6  # every task still has a result
    assert time.monotonic() - began < 5


def test_a_caller_that_stops_listening_stops_the_tasks():
    results = side_by_side(wait_until_asked, range(2), 2)
    timer = threading.Timer(0.2, results.close)
    began = time.monotonic()
    timer.start()
    timer.join()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("kind", ["dense64", "dense32", "csr32", "csr64"])
def test_a_matrix_can_be_sent_to_another_process(kind):
    rows = {
        "dense64": X,
        "dense32": X.astype(np.float32),
        "csr32": sp.csr_array(X),
        "csr64": sp.csr_array(
            (
                sp.csr_array(X).data,
                sp.csr_array(X).indices.astype(np.int64),
                sp.csr_array(X).indptr.astype(np.int64),
            ),
            shape=X.shape,
        ),
    }[kind]
    matrix = matrix_of(rows)
    copy = pickle.loads(pickle.dumps(matrix))
    assert copy.shape == matrix.shape
    v = np.linspace(-1, 1, len(X))
    np.testing.assert_array_equal(
        _core.data.weighted_row_sum(copy, v, 1), _core.data.weighted_row_sum(matrix, v, 1)
    )


def test_fits_beside_others_use_one_thread_each():
    assert set(side_by_side(n_threads_inside, range(4), 2)) == {1}
    assert check_n_threads(None) == _core.system.available_cores()


def n_threads_inside(_):
    return check_n_threads(None)


@pytest.mark.parametrize("n_left", [0, 1, 2])
def test_fewer_threads_than_asked_for_do_the_work(monkeypatch, n_left):
    """The system may have no thread left: those that start, or this one, do everything."""
    start, n_started = threading.Thread.start, 0

    def start_while_some_are_left(thread):
        nonlocal n_started
        if n_started == n_left:
            raise RuntimeError("can't start new thread")
        n_started += 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_while_some_are_left)
    found = list(in_threads(lambda i: (i, threading.get_ident()), range(20), 4))
    assert [i for i, _ in found] == list(range(20))
    assert len({ident for _, ident in found}) <= max(n_left, 1)
    n_started = 0
    assert list(read_ahead(iter(range(5)))) == list(range(5))


def test_more_threads_than_make_sense_are_not_asked_for():
    for n_jobs in (257, 2**31, 2**40, 2**70):
        assert check_n_threads(n_jobs) == max(256, _core.system.available_cores())
    assert check_n_threads(-(2**70)) == 1
