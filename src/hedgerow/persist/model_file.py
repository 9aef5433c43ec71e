"""Model files: a safetensors file whose metadata hold the state as JSON, and a digest of it all.

Loading runs no code from the file: the state names classes, and only those that Hedgerow declared
itself are built. The digest finds damage, not malice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import hedgerow
from hedgerow._state import Arrays, StateError, dump_state, load_state
from hedgerow.errors import FileAccessError, ModelFormatError, ParameterError
from hedgerow.persist.atomic import atomic_write

__all__ = ["load", "save"]

_FORMAT = "hedgerow-model"
_FORMAT_VERSION = 1
_HEADER_LENGTH_BYTES = 8


def save(model: BaseEstimator, path: str | Path) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        One of Hedgerow's, fitted or not.
    path : str or Path
        Where to; the suffix ``.hedge`` is the custom. An older file is replaced at the very end.

    Raises
    ------
    ParameterError
        The model, or a part of it, is none that Hedgerow can store.
    FileAccessError
        The file cannot be written; an older one is left as it was.
    """
    try:
        state, arrays = dump_state(model)
        text = json.dumps(state, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except (StateError, TypeError, ValueError) as error:
        msg = f"this {type(model).__name__} cannot be saved: {error}; save a model of Hedgerow"
        raise ParameterError(msg) from error
    arrays = {name: _little_endian(array) for name, array in arrays.items()}
    metadata = {
        "format": _FORMAT,
        "format_version": str(_FORMAT_VERSION),
        "hedgerow_version": hedgerow.__version__,
        "state": text,
        "sha256": _digest(text, arrays),
    }
    with atomic_write(path) as stream:
        stream.write(safetensors.numpy.save(arrays, metadata))


def load(path: str | Path) -> Any:
    """Read a model from a file that :func:`save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        Equal to the one that was saved.

    Raises
    ------
    FileAccessError
        The file cannot be read.
    ModelFormatError
        The file is damaged, is no model, or was written by a newer version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}; check the name of the model file"
        raise FileAccessError(msg) from error
    metadata, arrays = _unpack(path, data)
    _check_version(path, metadata)
    _check_digest(path, metadata, arrays)
    _declare_public_classes()
    try:
        model = load_state(json.loads(metadata["state"]), arrays)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"its state cannot be understood ({error})") from error
    if not isinstance(model, BaseEstimator):
        raise _damaged(path, f"it holds a {type(model).__name__} and not a model")
    return model


def _unpack(path: str | Path, data: bytes) -> tuple[Mapping[str, str], Arrays]:
    """Return the metadata and the arrays of a safetensors file."""
    try:
        arrays = safetensors.numpy.load(data)
        length = int.from_bytes(data[:_HEADER_LENGTH_BYTES], "little")
        header = json.loads(data[_HEADER_LENGTH_BYTES : _HEADER_LENGTH_BYTES + length])
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, "it is no safetensors file") from error
    metadata = header.get("__metadata__", {})
    if metadata.get("format") != _FORMAT:
        raise _damaged(path, "it was not written by hedgerow.save")
    return metadata, arrays


def _check_version(path: str | Path, metadata: Mapping[str, str]) -> None:
    text = metadata.get("format_version", "")
    version = int(text) if text.isascii() and text.isdigit() else 0
    if version > _FORMAT_VERSION:
        msg = (
            f"{path} was written in model format {version} by Hedgerow "
            f"{metadata.get('hedgerow_version', '?')} and this is {hedgerow.__version__}, "
            f"which reads format {_FORMAT_VERSION}; upgrade Hedgerow"
        )
        raise ModelFormatError(msg)
    if version < 1:
        raise _damaged(path, f"its format version {text!r} is no version")


def _check_digest(path: str | Path, metadata: Mapping[str, str], arrays: Arrays) -> None:
    if "state" not in metadata or metadata.get("sha256") != _digest(metadata["state"], arrays):
        raise _damaged(path, "its contents do not match its digest")


def _digest(state: str, arrays: Arrays) -> str:
    """Return SHA-256 over the state and over every array's name, dtype, shape and bytes."""
    digest = hashlib.sha256()
    _add(digest, state.encode())
    for name in sorted(arrays):
        array = arrays[name]
        _add(digest, name.encode())
        _add(digest, f"{array.dtype.str}{array.shape}".encode())
        _add(digest, array.tobytes())
    return digest.hexdigest()


def _add(digest: Any, part: bytes) -> None:
    """Add a part, its length first, so that parts cannot run into each other."""
    digest.update(len(part).to_bytes(8, "little"))
    digest.update(part)


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _declare_public_classes() -> None:
    """Import every public name, so that the classes a state may speak of are declared."""
    for name in hedgerow.__all__:
        getattr(hedgerow, name)


def _damaged(path: str | Path, why: str) -> ModelFormatError:
    msg = f"{path} cannot be loaded as a model: {why}; copy it again or save the model anew"
    return ModelFormatError(msg)
