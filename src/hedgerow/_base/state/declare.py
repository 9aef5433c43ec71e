"""The classes a state may speak of, and what each declares its objects to be."""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from hedgerow._base.parameters import Rule, check_parameters, seed, thread_count, time_limit
from hedgerow._base.state.errors import StateError
from hedgerow._base.state.rules import (
    AttributeRule,
    Shaped,
    Sizes,
    expectation,
    optional,
    size,
    texts,
)
from hedgerow.errors import ParameterError

__all__ = [
    "checked_fields",
    "checked_model",
    "checked_record",
    "fields_of",
    "fitted_of",
    "is_record",
    "is_stateful",
    "model_class",
    "record",
    "record_class",
    "stateful",
]

C = TypeVar("C", bound=type)

_EVERYWHERE: Mapping[str, Rule] = {
    "n_jobs": thread_count,
    "random_state": seed,
    "max_time": time_limit,
}
"""Rules of the parameters that mean the same in every class."""

_COLUMNS: Mapping[str, AttributeRule] = {
    "n_features_in_": size("features"),
    "feature_names_in_": optional(texts("features")),
}
"""Rules of the fitted attributes that every estimator has."""


@dataclass(frozen=True)
class _Declared:
    """A class, and the rules of what its objects hold."""

    cls: Any
    parts: Mapping[str, AttributeRule]
    parameters: Mapping[str, Rule] = dataclasses.field(default_factory=dict)


_models: dict[str, _Declared] = {}
_records: dict[str, _Declared] = {}


def stateful(
    parameters: Mapping[str, Rule] | None = None, /, **fitted: AttributeRule
) -> Callable[[C], C]:
    """Declare an estimator class: the rules of its parameters and of its fitted attributes.

    A fitted model has every attribute declared here that is not optional; of a class of which
    nothing is fitted, none is there. ``n_features_in_`` and ``feature_names_in_`` go without saying.
    A class with a method ``_state_problem`` is asked, once all rules are met and if it is fitted or
    has nothing to fit, whether its attributes belong together: it returns None, or what is wrong.
    """

    def declare(cls: C) -> C:
        rules = {name: rule for name, rule in _EVERYWHERE.items() if name in _signature(cls)}
        _models[cls.__name__] = _Declared(
            cls, {**_COLUMNS, **fitted}, {**rules, **(parameters or {})}
        )
        return cls

    return declare


def record(**fields: AttributeRule) -> Callable[[C], C]:
    """Declare a frozen dataclass as something a state may hold, with the rules of its fields."""

    def declare(cls: C) -> C:
        _records[cls.__name__] = _Declared(cls, fields)
        return cls

    return declare


def is_stateful(value: object) -> bool:
    """Say whether the value is an estimator of a declared class, not of a class derived from it."""
    return _is_declared(_models, value)


def is_record(value: object) -> bool:
    """Say whether the value is an object of a declared dataclass."""
    return _is_declared(_records, value)


def model_class(name: Any) -> Any:
    """Return the declared estimator class of that name."""
    return _known(_models, name).cls


def record_class(name: Any) -> Any:
    """Return the declared dataclass of that name."""
    return _known(_records, name).cls


def fitted_of(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that the model has."""
    names = _models[type(model).__name__].parts
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a record."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def checked_model(model: Any, path: object) -> Any:
    """Return the model if its parameters and fitted attributes are what its class declares."""
    declared = _models[type(model).__name__]
    try:
        check_parameters(model, declared.parameters)
    except ParameterError as error:
        raise StateError(f"{path} has a wrong parameter: {error}") from error
    fitted = fitted_of(model)
    if fitted:
        _check_parts(fitted, declared.parts, path)
    if fitted or declared.parts.keys() == _COLUMNS.keys():
        _check_together(model, path)
    return model


def checked_fields(cls: type, fields: Mapping[str, Any], path: object) -> Mapping[str, Any]:
    """Return the fields of a record to be if each is what its class declares; some may be missing."""
    rules = _records[cls.__name__].parts
    known = {field.name for field in dataclasses.fields(cls)}
    unknown = next((name for name in fields if name not in known), None)
    if unknown is not None:
        raise StateError(f"{path} is a {cls.__name__}, which has no field {unknown[:80]!r}")
    _check_parts(fields, {name: rules[name] for name in rules if name in fields}, path)
    return fields


def checked_record(value: Any, path: object) -> Any:
    """Return the record if its fields are what its class declares."""
    _check_parts(fields_of(value), _records[type(value).__name__].parts, path)
    _check_together(value, path)
    return value


def _check_together(value: Any, path: object) -> None:
    """Ask the object whether its parts, each fine by itself, also belong together."""
    problem = value._state_problem() if hasattr(value, "_state_problem") else None
    if problem is not None:
        raise StateError(f"the parts of {path} do not belong together: {problem}")


def _check_parts(
    parts: Mapping[str, Any], rules: Mapping[str, AttributeRule], path: object
) -> None:
    sizes = Sizes()
    for name, rule in rules.items():
        if name not in parts:
            if isinstance(rule, Shaped) and rule.is_optional:
                continue
            raise StateError(f"{path} lacks {name} and has {', '.join(parts)}; fit it again")
        expected = expectation(rule, parts[name], sizes)
        if expected is not None:
            msg = f"{path}.{name} is {_in_words(parts[name])} where it must be {expected}"
            raise StateError(msg)


def _in_words(value: Any) -> str:
    """Return what was found, in a few words."""
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return f"a {value.dtype} array of shape {value.shape}"
    return reprlib.repr(value)


def _signature(cls: Any) -> list[str]:
    names: list[str] = cls._get_param_names()
    return names


def _is_declared(registry: Mapping[str, _Declared], value: object) -> bool:
    found = registry.get(type(value).__name__)
    return found is not None and found.cls is type(value)


def _known(registry: Mapping[str, _Declared], name: Any) -> _Declared:
    if name not in registry:
        msg = f"the state speaks of the class {name!r}, which this version does not know"
        raise StateError(msg)
    return registry[name]
