"""Sparse matrices as a user may give them, with arrays and flags that lie.

An input is an .npz file of the arrays of a matrix, its shape and its format; the matrix is put
together without the checks of SciPy's constructors, as code that changes ``indptr`` in place does.
"""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

import hedgerow
from tests.fuzz.array_edits import edited_array
from tests.fuzz.target import Seeds, Target, attempt, choices_of, n_steps

__all__ = ["TARGET"]

_PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
_N_ROWS = 12


@cache
def _rows() -> Any:
    X = np.random.default_rng(3).normal(size=(_N_ROWS, 6))
    return np.where(np.abs(X) > 0.6, X, 0.0)


def _seeds() -> dict[str, bytes]:
    found = {}
    for form, parts in _PARTS.items():
        for dtype in ("f8", "f4", "i4"):
            options = {"blocksize": (2, 3)} if form == "bsr" else {}
            matrix = getattr(sp, f"{form}_matrix")(_rows().astype(dtype), **options)
            arrays = {part: getattr(matrix, part) for part in parts}
            found[f"{form}-{dtype}"] = _packed(form, _rows().shape, arrays, "matrix", 0)
    return found


def _packed(
    form: str, shape: tuple[int, ...], arrays: dict[str, Any], kind: str, flags: int
) -> bytes:
    stream = io.BytesIO()
    about = {"format": np.array(form), "shape": np.array(shape), "kind": np.array(kind)}
    np.savez(stream, **about, flags=np.array(flags), **arrays)
    return stream.getvalue()


def _unpacked(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return dict(stored)


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    stored = _unpacked(seeds[rng.choice(list(seeds))])
    form = str(stored["format"])
    kind, flags = rng.choice(["matrix", "array"]), rng.randrange(4)
    shape = [int(n) for n in stored["shape"]]
    arrays = {part: stored[part] for part in _PARTS[form]}
    for _ in range(n_steps(rng, most)):
        if rng.random() < 0.1:
            shape[rng.randrange(2)] = rng.choice([0, 1, 5, 7, 11, 13, 3000, -1])
        elif rng.random() < 0.3:
            part = rng.choice(list(arrays))
            arrays[part] = arrays[part].astype(rng.choice(["<i8", "<i4", "<f8"]))
        else:
            part = rng.choice([*arrays, *list(arrays)[1:]])
            arrays[part] = edited_array(rng, arrays[part], list(arrays.values()))
    return _packed(form, tuple(shape), arrays, kind, flags)


def _matrix(data: bytes) -> Any:
    """Return the matrix of an input; nothing is checked."""
    stored = _unpacked(data)
    form = str(stored["format"])
    cls = getattr(sp, f"{form}_{stored['kind']}")
    matrix = cls((4, 6)) if form != "bsr" else cls((4, 6), blocksize=(2, 3))
    matrix._shape = tuple(int(n) for n in stored["shape"])
    for part in _PARTS[form]:
        if form == "coo" and part != "data":
            continue
        setattr(matrix, part, stored[part])
    if form == "coo":
        matrix.coords = (stored["row"], stored["col"])
    flags = int(stored["flags"])
    if form in ("csr", "csc", "bsr") and flags & 1:
        matrix.has_sorted_indices = True
    if form in ("csr", "csc", "bsr", "coo") and flags & 2:
        matrix.has_canonical_format = True
    return matrix


def _learners() -> list[Any]:
    return [
        lambda: hedgerow.LinearSVC(max_iter=30),
        lambda: hedgerow.LinearSVC(loss="hinge", multi_class="crammer_singer", max_iter=30),
        lambda: hedgerow.LinearSVR(max_iter=30),
        lambda: hedgerow.LinearOneClassSVM(max_iter=30),
        lambda: hedgerow.Perceptron(max_iter=30),
        lambda: hedgerow.VotedPerceptron(max_iter=5),
        lambda: hedgerow.KernelPerceptron(max_iter=5),
        lambda: hedgerow.SVC(max_iter=1000),
        lambda: hedgerow.SVR(kernel="linear", max_iter=1000),
        lambda: hedgerow.OneClassSVM(max_iter=1000),
        lambda: hedgerow.SVC(kernel="precomputed", max_iter=1000),
        lambda: hedgerow.SVC(scale="standard", max_iter=1000),
        hedgerow.DecisionTreeClassifier,
        lambda: hedgerow.RandomForestRegressor(2, random_state=0),
        hedgerow.TableClassifier,
    ]


@cache
def _fitted() -> list[Any]:
    y = np.arange(_N_ROWS) % 2
    return [
        hedgerow.LinearSVC().fit(sp.csr_array(_rows()), y),
        hedgerow.SVC(gamma=1.0).fit(sp.csr_array(_rows()), y),
        hedgerow.SVC().fit(_rows(), y),
        hedgerow.KernelPerceptron().fit(sp.csr_array(_rows()), y),
        hedgerow.DecisionTreeClassifier().fit(_rows(), y),
        hedgerow.RandomForestClassifier(2, random_state=0).fit(_rows(), y),
        hedgerow.OneClassSVM().fit(_rows()),
        hedgerow.LinearSVR().fit(_rows(), y * 0.5),
    ]


def _consume(data: bytes, folder: Path) -> None:
    rng = choices_of(data)
    y = np.arange(_N_ROWS) % 2
    learner = rng.choice(_learners())()
    model = rng.choice(_fitted())
    methods = [name for name in ("predict", "decision_function", "apply") if hasattr(model, name)]
    attempt(learner.fit, _matrix(data), y)
    attempt(getattr(model, rng.choice(methods)), _matrix(data))
    kernel = rng.choice(
        [hedgerow.RBF(gamma=0.5), hedgerow.Linear(), hedgerow.Polynomial(degree=2, gamma=0.1)]
    )
    attempt(kernel, _matrix(data), _rows() if rng.random() < 0.5 else _matrix(data))
    attempt(hedgerow.LinearSVC().partial_fit, _matrix(data), y, classes=[0, 1])
    attempt(hedgerow.evaluate, _fitted()[0], _matrix(data), y, n_resamples=5, random_state=0)


TARGET = Target("sparse", 6, _seeds, _mutate, _consume)
