"""Every public class, function, method and property has a docstring in numpydoc form."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from functools import cached_property
from typing import Any

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import hedgerow

pytestmark = pytest.mark.long

CHECKS = {
    "GL01": "text starts on the line of the quotes",
    "GL03": "no double blank lines",
    "GL05": "no tabs",
    "GL06": "known sections",
    "GL07": "sections in numpydoc's order",
    "GL08": "there is a docstring",
    "SS01": "there is a summary",
    "SS03": "it ends with a period",
    "SS05": "it starts with an imperative verb",
    "SS06": "it fits on one line",
    "PR01": "every parameter is documented",
    "PR02": "every documented parameter exists",
    "PR07": "with a description",
    "RT01": "what is returned is documented",
    "RT03": "with a description",
    "YD01": "likewise what is yielded",
}
"""The checks of numpydoc that are applied; the others are matters of taste."""

SECTIONS = {"PR01", "PR02", "PR07", "RT01", "RT03", "YD01"}
"""Checks of sections, which properties, exceptions and overriding methods need not have."""

INTERNAL = ("hedgerow.data", "hedgerow.monitor")
"""Packages whose ``__all__`` is for the library itself; what is public of them is in ``hedgerow``."""

TO_DO = ("hedgerow.losses", "hedgerow.problems")
"""Packages with methods that have a summary, mostly a formula, and no sections yet."""


def public_packages() -> list[str]:
    """Return the packages whose ``__all__`` is public: no part of their path begins with an underscore."""
    found = ["hedgerow"]
    for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow."):
        hidden = any(part.startswith("_") for part in module.name.split("."))
        if module.ispkg and not hidden and not module.name.startswith(INTERNAL):
            found.append(module.name)
    return found


def public_objects() -> dict[str, tuple[Any, type | None]]:
    """Return public classes, functions and members of classes, each with the class it is defined in."""
    found: dict[str, tuple[Any, type | None]] = {}
    for package in public_packages():
        module = importlib.import_module(package)
        for value in (getattr(module, name) for name in getattr(module, "__all__", ())):
            if "<locals>" not in getattr(value, "__qualname__", "<locals>"):
                found[f"{value.__module__}.{value.__qualname__}"] = value, None
            if inspect.isclass(value):
                found |= public_members(value)
    return found


def public_members(cls: type) -> dict[str, tuple[Any, type | None]]:
    """Return the methods and properties of a class, inherited ones where they are defined."""
    found: dict[str, tuple[Any, type | None]] = {}
    for base in cls.__mro__:
        for name, value in vars(base).items():
            member = getattr(value, "__func__", value)  # of class and static methods
            member = getattr(member, "fn", member)  # of scikit-learn's available_if
            is_member = inspect.isfunction(member) or isinstance(member, property | cached_property)
            if is_member and not name.startswith("_") and base.__module__.startswith("hedgerow"):
                found[f"{base.__module__}.{base.__qualname__}.{name}"] = member, base
    return found


def undocumented_fields(cls: type) -> list[str]:
    """Return the fields of a dataclass that neither Parameters nor Attributes describe."""
    document = get_doc_object(cls)
    described = [
        item.name for section in ("Parameters", "Attributes") for item in document[section]
    ]
    words = {name.strip() for names in described for name in names.split(",")}
    fields = [field.name for field in dataclasses.fields(cls) if field.init]
    return [name for name in fields if name not in words and not name.startswith("_")]


def overrides(value: Any, home: type | None) -> bool:
    """Whether a method is one that a base class of the library declares and documents."""
    bases = home.__mro__[1:] if home else ()
    name = getattr(value, "__name__", "")
    return any(name in vars(base) for base in bases if base.__module__.startswith("hedgerow"))


def findings(name: str) -> list[str]:
    """Return what is wrong with the docstring of a public object."""
    value, home = OBJECTS[name]
    is_class = inspect.isclass(value)
    checks, found = set(CHECKS), []
    if is_class and dataclasses.is_dataclass(value):
        checks.discard("PR01")
        found = [f"field {field} is not documented" for field in undocumented_fields(value)]
    if getattr(value, "_is_protocol", False):
        checks.discard("PR01")
    is_error = is_class and issubclass(value, BaseException)
    if is_error or isinstance(value, property | cached_property) or overrides(value, home):
        checks -= SECTIONS
    if not inspect.isgeneratorfunction(value):
        checks.discard("YD01")  # a context manager, which numpydoc takes for a generator
    target = value.func if isinstance(value, cached_property) else value
    errors = validate(get_doc_object(target))["errors"]
    return [*found, *(text for code, text in errors if code in checks)]


OBJECTS = public_objects()


@pytest.mark.parametrize("name", sorted(name for name in OBJECTS if not name.startswith(TO_DO)))
def test_a_docstring_is_in_numpydoc_form(name: str) -> None:
    assert findings(name) == []


@pytest.mark.parametrize("package", TO_DO)
def test_a_package_that_is_to_do_has_something_to_do(package: str) -> None:
    assert any(findings(name) for name in OBJECTS if name.startswith(package))
