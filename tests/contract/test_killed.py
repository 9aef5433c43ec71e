"""Fits and searches that are killed -9, again and again, end with the result of those that were not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORK = """
import sys, time, warnings
import numpy as np
import hedgerow
from hedgerow._base.fingerprint import fingerprint

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 20))
signs = rng.integers(0, 2, 4000)
classes = rng.integers(0, 3, 4000)
texts = {"a": X[:600, 0], "b": np.where(X[:600, 1] > 0, "up", "down").astype(object)}

def svc(**settings):
    return hedgerow.LinearSVC(random_state=0, **settings)

all_at_once = hedgerow.SVC(C=10.0, tol=1e-6, multi_class="crammer_singer")
endless = {"tol": None, "n_iter_no_change": 10**6}
descent = {"solver": "dual_coordinate_descent", "tol": 1e-12, "C": 10.0}
tasks = {
    "descent": lambda: svc(loss="hinge", max_iter=1500, **descent).fit(X, signs),
    "descent of classes": lambda: svc(max_iter=500, **descent).fit(X, classes),
    "interior point": lambda: svc(loss="hinge", tol=1e-9).fit(np.hstack([X] * 9), signs),
    "newton": lambda: svc(C=1e4, tol=1e-9).fit(np.hstack([X] * 9), signs),
    "perceptron": lambda: hedgerow.Perceptron(max_iter=2000, **endless).fit(X, signs),
    "averaged": lambda: hedgerow.AveragedPerceptron(max_iter=1000, **endless).fit(X, classes),
    "voted": lambda: hedgerow.VotedPerceptron(max_iter=300, **endless).fit(X, signs),
    "pairs": lambda: hedgerow.SVC(C=100.0, gamma=0.05, tol=1e-9).fit(X[:1800], classes[:1800]),
    "all at once": lambda: all_at_once.fit(X[:900], classes[:900]),
    "kernel": lambda: hedgerow.KernelPerceptron(max_iter=5, **endless).fit(X[:2000], signs[:2000]),
    "table": lambda: hedgerow.TableClassifier(svc(max_iter=9000, **descent)).fit(texts, signs[:600]),
    "search": lambda: hedgerow.auto_fit(texts, signs[:600], loss="hinge").model,
}

def attributes(model):
    if hasattr(model, "learner_"):
        return attributes(model.learner_)
    return {name: value for name, value in vars(model).items() if name.endswith("_")}

def work():
    for name, task in tasks.items():
        print(name, fingerprint(attributes(task())), flush=True)

if len(sys.argv) == 1:
    work()
else:
    with hedgerow.checkpoint(sys.argv[1], every=0.05):
        print("begun", flush=True)
        work()
"""
N_KILLS = 8


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORK, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_work_goes_on_and_ends_with_the_same_bits(tmp_path: Path) -> None:
    began = time.monotonic()
    with start() as process:
        expected = process.communicate()[0].splitlines()
    seconds = time.monotonic() - began
    path = tmp_path / "work.checkpoint"
    sizes = []
    for k in range(N_KILLS):
        with start(path) as process:
            assert process.stdout is not None
            process.stdout.readline()  # it has begun
            time.sleep(0.2 + (k % 4) * seconds / N_KILLS / 4)
            os.kill(process.pid, signal.SIGKILL)
        sizes.append(path.stat().st_size if path.exists() else 0)
    with start(path) as process:
        lines = process.communicate()[0].splitlines()
    assert lines[1:] == expected
    assert len(expected) == 12
    assert sizes[-1] > sizes[0]  # the killed runs got further, each from where the last had stood
    assert list(tmp_path.iterdir()) == []
