"""Whatever is done to a model file: it is refused cleanly, or what it gives can be used.

Most files here are given a right digest after the change, as one who means harm would do it, so
that the checks behind the digest are met and not the digest alone.
"""

from __future__ import annotations

import copy
import json
import math
import resource
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import hedgerow
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import ModelFormatError
from hedgerow.persist import read_state, write_state
from tests.models.write import HERE, METHODS
from tests.unit.persist.forged_files import forged, joined, parts_of, state_and_arrays

FILES = sorted(HERE.glob("0.1.0/*.hedge"))
OLD_FILES = sorted(HERE.glob("format-1/*.hedge"))
MUCH_MEMORY = 2**28
"""Bytes, most of them for hypothesis; the files have some thousand."""

shared_folder = settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    before = peak_bytes()
    yield
    assert peak_bytes() - before < MUCH_MEMORY


def peak_bytes() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@cache
def contents(file: Path) -> bytes:
    return file.read_bytes()


@cache
def inputs(file: Path) -> Any:
    return json.loads((file.parent / "expected.json").read_text(encoding="utf-8"))[file.stem][
        "inputs"
    ]


def picture(model: Any) -> tuple[Any, dict[str, tuple[str, tuple[int, ...], bytes]]]:
    state, arrays = dump_state(model)
    return state, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def load_bytes(folder: Path, data: bytes) -> Any:
    """Return the model in these bytes, None if they are refused as they should be."""
    path = folder / "m.hedge"
    path.write_bytes(data)
    try:
        return hedgerow.load(path)
    except ModelFormatError as error:
        refusal = str(error)
    assert "\n" not in refusal
    return None


def use(model: Any, X: Any) -> None:
    """Ask the model for all it can say; a ValueError, which all our errors are, is an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers that overflow are the model's own
        for method in METHODS:
            if hasattr(model, method):
                try:
                    getattr(model, method)(X)
                except ValueError:
                    continue


# ------------------------------------------------------------------------------------ any damage


@st.composite
def damage(draw: Any, data: bytes) -> bytes:
    """Flip, insert, delete, repeat or cut off some bytes."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(changed) - 1, 0)))
        n = draw(st.integers(1, 16))
        how = draw(st.sampled_from(["flip", "insert", "delete", "repeat", "cut"]))
        if how == "flip" and changed:
            changed[at] ^= draw(st.integers(1, 255))
        elif how == "insert":
            changed[at:at] = draw(st.binary(min_size=1, max_size=16))
        elif how == "delete":
            del changed[at : at + n]
        elif how == "repeat":
            changed[at:at] = changed[at : at + n]
        else:
            del changed[at:]
    return bytes(changed)


@shared_folder
@given(st.data())
def test_damage_is_found_or_changes_nothing(tmp_path: Path, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES + OLD_FILES))
    model = load_bytes(tmp_path, data.draw(damage(contents(file))))
    if model is not None:
        assert picture(model) == picture(hedgerow.load(file))


@shared_folder
@given(st.data())
def test_damage_that_the_digest_does_not_show_does_no_harm(tmp_path: Path, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES))
    header, payload = parts_of(contents(file))
    changed = bytearray(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed) - 1))
        changed[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xF0, 0xFF]))
    model = load_bytes(tmp_path, joined(copy.deepcopy(header), bytes(changed)))
    if model is not None:
        use(model, inputs(file))


# --------------------------------------------------------------------------------- changed JSON

ODD_NUMBERS = [0, -1, 1, 2, 7, 255, 2**31, 2**53, 2**63, 2**64, 10**30, 0.5, -0.0, 1e-320, 1e308]
DEEP = "a very deep nest"
ODD_TEXTS = [
    "",
    DEEP,
    "x",
    "inf",
    "nan",
    "model",
    "LinearSVC",
    "F64",
    "U8",
    "é\x00",
    "__class__",
    "coef_",
]


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = {"is": "tuple", "items": [value]}
    return value


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from(ODD_TEXTS),
    st.sampled_from(
        [[], {}, [[]], [1, 2], {"is": "number", "value": "nan"}, {"is": "map", "items": []}]
    ),
    st.sampled_from([2, 40]).map(nested),
).map(copy.deepcopy)


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values in a JSON tree, the root not among them."""
    keys = (
        tree.keys()
        if isinstance(tree, dict)
        else range(len(tree))
        if isinstance(tree, list)
        else ()
    )
    below = [places(tree[key], (*path, key)) for key in keys]
    return [(*path, key) for key in keys] + [place for found in below for place in found]


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


@st.composite
def edited(draw: Any, tree: Any) -> Any:
    """Replace, remove, swap or add values of a JSON tree."""
    tree = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        known = places(tree)
        if not known:
            return tree
        *above, key = draw(st.sampled_from(known))
        holder = at(tree, tuple(above))
        how = draw(st.sampled_from(["replace", "remove", "swap", "add"]))
        if how == "replace":
            holder[key] = draw(odd)
        elif how == "remove":
            del holder[key]
        elif how == "swap":
            holder[key] = copy.deepcopy(at(tree, draw(st.sampled_from(known))))
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(ODD_TEXTS))] = draw(odd)
        else:
            holder.insert(key, draw(odd))
    return tree


@shared_folder
@given(st.data())
def test_a_header_with_other_entries_does_no_harm(tmp_path: Path, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES))
    header, payload = parts_of(contents(file))
    model = load_bytes(tmp_path, joined(data.draw(edited(header)), payload))
    if model is not None:
        use(model, inputs(file))


@settings(shared_folder, max_examples=600)
@given(st.data())
def test_a_state_with_other_entries_does_no_harm(tmp_path: Path, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES))
    state, arrays = state_and_arrays(contents(file))
    changed = json.dumps(data.draw(edited(state)))
    if data.draw(st.booleans()):
        changed = changed.replace("0.5", data.draw(st.sampled_from(["NaN", "Infinity", "1e999"])))
    deep = '{"is":"tuple","items":[' * 5000 + "]}" * 5000
    model = load_bytes(tmp_path, forged(changed.replace(json.dumps(DEEP), deep), arrays))
    if model is not None:
        use(model, inputs(file))


# ------------------------------------------------------------------------------- changed arrays

any_array = nps.arrays(
    st.sampled_from(["f8", "f4", "f2", "i8", "i4", "u1", "?"]),
    nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
CHANGES = {
    "a row more": lambda a: np.concatenate([a, a[:1]]) if a.ndim else a,
    "a row less": lambda a: a[:-1] if a.ndim else a,
    "nothing": lambda a: a[:0] if a.ndim else a,
    "turned": lambda a: a.T,
    "flat": lambda a: a.ravel(),
    "single": lambda a: a.astype(np.float32),
    "double": lambda a: a.astype(np.float64),
    "whole": lambda a: np.nan_to_num(a.astype(np.float64)).astype(np.int64),
    "bytes": lambda a: np.frombuffer(a.tobytes(), np.uint8),
    "not a number": lambda a: a * np.nan if a.dtype.kind == "f" else a + 1,
    "huge": lambda a: np.full_like(a, np.finfo(a.dtype).max if a.dtype.kind == "f" else True),
    "largest": lambda a: np.full_like(a, np.iinfo(a.dtype).max if a.dtype.kind in "iu" else 1),
    "negative": lambda a: -a if a.dtype.kind in "if" else a,
    "backwards": lambda a: a[::-1] if a.ndim else a,
}


@settings(shared_folder, max_examples=500)
@given(st.data())
def test_a_model_with_other_arrays_does_no_harm(tmp_path: Path, data: st.DataObject):
    file = data.draw(st.sampled_from(FILES))
    state, arrays = state_and_arrays(contents(file))
    for _ in range(data.draw(st.integers(1, 3))):
        name, other = data.draw(st.tuples(*[st.sampled_from(sorted(arrays))] * 2))
        how = data.draw(st.sampled_from([*CHANGES, "swap", "any"]))
        if how == "swap":
            arrays[name], arrays[other] = arrays[other], arrays[name]
        elif how == "any":
            arrays[name] = data.draw(any_array)
        else:
            with np.errstate(all="ignore"):
                arrays[name] = CHANGES[how](arrays[name])
    model = load_bytes(tmp_path, forged(state, arrays))
    if model is not None:
        use(model, inputs(file))


# ----------------------------------------------------------------------------------- round trips


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"])),
)
arrays_of_numbers = nps.arrays(
    nps.boolean_dtypes() | nps.integer_dtypes() | nps.floating_dtypes(),
    nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
arrays_of_text = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
).map(lambda texts: np.array(texts, dtype=object))
values = st.recursive(
    scalars | arrays_of_numbers | arrays_of_text,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(scalars.filter(lambda key: not is_nan(key)), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Say whether two values are equal in type and contents, NaN being equal to itself."""
    if isinstance(a, np.ndarray):
        if a.dtype == object:
            return b.dtype == object and a.shape == b.shape and a.tolist() == b.tolist()
        native = a.astype(a.dtype.newbyteorder("="))
        return b.dtype == native.dtype and b.shape == a.shape and b.tobytes() == native.tobytes()
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a), list(b)) and same(list(a.values()), list(b.values()))
    return a == b or (is_nan(a) and is_nan(b))


@given(values)
def test_any_value_survives_as_a_state(value: Any):
    state, arrays = dump_state(value)
    found = load_state(json.loads(json.dumps(state, allow_nan=False)), arrays)
    assert same(value, found) or any(a.dtype.byteorder == ">" for a in arrays.values())


@settings(shared_folder, max_examples=150)
@given(values)
def test_any_value_survives_in_a_file(tmp_path: Path, value: Any):
    write_state(tmp_path / "f", "checkpoint", value)
    assert same(value, read_state(tmp_path / "f", "checkpoint"))
