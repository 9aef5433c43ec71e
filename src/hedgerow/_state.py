"""An estimator's state as JSON and named arrays: declared once, used by files and checkpoints.

An estimator class declares its fitted attributes with :func:`stateful`; a frozen dataclass that is
part of a state is declared with :func:`record`. :func:`dump_state` then flattens any such object,
nested ones included, into JSON and arrays, and :func:`load_state` builds an equal one from them.
Only classes declared here can be built: a state names classes, it never brings code.

The tagged JSON forms, each a dictionary with the key ``"is"``::

    array    name                          a numeric array, stored under that name
    strings  name, shape, dtype            text: UTF-8 bytes in name.bytes, ends in name.ends
    csr      name, shape                   a sparse matrix: name.data, name.indices, name.indptr
    number   value                         "inf", "-inf" or "nan", which JSON lacks
    tuple    items                         a tuple
    map      items                         a dictionary as a list of pairs
    record   class, fields                 a frozen dataclass
    model    class, parameters, fitted     an estimator
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

__all__ = ["Arrays", "Json", "StateError", "dump_state", "load_state", "record", "stateful"]

Json: TypeAlias = Any
Arrays: TypeAlias = dict[str, NDArray[Any]]
C = TypeVar("C", bound=type)

_models: dict[str, type] = {}
_records: dict[str, Any] = {}
_NUMERIC_KINDS = "biuf"


class StateError(ValueError):
    """A value that no state can hold, or a state that describes no object."""


def stateful(*fitted: str) -> Callable[[C], C]:
    """Declare the fitted attributes of an estimator class; those not set are left out."""

    def declare(cls: C) -> C:
        cls._state_attributes = (*fitted, "n_features_in_", "feature_names_in_")  # type: ignore[attr-defined]
        _models[cls.__name__] = cls
        return cls

    return declare


def record(cls: C) -> C:
    """Declare a frozen dataclass as something a state may hold."""
    _records[cls.__name__] = cls
    return cls


def dump_state(value: Any, path: str = "model") -> tuple[Json, Arrays]:
    """Return the value as JSON and the arrays that the JSON names."""
    arrays: Arrays = {}
    return _dump(value, path, arrays), arrays


def load_state(state: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value that :func:`dump_state` described, or raise StateError."""
    try:
        return _load(state, arrays)
    except StateError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        msg = f"the state describes no object: {type(error).__name__}: {error}"
        raise StateError(msg) from error


def _dump(value: Any, path: str, arrays: Arrays) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"is": "number", "value": repr(value)}
    if isinstance(value, np.ndarray):
        return _dump_array(value, path, arrays)
    if sp.issparse(value):
        return _dump_csr(value.tocsr(), path, arrays)
    if isinstance(value, list):
        return [_dump(item, f"{path}.{i}", arrays) for i, item in enumerate(value)]
    if isinstance(value, tuple):
        return {"is": "tuple", "items": _dump(list(value), path, arrays)}
    if isinstance(value, dict):
        pairs = [[key, item] for key, item in value.items()]
        return {"is": "map", "items": _dump(pairs, path, arrays)}
    kind = type(value).__name__
    if _records.get(kind) is type(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(_records[kind])}
        return {"is": "record", "class": kind, "fields": _dump_named(fields, path, arrays)}
    if _models.get(kind) is type(value):
        return _dump_model(value, path, arrays)
    msg = f"{path} is a {type(value).__module__}.{kind}, which no state can hold"
    raise StateError(msg)


def _dump_named(values: Mapping[str, Any], path: str, arrays: Arrays) -> Json:
    return {name: _dump(value, f"{path}.{name}", arrays) for name, value in values.items()}


def _dump_model(model: Any, path: str, arrays: Arrays) -> Json:
    fitted = {
        name: getattr(model, name) for name in model._state_attributes if hasattr(model, name)
    }
    return {
        "is": "model",
        "class": type(model).__name__,
        "parameters": _dump_named(model.get_params(deep=False), path, arrays),
        "fitted": _dump_named(fitted, path, arrays),
    }


def _dump_array(array: NDArray[Any], path: str, arrays: Arrays) -> Json:
    if array.dtype.kind in _NUMERIC_KINDS:
        arrays[path] = array if array.flags.c_contiguous else array.copy(order="C")
        return {"is": "array", "name": path}
    items = array.ravel().tolist()
    if not all(isinstance(item, str) for item in items):
        msg = f"{path} is an array of {array.dtype}; a state holds arrays of numbers or of text"
        raise StateError(msg)
    encoded = [item.encode("utf-8") for item in items]
    arrays[f"{path}.bytes"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{path}.ends"] = np.cumsum([len(item) for item in encoded], dtype=np.int64)
    dtype = "object" if array.dtype.kind == "O" else "str"
    return {"is": "strings", "name": path, "shape": list(array.shape), "dtype": dtype}


def _dump_csr(matrix: Any, path: str, arrays: Arrays) -> Json:
    for part in ("data", "indices", "indptr"):
        arrays[f"{path}.{part}"] = getattr(matrix, part)
    return {"is": "csr", "name": path, "shape": list(matrix.shape)}


def _load(state: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    if isinstance(state, list):
        return [_load(item, arrays) for item in state]
    if not isinstance(state, dict):
        return state
    kind = state["is"]
    if kind not in _LOADERS:
        msg = f"the state speaks of a {kind!r}, which this version does not know"
        raise StateError(msg)
    return _LOADERS[kind](state, arrays)


def _load_strings(state: Json, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    data, ends = arrays[f"{state['name']}.bytes"], arrays[f"{state['name']}.ends"]
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    if len(ends) and (np.any(ends < starts) or ends[-1] != len(data)):
        msg = f"the text {state['name']} does not fit its lengths"
        raise StateError(msg)
    texts = [bytes(data[a:b]).decode("utf-8") for a, b in zip(starts, ends, strict=False)]
    dtype = {"object": object, "str": str}[state["dtype"]]
    return np.array(texts, dtype=dtype).reshape(state["shape"])


def _load_csr(state: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    parts = tuple(arrays[f"{state['name']}.{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array(parts, shape=tuple(state["shape"]))
    matrix.check_format(full_check=True)
    return matrix


def _load_record(state: Json, arrays: Mapping[str, NDArray[Any]]) -> Any:
    cls = _known(_records, state["class"])
    return cls(**{name: _load(value, arrays) for name, value in state["fields"].items()})


def _load_model(state: Json, arrays: Mapping[str, NDArray[Any]]) -> BaseEstimator:
    cls: Any = _known(_models, state["class"])
    model = cls(**{name: _load(value, arrays) for name, value in state["parameters"].items()})
    for name, value in state["fitted"].items():
        if name not in cls._state_attributes:
            msg = f"{state['class']} has no attribute {name!r}"
            raise StateError(msg)
        setattr(model, name, _load(value, arrays))
    return model


def _known(registry: Mapping[str, type], name: str) -> type:
    if name not in registry:
        msg = f"the state speaks of the class {name!r}, which this version does not know"
        raise StateError(msg)
    return registry[name]


_LOADERS: dict[str, Callable[[Json, Mapping[str, NDArray[Any]]], Any]] = {
    "array": lambda state, arrays: arrays[state["name"]],
    "strings": _load_strings,
    "csr": _load_csr,
    "number": lambda state, _: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[
        state["value"]
    ],
    "tuple": lambda state, arrays: tuple(_load(state["items"], arrays)),
    "map": lambda state, arrays: {key: value for key, value in _load(state["items"], arrays)},  # noqa: C416
    "record": _load_record,
    "model": _load_model,
}
