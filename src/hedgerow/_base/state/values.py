"""Values to JSON and named arrays, and back.

The tagged JSON forms, each a dictionary with the key ``"is"``::

    array    name                          a numeric array, stored under that name
    strings  name, shape, dtype            text: UTF-8 bytes in name.bytes, ends in name.ends
    csr      name, shape                   a sparse matrix: name.data, name.indices, name.indptr
    number   value                         "inf", "-inf" or "nan", which JSON lacks
    tuple    items                         a tuple
    map      items                         a dictionary as a list of pairs
    record   class, fields                 a frozen dataclass
    model    class, parameters, fitted     an estimator; both have a version if that is not 1
    foreign  class, name                   an estimator of scikit-learn, packed into bytes

Every array belongs to one form, and every array of a state to some form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.sparse import compressed_problem
from hedgerow._base.state import foreign
from hedgerow._base.state.declare import (
    checked_fields,
    checked_model,
    checked_record,
    declaration,
    declaration_of,
    fields_of,
    fitted_of,
    is_record,
    is_stateful,
    stored_version,
)
from hedgerow._base.state.errors import StateError

__all__ = ["Arrays", "Json", "dump_state", "is_unicode", "load_state"]

Json: TypeAlias = Any
Arrays: TypeAlias = dict[str, NDArray[Any]]

_WHOLE = range(-(2**63), 2**64)
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_CSR_PARTS = ("data", "indices", "indptr")
_TEXT_KINDS = {"object": object, "str": str}
_MUCH_TEXT = 2**24
_MUCH_PADDING = 8
_LONGEST_NAME = 80


def dump_state(value: Any, path: str = "model") -> tuple[Json, Arrays]:
    """Return the value as JSON and the arrays that the JSON names, none of them copied."""
    arrays: Arrays = {}
    return _dump(value, path, arrays), arrays


def load_state(state: Json, arrays: Mapping[str, NDArray[Any]], path: str = "model") -> Any:
    """Return the value that :func:`dump_state` described, or raise StateError."""
    left = dict(arrays)
    try:
        value = _load(state, Place(path), left)
    except StateError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        msg = f"the state describes no object: {type(error).__name__}: {error}"
        raise StateError(msg) from error
    if left:
        raise StateError(f"the state does not speak of the array {next(iter(left))!r}")
    return value


# ---------------------------------------------------------------------------------------- dump


def _dump(value: Any, path: str, arrays: Arrays) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str | float):
        return _dump_scalar(value, path)
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
    if is_record(value):
        fields = fields_of(checked_record(value, path))
        return {**_named(value), "fields": _dump_named(fields, path, arrays)}
    if is_stateful(value):
        return _dump_model(checked_model(value, path), path, arrays)
    if foreign.is_foreign(value):
        arrays[path] = foreign.pack(value, path)
        return {"is": "foreign", "class": foreign.qualified_name(type(value)), "name": path}
    if isinstance(value, FunctionType):
        msg = f"{path} is the Python function {value.__name__!r}, and no state holds code; use a kernel or an estimator that is a declared class"
        raise StateError(msg)
    msg = f"{path} is a {foreign.qualified_name(type(value))}, which no state can hold; {foreign.REMEDY}"
    raise StateError(msg)


def _dump_scalar(value: bool | int | str | float | None, path: str) -> Json:
    if isinstance(value, float) and not math.isfinite(value):
        return {"is": "number", "value": repr(float(value))}
    if isinstance(value, int) and int(value) not in _WHOLE:
        raise StateError(f"{path} is an integer of more than 64 bits; use a smaller one")
    return value


def _named(value: Any) -> dict[str, Json]:
    declared = declaration_of(value)
    version = {} if declared.version == 1 else {"version": declared.version}
    return {"is": declared.form, "class": declared.key, **version}


def _dump_named(values: Mapping[str, Any], path: str, arrays: Arrays) -> Json:
    return {name: _dump(value, f"{path}.{name}", arrays) for name, value in values.items()}


def _dump_model(model: Any, path: str, arrays: Arrays) -> Json:
    return {
        **_named(model),
        "parameters": _dump_named(model.get_params(deep=False), path, arrays),
        "fitted": _dump_named(fitted_of(model), path, arrays),
    }


def _dump_array(array: NDArray[Any], path: str, arrays: Arrays) -> Json:
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        arrays[path] = array
        return {"is": "array", "name": path}
    items = array.ravel().tolist()
    if not all(isinstance(item, str) for item in items):
        msg = f"{path} is an array of {array.dtype}; a state holds arrays of numbers or of text"
        raise StateError(msg)
    encoded = [item.encode("utf-8") for item in items]
    dtype = "object" if array.dtype.kind == "O" else "str"
    _refuse_padding(items, sum(map(len, encoded)), dtype, path)
    arrays[f"{path}.bytes"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{path}.ends"] = np.cumsum([len(item) for item in encoded], dtype=np.int64)
    return {"is": "strings", "name": path, "shape": list(array.shape), "dtype": dtype}


def _dump_csr(matrix: Any, path: str, arrays: Arrays) -> Json:
    for part in _CSR_PARTS:
        arrays[f"{path}.{part}"] = getattr(matrix, part)
    return {"is": "csr", "name": path, "shape": list(matrix.shape)}


# ---------------------------------------------------------------------------------------- load


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a state a value lies; written out only if an error names it.

    A text for every value would be as long as all the names above it: quadratic in the file.
    """

    name: object
    above: Place | None = None

    def __truediv__(self, name: object) -> Place:
        return Place(name, self)

    def __str__(self) -> str:
        names: list[str] = []
        place: Place | None = self
        while place is not None:
            names.append(str(place.name)[:_LONGEST_NAME])
            place = place.above
        return ".".join(reversed(names))


def _load(state: Json, path: Place, arrays: Arrays) -> Any:
    if isinstance(state, list):
        return [_load(item, path / i, arrays) for i, item in enumerate(state)]
    if not isinstance(state, dict):
        return _checked_scalar(state, path)
    kind = state["is"]
    if kind not in _LOADERS:
        msg = f"the state speaks of a {kind!r}, which this version does not know"
        raise StateError(msg)
    return _LOADERS[kind](state, path, arrays)


def _checked_scalar(value: Any, path: Place) -> Any:
    if isinstance(value, int) and value not in _WHOLE:
        raise StateError(f"{path} is an integer of more than 64 bits")
    if isinstance(value, str) and not is_unicode(value):
        raise StateError(f"{path} is text with half a character in it")
    return value


def is_unicode(text: str) -> bool:
    """Say whether a text can be written down: JSON may hold halves of characters (surrogates)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _load_array(state: Json, path: Place, arrays: Arrays) -> NDArray[Any]:
    array = arrays.pop(state["name"])
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise StateError(f"{path} has truth values that are neither true nor false")
    return array


def _load_strings(state: Json, path: Place, arrays: Arrays) -> NDArray[Any]:
    data, ends = arrays.pop(f"{state['name']}.bytes"), arrays.pop(f"{state['name']}.ends")
    shape = _shape(state["shape"], path)
    fits = data.dtype == np.uint8 and ends.dtype == np.int64 and data.ndim == ends.ndim == 1
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if fits and len(ends) else ends
    if not fits or np.any(ends < starts) or (ends[-1] if len(ends) else 0) != len(data):
        raise StateError(f"the text {path} does not fit its lengths")
    texts = [bytes(data[a:b]).decode("utf-8") for a, b in zip(starts, ends, strict=True)]
    _refuse_padding(texts, len(data), state["dtype"], path)
    if math.prod(shape) != len(texts):
        raise StateError(f"{path} has {len(texts)} texts and the shape {shape}")
    return np.array(texts, dtype=_TEXT_KINDS[state["dtype"]]).reshape(shape)


def _refuse_padding(texts: list[str], n_bytes: int, dtype: str, path: object) -> None:
    """Refuse text of a fixed width that is mostly padding: a file must not blow up in memory."""
    padded = 4 * len(texts) * max(map(len, texts), default=0)
    if (
        dtype == "str"
        and padded > _MUCH_TEXT
        and padded > _MUCH_PADDING * (n_bytes + 8 * len(texts))
    ):
        msg = (
            f"{path} is text of a fixed width and almost all of it padding; use dtype=object for it"
        )
        raise StateError(msg)


def _load_csr(state: Json, path: Place, arrays: Arrays) -> Any:
    data, indices, indptr = (arrays.pop(f"{state['name']}.{part}") for part in _CSR_PARTS)
    shape = _shape(state["shape"], path)
    if len(shape) != 2 or data.ndim != 1:
        raise StateError(f"{path} is no sparse matrix")
    problem = compressed_problem(len(data), indices, indptr, shape)
    if problem is not None:
        raise StateError(f"{path} is no sparse matrix: it {problem}")
    return sp.csr_array((data, indices, indptr), shape=shape)


def _shape(shape: Json, path: Place) -> tuple[int, ...]:
    if not isinstance(shape, list) or not all(type(n) is int and 0 <= n < 2**63 for n in shape):
        raise StateError(f"{path} has the shape {shape!r}, which is none")
    return tuple(shape)


def _load_map(state: Json, path: Place, arrays: Arrays) -> dict[Any, Any]:
    pairs = _load(state["items"], path, arrays)
    found = {key: value for key, value in pairs}  # noqa: C416 - each must be a pair
    if len(found) != len(pairs):
        raise StateError(f"{path} has a key twice")
    return found


def _load_record(state: Json, path: Place, arrays: Arrays) -> Any:
    declared = declaration(state["class"], "record")
    version = stored_version(state.get("version", 1), declared, path)
    fields = declared.migrated(_load_named(state["fields"], path, arrays), version)
    return checked_record(declared.cls(**checked_fields(declared.cls, fields, path)), path)


def _load_model(state: Json, path: Place, arrays: Arrays) -> Any:
    declared = declaration(state["class"], "model")
    version = stored_version(state.get("version", 1), declared, path)
    known = declared.cls._get_param_names()
    parameters = _load_named(state["parameters"], path, arrays)
    fitted = _load_named(state["fitted"], path, arrays)
    if version < declared.version:
        fitted = declared.migrated({**parameters, **fitted}, version)
        parameters = {name: fitted.pop(name) for name in known if name in fitted}
    _refuse_unknown(parameters, known, declared.key, "parameter")
    model = declared.cls(**parameters)
    vars(model).update(fitted)
    _refuse_unknown(fitted, fitted_of(model), declared.key, "fitted attribute")
    return checked_model(model, path)


def _refuse_unknown(given: Json, known: Collection[str], cls: str, what: str) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise StateError(f"{cls} has no {what} {unknown[:_LONGEST_NAME]!r}")


def _load_named(values: Json, path: Place, arrays: Arrays) -> dict[str, Any]:
    return {name: _load(value, path / name, arrays) for name, value in values.items()}


def _load_foreign(state: Json, path: Place, arrays: Arrays) -> Any:
    return foreign.unpack(arrays.pop(state["name"]), state["class"], str(path))


_LOADERS: dict[str, Callable[[Json, Place, Arrays], Any]] = {
    "array": _load_array,
    "strings": _load_strings,
    "csr": _load_csr,
    "number": lambda state, _path, _arrays: _SPECIAL[state["value"]],
    "tuple": lambda state, path, arrays: tuple(_load(state["items"], path, arrays)),
    "map": _load_map,
    "record": _load_record,
    "model": _load_model,
    "foreign": _load_foreign,
}
