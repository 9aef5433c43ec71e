"""Model files of every class, most of them with a right digest.

An input is a line with the name of a specimen of :mod:`tests.model_zoo`, whose rows the model is used
with, and then the file.
"""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hedgerow
from hedgerow._base.state import dump_state
from hedgerow.errors import FileAccessError, ModelFormatError
from tests import model_zoo
from tests.fuzz.array_edits import edited_array
from tests.fuzz.byte_edits import damaged
from tests.fuzz.json_edits import edited, places, text_of, value_at
from tests.fuzz.target import Seeds, Target, attempt, n_steps
from tests.models.write import HERE
from tests.unit.persist.forged_files import forged, joined, parts_of, state_and_arrays

__all__ = ["TARGET", "mutated_file"]

_WAYS = ("state",) * 9 + ("arrays",) * 9 + ("both",) * 2 + ("graft", "header", "bytes", "bytes")
_ZIP = b"PK\x03\x04"
_ODD_METADATA = (
    "",
    "0",
    "1",
    "2",
    "3",
    "999999999999",
    "hedgerow-checkpoint",
    "é",
    "\0",
    "x" * 300,
)


def _seeds() -> dict[str, bytes]:
    import tempfile

    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.hedge"
        for name in model_zoo.SPECIMENS:
            hedgerow.save(model_zoo.specimen(name).model, path)
            found[name] = path.read_bytes()
    for file in sorted(HERE.glob("format-1/*.hedge")):
        found[f"kept/{file.stem} format 1"] = file.read_bytes()
    return {name: name.encode() + b"\n" + data for name, data in found.items()}


@cache
def _contents(seed: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    return state_and_arrays(seed.partition(b"\n")[2])


@cache
def _format(seed: bytes) -> str:
    return str(parts_of(seed.partition(b"\n")[2])[0]["__metadata__"]["format"])


@cache
def _class_names(seeds: tuple[str, ...]) -> list[str]:
    """Return the names that a state may have for classes: with their package, and as once without."""
    bare = {name.rpartition("/")[2].split("-")[0].split()[0] for name in seeds}
    return sorted({f"hedgerow.{name}" for name in bare} | bare)


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    name = rng.choice(list(seeds))
    donor = seeds[rng.choice(list(seeds))]
    label, _, data = seeds[name].partition(b"\n")
    way = rng.choice(_WAYS)
    if way == "bytes":
        for _ in range(n_steps(rng, most)):
            data = damaged(rng, data, [donor])
        return label + b"\n" + data
    return (
        label + b"\n" + mutated_file(rng, seeds[name], donor, most, way, _class_names(tuple(seeds)))
    )


def mutated_file(
    rng: Random, seed: bytes, donor: bytes, most: int, way: str, words: list[str]
) -> bytes:
    """Return the file of a seed with header, state or arrays changed, and with a right digest."""
    if way == "header":
        return _with_other_header(rng, seed.partition(b"\n")[2], most)
    state, arrays = copy.deepcopy(_contents(seed)[0]), dict(_contents(seed)[1])
    other_state, other_arrays = _contents(donor)
    if way == "graft":
        state = _grafted(rng, state, arrays, donor)
        return forged(text_of(state), arrays, format=_format(seed))
    words = words + list(arrays)
    pool = [*arrays.values(), *other_arrays.values()] or [np.zeros(1)]
    for _ in range(n_steps(rng, most)):
        if arrays and (way == "arrays" or (way == "both" and rng.random() < 0.5)):
            _change_arrays(rng, arrays, pool)
        else:
            state = edited(rng, state, words, other_state)
    return forged(text_of(state), arrays, format=_format(seed))


def _change_arrays(rng: Random, arrays: dict[str, np.ndarray], pool: list[np.ndarray]) -> None:
    """Change an array, swap two, remove one or add one."""
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    draw = rng.random()
    if draw < 0.06:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif draw < 0.08:
        del arrays[name]
    elif draw < 0.1:
        arrays[name + rng.choice(["", "x", ".ends", ".indptr", ".data"])] = rng.choice(pool)
    elif draw < 0.2:
        for one in [one for one in arrays if arrays[one].shape[:1] == arrays[name].shape[:1]]:
            arrays[one] = arrays[one][:-1] if arrays[one].ndim else arrays[one]
    else:
        arrays[name] = edited_array(rng, arrays[name], pool)


def _grafted(rng: Random, state: Any, arrays: dict[str, np.ndarray], donor: bytes) -> Any:
    """Put a model or a record of another file, with its arrays, into the place of one of this."""
    other_state, other_arrays = _contents(donor)
    taken = copy.deepcopy(_some_object(rng, other_state)[1])
    for way in places(taken):
        holder, key = value_at(taken, way[:-1]), way[-1]
        if key == "name" and isinstance(holder[key], str):
            new = f"graft.{holder[key]}"
            for name in [one for one in other_arrays if one.startswith(holder[key])]:
                arrays[f"graft.{name}"] = other_arrays[name]
            holder[key] = new
    way, replaced = _some_object(rng, state)
    for gone in {value_at(replaced, w) for w in places(replaced) if w[-1] == "name"}:
        for name in [one for one in arrays if one == gone or one.startswith(f"{gone}.")]:
            del arrays[name]
    if not way:
        return taken
    value_at(state, way[:-1])[way[-1]] = taken
    return state


def _some_object(rng: Random, state: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the way to a model, record or other tagged form of a state, and itself."""
    forms = [way for way in [(), *places(state)] if isinstance(value_at(state, way), dict)]
    way = rng.choice([w for w in forms if "is" in value_at(state, w)] or [()])
    return way, value_at(state, way)


def _with_other_header(rng: Random, data: bytes, most: int) -> bytes:
    header, payload = parts_of(data)
    for _ in range(n_steps(rng, most)):
        metadata = header.get("__metadata__") if isinstance(header, dict) else None
        if isinstance(metadata, dict) and metadata and rng.random() < 0.2:
            metadata[rng.choice(list(metadata))] = rng.choice(_ODD_METADATA)
        else:
            header = edited(rng, header, ["F64", "F32", "I64", "I32", "U8", "BOOL", "BF16"], header)
    if rng.random() < 0.2:
        payload = rng.choice([payload[:-1], payload + b"\0" * 8, payload * 2, b""])
    return joined(header, payload)


def _consume(data: bytes, folder: Path) -> None:
    label, _, contents = data.partition(b"\n")
    name = label.decode().removesuffix(" format 1")
    path = folder / "model.hedge"
    path.write_bytes(contents)
    model = _loaded(path)
    if model is None:
        return
    known = model_zoo.specimen(name)
    model_zoo.exercise(model, known.X, known.y)
    attempt(hedgerow.save, model, folder / "again.hedge")
    if (folder / "again.hedge").exists():
        again = hedgerow.load(folder / "again.hedge")
        assert _picture(again) == _picture(model), "a model that was loaded comes back as another"


def _loaded(path: Path) -> Any:
    """Return the model of a file, None if it is refused as a file must be."""
    try:
        return hedgerow.load(path)
    except (ModelFormatError, FileAccessError) as error:
        refusal = str(error)
    assert "\n" not in refusal, "an error of ours has more than one line"
    return None


def _picture(model: Any) -> Any:
    """Return all of a model's state but what scikit-learn brought, which is packed with the time of day."""
    state, arrays = dump_state(model)
    parts = {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}
    return state, {name: part for name, part in parts.items() if not part[2].startswith(_ZIP)}


TARGET = Target("hedge", 60, _seeds, _mutate, _consume)
