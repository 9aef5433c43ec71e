"""A state is declared once, holds nested estimators, and brings no code."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from hedgerow import LinearSVC
from hedgerow._base.parameters import any_number, positive_number, short_text
from hedgerow._base.state import (
    NewerStateError,
    StateError,
    StoredAs,
    dump_state,
    load_state,
    record,
    stateful,
)
from hedgerow._base.state.declare import _by_key
from hedgerow._base.state.rules import instance_of, numbers, optional, several, size


def anything(value):
    return None


@record(text=short_text, numbers=anything)
@dataclass(frozen=True)
class Note:
    text: str
    numbers: tuple[float, ...]


@stateful(
    inner_=instance_of(LinearSVC),
    notes_=several(list, "notes", instance_of(Note)),
    table_=anything,
    n_features_in_=optional(size("features")),
)
class Outer(BaseEstimator):
    def __init__(self, inner=None, limit=np.inf):
        self.inner = inner
        self.limit = limit


def round_trip(value):
    state, arrays = dump_state(value)
    return load_state(json.loads(json.dumps(state, allow_nan=False)), arrays)


VALUES = [
    None,
    True,
    3,
    -2.5,
    float("inf"),
    float("-inf"),
    "ümlaut",
    [1, [2, "x"]],
    (1, (2.5, None)),
    {"a": 1, 3: "b", "nested": {"x": (1,)}},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back_equal_and_of_the_same_type(value):
    found = round_trip(value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6, dtype=np.int32)[::2],
        np.asfortranarray(np.ones((2, 3), dtype=np.float32)),
        np.array([True, False]),
        np.array(["a", "", "größer"]),
        np.array(["x", "yy"], dtype=object),
        np.zeros((0, 4)),
        np.array([], dtype=str),
        np.array(3.5),
    ],
    ids=lambda a: f"{a.dtype} {a.shape}",
)
def test_arrays_come_back_equal(array):
    found = round_trip(array)
    assert found.dtype.kind == array.dtype.kind
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices_come_back_equal(index):
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.4))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    found = round_trip(matrix)
    assert (found != matrix).nnz == 0
    assert found.shape == matrix.shape


def test_nested_estimators_come_back_fitted():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    outer = Outer(inner=LinearSVC(C=3.0))
    outer.inner_ = LinearSVC(C=3.0, class_weight={"no": 2.0}).fit(X, y)
    outer.notes_ = [Note("one", (1.0, float("inf"))), Note("two", ())]
    outer.table_ = {"weights": np.ones(3)}
    found = round_trip(outer)
    assert found.get_params()["inner__C"] == 3.0
    assert found.limit == np.inf
    assert found.notes_ == outer.notes_
    np.testing.assert_array_equal(found.table_["weights"], np.ones(3))
    assert found.inner_.certificate_ == outer.inner_.certificate_
    assert found.inner_.class_weight == {"no": 2.0}
    np.testing.assert_array_equal(
        found.inner_.decision_function(X), outer.inner_.decision_function(X)
    )
    assert found.inner_.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("value", [object(), {1, 2}, np.array([object()]), np.array([1j])])
def test_what_no_state_can_hold_is_refused_by_name(value):
    with pytest.raises(StateError, match="state"):
        dump_state(value)


@pytest.mark.parametrize(
    "state",
    [
        {"is": "pickle"},
        {"no": "tag"},
        {"is": "array", "name": "absent"},
        {"is": "record", "class": "Popen", "fields": {}},
        {"is": "model", "class": "os.system", "parameters": {}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "parameters": {"nope": 1}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "parameters": {}, "fitted": {"__class__": 1}},
        {"is": "record", "class": "tests.Note", "fields": {"text": "x"}},
        {"is": "record", "class": "hedgerow.LinearSVC", "fields": {}},
        {"is": "model", "class": "hedgerow.linear.LinearSVC", "parameters": {}, "fitted": {}},
        {"is": "model", "class": ["LinearSVC"], "parameters": {}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "version": 0, "parameters": {}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "version": True, "parameters": {}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "version": "1", "parameters": {}, "fitted": {}},
        {"is": "number", "value": "1e999"},
        {"is": "strings", "name": "s", "shape": [2], "dtype": "str"},
        {"is": "csr", "name": "m", "shape": [1, 2]},
    ],
    ids=lambda s: json.dumps(s)[:60],
)
def test_a_state_that_describes_nothing_known_is_refused(state):
    arrays = {
        "s.bytes": np.zeros(3, np.uint8),
        "s.ends": np.array([9, 3]),
        "m.data": np.ones(1),
        "m.indices": np.array([5]),
        "m.indptr": np.array([0, 1]),
    }
    with pytest.raises(StateError):
        load_state(state, arrays)


# ------------------------------------------------------------------------- keys and their aliases


def test_a_class_is_stored_under_its_package_and_name_whatever_module_it_is_in():
    state, _ = dump_state(LinearSVC())
    assert LinearSVC.__module__ != "hedgerow"
    assert state["class"] == "hedgerow.LinearSVC"
    assert dump_state(Note("x", ()))[0]["class"] == "tests.Note"


@pytest.mark.parametrize("key", ["hedgerow.LinearSVC", "LinearSVC"])
def test_a_state_of_the_first_release_names_classes_without_their_package(key):
    state = {"is": "model", "class": key, "parameters": {"C": 2.0}, "fitted": {}}
    assert load_state(state, {}).C == 2.0


@record(StoredAs(key="tests.OldName", aliases=["tests.EvenOlder"]), size=anything)
@dataclass(frozen=True)
class NewName:
    size: int


@pytest.mark.parametrize("key", ["tests.OldName", "tests.EvenOlder"])
def test_a_renamed_class_keeps_its_key_and_knows_its_aliases(key):
    assert dump_state(NewName(3))[0]["class"] == "tests.OldName"
    assert load_state({"is": "record", "class": key, "fields": {"size": 3}}, {}) == NewName(3)


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({}, "tests.Note"),
        ({"key": "hedgerow.SVC"}, "hedgerow.SVC"),
        ({"key": "tests.EvenOlder"}, "tests.EvenOlder"),
        ({"key": "tests.Fresh", "aliases": ["tests.Outer"]}, "tests.Outer"),
    ],
    ids=str,
)
def test_a_key_that_is_taken_is_refused_when_the_class_is_declared(keys, named):
    from hedgerow import SVC

    before = dict(_by_key)
    Other = type("Note", (), {"__module__": __name__})
    with pytest.raises(TypeError, match=rf"declared as '{named}', which is .*give it another key"):
        record(StoredAs(**keys))(Other)
    assert dump_state(SVC())[0]["class"] == "hedgerow.SVC"
    assert _by_key == before


def test_a_class_cannot_be_declared_twice():
    with pytest.raises(TypeError, match=r"is declared already, as 'tests\.Note'"):
        record(StoredAs(key="tests.AnotherNote"))(Note)


# ------------------------------------------------------------------------------------- migrations


def _rename_weights(state):
    """Version 2 has coef_ where version 1 had weights_, and C where that had cost."""
    state["coef_"] = state.pop("weights_")
    state["C"] = state.pop("cost")
    return state


def _add_offset(state):
    """Version 3 has an offset, which was 0."""
    return {**state, "offset_": 0.0}


@stateful(
    {"C": positive_number()},
    StoredAs(migrations=[_rename_weights, _add_offset]),
    coef_=numbers("features"),
    offset_=any_number,
)
class Migrated(BaseEstimator):
    def __init__(self, C=1.0):
        self.C = C


@record(
    StoredAs(migrations=[lambda old: {"low": -old["radius"], "high": old["radius"]}]),
    low=any_number,
    high=any_number,
)
@dataclass(frozen=True)
class Range:
    low: float
    high: float


def migrated_state(version, parameters, **fitted):
    fitted = {"n_features_in_": 2, **fitted}
    versions = {} if version is None else {"version": version}
    return {
        "is": "model",
        "class": "tests.Migrated",
        **versions,
        "parameters": parameters,
        "fitted": fitted,
    }


WEIGHTS = {"is": "array", "name": "w"}


@pytest.mark.parametrize(
    "state",
    [
        migrated_state(None, {"cost": 5.0}, weights_=WEIGHTS),
        migrated_state(1, {"cost": 5.0}, weights_=WEIGHTS),
        migrated_state(2, {"C": 5.0}, coef_=WEIGHTS),
        migrated_state(3, {"C": 5.0}, coef_=WEIGHTS, offset_=0.0),
    ],
    ids=["no version", "version 1", "version 2", "version 3"],
)
def test_a_state_of_every_version_loads_as_a_model_of_today(state):
    model = load_state(state, {"w": np.array([1.0, -2.0])})
    assert model.C == 5.0
    assert model.coef_.tolist() == [1.0, -2.0]
    assert model.offset_ == 0.0
    assert not hasattr(model, "weights_")
    assert dump_state(model)[0]["version"] == 3
    assert round_trip(model).coef_.tolist() == [1.0, -2.0]


def test_a_record_is_migrated_too():
    state = {"is": "record", "class": "tests.Range", "fields": {"radius": 2.0}}
    assert load_state(state, {}) == Range(-2.0, 2.0)
    assert round_trip(Range(1.0, 4.0)) == Range(1.0, 4.0)


@pytest.mark.parametrize(
    "state",
    [
        migrated_state(1, {}, weights_=WEIGHTS),
        migrated_state(1, {"cost": -5.0}, weights_=WEIGHTS),
        migrated_state(1, {"cost": 5.0}, weights_="none"),
        migrated_state(1, {"cost": 5.0, "other": 1}, weights_=WEIGHTS),
        {"is": "record", "class": "tests.Range", "fields": {"radius": "far"}},
        {"is": "record", "class": "tests.Range", "fields": {"radius": None}},
        {"is": "record", "class": "tests.Range", "fields": {}},
    ],
    ids=lambda state: json.dumps(state)[:90],
)
def test_what_comes_out_of_a_migration_is_checked_as_any_state(state):
    with pytest.raises(StateError):
        load_state(state, {"w": np.array([1.0, -2.0])})


def test_a_state_of_a_newer_version_asks_for_an_upgrade():
    state = migrated_state(4, {"C": 5.0}, coef_=WEIGHTS, offset_=0.0)
    with pytest.raises(NewerStateError, match=r"state version 4.* reads up to 3; upgrade tests"):
        load_state(state, {"w": np.array([1.0, -2.0])})
