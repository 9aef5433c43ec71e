"""A state is declared once, holds nested estimators, and brings no code."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from hedgerow import LinearSVC
from hedgerow._base.parameters import short_text
from hedgerow._base.state import StateError, dump_state, load_state, record, stateful
from hedgerow._base.state.rules import instance_of, optional, several, size


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
        {"is": "record", "class": "Note", "fields": {"text": "x"}},
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
