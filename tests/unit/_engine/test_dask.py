"""On a Dask cluster fits have the bits they have here, also if a worker is killed."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import hedgerow
from hedgerow import (
    SVC,
    LinearSVC,
    LinearSVCCV,
    Perceptron,
    RandomForestClassifier,
    RandomForestRegressor,
    bootstrap,
    bootstrap_error,
    watch,
)
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.errors import ParameterError
from hedgerow.monitor import current, monitored

pytestmark = pytest.mark.long

X, Y = load_digits(return_X_y=True)
X, Y = np.ascontiguousarray(X[:500]), Y[:500]


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def pids(client):
    """Return the processes of both workers; one that was killed is started again before."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        client.wait_for_workers(2)
        found = client.run(os.getpid, on_error="ignore")
        if len(found) == 2:
            return set(found.values())
        time.sleep(0.1)
    raise AssertionError("the cluster has lost a worker")


@pytest.fixture(autouse=True)
def two_workers(client):
    return pids(client)


# ------------------------------------------------------------------------------------ the same bits


class Grown:
    """What a forest has learnt, as attributes."""

    def __init__(self, forest):
        self.trees = [forest.trees_.parts[name] for name in sorted(forest.trees_.parts)]
        self.importances = forest.feature_importances_
        self.sums, self.curve = forest.oob_.sums, forest.oob_.curve
        self.score = forest.oob_.score


def assert_same(found, expected):
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            assert_same(*pair)
    else:
        np.testing.assert_array_equal(found, expected)


FOREST = RandomForestClassifier(40, oob_score=True, random_state=0)
OF_FOREST = ("trees", "importances", "sums", "curve", "score")
FITS = {
    "trees": (lambda: Grown(FOREST.fit(X, Y)), OF_FOREST),
    "trees of numbers": (
        lambda: Grown(RandomForestRegressor(20, oob_score=True, random_state=0).fit(X, Y)),
        OF_FOREST,
    ),
    "importances": (
        lambda: FOREST.fit(X, Y).importances("permutation", X, Y, random_state=0),
        ("values", "spread"),
    ),
    "blocks of resamples": (
        lambda: bootstrap(X[:, 20], np.std, n_resamples=400, random_state=0),
        ("confidence_interval", "bootstrap_distribution"),
    ),
    "classes": (lambda: LinearSVC(loss="hinge").fit(X, Y), ("coef_", "intercept_", "alpha_")),
    "pairs of classes": (lambda: SVC(gamma=1e-3).fit(X, Y), ("dual_coef_", "intercept_")),
    "folds": (lambda: LinearSVCCV(cv=3, Cs=3).fit(X, Y), ("coef_", "C_")),
    "perceptrons": (
        lambda: Perceptron(random_state=0, tol=1e9).fit(X, Y),
        ("coef_", "intercept_"),
    ),
    "resamples": (
        lambda: bootstrap_error(
            KNeighborsClassifier(1), X[:90], Y[:90], n_resamples=40, random_state=0
        ),
        ("error", "out_of_bag_error", "confidence_interval"),
    ),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fit", FITS)
def test_a_cluster_gives_the_same_bits(client, fit):
    make, names = FITS[fit]
    here = make()
    with hedgerow.engine(client):
        there = make()
    for name in names:
        assert_same(getattr(there, name), getattr(here, name))


# ------------------------------------------------------------------------------------ where tasks run


def process_of(_):
    time.sleep(0.2)
    return os.getpid()


def n_threads_inside(_):
    return check_n_threads(None)


def test_tasks_run_on_the_workers_with_one_thread_each(client):
    with hedgerow.engine(client):
        assert set(side_by_side(process_of, range(6), 1)) == pids(client)
        assert set(side_by_side(n_threads_inside, range(4), 2)) == {1}


class Counted:
    """A task that counts how often it is packed here, and unpacked in each process."""

    n_packed = 0
    n_unpacked = 0

    def __call__(self, item):
        return os.getpid(), Counted.n_unpacked, item is not self.item

    def __init__(self, item):
        self.item = item

    def __reduce__(self):
        Counted.n_packed += 1
        return unpacked, (self.item,)


def unpacked(item):
    Counted.n_unpacked += 1
    return Counted(item)


@pytest.mark.parametrize("where", ["cluster", "loky", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_what_items_share_is_packed_once_and_unpacked_once_in_a_process(client, where):
    shared = np.arange(1e5)
    Counted.n_packed = 0
    with hedgerow.engine(client if where == "cluster" else where):
        found = list(side_by_side(Counted(shared), [shared] * 8, 2, shared=(shared,)))
    assert Counted.n_packed == 1
    counts = {}
    for process, n_unpacked, is_a_copy in found:
        assert not is_a_copy
        counts.setdefault(process, set()).add(n_unpacked)
    assert os.getpid() not in counts
    assert all(len(each) == 1 for each in counts.values())


def fail_at_three(x):
    if x == 3:
        raise ZeroDivisionError
    return x


def test_results_come_in_order_and_errors_come_through(client):
    with hedgerow.engine(client):
        assert list(side_by_side(abs, range(-9, 0), 2)) == list(range(9, 0, -1))
        with pytest.raises(ZeroDivisionError):
            list(side_by_side(fail_at_three, range(9), 2))


def test_items_of_any_size_can_be_sent(client):
    items = [np.full(n, 1.0) for n in (10, 2**21, 2**21)]
    with hedgerow.engine(client):
        assert list(side_by_side(np.sum, items, 2)) == [10, 2**21, 2**21]


# ------------------------------------------------------------------------------------ killed workers


def test_a_killed_worker_changes_no_bit(client):
    here = SVC(gamma=1e-3).fit(X, Y)
    before = pids(client)

    def kill_one(step):
        if step.done == 5:
            os.kill(min(before), signal.SIGKILL)

    with hedgerow.engine(client), watch(kill_one):
        there = SVC(gamma=1e-3).fit(X, Y)
    np.testing.assert_array_equal(there.dual_coef_, here.dual_coef_)
    assert len(pids(client) & before) == 1


def test_a_killed_worker_changes_no_bit_of_a_forest(client):
    here = Grown(FOREST.fit(X, Y))
    victim = min(pids(client))

    def kill_one(step):
        if step.done == 3:
            os.kill(victim, signal.SIGKILL)

    steps = []
    with hedgerow.engine(client), watch(kill_one), watch(steps.append):
        there = Grown(FOREST.fit(X, Y))
    for name in OF_FOREST:
        assert_same(getattr(there, name), getattr(here, name))
    assert [step.done for step in steps] == list(range(1, 41))


def die_once(path):
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


def test_a_task_that_died_with_its_worker_runs_again(client, tmp_path):
    before = pids(client)
    with hedgerow.engine(client):
        found = list(side_by_side(die_once, [tmp_path / "a", tmp_path / "b"], 2))
    assert len(found) == 2
    assert pids(client) != before


# ------------------------------------------------------------------------------------ stopping


def wait_until_asked(path):
    """Return how long it took to be asked to stop, at most twenty seconds; leave a file then."""
    began = time.monotonic()
    monitor = current()
    while monitor.reason is None and time.monotonic() - began < 20:
        time.sleep(0.01)
    path.touch()
    return time.monotonic() - began


def wait_for(condition, seconds=5.0):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


def test_ctrl_c_ends_the_wait_and_the_tasks(client, tmp_path):
    paths = [tmp_path / str(i) for i in range(4)]
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), monitored("task"), hedgerow.engine(client):
        waits = list(side_by_side(wait_until_asked, paths, 2))
    assert len(waits) == 4  # every task still has a result
    assert time.monotonic() - began < 5
    with hedgerow.engine(client):  # the workers are free
        assert list(side_by_side(abs, range(-2, 0), 2)) == [2, 1]


HARD = LinearSVC(loss="hinge", solver="dual_coordinate_descent", C=1e6, tol=1e-12, max_iter=10**9)


def test_ctrl_c_leaves_a_fitted_estimator(client):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), hedgerow.engine(client):
        HARD.fit(X, Y)
    assert HARD.status_ == "interrupted"
    assert HARD.coef_.shape == (10, 64)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.NotCertifiedWarning")
def test_a_time_limit_holds(client):
    began = time.monotonic()
    with hedgerow.engine(client):
        HARD.set_params(max_time=1.5).fit(X, Y)
    assert time.monotonic() - began < 1.5 + 3.0
    assert HARD.status_ == "time_limit"
    assert HARD.score(X, Y) > 0.5


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores:UserWarning")
def test_a_forest_keeps_the_trees_that_it_has_when_the_time_is_over(client):
    forest = RandomForestClassifier(100_000, random_state=0, oob_score=True)
    with hedgerow.engine(client), watch(max_time=3.0):
        forest.fit(X, Y)
    assert forest.status_ == "time_limit"
    n_trees = len(forest.trees_)
    assert 1 <= n_trees < 100_000
    first_ones = RandomForestClassifier(n_trees, random_state=0, oob_score=True).fit(X, Y)
    assert_same(forest.oob_.sums, first_ones.oob_.sums)


def sleep_elsewhere(item):
    home, seconds = item
    if os.getpid() != home:
        time.sleep(seconds)
    return current().reason


def test_what_is_late_is_not_waited_for(client):
    began = time.monotonic()
    with hedgerow.engine(client), monitored("task", max_time=0.5):
        found = list(side_by_side(sleep_elsewhere, [(os.getpid(), 0.0), (os.getpid(), 6.0)], 2))
    assert time.monotonic() - began < 0.5 + 3.0
    assert found == [None, "time_limit"]


def test_a_caller_that_stops_listening_cancels_the_rest(client):
    with hedgerow.engine(client):
        results = side_by_side(process_of, range(50), 2)
        next(results)
        results.close()
    assert wait_for(lambda: not client.futures)


# ------------------------------------------------------------------------------------ progress, clients


def test_listeners_here_hear_of_every_task_that_is_done(client):
    steps = []
    with hedgerow.engine(client), watch(steps.append), monitored("task"):
        list(side_by_side(abs, range(5), 2))
    assert [(step.done, step.total) for step in steps] == [(i, 5) for i in range(1, 6)]


def test_a_listener_can_stop_the_tasks(client, tmp_path):
    paths = [tmp_path / str(i) for i in range(3)]
    with hedgerow.engine(client), watch(lambda step: step.done == 1), monitored("task"):
        waits = list(side_by_side(stop_at_once_or_wait, paths, 2))
    assert max(waits) < 15


def stop_at_once_or_wait(path):
    return 0.0 if path.name == "0" else wait_until_asked(path)


def test_a_client_that_cannot_run_tasks_is_refused(client):
    closed = Client(client.cluster)
    closed.close()
    with pytest.raises(ParameterError, match="is closed"), hedgerow.engine(closed):
        pass
    with (
        pytest.raises(ParameterError, match=r"or a distributed\.Client"),
        hedgerow.engine(client.cluster),
    ):
        pass


def test_a_client_that_is_closed_in_the_block_is_refused_by_name(client):
    other = Client(client.cluster)
    with hedgerow.engine(other):
        other.close()
        with pytest.raises(ParameterError, match="give one that is connected"):
            list(side_by_side(abs, range(2), 2))
