"""Scikit-learn's own tests, with our classes in the place of its own.

A test module of the installed scikit-learn is executed a second time, as a copy, while our classes
stand under the names of scikit-learn's; the copy keeps them. The tests that use one of the names, by
themselves, through a helper or through a table of their module, are handed over; scikit-learn itself is
left as it was.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn

Test = Callable[..., None]


@dataclass(frozen=True)
class Difference:
    """A test of scikit-learn's that ours is meant to fail: why, and how it does.

    ``where`` names the parameters for which it does, and ``intercept`` the run; all, if not given.
    Where ``is_by_rounding`` decides, it may also pass, and may fail in no other way.
    """

    reason: str
    error: type[BaseException]
    match: str | None
    where: Mapping[str, Any] = field(default_factory=dict)
    intercept: str | None = None
    is_by_rounding: bool = False

    def concerns(self, arguments: Mapping[str, Any]) -> bool:
        return all(np.array_equal(arguments[name], value) for name, value in self.where.items())


class _Namespace(SimpleNamespace):
    """A module of the copy's own; like a module it can be looked for in a set."""

    __hash__ = object.__hash__


def path_of(name: str) -> Path:
    """Where the installed scikit-learn has, or should have, a test module."""
    return Path(sklearn.__file__).parent.joinpath(*name.split(".")).with_suffix(".py")


def borrow(name: str, classes: Mapping[str, Callable[..., Any]]) -> dict[str, Test]:
    """Return the tests of a module that use our classes, given as {"sklearn.svm.LinearSVC": ...}."""
    path = path_of(name)
    if not path.exists():
        return {}  # test_scikit_learn_is_installed_with_its_tests says so
    # What the module imports must be there already, or it would be made of our classes.
    importlib.import_module(f"sklearn.{name}")
    spec = importlib.util.spec_from_file_location(f"borrowed_{path.stem}", path)
    copy = importlib.util.module_from_spec(spec)
    with _in_place(classes):
        spec.loader.exec_module(copy)
    _keep_in(copy, classes)
    names = {dotted.rpartition(".")[2] for dotted in classes}
    users = _users(copy, names | _holders(copy, list(classes.values())))
    tests = {name: vars(copy)[name] for name in users if name.startswith("test_")}
    for test in tests.values():
        test.pytestmark = [_listed(mark) for mark in getattr(test, "pytestmark", [])]
    return tests


def with_differences(test: Test, differences: list[Difference]) -> Test:
    """Return the test, turned around where it is listed as differing by intent."""

    @functools.wraps(test)
    def judged(**arguments: Any) -> None:
        for difference in differences:
            if difference.concerns(arguments):
                with pytest.raises(difference.error, match=difference.match):
                    _run(test, arguments, difference)
                return
        test(**arguments)

    return judged


def _run(test: Test, arguments: Mapping[str, Any], difference: Difference) -> None:
    """Run a test that is meant to fail; where rounding did not decide against it, fail for it."""
    test(**arguments)
    if difference.is_by_rounding:
        raise difference.error(difference.match)


@contextmanager
def _in_place(classes: Mapping[str, type]) -> Iterator[None]:
    """Let our classes stand under scikit-learn's names for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for dotted, cls in classes.items():
            patch.setattr(dotted, cls)
        yield


def _keep_in(copy: ModuleType, classes: Mapping[str, type]) -> None:
    """Give the copy namespaces of its own for `svm.LinearSVC`, where it speaks through a module."""
    for dotted, cls in classes.items():
        module, _, name = dotted.rpartition(".")
        for own, value in list(vars(copy).items()):
            if isinstance(value, ModuleType) and value.__name__ == module:
                setattr(copy, own, _Namespace(**vars(value)))
        for value in vars(copy).values():
            if isinstance(value, _Namespace) and value.__name__ == module:
                setattr(value, name, cls)


def _listed(mark: pytest.Mark) -> pytest.Mark:
    """Return the mark with its parameters as a list: some are iterators, which pytest refuses."""
    if mark.name != "parametrize":
        return mark
    names, values = mark.args
    return pytest.mark.parametrize(names, list(values), **mark.kwargs).mark


def _holders(copy: ModuleType, classes: list[Any]) -> set[str]:
    """Return the module's own tables of classes, and of their names, in which one of ours is."""
    ours = [*classes, *(cls.__name__ for cls in classes if isinstance(cls, type))]

    def holds(value: Any) -> bool:
        members = list(value.values()) if isinstance(value, dict) else value
        return isinstance(members, list | tuple) and any(
            isinstance(member, str | type) and member in ours for member in members
        )

    return {name for name, value in vars(copy).items() if holds(value)}


def _users(copy: ModuleType, names: set[str]) -> list[str]:
    """Return the functions of the module that mention one of the names, or a function that does."""
    functions = {
        name: inspect.getsource(value)
        for name, value in vars(copy).items()
        if inspect.isfunction(value) and value.__module__ == copy.__name__
    }
    found: list[str] = []
    while True:
        pattern = re.compile(rf"\b({'|'.join([*names, *found])})\b")
        users = [name for name, text in functions.items() if pattern.search(text)]
        if users == found:
            return found
        found = users
