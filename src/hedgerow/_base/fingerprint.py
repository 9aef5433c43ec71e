"""A short name for a task: equal for equal data and settings, and for no others."""

from __future__ import annotations

import dataclasses
import hashlib
import marshal
import os
import pickle
from collections.abc import Mapping
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from hedgerow import _core

__all__ = ["fingerprint"]


def fingerprint(*parts: Any) -> str:
    """Return a digest of the parts: numbers, text, arrays, matrices, estimators, records of such."""
    digest = hashlib.sha256()
    _add(digest, parts)
    return digest.hexdigest()


def _add(digest: Any, value: Any) -> None:
    """Add a value after its kind and length, so that no two values run into each other."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        digest.update(f"array {value.dtype.str} {value.shape};".encode())
        digest.update(np.ascontiguousarray(value).view(np.uint8).reshape(-1).data)
        return
    items = _items(value)
    if items is None:
        text = _bytes(value)
        digest.update(f"{type(value).__name__} {len(text)};".encode() + text)
        return
    digest.update(f"{type(value).__name__} of {len(items)};".encode())
    for item in items:
        _add(digest, item)


def _items(value: Any) -> list[Any] | None:
    """Return what a value is made of, or None if it is one piece."""
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, np.ndarray):
        return [value.shape, *value.ravel().tolist()]
    if isinstance(value, _core.data.Matrix | _core.kernel.Kernel):
        return list(value.parts)
    if sp.issparse(value):
        rows = value.tocsr()
        return [rows.shape, rows.data, rows.indices, rows.indptr]
    if isinstance(value, BaseEstimator):
        return [type(value).__qualname__, value.get_params()]
    if isinstance(value, MethodType):
        return [value.__qualname__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, FunctionType):
        return [value.__qualname__, marshal.dumps(value.__code__)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [[field.name, getattr(value, field.name)] for field in dataclasses.fields(value)]
    return None


def _bytes(value: Any) -> bytes:
    """Return a value as bytes; what nothing can write down is like nothing else, not even itself."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | type):
        return repr(value).encode()
    try:
        return pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        return os.urandom(32)
