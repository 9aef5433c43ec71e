"""A process that is killed while it saves leaves a whole file, and at most rubbish beside it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hedgerow
from hedgerow.errors import FileAccessError
from hedgerow.persist.atomic import _prefix, atomic_write

pytestmark = pytest.mark.long

KILLS = 60
WIDTHS = {1: 20_000, 2: 60_000}
"""Coefficients of the two models, many enough that a save takes longer than a start of it."""

NURSERY = """
import os, sys
import numpy as np
import hedgerow
models = []
for value, width in {1: 20_000, 2: 60_000}.items():
    model = hedgerow.LinearSVC().fit([[0.0], [1.0]], [0, 1])
    model.coef_, model.n_features_in_ = np.full((1, width), float(value)), width
    models.append(model)
for _ in sys.stdin:
    child = os.fork()
    while child == 0:
        for model in models:
            hedgerow.save(model, sys.argv[1])
    sys.stdout.write(f"{child}\\n")
    sys.stdout.flush()
    os.waitpid(child, 0)
"""
"""A process that, for each line it gets, forks one that saves two models alternately for ever."""


def test_after_every_kill_the_file_is_one_of_the_two_models(tmp_path: Path):
    path = tmp_path / "model.hedge"
    rng = random.Random(0)
    seen, n_leftovers = set(), 0
    command = [sys.executable, "-c", NURSERY, path]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1) as nursery:
        for _ in range(KILLS):
            nursery.stdin.write("fork\n")
            child = int(nursery.stdout.readline())
            while not path.exists():
                time.sleep(0.001)
            # Long enough, now and then, for the second model, however slow the disk is.
            time.sleep(rng.uniform(0.0, 0.05 if seen == {1, 2} else 0.5))
            os.kill(child, signal.SIGKILL)
            model = hedgerow.load(path)
            value = int(model.coef_[0, 0])
            seen.add(value)
            assert model.coef_.shape == (1, WIDTHS[value])
            assert np.all(model.coef_ == value)
            n_leftovers += len(list(tmp_path.glob(".hedgerow-*.tmp")))
        nursery.stdin.close()
    assert seen == {1, 2}
    assert n_leftovers > 0  # some kill did hit a save at work
    hedgerow.save(hedgerow.LinearSVC(), path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_removes_what_a_killed_one_left_and_nothing_else(tmp_path: Path):
    path = tmp_path / "model.hedge"
    leftover = tmp_path / f"{_prefix(path)}0123456789abcdef.tmp"
    of_another = tmp_path / f"{_prefix(tmp_path / 'other.hedge')}0123456789abcdef.tmp"
    for file in (leftover, of_another):
        file.write_bytes(b"half a model")
    hedgerow.save(hedgerow.LinearSVC(), path)
    assert sorted(tmp_path.iterdir()) == sorted([path, of_another])


def test_two_saves_to_one_path_at_a_time_do_not_disturb_each_other(tmp_path: Path):
    path = tmp_path / "model.hedge"
    with atomic_write(path) as slow:
        slow.write(b"slow")
        with atomic_write(path) as fast:
            fast.write(b"fast")
        assert path.read_bytes() == b"fast"
    assert path.read_bytes() == b"slow"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_that_is_taken_for_a_leftover_is_made_again(tmp_path: Path, monkeypatch):
    from hedgerow.persist import atomic

    lock, locked = atomic._lock, []

    def steal_the_first(stream):
        if not locked:
            Path(stream.name).unlink()
        locked.append(stream.name)
        lock(stream)

    monkeypatch.setattr(atomic, "_lock", steal_the_first)
    with atomic_write(tmp_path / "f") as stream:
        stream.write(b"here")
    assert (tmp_path / "f").read_bytes() == b"here"
    assert len(locked) == 2


def test_where_files_cannot_be_locked_they_are_still_written(tmp_path: Path, monkeypatch):
    from hedgerow.persist import atomic

    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(atomic.fcntl, "flock", refuse)
    hedgerow.save(hedgerow.LinearSVC(), tmp_path / "m.hedge")
    assert list(tmp_path.iterdir()) == [tmp_path / "m.hedge"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch):
    full = os.open("/dev/full", os.O_WRONLY)
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda _, data, position: write(full, data, position))
    model = hedgerow.LinearSVC().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(FileAccessError, match="No space left on device; free some space"):
        hedgerow.save(model, tmp_path / "m.hedge")
    assert not list(tmp_path.iterdir())
    os.close(full)
