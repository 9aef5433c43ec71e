"""A long fit to files: it is heard of, stopped, broken off and gone on with, and takes little memory."""

from __future__ import annotations

import copy
import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import hedgerow
from benchmarks.memory import in_fresh_process, peak_growth
from hedgerow import LinearSVC, NotCertifiedWarning
from hedgerow.data.io.ahead import read_ahead
from hedgerow.monitor import keeping_in
from hedgerow.persist.state_file import write_state

pytestmark = pytest.mark.long

ENDLESS = {"tol": 1e-300, "C": 1e4, "max_iter": 10**9, "random_state": 0}
DESCENT = "dual_coordinate_descent"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    random = np.random.default_rng(0)
    X = np.where(random.random((3000, 12)) < 0.4, random.normal(size=(3000, 12)).round(3), 0.0)
    y = np.where(X.sum(axis=1) + random.normal(size=3000) > 0, 1, -1)
    file = tmp_path_factory.mktemp("rows") / "rows.svm"
    dump_svmlight_file(X, y, str(file), zero_based=False)
    return file


class Memory:
    """A store that takes down every state."""

    def __init__(self):
        self.entries = {}

    def recall(self, key):
        return copy.deepcopy(self.entries.get(key))

    def remember(self, key, state):
        self.entries[key] = copy.deepcopy(state())

    def keep(self, key, result, *, instead_of):  # noqa: ARG002
        self.entries[key] = result


def test_progress_is_told_in_bytes_of_all(path):
    events = []
    with hedgerow.watch(events.append):
        LinearSVC(random_state=0).fit_files(path, block_bytes=20_000)
    passes = [event for event in events if "pass" in event.figures]
    assert {event.total for event in passes} == {path.stat().st_size}
    assert max(event.done for event in passes) == path.stat().st_size
    assert passes[0].figures["pass"] == 1


def test_ctrl_c_leaves_a_model_without_a_proof(path):
    model = LinearSVC(solver=DESCENT, **ENDLESS)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit_files(path, block_bytes=20_000)
    assert time.monotonic() - began < 5.0
    assert model.status_ == "interrupted"
    assert not model.certificate_.is_certified
    assert model.predict(np.zeros((1, 12))).shape == (1,)


def test_the_time_limit_leaves_time_for_the_proof(path):
    model = LinearSVC(solver=DESCENT, max_time=1.0, **ENDLESS)
    began = time.monotonic()
    with pytest.warns(NotCertifiedWarning, match="raise max_time"):
        model.fit_files(path, block_bytes=20_000)
    assert time.monotonic() - began < 3.0  # 5 % and one second, twice that on a busy machine
    assert model.status_ == "time_limit"
    assert 0.0 < model.certificate_.dual < model.certificate_.primal < np.inf


@pytest.mark.parametrize("solver", ["auto", DESCENT])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
def test_a_fit_goes_on_where_it_was_broken_off(path, tmp_path, solver, loss):
    model = LinearSVC(solver=solver, loss=loss, C=0.01, tol=1e-6, max_iter=6, random_state=0)
    whole = model.fit_files(path, block_bytes=20_000).coef_

    def crash(event):
        if event.figures.get("pass") == 3 and event.done > 0.5 * event.total:
            raise MemoryError

    store = Memory()
    with pytest.raises(MemoryError), keeping_in(store), hedgerow.watch(crash):
        model.fit_files(path, block_bytes=20_000)
    write_state(tmp_path / "state", "checkpoint", store.entries)  # what is left can be written
    events = []
    with keeping_in(store), hedgerow.watch(events.append):
        again = model.fit_files(path, block_bytes=20_000).coef_
    passes = [event for event in events if "pass" in event.figures]
    assert passes[0].figures["pass"] == 3
    assert passes[0].done > 0.5 * passes[0].total
    assert np.array_equal(again, whole)


def test_what_reading_ahead_raises_is_raised_where_it_is_read():
    def items():
        yield 1
        raise OSError("gone")

    ahead = read_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(OSError, match="gone"):
        next(ahead)


def test_no_more_than_two_items_exist_at_a_time():
    made = []
    ahead = read_ahead(made.append(i) or i for i in range(10))
    for item in ahead:
        time.sleep(0.01)
        assert len(made) <= item + 2
    assert len(made) == 10


def _bytes_taken(file, parameters):
    """Return the bytes that a fit to a file takes beyond what a small one left."""
    model = LinearSVC(**parameters).fit_files(file.with_suffix(".small"), block_bytes=1 << 14)
    return peak_growth(lambda: model.fit_files(file, block_bytes=1 << 18) and None)[1]


@pytest.mark.parametrize("solver", ["auto", DESCENT])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_memory_is_some_blocks_however_many_rows_there_are(path, tmp_path, loss, solver):
    text, file = path.read_bytes(), tmp_path / "rows.svm"
    file.with_suffix(".small").write_bytes(text)
    file.write_bytes(text * 350)
    parameters = {"loss": loss, "solver": solver, "C": 1e-4, "random_state": 0, "tol": 1e-2}
    # A reading varies by ten blocks with how far the thread that reads ahead has come at the peak.
    readings = (in_fresh_process(_bytes_taken, file, parameters) for _ in range(3))
    # One byte for each of a million rows would be 4 blocks of 256 kB, and one alpha 32: the sample has
    # 4 blocks, and the rest is blocks with all that is computed of their rows, which are short here.
    assert any(taken < 40 * 2**18 for taken in readings)
