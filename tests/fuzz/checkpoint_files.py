"""Checkpoints of fits that were broken off, from which the same fits go on.

An input is a line with the name of the fit, and then the file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hedgerow
from tests.fuzz.byte_edits import damaged
from tests.fuzz.hedge_files import mutated_file
from tests.fuzz.target import Seeds, Target, attempt, n_steps
from tests.memory_store import CrashError

__all__ = ["TARGET"]

_RNG = np.random.default_rng(5)
_X = _RNG.normal(size=(60, 4))
_SIGNS = np.where(_X[:, 0] + _X[:, 1] + _RNG.normal(size=60) > 0, 1, -1)
_CLASSES = np.digitize(_X[:, 0] + 0.5 * _RNG.normal(size=60), [-0.5, 0.5])
_VALUES = _X[:, 0] + 0.1 * _RNG.normal(size=60)
_WAYS = ("state",) * 8 + ("arrays",) * 10 + ("both", "both", "graft", "header", "bytes")
_AT = (1, 3, 8, 10**9)
"""The events of a fit at which it is broken off, the last one after its end."""


def _linear(loss: str, solver: str, **settings: Any) -> Callable[[], Any]:
    return lambda: hedgerow.LinearSVC(
        loss=loss, solver=solver, random_state=3, n_jobs=1, max_iter=30, **settings
    )


_FITS: dict[str, tuple[Callable[[], Any], Any]] = {
    "interior point": (_linear("hinge", "interior_point"), _SIGNS),
    "newton": (_linear("squared_hinge", "newton", C=100.0), _SIGNS),
    "proximal newton": (_linear("squared_hinge", "proximal_newton", penalty="l1"), _SIGNS),
    "coordinate descent": (_linear("hinge", "dual_coordinate_descent", tol=1e-9), _SIGNS),
    "three classes": (_linear("hinge", "dual_coordinate_descent", tol=1e-9), _CLASSES),
    "l-bfgs": (_linear("logistic", "lbfgs", tol=1e-10), _SIGNS),
    "sgd": (_linear("hinge", "sgd", solver_options={"rate": 0.02}), _SIGNS),
    "pegasos": (_linear("hinge", "pegasos", intercept="penalized"), _SIGNS),
    "kernel": (lambda: hedgerow.SVC(C=20.0, tol=1e-4, n_jobs=1), _SIGNS),
    "kernel pairs": (lambda: hedgerow.SVC(C=20.0, tol=1e-4, n_jobs=1), _CLASSES),
    "kernel classes": (
        lambda: hedgerow.SVC(C=5.0, multi_class="crammer_singer", tol=1e-4, n_jobs=1),
        _CLASSES,
    ),
    "kernel values": (lambda: hedgerow.SVR(C=20.0, tol=1e-4, n_jobs=1), _VALUES),
    "outliers": (lambda: hedgerow.OneClassSVM(nu=0.3, n_jobs=1), _VALUES),
    "perceptron": (lambda: hedgerow.Perceptron(max_iter=12, tol=None, n_jobs=1), _SIGNS),
    "votes": (lambda: hedgerow.VotedPerceptron(max_iter=12, tol=None, n_jobs=1), _SIGNS),
    "kernel perceptron": (
        lambda: hedgerow.KernelPerceptron(max_iter=12, tol=None, gamma=0.1),
        _SIGNS,
    ),
    "choice of C": (lambda: hedgerow.LinearSVCCV(Cs=[0.1, 1.0], cv=2, random_state=0), _SIGNS),
    "forest": (lambda: hedgerow.RandomForestClassifier(5, random_state=0, n_jobs=1), _CLASSES),
    "forest of values": (
        lambda: hedgerow.RandomForestRegressor(5, random_state=0, oob_score=True, n_jobs=1),
        _VALUES,
    ),
}


def _seeds() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in _FITS:
            for at in _AT:
                path = Path(folder) / f"{len(found)}.checkpoint"
                _break_off(name, at, path)
                if path.exists():
                    found[f"{name} {at}"] = name.encode() + b"\n" + path.read_bytes()
    return found


def _break_off(name: str, at: int, path: Path) -> None:
    """Fit until that event, and leave the checkpoint of it."""
    n_events = 0

    def crash(_event: Any) -> None:
        nonlocal n_events
        n_events += 1
        if n_events >= at:
            raise CrashError

    make, y = _FITS[name]
    with suppress(CrashError), hedgerow.checkpoint(path, every=0):
        with hedgerow.watch(crash):
            make().fit(_X, y)
        raise CrashError


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    seed, donor = (seeds[rng.choice(list(seeds))] for _ in range(2))
    label, _, data = seed.partition(b"\n")
    way = rng.choice(_WAYS)
    if way == "bytes":
        for _ in range(n_steps(rng, most)):
            data = damaged(rng, data, [donor])
        return label + b"\n" + data
    return label + b"\n" + mutated_file(rng, seed, donor, most, way, [])


def _consume(data: bytes, folder: Path) -> None:
    label, _, contents = data.partition(b"\n")
    path = folder / "fit.checkpoint"
    path.write_bytes(contents)
    attempt(_go_on, label.decode(), path)


def _go_on(name: str, path: Path) -> None:
    make, y = _FITS[name]
    with hedgerow.checkpoint(path):
        model = make().fit(_X, y)
    assert model.predict(_X).shape == (len(_X),)


TARGET = Target("checkpoint", 4, _seeds, _mutate, _consume)
