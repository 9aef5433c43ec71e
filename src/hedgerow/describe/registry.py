"""Descriptions, registered by class and put together along the inheritance of an object's class."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

from hedgerow._base.parameters import is_whole
from hedgerow.errors import DataTypeError, ParameterError

__all__ = ["Description", "describe", "describes", "jsonable"]

Describer: TypeAlias = Callable[[Any, int], Mapping[str, Any]]
D = TypeVar("D", bound=Describer)

_describers: dict[type, Describer] = {}


class Description(dict[str, Any]):
    """What a model or a table is: a dictionary that a notebook shows as a page."""

    def _repr_html_(self) -> str:
        from hedgerow.describe.html import summary_html

        return summary_html(self)


_HOMES = {
    "calibration": "wrapped",
    "calibrators": "wrapped",
    "data": "tables",
    "ensemble": "trees",
    "linear": "linear",
    "perceptron": "perceptrons",
    "problems": "certificates",
    "sklearn": "estimators",
    "svm": "kernel_machines",
    "tree": "trees",
}
"""For each package of classes, the module here that describes them; imported when it is needed."""

_JOINED = {"settings", "sentences", "quality", "advice"}
"""Lists to which every class of an object adds."""


def describes(*classes: type) -> Callable[[D], D]:
    """Register a function that describes objects of some classes and of those derived from them.

    The function is given an object and how many features to list at most, and returns a part of its
    description. Parts are put together from the most general class to the object's own: nested
    dictionaries are merged, the lists ``settings``, ``sentences``, ``quality`` and ``advice`` are
    joined, and any other value replaces the one before.

    Parameters
    ----------
    *classes : type
        The classes. A function that was registered for one of them before is replaced.

    Returns
    -------
    callable
        A decorator that returns the function as it is.

    Examples
    --------
    >>> import hedgerow
    >>> from hedgerow.describe import describes
    >>> from sklearn.base import BaseEstimator
    >>> class Constant(BaseEstimator):
    ...     "Predicts the mean."
    ...     def fit(self, X, y):
    ...         self.n_features_in_, self.mean_ = len(X[0]), sum(y) / len(y)
    ...         return self
    >>> @describes(Constant)
    ... def _constant(model, top):
    ...     return {"training": {"sentences": [f"The mean of the targets is {model.mean_:g}."]}}
    >>> found = hedgerow.describe(Constant().fit([[0.0], [1.0]], [2.0, 4.0]))
    >>> found["what"], found["training"]["sentences"]
    ('Predicts the mean.', ['The mean of the targets is 3.'])
    """

    def register(function: D) -> D:
        _describers.update(dict.fromkeys(classes, function))
        return function

    return register


def describe(subject: Any, *, top: int = 10) -> Description:
    """Return what a model or a table is, in words and numbers that JSON can hold.

    Parameters
    ----------
    subject : estimator, Table, dataframe, mapping, sparse matrix or 2-D array
        A model, fitted or not, or a table: one that :func:`hedgerow.read_table` has read, or any
        other that estimators take.
    top : int, default=10
        How many coefficients or importances to list at most: the largest ones.

    Returns
    -------
    Description
        A dictionary. ``subject`` is "model" or "table". Of a model:

        - ``kind``, ``what``: its class, and in a sentence what that is. ``is_fitted``.
        - ``parameters``: for the model, and for the learner in it, the parameters that differ from
          their defaults; ``settings`` says so in sentences.
        - ``data``: ``n_rows``, ``n_features`` and ``n_classes`` of the training data, None where
          unknown. ``inputs``: the columns it takes. ``target``, ``classes``: what it predicts.
        - ``training``: how training went: ``sentences``, ``status``, ``solver``, ``n_iter`` and
          ``seconds``, None where unknown. ``figures``: fitted attributes that are single values.
        - ``certificate``: its figures and a ``sentence``, or None.
        - ``quality``: a list of estimates of how good predictions for new rows are: ``method``,
          ``metric``, ``estimate``, ``low`` and ``high``, ``n_rows``, and a ``sentence``.
        - ``weights``, ``importances``, ``support``: the strongest coefficients, the most important
          features and the support vectors, or None.
        - ``advice``: what to do next, each a ``name`` and a ``sentence``.

        Of a table: ``target``, ``notes``, ``profile``, ``columns`` and ``advice``.

    Raises
    ------
    DataTypeError
        There is no description of such objects.

    Examples
    --------
    >>> import hedgerow
    >>> model = hedgerow.LinearSVC().fit([[0.0], [1.0]], ["no", "yes"])
    >>> found = hedgerow.describe(model)
    >>> found["kind"], found["classes"], found["certificate"]["is_certified"]
    ('LinearSVC', ['no', 'yes'], True)
    """
    if not is_whole(top) or top < 1:
        raise ParameterError(f"top={top!r} is no number of features; give a whole number above 0")
    parts = _describers_of(type(subject))
    if not parts:
        subject = _as_table(subject)
        parts = _describers_of(type(subject))
    found: dict[str, Any] = {}
    for part in parts:
        found = _merged(found, part(subject, top))
    return Description(jsonable(found))


def _describers_of(cls: type) -> list[Describer]:
    """Return the functions that describe a class, that of the most general class first."""
    _import_describers(cls)
    return [_describers[base] for base in reversed(cls.__mro__) if base in _describers]


def _as_table(subject: Any) -> Any:
    """Return a table of any kind as a Table, or say that there is no description."""
    from hedgerow.describe.tables import as_table

    table = as_table(subject)
    if table is None:
        cls = type(subject)
        msg = (
            f"there is no description of a {cls.__module__}.{cls.__qualname__}; give a model or a "
            "table, or register a function by hedgerow.describe.describes"
        )
        raise DataTypeError(msg)
    return table


def _import_describers(cls: type) -> None:
    """Import the modules that describe a class of ours and those it is derived from."""
    for base in cls.__mro__:
        package, _, rest = base.__module__.partition(".")
        home = _HOMES.get(rest.partition(".")[0] if package == "hedgerow" else package)
        if home is not None:
            importlib.import_module(f"hedgerow.describe.{home}")


def _merged(old: Any, new: Any, name: str = "") -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _merged(old.get(key), value, key) for key, value in new.items()}}
    return [*old, *new] if name in _JOINED and old is not None else new


def jsonable(value: Any) -> Any:
    """Return the value as JSON has it: infinities as text, arrays as lists, objects as their repr."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    return repr(value)
