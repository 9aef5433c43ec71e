"""Files with a right digest whose parts do not belong together: refused, or all of the model works.

Every specimen is saved, and every array of its file is changed in many ways. The changed files are
loaded, and what loads is used, in child processes: a crash of the compiled code would end those.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hedgerow
from hedgerow.errors import ModelFormatError
from tests.model_zoo import SPECIMENS, exercise, savable_classes, specimen
from tests.unit.persist.forged_files import forge, state_and_arrays

pytestmark = pytest.mark.long

SWEPT = [
    "kept/LinearSVC-isotonic-three",
    "LinearSVC-by-parts",
    "kept/VotedPerceptron",
    "KernelPerceptron-sparse",
    "SVC-sparse",
    "SVC-kernel-matrix",
    "kept/SVR",
    "CalibratedModel-isotonic",
    "kept/ThresholdModel",
    "kept/DecisionTreeClassifier-categories",
    "DecisionTreeRegressor-outputs",
    "RandomForestClassifier-groups",
    "kept/RandomForestClassifier-categories",
    "kept/RandomForestRegressor-targets",
    "kept/SelectFromForest",
    "kept/TableClassifier",
]
"""One specimen for every kind of state; ``make fuzz`` changes all of them."""

FEW = 40
"""Changes of a specimen that are tried; each time the same ones, spread over all there are."""

ODD_NUMBERS = (-1, 0, 2**31 - 1, -(2**31), 2**62, -(2**62))


def changed(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the array with other numbers, of another type or of another length."""
    kind = array.dtype.kind
    if kind in "iu":
        limits = np.iinfo(array.dtype)
        for number in (n for n in ODD_NUMBERS if limits.min <= n <= limits.max):
            for place in sorted({0, array.size // 2, array.size - 1} & set(range(array.size))):
                other = array.copy()
                other.flat[place] = number
                yield f"[{place}] = {number}", other
        yield "as float64", array.astype(np.float64)
    elif kind == "f":
        for number in (np.nan, np.inf, -1.0, 1e308):
            other = array.astype(np.float64)
            other.flat[:1] = number
            yield f"[0] = {number}", other.astype(array.dtype)
        yield "as float32", array.astype(np.float32)
        yield "as float16", array.astype(np.float16)
    else:
        yield "the opposite", ~array
    for axis, n in enumerate(array.shape):
        for what, kept in {
            "one less": np.arange(n - 1),
            "one more": np.append(np.arange(n), n - 1),
            "none": np.arange(0),
        }.items():
            if n:
                yield f"{what} along axis {axis}", array.take(kept, axis=axis)


def spread(items: list[Any], n: int) -> list[Any]:
    """Return n of the items, evenly spread."""
    return [items[i] for i in np.unique(np.linspace(0, len(items) - 1, n).astype(int))]


def sweep(name: str, folder: str) -> list[str]:
    """Return what went wrong with changed files of a specimen."""
    path, found = Path(folder) / "m.hedge", specimen(name)
    hedgerow.save(found.model, path)
    state, arrays = state_and_arrays(path.read_bytes())
    with np.errstate(all="ignore"):
        changes = [
            (f"{key} {how}", {**arrays, key: other})
            for key, array in arrays.items()
            for how, other in changed(array)
        ]
    wrong = []
    for what, others in spread(changes, FEW):
        forge(path, state, others)
        try:
            model = hedgerow.load(path)
        except ModelFormatError:
            continue
        try:
            exercise(model, found.X, found.y)
        except Exception as error:  # noqa: BLE001 - whatever is not ours is what is looked for
            wrong.append(f"{what}: {error!r} {getattr(error, '__notes__', '')}")
    return wrong


def _in_child(name: str, folder: str, results: Any) -> None:
    results.put(sweep(name, folder))


@pytest.mark.parametrize("name", SWEPT)
def test_a_model_whose_arrays_were_changed_is_refused_or_works(name: str, tmp_path: Path):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(name, str(tmp_path), results))
    child.start()
    child.join(120)
    assert child.exitcode == 0
    assert results.get(timeout=10) == []


@pytest.mark.parametrize("name", SPECIMENS)
def test_all_of_a_loaded_model_works(name: str, tmp_path: Path):
    found = specimen(name)
    hedgerow.save(found.model, tmp_path / "m.hedge")
    exercise(hedgerow.load(tmp_path / "m.hedge"), found.X, found.y)


def test_there_is_a_specimen_of_every_class_that_can_be_saved():
    assert savable_classes() == {type(specimen(name).model).__name__ for name in SPECIMENS}
