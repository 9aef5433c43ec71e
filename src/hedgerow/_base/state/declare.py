"""The classes a state may speak of, and what each declares its objects to be.

A state names a class by its key: the package and the name of the class when it was first declared,
such as ``hedgerow.SVC``. A key is never changed: a class that moves to another module keeps it by
itself, one that is renamed is declared with ``StoredAs(key="hedgerow.OldName")``. Version 0.1.0
wrote the bare name of a class, which stands for the key in the package hedgerow.

The first state of a class has version 1. Where parameters, attributes or fields change, the class
is declared with ``StoredAs(migrations=[...])``: functions from the state of version 1 to that of
version 2, from 2 to 3 and so on. Each takes a dictionary of all that was stored and returns what
the next version stores. What it is given comes from a file and has not been checked; what the last
one returns will be.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from hedgerow._base.parameters import Rule, check_parameters, seed, thread_count, time_limit
from hedgerow._base.state.errors import NewerStateError, StateError, UnknownClassError
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
    "Declared",
    "Migration",
    "StoredAs",
    "checked_fields",
    "checked_model",
    "checked_record",
    "declaration",
    "declaration_of",
    "fields_of",
    "fitted_of",
    "is_record",
    "is_stateful",
    "record",
    "stateful",
    "stored_version",
]

C = TypeVar("C", bound=type)
Form: TypeAlias = Literal["model", "record"]
Migration: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]

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


_HOME = "hedgerow"
"""The package of classes that a state names without one."""


@dataclass(frozen=True)
class StoredAs:
    """How states name a class and what they have held before.

    Attributes
    ----------
    key : str or None
        What states name the class by; None for its package and name.
    aliases : sequence of str
        Further keys by which states may name it.
    migrations : sequence of functions
        The i-th takes a state of version i + 1, and returns one of version i + 2.
    """

    key: str | None = None
    aliases: Sequence[str] = ()
    migrations: Sequence[Migration] = ()


@dataclass(frozen=True)
class Declared:
    """A class, the key that states name it by, and the rules of what its objects hold."""

    cls: Any
    form: Form
    key: str
    parts: Mapping[str, AttributeRule]
    parameters: Mapping[str, Rule]
    migrations: Sequence[Migration]

    @property
    def version(self) -> int:
        """The version of the states that are written now."""
        return 1 + len(self.migrations)

    def migrated(self, parts: dict[str, Any], version: int) -> dict[str, Any]:
        """Return what a state of an older version would hold today."""
        for migrate in self.migrations[version - 1 :]:
            parts = migrate(parts)
        return parts


_by_key: dict[str, Declared] = {}
_by_class: dict[type, Declared] = {}


def stateful(
    parameters: Mapping[str, Rule] | None = None,
    stored: StoredAs | None = None,
    /,
    **fitted: AttributeRule,
) -> Callable[[C], C]:
    """Declare an estimator class: the rules of its parameters and of its fitted attributes.

    A fitted model has every attribute declared here that is not optional; of a class of which
    nothing is fitted, none is there. ``n_features_in_`` and ``feature_names_in_`` go without saying.
    A class with a method ``_state_problem`` is asked, once all rules are met and if it is fitted or
    has nothing to fit, whether its attributes belong together: it returns None, or what is wrong.
    """

    def declare(cls: C) -> C:
        rules = {name: rule for name, rule in _EVERYWHERE.items() if name in _signature(cls)}
        rules.update(parameters or {})
        parts = {**_COLUMNS, **fitted}
        _register(cls, "model", stored or StoredAs(), parts, rules)
        return cls

    return declare


def record(stored: StoredAs | None = None, /, **fields: AttributeRule) -> Callable[[C], C]:
    """Declare a frozen dataclass as something a state may hold, with the rules of its fields."""

    def declare(cls: C) -> C:
        _register(cls, "record", stored or StoredAs(), fields, {})
        return cls

    return declare


def _register(
    cls: type,
    form: Form,
    stored: StoredAs,
    parts: Mapping[str, AttributeRule],
    parameters: Mapping[str, Rule],
) -> None:
    """Declare a class; two classes under one key would be loaded as each other."""
    key = stored.key or f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
    keys = [key, *stored.aliases]
    if cls in _by_class:
        raise TypeError(f"{cls!r} is declared already, as {_by_class[cls].key!r}")
    taken = next((key for key in keys if key in _by_key), None)
    if taken is not None:
        other = _by_key[taken].cls
        raise TypeError(
            f"{cls!r} is declared as {taken!r}, which is {other!r}; give it another key"
        )
    declared = Declared(cls, form, key, parts, parameters, stored.migrations)
    _by_class[cls] = declared
    _by_key.update(dict.fromkeys(keys, declared))


def is_stateful(value: object) -> bool:
    """Say whether the value is an estimator of a declared class, not of a class derived from it."""
    return _is_declared("model", value)


def is_record(value: object) -> bool:
    """Say whether the value is an object of a declared dataclass."""
    return _is_declared("record", value)


def declaration(key: Any, form: Form) -> Declared:
    """Return what is declared under a key: an estimator class, or a dataclass."""
    name = f"{_HOME}.{key}" if isinstance(key, str) and "." not in key else key
    found = _by_key.get(name)
    if found is None or found.form != form:
        msg = f"the state speaks of the class {key!r}, which this version does not know"
        raise UnknownClassError(msg)
    return found


def declaration_of(value: object) -> Declared:
    """Return the declaration of the value's class."""
    return _by_class[type(value)]


def stored_version(version: Any, declared: Declared, path: object) -> int:
    """Return the version of a state of the class, which must be one that can be read."""
    if type(version) is not int or version < 1:
        raise StateError(f"{path} is said to be of state version {version!r}, which is none")
    if version > declared.version:
        package = declared.key.partition(".")[0]
        msg = (
            f"{path} is a {declared.key} of state version {version}, and the installed version of "
            f"{package} reads up to {declared.version}; upgrade {package}"
        )
        raise NewerStateError(msg)
    return version


def fitted_of(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that the model has."""
    names = _by_class[type(model)].parts
    return {name: getattr(model, name) for name in names if hasattr(model, name)}


def fields_of(value: Any) -> dict[str, Any]:
    """Return the fields of a record."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def checked_model(model: Any, path: object) -> Any:
    """Return the model if its parameters and fitted attributes are what its class declares."""
    declared = _by_class[type(model)]
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
    rules = _by_class[cls].parts
    known = {field.name for field in dataclasses.fields(cls)}
    unknown = next((name for name in fields if name not in known), None)
    if unknown is not None:
        raise StateError(f"{path} is a {cls.__name__}, which has no field {unknown[:80]!r}")
    _check_parts(fields, {name: rules[name] for name in rules if name in fields}, path)
    return fields


def checked_record(value: Any, path: object) -> Any:
    """Return the record if its fields are what its class declares."""
    _check_parts(fields_of(value), _by_class[type(value)].parts, path)
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


def _is_declared(form: Form, value: object) -> bool:
    found = _by_class.get(type(value))
    return found is not None and found.form == form
